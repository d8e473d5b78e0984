"""Measured figures in words: a row of the evidence table, and the reason that a check gives to a verdict."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from analyzer.model.base import Text
from analyzer.model.change import Related
from analyzer.model.evidence import Check
from analyzer.report.phrases import DASH, count, gib, phrase, phrase_if_known

#: Outcomes whose own reason says more than figures do.
SPOKEN = ("crash", "hang", "out-of-memory", "inconclusive", "not-run")


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
    detail = check.reason if check.outcome in SPOKEN else _said(check, "result")
    return Row(
        label=_said(check, "label") or phrase("checks.other.label", name=check.check),
        probe=check.symbol or check.probe,
        base=_said(check, "base") or DASH,
        head=_said(check, "head") or DASH,
        outcome=phrase(f"outcomes.{check.outcome}"),
        result=detail or Text(en="", zh=""),
        bad=bad,
        waived_by=check.waived_by,
    )


def reason_of(check: Check) -> Text | None:
    """What a check found, with its figure; its own reason where it has no figure to tell."""
    said = None if check.outcome in SPOKEN else _said(check, "reason")
    return said or (check.reason if check.reason.en else None)


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
    )


def gain_of(checks: Iterable[Check]) -> Text | None:
    """The largest measured fall of the memory peak, as the start of a sentence."""
    falls = [c for c in checks if c.check == "peak-memory" and c.outcome == "changed" and c.delta.get("bytes", 0) < 0]
    if not falls:
        return None
    best = min(falls, key=lambda check: check.delta["bytes"])
    return phrase("verdict.lowers-memory", size=gib(-best.delta["bytes"]), rows=best.parameters.get("rows"))


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


__all__ = ["Row", "better_of", "count", "gain_of", "name_of", "price_of", "reason_of", "row"]
