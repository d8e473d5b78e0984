"""Other seeds: is it still the right distribution?

χ² of drawn tokens against the oracle's distribution with three binnings at once, and exact support. What looks wrong
is drawn again from fresh seeds, four times as often: only what is wrong again fails (docs/checks.md).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from analyzer.build.worker import tensors
from analyzer.checks.masked import given, references
from analyzer.checks.probe_run import ProbeRun
from analyzer.kernels.goodness import BINNINGS, Fit, fit, holm, smallest_effect
from analyzer.model.base import Text
from analyzer.model.evidence import Check

NAME = "sampling"
FIRST, CONFIRMED = 1e-4, 1e-6
#: Rows of logits that are drawn from, and draws of each in the first stage.
DISTRIBUTIONS, DRAWS, DRAWS_CPU = 4, 16_384, 4_096
#: Rows among which they are looked for: a row with a tie at its last token has no one distribution.
CANDIDATES = 64
MORE = 4


@dataclass(frozen=True)
class _Draws:
    """What one side drew: a fit for each distribution, or why there is none."""

    fits: tuple[Fit, ...] = ()
    failed: Check | None = None

    @property
    def p_value(self) -> float:
        return holm([p for one in self.fits for p in one.p_values.values()])

    @property
    def outside(self) -> int:
        return sum(one.outside for one in self.fits)

    def wrong(self, level: float) -> bool:
        return self.p_value < level or self.outside > 0


def run(run: ProbeRun) -> list[Check]:
    if not run.probe.noise or not run.probe.oracle:
        reason = Text(en="the probe declares no noise that its tokens are drawn with", zh="该探针未声明采样所用的噪声")
        return [run.record(NAME, "not-run", reason)]
    chosen = _distributions(run)
    if chosen is None:
        reason = Text(en="no row has one distribution only (ties)", zh="没有任何一行的分布是唯一的（并列）")
        return [run.record(NAME, "inconclusive", reason)]
    rows, probabilities = chosen
    draws = DRAWS if run.device == "cuda" else DRAWS_CPU
    first = _draw(run, "head", rows, probabilities, 0, draws)
    if first.failed:
        return [first.failed]
    if not first.wrong(FIRST):
        return [_record(run, "pass", first, first)]
    second = _draw(run, "head", rows, probabilities, 1_000_000, MORE * draws)
    if second.failed:
        return [second.failed]
    if not second.wrong(CONFIRMED):
        return [_record(run, "pass", first, second)]
    base = _draw(run, "base", rows, probabilities, 1_000_000, MORE * draws)
    if base.failed:
        return [base.failed]
    same = base.wrong(CONFIRMED) and base.outside >= second.outside
    return [_record(run, "pre-existing" if same else "fail", first, second, base)]


def _distributions(run: ProbeRun) -> tuple[list[int], list[np.ndarray]] | None:
    """Rows with one distribution each, and their probabilities."""
    inputs = given(run)
    found = references(run, inputs, slice(0, CANDIDATES))
    one = ~found.values.isnan().any(-1)
    if found.kept is not None:
        one &= (found.kept.must_keep | found.kept.must_drop).all(-1)
    one &= found.distribution.sum(-1) > 0
    rows = torch.nonzero(one).flatten()[:DISTRIBUTIONS].tolist()
    return (rows, [found.distribution[row].cpu().numpy() for row in rows]) if rows else None


def _draw(run: ProbeRun, side: str, rows: list[int], probabilities: list[np.ndarray], first: int, draws: int) -> _Draws:
    numbers = run.numbers("parity")
    per_call = numbers["rows"] // len(rows) * len(rows)
    repeated = [rows[place % len(rows)] for place in range(per_call)]
    calls = -(-draws * len(rows) // per_call)
    result = run.step(
        side,
        "draw",
        "parity",
        numbers={**numbers, "rows": per_call},
        first=first,
        draws=calls,
        variant={"of": numbers["rows"], "rows": repeated, "repeated": True},
    )
    if not result.ok:
        ended = run.failed(NAME, result, result) if side == "base" else run.failed_head(NAME, result)
        return _Draws(failed=ended)
    worker = run.base if side == "base" else run.head
    tokens = tensors.read(result.data["tokens"], worker.out).numpy()
    return _Draws(
        tuple(
            fit(tokens[:, place :: len(rows)].ravel(), probabilities[place], run.plan.seed)
            for place in range(len(rows))
        )
    )


def _record(run: ProbeRun, outcome: str, first: _Draws, last: _Draws, base: _Draws | None = None) -> Check:
    draws = sum(one.draws for one in last.fits)
    worst = {name: min(one.p_values[name] for one in last.fits) for name in BINNINGS}
    effect = smallest_effect(last.fits[0].draws, FIRST if last is first else CONFIRMED, len(last.fits) * len(BINNINGS))
    if outcome == "pass":
        reason = Text(
            en=f"{draws:,} draws fit the oracle's distribution; a total variation over {effect:.2g} would have shown",
            zh=f"{draws:,} 次抽样符合基准分布；超过 {effect:.2g} 的全变差会被发现",
        )
    else:
        binning = min(worst, key=lambda name: worst[name])
        reason = Text(
            en=f"draws do not fit the oracle's distribution: p = {worst[binning]:.2g} in bins by {binning}",
            zh=f"抽样不符合基准分布：按 {binning} 分箱 p = {worst[binning]:.2g}",
        )
        if last.outside:
            reason = Text(
                en=f"{last.outside:,} of {draws:,} draws are tokens that must not be drawn",
                zh=f"{draws:,} 次抽样中有 {last.outside:,} 次抽到了不应抽到的词元",
            )
    figures = [{"p_value": one.p_value, "outside": one.outside} if one else {} for one in (base, last)]
    return run.record(
        NAME,
        outcome,
        reason,
        base=figures[0],
        head=figures[1],
        delta={"draws": draws, "smallest_effect": effect, **{f"p_{name}": value for name, value in worst.items()}},
        gate=f"χ² with three binnings, Holm: p ≥ {FIRST:g}, or on fresh seeds with {MORE} × the draws"
        f" p ≥ {CONFIRMED:g}; no token without mass",
        margin=last.p_value - CONFIRMED,
    )
