"""Is the compiled kernel the same? Normalised PTX of both revisions, a record for each kernel and dtype.

The same PTX means that the numerics of that specialization cannot have changed, with no GPU needed.
"""

from __future__ import annotations

from analyzer.checks.probe_run import Kernel, ProbeRun
from analyzer.model.base import Text
from analyzer.model.evidence import Build, Check

NAME = "identity"


def run(run: ProbeRun) -> list[Check]:
    return [_compare(run, kernel) for kernel in run.kernels]


def _compare(run: ProbeRun, kernel: Kernel) -> Check:
    base, head = run.builds(kernel)
    missing = unbuilt(base, head)
    if missing or base is None or head is None:
        broken = base and head and base.outcome == "built" and head.outcome == "failed" and not head.forced
        outcome = "fail" if broken else "not-run"
        return run.record_kernel(NAME, kernel, outcome, missing or Text(en="not compiled", zh="未编译"))
    same = base.ptx_sha256 == head.ptx_sha256
    forced = [build for build in (base, head) if build.forced]
    note = Text(en="", zh="")
    if forced:
        note = Text(
            en=f"; {forced[0].revision} refuses {run.dtype}, compiled with the other revision's launch",
            zh=f"；{forced[0].revision} 拒绝 {run.dtype}，按另一版本的启动参数编译",
        )
    reason = (
        Text(en="the same PTX" + note.en, zh="PTX 相同" + note.zh)
        if same
        else Text(en="the PTX differs" + note.en, zh="PTX 不同" + note.zh)
    )
    return run.record_kernel(
        NAME,
        kernel,
        "pass" if same else "changed",
        reason,
        base={"ptx_sha256": base.ptx_sha256, "forced": base.forced},
        head={"ptx_sha256": head.ptx_sha256, "forced": head.forced},
        delta={"same": same},
    )


def unbuilt(base: Build | None, head: Build | None) -> Text | None:
    """Why two builds cannot be compared, None where they can."""
    reasons = [f"{build.revision}: {build.reason}" for build in (base, head) if build and build.outcome != "built"]
    if not reasons:
        return None
    return Text(en="not compiled: " + "; ".join(reasons), zh="未能编译：" + "；".join(reasons))
