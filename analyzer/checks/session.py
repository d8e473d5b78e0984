"""One run of the check stage: where it runs, what was built, and each probe's checks in turn."""

from __future__ import annotations

import importlib.util
import os
import sys
import threading
import time
from collections.abc import Callable, Container, Iterator, Sequence
from pathlib import Path

from analyzer.build import interpreter
from analyzer.build.compiler import REVISIONS, Compiler, Wanted
from analyzer.build.environment import DEFAULT_ARCHITECTURE, choose_device, describe, gpu_answers
from analyzer.build.places import Workspace
from analyzer.build.process import capabilities
from analyzer.build.workers import Worker
from analyzer.bundle import Bundle
from analyzer.checks import (
    batch_invariance,
    determinism,
    distribution,
    hang,
    identity,
    index_width,
    kept_set,
    latency,
    layout,
    mutation,
    oracle,
    peak_memory,
    resources,
    sampling,
    special_values,
    token_flips,
)  # fmt: skip
from analyzer.checks.probe_run import CheckFunction, ProbeRun
from analyzer.checks.stage import CheckOptions, not_run
from analyzer.findings.checks import families
from analyzer.model.base import Text
from analyzer.model.evidence import Check
from analyzer.model.plan import PlannedCheck, Probe
from analyzer.profiles import Profile

#: In the order in which they run for a probe: cold memory first, what the others met last.
_MODULES = (
    peak_memory, mutation, kept_set, distribution, oracle, token_flips, sampling, special_values, batch_invariance,
    layout, determinism, latency, index_width, hang, identity, resources,
)  # fmt: skip
CHECKS: dict[str, CheckFunction] = {module.NAME: module.run for module in _MODULES}
ORDER = tuple(CHECKS)
#: Checks that read what was compiled, and need no call.
STATIC = (identity.NAME, resources.NAME)
#: Checks that make calls of their own, and many: they come after the others of every probe.
COSTLY = (
    batch_invariance.NAME, layout.NAME, sampling.NAME, determinism.NAME, latency.NAME, index_width.NAME,
)  # fmt: skip
#: Checks of so many rows or calls that an interpreted kernel would seem to hang.
MANY_CALLS = (sampling.NAME, determinism.NAME, special_values.NAME)
_NO_PROBE = Text(
    en="no probe launches this kernel; declare one in .analyzer.yml",
    zh="没有探针启动该内核；可在 .analyzer.yml 中声明",
)


def rounds(planned: Sequence[PlannedCheck], likely: Container[str]) -> list[list[PlannedCheck]]:
    """The checks that make calls, the cheap ones first; of the costly ones those come first that explain a finding of
    the families in `likely`."""
    dynamic = [item for item in planned if item.check not in STATIC]
    dynamic.sort(key=lambda item: ORDER.index(item.check) if item.check in ORDER else len(ORDER))
    costly = [item for item in dynamic if item.check in COSTLY]
    costly.sort(key=lambda item: not any(family in likely for family in families(item.check)))
    return [[item for item in dynamic if item.check not in COSTLY], costly]


