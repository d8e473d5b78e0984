"""Same call, same bytes? Repeats in one process, then in fresh ones.

0 differing outputs of 300 repeats bound their share below 1% at 95% (the rule of three).
"""

from __future__ import annotations

from analyzer.checks.probe_run import ProbeRun
from analyzer.model.base import Text
from analyzer.model.evidence import Check

NAME = "determinism"
REPEATS, REPEATS_CPU = 300, 30
ROWS = 64
FRESH = 2


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
    outputs = [len(result.data["counts"]) for result in results]
    fresh = set(results[1].data["counts"])
    processes = 1
    if outputs[1] == 1:
        for number in range(FRESH):
            again = run.fresh_step("head", number, "repeat", "parity", repeats=1, **asked)
            if again is not None and again.ok:
                processes += 1
                fresh |= set(again.data["counts"])
    base_fresh = set(results[0].data["counts"])
    if len(fresh) > 1 and outputs[0] == 1:
        for number in range(FRESH):
            again = run.fresh_step("base", number, "repeat", "parity", repeats=1, **asked)
            base_fresh |= set(again.data["counts"]) if again is not None and again.ok else set()
    if len(fresh) > 1 and len(base_fresh) == 1:
        outcome = "fail"
        where = (
            Text(en=f"{repeats} repeats", zh=f"{repeats} 次重复")
            if outputs[1] > 1
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
