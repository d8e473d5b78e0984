"""Is head further from the truth than base?

Both against an fp64 oracle, in ULP of base's output dtype (with head's own, a narrower output would hide itself). The
rule is FlashAttention's: head may err by twice what base errs, and two ULP. Infinities and NaN are compared exactly.
"""

from __future__ import annotations

import torch

from analyzer.checks.masked import given, output, references
from analyzer.checks.probe_run import ProbeRun
from analyzer.kernels.compare import CHUNK_ROWS
from analyzer.kernels.errors import Errors
from analyzer.kernels.reference import Reference
from analyzer.model.base import Text
from analyzer.model.evidence import Check

NAME = "oracle"
FACTOR, SLACK = 2.0, 2.0


def run(run: ProbeRun) -> list[Check]:
    if not run.probe.oracle:
        return [run.record(NAME, "not-run", Text(en="the probe declares no oracle", zh="该探针未声明基准"))]
    failed = run.failed(NAME, *run.calls)
    if failed:
        return [failed]
    base, head = output(run, run.calls[0], run.base), output(run, run.calls[1], run.head)
    inputs = given(run)
    if run.probe.output == "tokens":
        return [_tokens(run, inputs, base, head)]
    figures = Errors(), Errors()
    for start in range(0, len(base), CHUNK_ROWS):
        rows = slice(start, start + CHUNK_ROWS)
        reference = references(run, inputs, rows)
        for errors, values in zip(figures, (base, head), strict=True):
            _add(errors, values[rows].to(run.device), reference, base.dtype)
    return [_judged(run, *figures, base.dtype, head.dtype)]


def _add(errors: Errors, values: torch.Tensor, reference: Reference, dtype: torch.dtype) -> None:
    """Masked logits are judged where the token is kept and may be: kept sets have a check of their own."""
    if reference.values.shape != values.shape:
        values = values.reshape(reference.values.shape)
    judged = None
    if reference.kept is not None:
        judged = (values.double() > float("-inf")) & ~reference.kept.must_drop
    errors.add(values, reference.values, reference.scale, dtype, judged)


def _judged(run: ProbeRun, base: Errors, head: Errors, dtype: torch.dtype, other: torch.dtype) -> Check:
    limit = FACTOR * base.largest + SLACK
    names = [str(one).removeprefix("torch.") for one in (dtype, other)]
    if head.largest > limit or head.mismatches > base.mismatches:
        outcome = "fail"
        reason = Text(
            en=f"largest error {head.largest:.3g} ULP, base {base.largest:.3g}",
            zh=f"最大误差 {head.largest:.3g} ULP，base 为 {base.largest:.3g}",
        )
        if head.mismatches > base.mismatches:
            reason = Text(
                en=f"{head.mismatches} values are infinite or NaN and the oracle's are not, base has {base.mismatches}",
                zh=f"{head.mismatches} 个值为无穷或 NaN 而基准不是，base 为 {base.mismatches} 个",
            )
    elif base.largest > FACTOR * head.largest + SLACK or base.mismatches > head.mismatches:
        outcome, reason = "changed", Text(en="closer to the oracle than base", zh="比 base 更接近基准")
    elif dtype != other:
        outcome = "changed"
        reason = Text(en=f"the result is {names[1]}, base's {names[0]}", zh=f"结果为 {names[1]}，base 为 {names[0]}")
    else:
        outcome, reason = "pass", Text(en="as close to the oracle as base", zh="与 base 同样接近基准")
    sides = [
        {"ulp_max": e.largest, "ulp_p999": e.quantile(0.999), "ulp_mean": e.mean, "mismatches": e.mismatches}
        for e in (base, head)
    ]
    return run.record(
        NAME,
        outcome,
        reason,
        base=sides[0],
        head=sides[1],
        delta={"ulp_max": head.largest - base.largest},
        gate=f"largest error at most {FACTOR:g} × base's + {SLACK:g} ULP of {names[0]}; no more wrong inf or NaN",
        margin=limit - head.largest,
    )


def _tokens(run: ProbeRun, inputs: dict[str, torch.Tensor | None], base: torch.Tensor, head: torch.Tensor) -> Check:
    """Tokens that the oracle does not let win under the same noise."""
    wrong = [0, 0]
    for start in range(0, len(base), CHUNK_ROWS):
        rows = slice(start, start + CHUNK_ROWS)
        winners = references(run, inputs, rows).winners
        if winners is None:
            reason = Text(en="the oracle's tokens are drawn, not determined", zh="基准的词元为随机抽取，并不确定")
            return run.record(NAME, "not-run", reason)
        for side, values in enumerate((base, head)):
            ids = values[rows].to(run.device).long().reshape(-1, 1)
            inside = (ids >= 0) & (ids < winners.may_win.shape[1])
            allowed = winners.may_win.gather(1, torch.where(inside, ids, 0)) & inside
            nothing = ~winners.may_win.any(-1, keepdim=True)
            wrong[side] += int((~allowed & ~nothing).sum())
    rows_in_all = len(base)
    outcome = "fail" if wrong[1] > wrong[0] else "pre-existing" if wrong[1] else "changed" if wrong[0] else "pass"
    reason = Text(
        en=f"{wrong[1]} of {rows_in_all} tokens are not the oracle's, in base {wrong[0]}",
        zh=f"{rows_in_all} 个词元中有 {wrong[1]} 个与基准不符，base 为 {wrong[0]} 个",
    )
    return run.record(
        NAME,
        outcome,
        reason,
        base={"wrong_tokens": wrong[0]},
        head={"wrong_tokens": wrong[1]},
        delta={"tokens": rows_in_all},
        gate="no more tokens than base that the fp64 oracle does not let win",
        margin=float(wrong[0] - wrong[1]),
    )