class Session:
    """Runs `bundle`'s checks below `folder` until `deadline` (time.monotonic)."""

    def __init__(
        self, bundle: Bundle, profile: Profile, folder: Path, options: CheckOptions, deadline: float,
        progress: Callable[[str], None],
    ) -> None:  # fmt: skip
        self.bundle, self.plan, self.profile = bundle, bundle.plan, profile
        self.options, self.deadline, self.progress = options, deadline, progress
        self.gpu_lost = False
        self.device = choose_device(options.device)
        self.environment = describe(self.device)
        self.isolation = capabilities(sys.executable, _torch_folder())
        folder.chmod(0o755)  # a child of another user has to reach its own folder below it
        self.workspace = Workspace(
            bundle, profile, folder, self.device, self.isolation, options.memory_bytes or _half_of_memory()
        )
        architectures = options.architectures or (self.environment.architecture or DEFAULT_ARCHITECTURE,)
        self.compiler = Compiler(self.workspace, architectures, options.cache, self.plan.seed)

    def run(self) -> Iterator[Check]:
        """Every planned check's record. Kernels compile beside the calls that run.

        Cheap checks of all probes come before costly ones, so that a budget that ends has asked every probe; of the
        costly ones first those that the findings make likely.
        """
        planned = [item for item in self.plan.checks if not self.options.only or item.check in self.options.only]
        compiling = threading.Thread(target=self.compiler.run, args=(self._wanted(planned), self.progress), daemon=True)
        compiling.start()
        if self.device == "cpu":
            compiling.join()  # predictions come from its traces, and two cores are soon full
        runs = [(probe, dtype) for probe in self.plan.probes for dtype in probe.dtypes]
        for asked in rounds(planned, {finding.family for finding in self.plan.findings}):
            for probe, dtype in runs:
                yield from self._checks(probe, dtype, [item for item in asked if item.probe == probe.name])
        self.progress("waiting for the compiler")
        compiling.join()
        for probe, dtype in runs:
            yield from self._checks(probe, dtype, [p for p in planned if p.probe == probe.name and p.check in STATIC])
        yield from (not_run(item, None, "", _NO_PROBE) for item in planned if not item.probe)

    def close(self) -> None:
        self.workspace.close()

    def _checks(self, probe: Probe, dtype: str, planned: list[PlannedCheck]) -> Iterator[Check]:
        """Records of a probe's checks at one dtype; what cannot run here says why."""
        run = self._probe_run(probe, dtype)
        for item in planned:
            yield from self._attempt(item, run)
        if planned:
            self.workspace.clear(probe, ended=dtype == probe.dtypes[-1])

    def _attempt(self, item: PlannedCheck, run: ProbeRun) -> list[Check]:
        """A check's records. What fails on the way (a revision's code may be anything) ends one check, not the run."""
        try:
            reason = self._obstacle(run.probe, run.dtype, item.check)
            broken = self.workspace.broken_heads.get(run.probe.name)
            if broken and item.check == hang.NAME:
                text = Text(
                    en=f"head cannot be imported, base can: {broken}", zh=f"head 无法导入而 base 可以：{broken}"
                )
                return [run.record(hang.NAME, "fail", text)]
            if reason is not None:
                return [not_run(item, run.probe, run.dtype, reason)]
            self.progress(f"{item.check}: {run.probe.name}, {run.dtype}")
            records = CHECKS[item.check](run)
            self._look_after(records)
            return records
        except Exception as error:
            text = f"{type(error).__name__}: {str(error)[:300]}"
            reason = Text(en=f"could not be finished: {text}", zh=f"未能完成：{text}")
            return [run.record(item.check, "inconclusive", reason)]

    def _look_after(self, records: Sequence[Check]) -> None:
        """After a crash or a hang on a GPU: does it still answer? Where it does not, nothing more is measured."""
        ended = any(record.outcome in ("crash", "hang") for record in records)
        if self.device == "cuda" and ended and not self.gpu_lost:
            self.gpu_lost = not gpu_answers()

    def _obstacle(self, probe: Probe, dtype: str, check: str) -> Text | None:
        """Why a check cannot run here, None where it can."""
        if check not in CHECKS:
            return Text(en="this version has no such check", zh="此版本没有该检查")
        absent = [side for side in REVISIONS if not self.workspace.has_target(side, probe)]
        if absent:
            return Text(
                en=f"{' and '.join(absent)} has no {probe.target}", zh=f"{'、'.join(absent)} 中没有 {probe.target}"
            )
        if time.monotonic() > self.deadline:
            return Text(en="the budget was used up before it", zh="时间预算已用完")
        if self.gpu_lost and check not in STATIC:
            return Text(en="the GPU no longer answers after a crash or a hang", zh="发生崩溃或挂起之后，GPU 不再响应")
        if check in STATIC or (check == peak_memory.NAME and self.device == "cpu"):
            return None  # the compiler's traces tell
        return (self._no_gpu(probe, dtype, check) if self.device == "cpu" else None) or self._not_importable(probe)

    def _not_importable(self, probe: Probe) -> Text | None:
        mode, why = self.workspace.mode(probe)
        return None if mode else Text(en=f"not importable: {why}", zh=f"无法导入：{why}")

    def _no_gpu(self, probe: Probe, dtype: str, check: str) -> Text | None:
        """Why a check needs a GPU, None where a CPU will do."""
        if probe.device == "gpu":
            return Text(en="needs a GPU", zh="需要 GPU")
        if check == latency.NAME:
            return Text(en="needs a GPU (the time of a CPU says nothing)", zh="需要 GPU（CPU 上的耗时没有意义）")
        if probe.launches and check in MANY_CALLS:
            return Text(
                en="needs a GPU (an interpreted kernel is too slow for it)", zh="需要 GPU（解释执行的内核过慢）"
            )
        refusal = interpreter.refusal(dtype) if probe.launches else None
        if refusal:
            return Text(en=f"needs a GPU (interpreter: {refusal})", zh=f"需要 GPU（解释器：{refusal}）")
        return None

    def _probe_run(self, probe: Probe, dtype: str) -> ProbeRun:
        interpreted = self.device == "cpu" and bool(probe.launches)

        def open_worker(side: str) -> Worker:
            mode, why = self.workspace.mode(probe)
            if mode is None:
                raise ImportError(why)
            return self.workspace.worker(side, probe, mode, interpreted)

        def open_fresh(side: str, number: int) -> Worker:
            mode, why = self.workspace.mode(probe)
            if mode is None:
                raise ImportError(why)
            return self.workspace.worker(side, probe, mode, interpreted, number + 1)

        return ProbeRun(
            self.plan, probe, dtype, open_worker, interpreted, self.compiler, self.device, self.device == "cpu",
            open_fresh=open_fresh,
        )  # fmt: skip

    def _wanted(self, planned: list[PlannedCheck]) -> list[Wanted]:
        """What to trace and to compile for the planned checks."""
        wanted = []
        for probe in self.plan.probes:
            checks = {item.check for item in planned if item.probe == probe.name}
            kernels = probe.launches if checks & set(STATIC) else ()
            traced = "peak-memory" in checks and self.device == "cpu"
            importable = all(self.workspace.has_target(side, probe) for side in REVISIONS)
            if (kernels or traced) and importable:
                wanted += [Wanted(probe, dtype, tuple(kernels)) for dtype in probe.dtypes]
        return wanted


def _torch_folder() -> tuple[Path, ...]:
    spec = importlib.util.find_spec("torch")
    return (Path(spec.origin).parent,) if spec and spec.origin else ()


def _half_of_memory() -> int | None:
    """Half of this machine's memory in bytes: what one child may take."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    except (AttributeError, ValueError, OSError):
        return None
