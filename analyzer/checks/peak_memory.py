"""How much memory does a call take above its inputs?

On a GPU from the allocator; without one from the same code on fake tensors, and then called predicted. The steady peak
(second call) is compared: buffers that a module keeps are in the cold one. A difference is an outcome of its own
("changed", signed), no fault by itself.
"""

from __future__ import annotations

from typing import Any

from analyzer.build.workers import Result
from analyzer.checks.probe_run import ProbeRun
from analyzer.model.base import Text
from analyzer.model.evidence import Check

NAME = "peak-memory"
#: Differences below max(2 MiB, 1% of base's peak) are within the allocator's rounding.
FLOOR_BYTES, FLOOR_SHARE = 2 << 20, 0.01


def run(run: ProbeRun) -> list[Check]:
    base, head = (_predicted(run, side) if run.predicted else _measured(run, side) for side in ("base", "head"))
    failed = run.failed(NAME, base, head, "memory")
    if failed:
        return [failed]
    sides = [_figures(result.data) for result in (base, head)]
    difference = sides[1]["bytes"] - sides[0]["bytes"]
    numbers = run.numbers("memory")
    logits = numbers.get("rows", 0) * numbers.get("vocab", 0)
    delta: dict[str, Any] = {"bytes": difference}
    if logits:
        delta["bytes_per_logit"] = difference / logits
    gib = f"{difference / 2**30:+.3f} GiB"
    if abs(difference) <= max(FLOOR_BYTES, FLOOR_SHARE * sides[0]["bytes"]):
        outcome, reason = "pass", Text(en="the same peak", zh="峰值相同")
    else:
        outcome, reason = "changed", Text(en=f"peak {gib}", zh=f"峰值 {gib}")
    return [
        run.record(
            NAME,
            outcome,
            reason,
            "memory",
            base=sides[0],
            head=sides[1],
            delta=delta,
            gate="reported with its sign; over max(2 MiB, 1%) is a change",
            parameters={"predicted": run.predicted},
        )
    ]


def _measured(run: ProbeRun, side: str) -> Result:
    return run.step(side, "memory", "memory")


def _predicted(run: ProbeRun, side: str) -> Result:
    trace = run.compiler.traces.get((side, run.probe.name, run.dtype))
    if trace is None or trace.peak is None:
        failure = (
            trace.failure if trace and trace.failure in ("refused", "crash", "hang", "out-of-memory") else "raised"
        )
        return Result(failure=failure, error=trace.error if trace else "not traced")  # type: ignore[arg-type]
    peak = trace.peak
    return Result({"cold": peak["cold"], "steady": peak["steady"], "source": peak["steady"]["source"]})


def _figures(data: dict[str, Any]) -> dict[str, Any]:
    return {
        "bytes": int(data["steady"]["bytes"]),
        "source": str(data["source"]),
        **({"cold_bytes": int(data["cold"]["bytes"])} if data["cold"] else {}),
    }
