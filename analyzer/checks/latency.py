"""Is it slower? Interleaved A B B A rounds, and a bootstrap interval of the median ratio head / base."""

from __future__ import annotations

import numpy as np

from analyzer.build.workers import Result
from analyzer.checks.probe_run import ProbeRun
from analyzer.model.base import Text
from analyzer.model.evidence import Check

NAME = "latency"
ROUNDS, REPEATS, RESAMPLES = 4, 5, 2000
#: A round is at least this long, so that short calls are sampled more often.
ROUND_MILLISECONDS = 20.0
#: Differences below this are within what two equal kernels show.
FLOOR_MILLISECONDS = 0.005
#: Slower only if the whole 95% interval lies above this ratio; faster if it lies below its inverse.
GATE = 1.03


def run(run: ProbeRun) -> list[Check]:
    samples: dict[str, list[float]] = {"base": [], "head": []}
    last: dict[str, Result] = {}
    for side in ("base", "head"):  # once each to compile and to warm up
        last[side] = run.step(side, "time", "latency", repeats=2)
    failed = run.failed(NAME, last["base"], last["head"], "latency")
    if failed:
        return [failed]
    shortest = min(min(result.data["milliseconds"]) for result in last.values())
    repeats = int(np.clip(ROUND_MILLISECONDS / max(shortest, 1e-3), REPEATS, 40 * REPEATS))
    for turn in range(ROUNDS):
        for side in ("base", "head") if turn % 2 == 0 else ("head", "base"):
            result = last[side] = run.step(side, "time", "latency", repeats=repeats)
            samples[side] += result.data.get("milliseconds", ())
    failed = run.failed(NAME, last["base"], last["head"], "latency")
    if failed:
        return [failed]
    base, head = np.array(samples["base"]), np.array(samples["head"])
    ratio, low, high = interval(base, head, run.plan.seed)
    percent = abs(ratio - 1)
    if abs(float(np.median(head) - np.median(base))) < FLOOR_MILLISECONDS:
        outcome, reason = "pass", Text(en="within 5 µs of base", zh="与 base 相差不到 5 微秒")
    elif low > GATE:
        outcome, reason = "changed", Text(en=f"{percent:.0%} more time", zh=f"耗时增加 {percent:.0%}")
    elif high < 1 / GATE:
        outcome, reason = "changed", Text(en=f"{percent:.0%} less time", zh=f"耗时减少 {percent:.0%}")
    elif high <= GATE:
        outcome, reason = "pass", Text(en="not slower than base", zh="不比 base 慢")
    else:
        outcome = "inconclusive"
        reason = Text(en="the 95% interval reaches from as fast to slower", zh="95% 置信区间从持平延伸到变慢")
    return [
        run.record(
            NAME,
            outcome,
            reason,
            "latency",
            base={"ms": float(np.median(base))},
            head={"ms": float(np.median(head))},
            delta={"ratio": ratio, "low": low, "high": high},
            gate=f"slower where the lower end of the 95% interval is over {GATE}",
            margin=GATE - low,
        )
    ]


def interval(base: np.ndarray, head: np.ndarray, seed: int) -> tuple[float, float, float]:
    """Median ratio head / base and its 95% percentile bootstrap interval, from samples in milliseconds."""
    generator = np.random.default_rng(seed)
    draws = [np.median(generator.choice(values, (RESAMPLES, len(values))), axis=1) for values in (base, head)]
    ratios = draws[1] / draws[0]
    low, high = np.quantile(ratios, [0.025, 0.975])
    return float(np.median(head) / np.median(base)), float(low), float(high)
