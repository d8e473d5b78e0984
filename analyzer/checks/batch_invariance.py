"""Does a row depend on its neighbours?

A row is called in batches of other sizes, in another order, and among rows of special values; its bytes must stay.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch

from analyzer.build.workers import Result
from analyzer.checks.probe_run import ProbeRun
from analyzer.checks.trials import Trial, call_rows, differing, judged, tried
from analyzer.model.base import Text
from analyzer.model.evidence import Check

NAME = "batch-invariance"
#: Around the sizes at which engines switch between implementations.
SIZES = (1, 2, 7, 8, 9, 33)
WHOLE = 64
#: Fills of inputs that may say which row of another input a row means; so may state that a probe builds.
INDICES = ("arange", "repeat", "cycle")


def run(run: ProbeRun) -> list[Check]:
    whole = min(WHOLE, run.numbers("parity")["rows"])
    trials: dict[str, dict[str, Trial]] = {"base": {}, "head": {}}
    plain = {side: call_rows(run, side, list(range(whole))) for side in trials}
    failed = run.failed(NAME, *(_result(made) for made in plain.values()))
    if failed:
        return [failed]
    for side, mine in trials.items():
        all_rows = plain[side]
        assert isinstance(all_rows, torch.Tensor)
        for name, rows, variant in _batches(run, whole):
            judged_rows = [place for place in range(len(rows)) if not variant or place % 2 == 0]
            wanted = all_rows[[rows[place] for place in judged_rows]]
            made = call_rows(run, side, rows, **variant)
            mine[name] = tried(made, lambda m, wanted=wanted, its=judged_rows: differing(m[its], wanted))
    return [
        judged(
            run,
            NAME,
            trials["base"],
            trials["head"],
            "bit-identical rows in every batch in which base's are",
            Text(en="a row is the same in every batch", zh="每一行在任何批次中结果都相同"),
            Text(en="rows change with the batch", zh="行结果随批次变化"),
        )
    ]


def _result(made: torch.Tensor | Result) -> Result:
    return made if isinstance(made, Result) else Result()


def _batches(run: ProbeRun, whole: int) -> Iterator[tuple[str, list[int], dict[str, bool]]]:
    """Name, rows of the whole, and the variant of each batch that is tried."""
    for size in SIZES:
        if size < whole:
            yield f"{size} of {whole} rows", list(range(size)), {}
    if not run.probe.python and not any(spec.fill in INDICES for spec in run.probe.inputs):
        yield "reversed", list(range(whole))[::-1], {}
    yield "neighbours with special values", list(range(whole)), {"special": True}
