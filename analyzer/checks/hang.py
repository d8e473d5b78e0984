"""Did every call end? Sums up what the other checks' calls met: a crash, a hang, or memory that ran out."""

from __future__ import annotations

from analyzer.checks.probe_run import ProbeRun
from analyzer.model.base import Text
from analyzer.model.evidence import Check

NAME = "hang"


def run(run: ProbeRun) -> list[Check]:
    run.calls  # noqa: B018  (made here where no other check made it)
    deadly = ("crash", "hang", "out-of-memory")
    base, head = (run.failures.get(side) for side in ("base", "head"))
    base_bad = base is not None and base.failure in deadly
    if head is not None and base is not None and {head.failure, base.failure} <= {"raised", "refused"}:
        outcome, reason = "not-run", Text(en=f"no call ran: {head.error}", zh=f"没有可运行的调用：{head.error}")
    elif head is not None and head.failure == "refused" and base is None:
        outcome = "changed" if run.refusal_declared else "fail"
        reason = Text(
            en=f"head refuses what base accepts: {head.error}", zh=f"head 拒绝 base 所接受的输入：{head.error}"
        )
    elif head is not None and head.failure == "raised" and base is None:
        outcome, reason = "fail", Text(en=f"head raises: {head.error}", zh=f"head 抛出异常：{head.error}")
    elif head is None or head.failure not in deadly:
        outcome, reason = "pass", Text(en="every call of head ended", zh="head 的每次调用都已结束")
    elif base_bad:
        outcome, reason = "pre-existing", Text(en=f"both: {head.error}", zh=f"两个版本均如此：{head.error}")
    else:
        outcome, reason = str(head.failure), Text(en=f"head: {head.error}", zh=f"head：{head.error}")
    figures = {
        side: {"failure": result.failure or "", "error": result.error} if result else {}
        for side, result in (("base", base), ("head", head))
    }
    return [run.record(NAME, outcome, reason, base=figures["base"], head=figures["head"])]
