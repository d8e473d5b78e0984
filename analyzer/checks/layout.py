"""Are rows read by their strides?

The same values as a view into a wider buffer, at an odd address, and column by column; and no rows at all. What lies
between the values is NaN. The result has to be that of contiguous inputs, bit by bit, or keep an admitted set.
"""

from __future__ import annotations

import torch

from analyzer.build.worker.variants import LAYOUTS
from analyzer.build.workers import Result
from analyzer.checks.masked import given, references
from analyzer.checks.probe_run import ProbeRun
from analyzer.checks.trials import Trial, call_rows, differing, judged, tried
from analyzer.model.base import Text
from analyzer.model.evidence import Check

NAME = "layout"
ROWS = 16


def run(run: ProbeRun) -> list[Check]:
    rows = list(range(min(ROWS, run.numbers("parity")["rows"])))
    trials: dict[str, dict[str, Trial]] = {"base": {}, "head": {}}
    plain = {side: call_rows(run, side, rows) for side in trials}
    failed = run.failed(NAME, *(made if isinstance(made, Result) else Result() for made in plain.values()))
    if failed:
        return [failed]
    for side, mine in trials.items():
        wanted = plain[side]
        assert isinstance(wanted, torch.Tensor)
        for layout in LAYOUTS:
            made = call_rows(run, side, rows, layout=layout)
            mine[layout] = tried(made, lambda m, wanted=wanted: _bad(run, m, wanted))
        mine["no rows"] = tried(call_rows(run, side, []), lambda m: len(m))
        one = call_rows(run, side, rows[:1], layout="padded")
        mine["one row"] = tried(one, lambda m, wanted=wanted: _bad(run, m, wanted[:1]))
    return [
        judged(
            run,
            NAME,
            trials["base"],
            trials["head"],
            "the result of contiguous inputs, or an admitted kept set, where base has it",
            Text(en="the layout of the logits makes no difference", zh="logits 的内存布局不影响结果"),
            Text(en="the result changes with the layout of the logits", zh="结果随 logits 的内存布局变化"),
        )
    ]


def _bad(run: ProbeRun, made: torch.Tensor, wanted: torch.Tensor) -> int:
    """Rows with other bytes than those of contiguous inputs, that are not among the oracle's either."""
    different = differing(made, wanted)
    if not different or run.probe.output != "masked-logits" or made.shape != wanted.shape:
        return different
    found = references(run, given(run), slice(0, len(made)))
    if found.kept is None:
        return different
    values = made.to(run.device).double()
    mine = ~found.kept.admits(values > float("-inf")) | values.isnan().any(-1)
    theirs = wanted.to(run.device).double()
    both = (values > float("-inf")) & (theirs > float("-inf"))
    close = (values - theirs).abs() <= 4 * torch.finfo(made.dtype).eps * theirs.abs()
    return int((mine | (both & ~close).any(-1)).sum())
