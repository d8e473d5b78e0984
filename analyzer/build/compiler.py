"""Both revisions' kernels compiled as they are launched, in parallel, with a cache by content."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

from analyzer.build.cubin import resources
from analyzer.build.places import Mode, Workspace
from analyzer.build.workers import COMPILE_SECONDS, IMPORT_SECONDS, WORKER, Result, Worker
from analyzer.model.evidence import Build, Launch, Resources
from analyzer.model.plan import Probe

REVISIONS = ("base", "head")


@dataclass(frozen=True)
class Wanted:
    """A probe's call at one dtype: trace it, and compile `kernels` of those that it launches."""

    probe: Probe
    dtype: str
    kernels: tuple[str, ...]


@dataclass(frozen=True)
class Trace:
    """What a call did on fake tensors: its launches, and its predicted peak (cold and steady: bytes and source)."""

    launches: tuple[dict[str, Any], ...] = ()
    peak: dict[str, Any] | None = None
    failure: str | None = None
    error: str = ""


class Compiler:
    """Traces and compiles. `architectures` such as "sm_90"; `cache` a folder that may be shared between runs."""

    def __init__(self, workspace: Workspace, architectures: tuple[str, ...], cache: Path | None, seed: int) -> None:
        self.workspace, self.architectures, self.cache, self.seed = workspace, architectures, cache, seed
        self.traces: dict[tuple[str, str, str], Trace] = {}
        self.builds: dict[tuple[str, str, str, str, str], Build] = {}
        self._idle: dict[tuple[str, str, Mode], list[Worker]] = {}
        self._lock = threading.Lock()

    def run(self, wanted: list[Wanted], progress: Callable[[str], None]) -> None:
        """Trace everything, then compile everything; results in `traces` and `builds`."""
        tasks = [_Task(self, revision, want) for want in wanted for revision in REVISIONS]
        with ThreadPoolExecutor(max(1, min(os.cpu_count() or 1, 8))) as pool:
            try:
                progress(f"tracing {len(tasks)} calls")
                for task, trace in zip(tasks, pool.map(_Task.trace, tasks), strict=True):
                    self.traces[task.revision, task.want.probe.name, task.want.dtype] = trace
                jobs = [
                    (task, kernel, name)
                    for task in tasks
                    for kernel in task.want.kernels
                    for name in self.architectures
                ]
                progress(f"compiling {len(jobs)} kernels for {', '.join(self.architectures)}")
                builds = pool.map(lambda job: job[0].build(*job[1:]), jobs)
                for (task, kernel, name), build in zip(jobs, builds, strict=True):
                    self.builds[task.revision, task.want.probe.name, task.want.dtype, kernel, name] = build
            finally:
                for workers in self._idle.values():
                    for worker in workers:
                        worker.close()

    @contextmanager
    def worker(self, revision: str, probe: Probe, mode: Mode) -> Iterator[Worker]:
        """A process for a step: an idle one that has imported the revision, else a new one."""
        with self._lock:
            idle = self._idle.setdefault((revision, probe.name, mode), [])
            found = idle.pop() if idle else None
        worker = found or self.workspace.new_worker(revision, probe, mode)
        try:
            yield worker
        finally:
            with self._lock:
                idle.append(worker)


