"""Registers, stack, shared memory and code size of both revisions' kernels, as launched. New stack means new spills."""

from __future__ import annotations

from analyzer.checks.identity import unbuilt
from analyzer.checks.probe_run import Kernel, ProbeRun
from analyzer.model.base import Text
from analyzer.model.evidence import Check

NAME = "resources"
#: What bounds how many programs run at once; the size of the code is told and is no change by itself.
USED = ("registers", "stack_bytes", "shared_bytes")


def run(run: ProbeRun) -> list[Check]:
    return [_compare(run, kernel) for kernel in run.kernels]


def _compare(run: ProbeRun, kernel: Kernel) -> Check:
    base, head = run.builds(kernel)
    forced = next((build for build in (base, head) if build and build.forced), None)
    if forced:
        reason = Text(
            en=f"{forced.revision} never launches it in {run.dtype}: {forced.reason}",
            zh=f"{forced.revision} 从不以 {run.dtype} 启动它：{forced.reason}",
        )
        return run.record_kernel(NAME, kernel, "not-run", reason)
    if not (base and head and base.resources and head.resources):
        reason = unbuilt(base, head) or Text(en="no disassembler to read the cubin", zh="没有可读取 cubin 的反汇编器")
        return run.record_kernel(NAME, kernel, "not-run", reason)
    before, after = base.resources.model_dump(), head.resources.model_dump()
    delta = {name: after[name] - before[name] for name in before}
    if delta["stack_bytes"]:
        more = delta["stack_bytes"] > 0
        reason = Text(
            en=f"{'more' if more else 'fewer'} spills: {before['stack_bytes']} → {after['stack_bytes']} bytes of stack",
            zh=f"寄存器溢出{'增加' if more else '减少'}：栈 {before['stack_bytes']} → {after['stack_bytes']} 字节",
        )
    elif delta["registers"] or delta["shared_bytes"]:
        reason = Text(en="no spills come or go", zh="寄存器溢出没有变化")
    else:
        size = f"{delta['code_bytes']:+,}"
        reason = Text(en=f"the same resources, {size} bytes of code", zh=f"资源用量相同，代码 {size} 字节")
    outcome = "changed" if any(delta[name] for name in USED) else "pass"
    return run.record_kernel(NAME, kernel, outcome, reason, base=before, head=after, delta=delta)
