"""Measured figures in words: a row of the evidence table, and the reason that a check gives to a verdict."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from analyzer.findings.checks import order
from analyzer.model.base import LEVELS, Text
from analyzer.model.change import Related
from analyzer.model.evidence import BAD_OUTCOMES, Check
from analyzer.report.phrases import DASH, gib, phrase, phrase_if_known

#: Outcomes whose own reason says more than figures do.
SPOKEN = ("crash", "hang", "out-of-memory", "inconclusive", "not-run")

#: The figure of a check's delta that says how large a difference is.
MAGNITUDES = {
    "kept-set": "rows_differing",
    "distribution-distance": "tv_mean",
    "token-flips": "rate",
    "peak-memory": "bytes",
}


@dataclass(frozen=True)
class Row:
    """One check in the evidence table. `probe` is a name, the rest are phrases."""

    label: Text
    probe: str
    base: Text
    head: Text
    outcome: Text
    result: Text
    bad: bool
    waived_by: str | None


def row(check: Check, bad: bool) -> Row:
    """A check as a row. A figure that the check lacks shows as a dash."""
    label = _said(check, "label") or phrase("checks.other.label", name=check.check)
    of = {"dtype": check.specialization.dtype, "arch": check.specialization.arch}
    return Row(
        label=phrase("checks.label", label=label, **of),
        # A compiled kernel goes by its own name, a call by its probe's.
        probe=check.symbol if check.specialization.arch or not check.probe else check.probe,
        base=_said(check, "base") or DASH,
        head=_said(check, "head") or DASH,
        outcome=phrase(f"outcomes.{check.outcome}"),
        result=_result(check),
        bad=bad,
        waived_by=check.waived_by,
    )


def _result(check: Check) -> Text:
    """Figures where they tell it, the check's own reason where it failed or has no figures."""
    said = None if check.outcome in SPOKEN else _said(check, "result")
    parts = [said] if said else []
    told = said or (check.outcome not in SPOKEN and _said(check, "head"))
    if check.reason.en and (not told or (not _said(check, "base") and check.outcome in ("fail", "pre-existing"))):
        parts.append(check.reason)
    return Text(en="; ".join(part.en for part in parts), zh="；".join(part.zh for part in parts))


def reason_of(check: Check) -> Text | None:
    """What a check found, with its figure; its own reason where it has no figure to tell."""
    said = None if check.outcome in SPOKEN else _said(check, "reason")
    return said or (check.reason if check.reason.en else None)


def where(check: Check) -> Text:
    """The symbol and the specialization that a check's figure is of: ``(`apply`, bf16)``."""
    return phrase("checks.where", symbol=check.symbol or check.probe, dtype=check.specialization.dtype)


def worst(checks: Iterable[Check]) -> list[Check]:
    """Of each check one record, failed before others, then the largest; in order of severity and of what tells most."""
    first: dict[str, Check] = {}
    for check in sorted(checks, key=lambda c: (c.outcome not in BAD_OUTCOMES, -_magnitude(c))):
        first.setdefault(check.check, check)
    return sorted(first.values(), key=lambda c: (-LEVELS.index(c.severity), order(c.check)))


def _magnitude(check: Check) -> float:
    if check.check == "latency":
        return abs(check.head.get("ms", 0.0) - check.base.get("ms", 0.0))
    value = check.delta.get(MAGNITUDES.get(check.check, ""), 0)
    return abs(float(value)) if isinstance(value, int | float) else 0.0


def better_of(check: Check) -> Text | None:
    """What head does better than base by a check that passes, None where nothing is known to be better."""
    return _said(check, "better")


def price_of(check: Check) -> Text:
    """A rise of the memory peak as a price: ``4.0 bytes a logit more memory, 4.121 GiB at 7,280 rows``."""
    return phrase(
        "verdict.price",
        bytes_per_logit=check.delta.get("bytes_per_logit"),
        size=gib(check.delta["bytes"]),
        rows=check.parameters.get("rows"),
        predicted=check.parameters.get("predicted", False),
    )


def gain_of(checks: Iterable[Check]) -> Text | None:
    """The largest measured fall of the memory peak, as the start of a sentence."""
    falls = [c for c in checks if c.check == "peak-memory" and c.outcome == "changed" and c.delta.get("bytes", 0) < 0]
    if not falls:
        return None
    best = min(falls, key=lambda check: check.delta["bytes"])
    return phrase(
        "verdict.lowers-memory",
        size=gib(-best.delta["bytes"]),
        rows=best.parameters.get("rows"),
        predicted=best.parameters.get("predicted", False),
    )


def name_of(related: Related) -> str:
    """``PR 48641`` or a short commit."""
    return f"PR {related.pr}" if related.pr else f"`{(related.commit or '')[:10]}`"


def _said(check: Check, part: str) -> Text | None:
    return phrase_if_known(
        f"checks.{check.check}.{part}",
        name=check.check,
        base=check.base,
        head=check.head,
        delta=check.delta,
        parameters=check.parameters,
        arch=check.specialization.arch,
        dtype=check.specialization.dtype,
    )
