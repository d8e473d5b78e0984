"""What a check gets: one probe at one dtype, with both revisions ready to be asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from analyzer.build.compiler import Compiler
from analyzer.build.workers import Result, Worker
from analyzer.model.base import Text
from analyzer.model.evidence import Build, Check, Specialization
from analyzer.model.plan import Plan, Probe

#: Seconds a call may take: this, or 20 times what base took, whichever is more (docs/checks.md, hang).
HANG_SECONDS, HANG_FACTOR = 30.0, 20.0
#: After so many hangs of calls on changed inputs, or one on the usual ones, a side is not asked again.
HANGS = 2


class Kernel(NamedTuple):
    """A kernel's qualified name and the architecture that it is compiled for ("sm_90")."""

    name: str
    architecture: str


@dataclass
class ProbeRun:
    """`device` is where both revisions and the oracle run; `case` names the sizes for parity on this machine.

    `predicted`: there is no GPU, so memory comes from fake tensors. `interpreted`: Triton kernels are
    interpreted. `memo` has what several checks read. `open_worker` gives a side's process, started when a check first
    asks for it; `open_fresh` that of another beside it.
    """

    plan: Plan
    probe: Probe
    dtype: str
    open_worker: Callable[[str], Worker]
    interpreted: bool
    compiler: Compiler
    device: str
    predicted: bool
    failures: dict[str, Result] = field(default_factory=dict)
    memo: dict[str, Any] = field(default_factory=dict)
    open_fresh: Callable[[str, int], Worker] | None = None

    @cached_property
    def base(self) -> Worker:
        return self.open_worker("base")

    @cached_property
    def head(self) -> Worker:
        return self.open_worker("head")

    @property
    def refusal_declared(self) -> bool:
        """Whether the change says that head accepts less: then a refusal is no fault."""
        return any(
            edit.kind in ("guard-added", "guard-narrowed", "guard-changed") and edit.symbol in self.probe.covers
            for edit in self.plan.change.edits
        )

    @property
    def symbol(self) -> str:
        """The changed symbol that called for the probe; the first that it covers where none did."""
        planned = [symbol for item in self.plan.checks if item.probe == self.probe.name for symbol in item.symbols]
        return planned[0] if planned else self.probe.covers[0]

    def numbers(self, case: str) -> dict[str, int]:
        """The sizes of a case; without a GPU those of "cpu" stand for what has to run."""
        cases = self.probe.cases
        name = "cpu" if self.device == "cpu" and "cpu" in cases and case != "memory" else case
        return dict(cases.get(name) or next(iter(cases.values())))

    def step(self, side: str, step: str, case: str, **more: Any) -> Result:
        """Ask one revision. A crash or hang is kept in `failures`; after it the process is started anew."""
        if self._gave_up(side):
            return self.failures[side]
        worker = self.base if side == "base" else self.head
        limit = max(HANG_SECONDS, HANG_FACTOR * self._base_seconds.get(step, 0.0))
        numbers = more.pop("numbers", None) or self.numbers(case)
        result = worker.step(step, self.probe, numbers, self.dtype, self.plan.seed, limit, **more)
        if side == "base" and result.ok:
            self._base_seconds[step] = result.seconds
        # What a variant meets is its check's own; only what ends a process is more.
        told = "variant" not in more or result.failure in ("crash", "hang")
        self._hangs[side] = self._hangs.get(side, 0) + (result.failure == "hang") * (1 if "variant" in more else HANGS)
        if not result.ok and told and side not in self.failures:
            self.failures[side] = result
        return result

    def _gave_up(self, side: str) -> bool:
        """Whether a side has hung so often that it is not asked again: every hang costs its whole limit."""
        return self._hangs.get(side, 0) >= HANGS

    @cached_property
    def _hangs(self) -> dict[str, int]:
        return {}

    def fresh_step(self, side: str, number: int, step: str, case: str, **more: Any) -> Result | None:
        """Ask a process of its own, the `number`-th beside the usual one; None where none can be had."""
        if self.open_fresh is None:
            return None
        numbers, dtype = more.pop("numbers", None) or self.numbers(case), more.pop("dtype", self.dtype)
        worker = self.open_fresh(side, number)
        return worker.step(step, self.probe, numbers, dtype, self.plan.seed, HANG_SECONDS, **more)

    @property
    def free_bytes(self) -> int:
        """Free memory of the GPU, 0 without one."""
        if self.device != "cuda":
            return 0
        import torch

        return int(torch.cuda.mem_get_info()[0])

    @cached_property
    def _base_seconds(self) -> dict[str, float]:
        return {}

    @cached_property
    def calls(self) -> tuple[Result, Result]:
        """The parity call on base and head."""
        more = {"sample": self.probe.sampler != "none"}
        return self.step("base", "call", "parity", **more), self.step("head", "call", "parity", **more)

    @property
    def kernels(self) -> list[Kernel]:
        """The kernels that the probe launches and that are to be built, for each architecture."""
        names = [name for name in self.probe.launches if name in self.plan.changed_kernels]
        return [Kernel(name, architecture) for name in names for architecture in self.compiler.architectures]

    def builds(self, kernel: Kernel) -> tuple[Build | None, Build | None]:
        """Base's and head's build of a kernel at this dtype."""
        found = self.compiler.builds
        base, head = (found.get((side, self.probe.name, self.dtype, *kernel)) for side in ("base", "head"))
        return base, head

    def record(self, check: str, outcome: str, reason: Text, case: str = "parity", **fields: Any) -> Check:
        """A Check of this probe with its parameters and the command that repeats it."""
        parameters = {**self.probe.parameters, **self.numbers(case), "seed": self.plan.seed, "device": self.device}
        fields.setdefault("symbol", self.symbol)
        fields.setdefault("specialization", Specialization(dtype=self.dtype))
        return Check(
            check=check,
            probe=self.probe.name,
            outcome=outcome,
            reason=reason,
            parameters={**parameters, **fields.pop("parameters", {})},
            reproduce=f"analyze run {self.plan.subject.head} --base {self.plan.subject.base} --only {check}"
            f" --seed {self.plan.seed}",
            **fields,
        )

    def record_kernel(self, check: str, kernel: Kernel, outcome: str, reason: Text, **fields: Any) -> Check:
        """A Check of one compiled kernel: of its build at this dtype, not of a call."""
        of = Specialization(dtype=self.dtype, arch=kernel.architecture)
        fields |= {"symbol": kernel.name, "parameters": {"device": "none", **self.numbers("memory")}}
        return self.record(check, outcome, reason, specialization=of, **fields)

    def failed_head(self, check: str, head: Result, case: str = "parity") -> Check | None:
        """As `failed`, where base was not asked."""
        return self.failed(check, Result(), head, case)

    def failed(self, check: str, base: Result, head: Result, case: str = "parity") -> Check | None:
        """The record of a check whose calls did not both succeed; None where they did.

        What head does not survive is a result; what base does not survive either is pre-existing; a revision that
        refuses the specialization cannot be compared, which is no fault where the change says so.
        """
        if base.ok and head.ok:
            return self._other_shape(check, base, head, case)
        if not base.ok and not head.ok:
            outcome = "not-run" if {base.failure, head.failure} <= {"refused", "raised"} else "pre-existing"
            both = base.error if base.error == head.error else f"base {base.error}; head {head.error}"
            reason = Text(en=f"neither revision ends the call: {both}", zh=f"两个版本都未能完成调用：{both}")
            if self.interpreted and outcome == "not-run":
                reason = Text(en=f"interpreter: {head.error}", zh=f"解释器：{head.error}")
        elif head.ok:
            outcome = "not-run" if base.failure == "refused" else "inconclusive"
            verb = {"refused": ("refuses", "拒绝")}.get(str(base.failure), ("does not end", "未能完成"))
            reason = Text(
                en=f"base {verb[0]} the call, nothing to compare head with: {base.error}",
                zh=f"base {verb[1]}该调用，head 无从比较：{base.error}",
            )
        elif head.failure == "refused":
            outcome = "not-run" if self.refusal_declared else "fail"
            reason = Text(
                en=f"head refuses what base accepts: {head.error}", zh=f"head 拒绝 base 所接受的输入：{head.error}"
            )
        else:
            outcome = {"raised": "fail"}.get(str(head.failure), str(head.failure))
            reason = Text(en=f"head does not end the call: {head.error}", zh=f"head 未能完成调用：{head.error}")
        figures = {side: {"failure": r.failure or "", "error": r.error} for side, r in (("base", base), ("head", head))}
        return self.record(check, outcome, reason, case, base=figures["base"], head=figures["head"])

    def _other_shape(self, check: str, base: Result, head: Result, case: str) -> Check | None:
        """A failure where head returns another shape than base; None for calls that hand back no output."""
        shapes = [result.data.get("output", {}).get("shape") for result in (base, head)]
        if shapes[0] == shapes[1]:
            return None
        reason = Text(
            en=f"head returns the shape {shapes[1]}, base {shapes[0]}",
            zh=f"head 返回的形状为 {shapes[1]}，base 为 {shapes[0]}",
        )
        return self.record(check, "fail", reason, case)


CheckFunction = Callable[[ProbeRun], "list[Check]"]
