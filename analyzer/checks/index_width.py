"""Do offsets hold past 2^31 elements? The last row is a copy of the first and has to give the first row's result.

Noise that is an input is copied with the row. A probe that draws from a generator of its own, or whose state goes by
the row's number, does not list this check.
"""

from __future__ import annotations

from analyzer.checks.masked import output
from analyzer.checks.probe_run import ProbeRun
from analyzer.checks.trials import Trial, differing, judged, tried
from analyzer.model.base import Text
from analyzer.model.evidence import Check

NAME = "index-width"
LIMIT = 1 << 31
#: Bytes of device memory that a call may need for each logit: the input as it is drawn and as it is handed over, and
#: copies in fp32.
BYTES_PER_LOGIT = 24


def run(run: ProbeRun) -> list[Check]:
    vocab = run.numbers("parity").get("vocab", 0)
    if run.device != "cuda" or not vocab:
        reason = Text(en="needs a GPU and a probe with a vocabulary", zh="需要 GPU，且探针有词表大小")
        return [run.record(NAME, "not-run", reason)]
    rows = LIMIT // vocab + 2
    if run.free_bytes < BYTES_PER_LOGIT * LIMIT:
        reason = Text(en="the GPU has too little memory for 2^31 logits", zh="GPU 显存不足以容纳 2^31 个 logits")
        return [run.record(NAME, "not-run", reason)]
    trials: dict[str, dict[str, Trial]] = {"base": {}, "head": {}}
    name = f"{rows:,} × {vocab:,}"
    for side, mine in trials.items():
        result = run.step(
            side,
            "call",
            "parity",
            numbers={**run.numbers("parity"), "rows": rows},
            variant={"copied": True},
            keep=[0, rows - 1],
        )
        worker = run.base if side == "base" else run.head
        made = output(run, result, worker) if result.ok else result
        mine[name] = tried(made, lambda m: differing(m[:1], m[1:]))
    if "out-of-memory" in (trials["base"][name].failure, trials["head"][name].failure):
        reason = Text(en="2^31 logits do not fit in memory", zh="显存不足以容纳 2^31 个 logits")
        return [run.record(NAME, "not-run", reason)]
    return [
        judged(
            run,
            NAME,
            trials["base"],
            trials["head"],
            "the last row, a copy of the first, gives the first's result",
            Text(en="the last row past 2^31 elements is right", zh="超过 2^31 个元素后末行结果仍正确"),
            Text(en="a row past 2^31 elements comes out wrong", zh="超过 2^31 个元素的行结果错误"),
        )
    ]