class _Task:
    """One revision's call at one dtype: its trace, and its kernels' builds."""

    def __init__(self, compiler: Compiler, revision: str, want: Wanted) -> None:
        self.compiler, self.revision, self.want = compiler, revision, want
        self._mode: Mode | None = None

    def trace(self) -> Trace:
        """The call's launches and predicted peak. What a process hands back may be anything: that ends this one."""
        try:
            return self._trace()
        except Exception as error:
            return Trace(failure="raised", error=_misfit(error))

    def _trace(self) -> Trace:
        """In the first mode in which it can be imported."""
        probe, failures = self.want.probe, []
        numbers = probe.cases.get("memory") or next(iter(probe.cases.values()))
        for mode in self.compiler.workspace.order(probe, compiling=True):
            self._mode = mode
            result, _ = self._step("launches", IMPORT_SECONDS, {}, numbers)
            if result.ok:
                return Trace(tuple(result.data["launches"]), result.data["peak"])
            if result.failure == "refused":
                return Trace(failure=result.failure, error=result.error)
            failures.append(result)
        return Trace(failure=failures[0].failure, error="; ".join(dict.fromkeys(one.error for one in failures)))

    def build(self, kernel: str, architecture: str) -> Build:
        """The kernel compiled as this revision launches it, else as the other one does."""
        assert self._mode is not None
        workspace, probe = self.compiler.workspace, self.want.probe
        facts: dict[str, Any] = {
            "revision": self.revision,
            "probe": probe.name,
            "symbol": kernel,
            "dtype": self.want.dtype,
            "architecture": architecture,
            "mode": self._mode,
            "bridges": workspace.place(self.revision, probe, self._mode)[0].bridges,
        }
        try:
            return self._build(kernel, architecture, facts)
        except Exception as error:
            return Build(outcome="failed", reason=_misfit(error), **facts)

    def _build(self, kernel: str, architecture: str, facts: dict[str, Any]) -> Build:
        launch, forced, reason = self._launch(kernel)
        if launch is None:
            return Build(outcome="failed", reason=reason, **facts)
        more = {"launch": launch, "architecture": architecture}
        result, cached = self._step("compile", COMPILE_SECONDS, more, None)
        if not result.ok:
            return Build(outcome="failed", reason=result.error, forced=forced, cached=cached, **facts)
        data = result.data
        return Build(
            outcome="built",
            forced=forced,
            reason=reason,
            launch=Launch(
                grid=tuple(launch["grid"]),
                signature=data["signature"],
                constants={k: v for k, v in launch["arguments"].items() if data["signature"].get(k) == "constexpr"},
                options=launch["options"],
            ),
            resources=Resources.model_validate(data["resources"]) if data["resources"] else None,
            ptx_sha256=data["ptx_sha256"],
            seconds=round(float(data["seconds"]), 2),
            cached=cached,
            **facts,
        )

    def _launch(self, kernel: str) -> tuple[dict[str, Any] | None, bool, str]:
        """The revision's own launch of a kernel, else (forced) the other revision's, with the reason."""
        other = REVISIONS[1 - REVISIONS.index(self.revision)]
        traces = [self.compiler.traces[side, self.want.probe.name, self.want.dtype] for side in (self.revision, other)]
        reason = traces[0].error or f"{self.revision}'s call does not launch it"
        for trace, forced in zip(traces, (False, True), strict=True):
            for launch in trace.launches:
                if launch["kernel"] == kernel:
                    return launch, forced, reason if forced else ""
        return None, False, reason

    def _step(
        self, step: str, limit: float, more: dict[str, Any], numbers: dict[str, int] | None
    ) -> tuple[Result, bool]:
        """A step's answer from the cache, else from a process. Failures but a refusal are not cached."""
        assert self._mode is not None
        compiler, probe = self.compiler, self.want.probe
        code = compiler.workspace.place(self.revision, probe, self._mode)[1]
        facts = [
            code, compiler.workspace.bundle.probes if self._mode == "package" else "", probe.model_dump(mode="json"),
            self.want.dtype, step, more, numbers, self._mode, compiler.workspace.device,
            _surroundings(self._mode == "package"),
        ]  # fmt: skip
        key = hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()
        path = compiler.cache / f"{key}.json" if compiler.cache else None
        if path is not None and (stored := _stored(path)):
            return stored, True
        with compiler.worker(self.revision, probe, self._mode) as worker:
            result = worker.step(step, probe, numbers or {}, self.want.dtype, compiler.seed, limit, **more)
            if result.ok and step == "compile":
                result = Result(_with_resources(result.data, worker.out))
        if path is not None and (result.ok or result.failure == "refused"):
            with suppress(OSError):  # a cache that cannot be written to costs time, not the run
                path.parent.mkdir(parents=True, exist_ok=True)
                part = path.with_suffix(f".{os.getpid()}.{id(self)}.part")
                part.write_text(json.dumps({"data": result.data, "failure": result.failure, "error": result.error}))
                part.replace(path)
        return result, False


def _misfit(error: Exception) -> str:
    return f"what was handed back does not fit: {type(error).__name__}: {str(error)[:300]}"


def _stored(path: Path) -> Result | None:
    """A result of the cache, None where there is none that can be read: others write there too."""
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
        return Result(dict(stored["data"]), stored["failure"], str(stored["error"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _with_resources(data: dict[str, Any], out: Path) -> dict[str, Any]:
    found = resources(out / Path(str(data["cubin"])).name, int(data["shared"]))
    return {**data, "resources": found.model_dump() if found else None}


@cache
def _surroundings(package: bool) -> list[str]:
    """What a build rests on besides the revision's code: our worker, Python, torch and Triton; a package may import
    anything that is installed, so for it all of that counts."""
    worker = hashlib.sha256(b"".join(path.read_bytes() for path in sorted(WORKER.glob("*.py")))).hexdigest()
    names = ("torch", "triton", "numpy")
    installed = {one.metadata["Name"] or "": one.version for one in distributions()}
    counted = installed if package else {name: installed.get(name, "absent") for name in names}
    return [worker, platform.python_version(), *sorted(f"{name} {found}" for name, found in counted.items())]
