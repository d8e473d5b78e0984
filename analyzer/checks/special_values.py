"""NaN, infinities, ties and parameters at their ends: as base does, and as the oracle says.

Every second row is special (variants.PATTERNS); the others are neighbours, which must not change.
"""

from __future__ import annotations

import torch

from analyzer.build.worker.variants import PATTERNS
from analyzer.build.workers import Result
from analyzer.checks.masked import given, logits_of, references
from analyzer.checks.probe_run import ProbeRun
from analyzer.checks.trials import Trial, call_rows, differing, judged
from analyzer.kernels.reference import Reference
from analyzer.model.base import Text
from analyzer.model.evidence import Check

NAME = "special-values"
#: Times that the patterns come, so that the extreme parameters meet them.
TURNS = 4


def run(run: ProbeRun) -> list[Check]:
    rows = [place % run.numbers("parity")["rows"] for place in range(2 * len(PATTERNS) * TURNS)]
    variant = {"special": True, "extreme": True}
    trials: dict[str, dict[str, Trial]] = {"base": {}, "head": {}}
    made = {side: call_rows(run, side, rows, **variant) for side in trials}
    failed = run.failed(NAME, *(one if isinstance(one, Result) else Result() for one in made.values()))
    if failed:
        return [failed]
    numbers = run.numbers("parity")
    inputs = given(run, numbers={**numbers, "rows": len(rows)}, of=numbers["rows"], rows=rows, **variant)
    reference = references(run, inputs, slice(None)) if run.probe.oracle else None
    plain = {side: call_rows(run, side, rows) for side in trials}
    logits = logits_of(run, inputs).cpu()
    sound = ~(logits.isnan() | (logits == float("inf"))).flatten(1).any(-1)  # the rows that no contract excludes
    before = torch.zeros(len(rows), dtype=torch.bool)
    for side, mine in trials.items():
        values, usual = made[side], plain[side]
        assert isinstance(values, torch.Tensor)
        wrong = before | _wrong(run, values, reference)  # a row that base has wrong says nothing of head
        if values.is_floating_point() and side == "head" and values.shape == made["base"].shape:
            wrong |= sound & (values.isnan() & ~made["base"].isnan()).flatten(1).any(-1)
        before = wrong
        for place, name in enumerate(PATTERNS):
            mine[name] = Trial(int(wrong[2 * place + 1 :: 2 * len(PATTERNS)].sum()))
        neighbours = isinstance(usual, torch.Tensor)
        mine["neighbours"] = Trial(differing(values[0::2], usual[0::2]) if neighbours else 0)
    return [
        judged(
            run,
            NAME,
            trials["base"],
            trials["head"],
            "no more rows than base that the oracle excludes, ids in range, neighbours unchanged",
            Text(en="special rows are handled as before", zh="特殊行的处理与此前相同"),
            Text(en="special rows come out wrong", zh="特殊行结果错误"),
        )
    ]


def _wrong(run: ProbeRun, values: torch.Tensor, reference: Reference | None) -> torch.Tensor:
    """Which rows are wrong: bool [rows], on the CPU."""
    values = values.to(run.device)
    vocab = run.numbers("parity").get("vocab", 1 << 31)
    if run.probe.output == "tokens":
        ids = values.reshape(len(values), -1).long()
        bad = ((ids < -1) | (ids >= vocab)).any(-1)
        if reference is not None and reference.winners is not None:
            may = reference.winners.may_win
            allowed = may.gather(1, ids[:, :1].clamp(0, vocab - 1)).squeeze(1)
            bad |= ~allowed & may.any(-1)
        elif reference is not None and reference.sampled:
            chances = reference.distribution
            bad |= (chances.gather(1, ids[:, :1].clamp(0, vocab - 1)).squeeze(1) <= 0) & (chances.sum(-1) > 0)
        return bad.cpu()
    wide = values.double().reshape(len(values), -1)
    if reference is None:
        return torch.zeros(len(values), dtype=torch.bool)
    if reference.kept is not None:
        return (~reference.kept.admits(wide > float("-inf"))).cpu()
    return ((reference.values.isfinite()) & ~wide.reshape(reference.values.shape).isfinite()).any(-1).cpu()
