"""Both revisions' kernels compiled as they are launched, in parallel, with a cache by content."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from analyzer.build.cubin import resources
from analyzer.build.places import Mode, Workspace
from analyzer.build.workers import COMPILE_SECONDS, IMPORT_SECONDS, Result
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
    """Traces and compiles. `architecture` such as "sm_90"; `cache` a folder that may be shared between runs."""

    def __init__(self, workspace: Workspace, architecture: str, cache: Path | None, seed: int) -> None:
        self.workspace, self.architecture, self.cache, self.seed = workspace, architecture, cache, seed
        self.traces: dict[tuple[str, str, str], Trace] = {}
        self.builds: dict[tuple[str, str, str, str], Build] = {}

    def run(self, wanted: list[Wanted], progress: Callable[[str], None]) -> None:
        """Trace everything, then compile everything; results in `traces` and `builds`."""
        workers = max(1, min(os.cpu_count() or 1, 8))
        with ThreadPoolExecutor(workers) as pool:
            pairs = [(revision, want) for want in wanted for revision in REVISIONS]
            progress(f"tracing {len(pairs)} calls")
            for (revision, want), trace in zip(pairs, pool.map(lambda pair: self._trace(*pair), pairs), strict=True):
                self.traces[revision, want.probe.name, want.dtype] = trace
            jobs = [(revision, want, kernel) for revision, want in pairs for kernel in want.kernels]
            progress(f"compiling {len(jobs)} kernels for {self.architecture}")
            for (revision, want, kernel), build in zip(
                jobs, pool.map(lambda job: self._build(*job), jobs), strict=True
            ):
                self.builds[revision, want.probe.name, want.dtype, kernel] = build

    def _trace(self, revision: str, want: Wanted) -> Trace:
        mode, reason = self.workspace.mode(want.probe)
        if mode is None:
            return Trace(failure="raised", error=reason)
        numbers = want.probe.cases.get("memory") or next(iter(want.probe.cases.values()))
        result, _ = self._step(
            revision, want, mode, "launches", IMPORT_SECONDS, {}, lambda result, out: result.data, numbers
        )
        if not result.ok:
            return Trace(failure=result.failure, error=result.error)
        return Trace(tuple(result.data["launches"]), result.data["peak"])

    def _build(self, revision: str, want: Wanted, kernel: str) -> Build:
        mode, reason = self.workspace.mode(want.probe)
        facts: dict[str, Any] = {
            "revision": revision, "probe": want.probe.name, "symbol": kernel, "dtype": want.dtype,
            "architecture": self.architecture, "mode": mode or "package",
        }  # fmt: skip
        if mode is None:
            return Build(outcome="failed", reason=reason, **facts)
        facts["bridges"] = self.workspace.place(revision, want.probe, mode)[0].bridges
        launch, forced, reason = self._launch(revision, want, kernel)
        if launch is None:
            return Build(outcome="failed", reason=reason, **facts)
        more = {"launch": launch, "architecture": self.architecture}
        result, cached = self._step(revision, want, mode, "compile", COMPILE_SECONDS, more, _with_resources)
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

    def _launch(self, revision: str, want: Wanted, kernel: str) -> tuple[dict[str, Any] | None, bool, str]:
        """The revision's own launch of a kernel, else (forced) the other revision's, with the reason."""
        other = REVISIONS[1 - REVISIONS.index(revision)]
        own = self.traces[revision, want.probe.name, want.dtype]
        for trace, forced in ((own, False), (self.traces[other, want.probe.name, want.dtype], True)):
            for launch in trace.launches:
                if launch["kernel"] == kernel:
                    return launch, forced, (own.error or f"{revision} does not launch it") if forced else ""
        return None, False, own.error or "the call launches no such kernel"

    def _step(
        self, revision: str, want: Wanted, mode: Mode, step: str, limit: float, more: dict[str, Any],
        keep: Callable[[Result, Path], dict[str, Any]], numbers: dict[str, int] | None = None,
    ) -> tuple[Result, bool]:  # fmt: skip
        """A step in a process of its own, or its answer from the cache. Failures but a refusal are not cached."""
        code = self.workspace.place(revision, want.probe, mode)[1]
        facts = [code, self.workspace.bundle.probes, want.probe.model_dump(mode="json"), want.dtype, step, more,
                 numbers, mode, self.workspace.device, _versions()]  # fmt: skip
        key = hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()
        path = self.cache / f"{key}.json" if self.cache else None
        if path is not None and path.exists():
            stored = json.loads(path.read_text(encoding="utf-8"))
            return Result(stored["data"], stored["failure"], stored["error"]), True
        worker = self.workspace.new_worker(revision, want.probe, mode)
        try:
            result = worker.step(step, want.probe, numbers or {}, want.dtype, self.seed, limit, **more)
            if result.ok:
                result = Result(keep(result, worker.out))
        finally:
            worker.close()
        if path is not None and (result.ok or result.failure == "refused"):
            path.parent.mkdir(parents=True, exist_ok=True)
            part = path.with_suffix(f".{os.getpid()}.part")
            part.write_text(json.dumps({"data": result.data, "failure": result.failure, "error": result.error}))
            part.replace(path)
        return result, False


def _with_resources(result: Result, out: Path) -> dict[str, Any]:
    found = resources(out / Path(str(result.data["cubin"])).name, int(result.data["shared"]))
    return {**result.data, "resources": found.model_dump() if found else None}


def _versions() -> list[str]:
    found = []
    for name in ("torch", "triton"):
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            found.append(f"{name} absent")
    return found
