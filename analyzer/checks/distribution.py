"""How far did the distribution move?

Total variation of both revisions to the fp64 oracle, on the tokens that each may keep. Fails over twice base's, with a
floor for what the input's precision explains (docs/checks.md); mass lost on a token that must be kept fails by itself.
"""

from __future__ import annotations

from statistics import fmean

from analyzer.checks.masked import comparison
from analyzer.checks.probe_run import ProbeRun
from analyzer.model.base import Text
from analyzer.model.evidence import Check

NAME = "distribution-distance"
#: Total variation that rounding of the input's dtype may cause.
FLOORS = {"fp32": 1e-6, "bf16": 1e-4, "fp16": 1e-4}
FACTOR = 2.0


def run(run: ProbeRun) -> list[Check]:
    failed = run.failed(NAME, *run.calls)
    if failed:
        return [failed]
    found = comparison(run)
    base, head = fmean(found.base.tv), fmean(found.head.tv)
    floor = FLOORS.get(run.dtype, 1e-4)
    limit = max(floor, FACTOR * base)
    lost = found.head.lost_rows > found.base.lost_rows
    if lost or head > limit:
        outcome = "fail"
        reason = Text(
            en=f"mean total variation to the oracle {head:.2g}, base {base:.2g}",
            zh=f"与基准的平均全变差为 {head:.2g}，base 为 {base:.2g}",
        )
        if lost:
            reason = Text(
                en=f"{reason.en}; {found.head.lost_rows} rows give no mass to a token that must be kept",
                zh=f"{reason.zh}；{found.head.lost_rows} 行中必须保留的词元没有概率",
            )
    elif base > max(floor, FACTOR * head):
        outcome = "changed"
        reason = Text(
            en=f"closer to the oracle: mean total variation {head:.2g}, base {base:.2g}",
            zh=f"更接近基准：平均全变差 {head:.2g}，base 为 {base:.2g}",
        )
    else:
        outcome = "pass"
        reason = Text(
            en=f"as close to the oracle as base: mean total variation {head:.2g}, base {base:.2g}",
            zh=f"与 base 同样接近基准：平均全变差 {head:.2g}，base 为 {base:.2g}",
        )
    sides = [
        {"tv_mean": fmean(side.tv), "tv_max": max(side.tv), "lost_rows": side.lost_rows}
        for side in (found.base, found.head)
    ]
    return [
        run.record(
            NAME,
            outcome,
            reason,
            base=sides[0],
            head=sides[1],
            delta={"tv_mean": fmean(found.tv), "tv_max": max(found.tv), "kl_mean": fmean(found.kl)},
            gate=f"mean total variation to the oracle at most max({floor:g}, {FACTOR:g} × base's)",
            margin=limit - head,
        )
    ]
