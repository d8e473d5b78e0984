"""Does it write what it was given, or return an alias of it?

The parent makes the inputs anew and compares every byte with what the child says they were after the call. Only what
the probe declares may be written or returned; what base does too is pre-existing.
"""

from __future__ import annotations

from typing import Any

import torch

from analyzer.build.worker import tensors
from analyzer.build.workers import Result, Worker
from analyzer.checks.masked import given
from analyzer.checks.probe_run import ProbeRun
from analyzer.model.base import Text
from analyzer.model.evidence import Check

NAME = "mutation"
#: Rows of the two calls that show whether a result lives on.
ROWS = 16


def run(run: ProbeRun) -> list[Check]:
    failed = run.failed(NAME, *run.calls)
    if failed:
        return [failed]
    pristine = given(run)
    figures = [
        {"inputs_written": _written(result, worker, pristine), "output_aliases": _aliases(run, result)}
        for result, worker in zip(run.calls, (run.base, run.head), strict=True)
    ]
    numbers = run.numbers("parity")
    rows = list(range(min(ROWS, numbers["rows"]))) if "rows" in numbers else []
    for side, figure in zip(("base", "head"), figures, strict=True):
        again = run.step(side, "twice", "parity", numbers={**numbers, "rows": len(rows)}, variant=_few(numbers, rows))
        figure["held"] = bool(again.data.get("overwritten"))
    (base_bad, base_text), (head_bad, head_text) = (_undeclared(run, side) for side in figures)
    new = sorted(head_bad - base_bad)
    if new:
        outcome, reason = "fail", head_text
    elif head_bad:
        outcome, reason = "pre-existing", head_text
    elif base_bad:
        outcome = "pass"
        reason = Text(
            en=f"head leaves its inputs alone; base: {base_text.en}", zh=f"head 不改写输入；base：{base_text.zh}"
        )
    else:
        outcome = "pass"
        reason = Text(en="only declared inputs are written or returned", zh="只写入或返回契约允许的输入")
    return [
        run.record(
            NAME,
            outcome,
            reason,
            base=figures[0],
            head=figures[1],
            delta={"new": new},
            gate="nothing written or returned beyond " + (", ".join(run.probe.may_write) or "the output"),
        )
    ]


def _written(result: Result, worker: Worker, pristine: dict[str, torch.Tensor | None]) -> list[str]:
    written = []
    for name, value in pristine.items():
        if value is None:
            continue
        after = tensors.read(result.data["after"][name], worker.out)
        if after.shape != value.shape or not torch.equal(_bytes(after), _bytes(value.cpu())):
            written.append(name)
    return written


def _bytes(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.contiguous().reshape(-1).view(torch.uint8)


def _aliases(run: ProbeRun, result: Result) -> list[str]:
    aliases = [str(name) for name in result.data["aliases"]]
    return [name for name in aliases if name != run.probe.result]


def _few(numbers: dict[str, int], rows: list[int]) -> dict[str, object]:
    return {"of": numbers["rows"], "rows": rows} if rows else {}


def _undeclared(run: ProbeRun, figures: dict[str, Any]) -> tuple[set[str], Text]:
    """What a side does beyond the contract, as (what, input) words and as text."""
    written = [name for name in figures["inputs_written"] if name not in run.probe.may_write]
    aliased = [name for name in figures["output_aliases"] if name not in run.probe.may_write]
    en = [f"input `{name}` is overwritten" for name in written] + [f"the result aliases `{name}`" for name in aliased]
    zh = [f"输入 `{name}` 被改写" for name in written] + [f"结果与 `{name}` 共享存储" for name in aliased]
    if figures["held"] and not run.probe.may_write:
        en.append("the next call overwrites the result")
        zh.append("下一次调用会改写此前的结果")
    held = {"holds the result"} if figures["held"] and not run.probe.may_write else set()
    return {f"writes {name}" for name in written} | {f"aliases {name}" for name in aliased} | held, Text(
        en=", ".join(en), zh="，".join(zh)
    )
