"""Calls on changed inputs, each a trial by name: head may be bad only where base is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import torch

from analyzer.build.workers import Result
from analyzer.checks.masked import output
from analyzer.checks.probe_run import ProbeRun
from analyzer.model.base import Text
from analyzer.model.evidence import Check

#: Failures of a call that are outcomes of their own.
DEADLY = ("crash", "hang", "out-of-memory")
#: Trials that a reason names.
NAMED = 4


class Trial(NamedTuple):
    """`bad`: rows that are not as they have to be. `failure`, `error`: how the call ended where it gave no rows."""

    bad: int
    failure: str = ""
    error: str = ""


def call_rows(run: ProbeRun, side: str, rows: list[int], *, of: int = 0, **variant: Any) -> torch.Tensor | Result:
    """One revision's output for `rows` of the `of` rows of the parity inputs; the Result of a call that failed."""
    numbers = run.numbers("parity")
    result = run.step(
        side,
        "call",
        "parity",
        numbers={**numbers, "rows": len(rows)},
        variant={"of": of or numbers["rows"], "rows": rows, **variant},
        keep=list(range(len(rows))),
    )
    return output(run, result, run.base if side == "base" else run.head) if result.ok else result


def tried(made: torch.Tensor | Result, bad: Callable[[torch.Tensor], int]) -> Trial:
    """A trial of a call: `bad` counts the rows of its output that are wrong."""
    if isinstance(made, Result):
        return Trial(1, str(made.failure), made.error)
    return Trial(bad(made))


def differing(a: torch.Tensor, b: torch.Tensor) -> int:
    """Rows whose bytes differ; all, where the shapes or dtypes do."""
    if a.shape != b.shape or a.dtype != b.dtype:
        return max(len(a), len(b), 1)
    if not a.numel():
        return 0
    one, two = (t.contiguous().reshape(len(t), -1).view(torch.uint8) for t in (a, b))
    return int((one != two).any(-1).sum())


def judged(
    run: ProbeRun, check: str, base: Mapping[str, Trial], head: Mapping[str, Trial], gate: str, fine: Text, bad: Text
) -> Check:
    """The record: what is bad in head alone fails; `fine` and `bad` say what the trials ask.

    What base does not survive says nothing of head, nor does a lack of memory: another process may have it, and how
    much head needs is `peak-memory`'s question. Where nothing is left, nothing was compared.
    """
    scarce = [name for name in head if head[name].failure == "out-of-memory" and not base[name].failure]
    head = {name: trial for name, trial in head.items() if not base[name].failure and name not in scarce}
    base = {name: base[name] for name in head}
    if not head and scarce:
        reason = Text(en="head ran out of memory", zh="head 显存不足")
        return run.record(check, "inconclusive", reason)
    if not head:
        return run.record(check, "not-run", Text(en="base refuses every such call", zh="base 拒绝所有此类调用"))
    new = [name for name in head if head[name].bad > base[name].bad]
    both = [name for name in head if head[name].bad and name not in new]
    better = [name for name in head if base[name].bad and not head[name].bad]
    names = _some(new or both or better)
    if new:
        ended = next((head[name] for name in new if head[name].failure), None)
        outcome = ended.failure if ended and ended.failure in DEADLY else "fail"
        error = f": {ended.error}" if ended else ""
        reason = Text(en=f"{bad.en}: {names.en}{error}", zh=f"{bad.zh}：{names.zh}{error}")
    elif both:
        outcome = "pre-existing"
        reason = Text(en=f"{bad.en}, in base too: {names.en}", zh=f"{bad.zh}，base 也是如此：{names.zh}")
    elif better:
        outcome = "changed"
        reason = Text(
            en=f"{fine.en}; {bad.en[0].lower() + bad.en[1:]} in base: {names.en}",
            zh=f"{fine.zh}；base 中{bad.zh}：{names.zh}",
        )
    else:
        outcome, reason = "pass", fine
    return run.record(
        check,
        outcome,
        reason,
        base={"bad_rows": sum(trial.bad for trial in base.values())},
        head={"bad_rows": sum(trial.bad for trial in head.values())},
        delta={"trials": len(head), "worse": len(new)},
        gate=gate,
        margin=-float(len(new)),
    )


def _some(names: list[str]) -> Text:
    """The first names, and how many more."""
    shown, more = names[:NAMED], len(names) - NAMED
    return Text(
        en=", ".join(shown) + (f" and {more} more" if more > 0 else ""),
        zh="、".join(shown) + (f"等 {len(names)} 项" if more > 0 else ""),
    )
