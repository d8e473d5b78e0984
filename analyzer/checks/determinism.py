"""Same call, same bytes? Repeats in one process, then in fresh ones.

0 differing outputs of 300 repeats bound their share below 1% at 95% (the rule of three).
"""

from __future__ import annotations

from typing import Any

from analyzer.checks.probe_run import ProbeRun
from analyzer.model.base import Text
from analyzer.model.evidence import Check

NAME = "determinism"
REPEATS, REPEATS_CPU = 300, 30
ROWS = 64
FRESH = 2
OTHER = {"fp32": "bf16", "bf16": "fp32", "fp16": "fp32"}


def _fresh(run: ProbeRun, side: str, asked: dict[str, Any]) -> set[str]:
    """Outputs of fresh processes. The last one has been called before: with less of all, and with another dtype.

    What a module keeps from an earlier call may not show in a later one. A call that fails there is an output too.
    """
    found: set[str] = set()
    for number in range(FRESH):
        if number == FRESH - 1:
            numbers = run.numbers("parity")
            small = {**numbers, "rows": 2, **({"vocab": numbers["vocab"] // 2} if "vocab" in numbers else {})}
            other = OTHER.get(run.dtype, run.dtype)
            run.fresh_step(side, number, "call", "parity", numbers=small, keep=[0], dtype=other)
            run.fresh_step(side, number, "repeat", "parity", repeats=1, dtype=other, **asked)
        again = run.fresh_step(side, number, "repeat", "parity", repeats=1, **asked)
        if again is not None and again.failure != "out-of-memory":
            found |= set(again.data["counts"]) if again.ok else {again.error}
    return found


def run(run: ProbeRun) -> list[Check]:
    numbers = run.numbers("parity")
    rows = list(range(min(ROWS, numbers["rows"])))
    repeats = REPEATS if run.device == "cuda" else REPEATS_CPU
    asked = {
        "numbers": {**numbers, "rows": len(rows)},
        "variant": {"of": numbers["rows"], "rows": rows},
    }
    results = [run.step(side, "repeat", "parity", repeats=repeats, **asked) for side in ("base", "head")]
    failed = run.failed(NAME, *results)
    if failed:
        return [failed]
    outputs = [set(result.data["counts"]) for result in results]
    fresh = outputs[1] | (_fresh(run, "head", asked) if len(outputs[1]) == 1 else set())
    base_fresh = outputs[0] | (_fresh(run, "base", asked) if len(fresh) > 1 and len(outputs[0]) == 1 else set())
    processes = 1 + (FRESH if run.open_fresh and len(outputs[1]) == 1 else 0)
    if len(fresh) > 1 and len(base_fresh) == 1:
        outcome = "fail"
        where = (
            Text(en=f"{repeats} repeats", zh=f"{repeats} 次重复")
            if len(outputs[1]) > 1
            else Text(en=f"{processes} processes", zh=f"{processes} 个进程")
        )
        reason = Text(
            en=f"{len(fresh)} different outputs in {where.en}", zh=f"{where.zh}中出现 {len(fresh)} 种不同输出"
        )
    elif len(fresh) > 1:
        outcome = "pre-existing"
        reason = Text(en="neither revision gives the same bytes every time", zh="两个版本都不能每次给出相同字节")
    elif len(base_fresh) > 1:
        outcome = "changed"
        reason = Text(
            en=f"the same bytes every time, where base gave {len(base_fresh)} different outputs",
            zh=f"每次字节相同，而 base 出现 {len(base_fresh)} 种不同输出",
        )
    else:
        outcome = "pass"
        reason = Text(
            en=f"the same bytes in {repeats} repeats and {processes} {'process' if processes == 1 else 'processes'}",
            zh=f"{repeats} 次重复、{processes} 个进程中字节均相同",
        )
    return [
        run.record(
            NAME,
            outcome,
            reason,
            base={"outputs": len(base_fresh)},
            head={"outputs": len(fresh)},
            delta={"repeats": repeats, "processes": processes},
            gate="one output in all repeats and processes, where base has one",
            margin=1.0 - len(fresh),
        )
    ]
