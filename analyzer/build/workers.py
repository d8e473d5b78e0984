"""One revision in a child process: starting it, asking it for steps, and saying how it ended when it did not answer."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from analyzer.build.plain import open_plain
from analyzer.build.process import Child, ChildEnded, Limits
from analyzer.model.base import Text
from analyzer.model.evidence import Isolation
from analyzer.model.plan import Probe

WORKER = Path(__file__).parent / "worker"
#: Seconds that importing a revision, and compiling one kernel, may take. Running has its own limit (docs/checks.md).
IMPORT_SECONDS, COMPILE_SECONDS = 180.0, 300.0
#: Processes that a revision may have at once: start-up code of large packages starts a handful.
PROCESSES = 256
_POLL_SECONDS = 0.005

Failure = Literal["refused", "raised", "out-of-memory", "crash", "hang"]


@dataclass(frozen=True)
class Result:
    """A step's answer, or how it failed: refused (the revision's own assertion or error), raised, out-of-memory, crash
    (the process died), hang (no answer within the limit)."""

    data: dict[str, Any] = field(default_factory=dict)
    failure: Failure | None = None
    error: str = ""
    seconds: float = 0.0

    @property
    def ok(self) -> bool:
        return self.failure is None


@dataclass(frozen=True)
class Place:
    """Where a revision runs: its tree, how the tree was made, and what the child may use."""

    revision: str
    tree: Path
    mode: Literal["package", "slice"]
    device: Literal["cuda", "cpu"]
    profile_python: str
    distribution: dict[str, str]
    isolation: Isolation
    memory_bytes: int | None = None
    interpret: bool = False
    bridges: tuple[str, ...] = ()


class Worker:
    """A child process for one revision, started when first asked and started again after it died."""

    def __init__(self, place: Place, folder: Path) -> None:
        self.place, self.folder = place, folder
        self.bridges: tuple[Text, ...] = ()
        self._child: Child | None = None
        self._count = self._offset = 0
        folder.mkdir(parents=True)
        self.out = folder / "out"
        self.out.mkdir()
        self._results = folder / "results.jsonl"
        shutil.copytree(WORKER, folder / "analyzer_worker", ignore=shutil.ignore_patterns("__pycache__"))
        (folder / "analyzer_profile.py").write_text(place.profile_python, encoding="utf-8")
        job = {
            "results": str(self._results),
            "out": str(self.out),
            "tree": str(place.tree.resolve()),
            "mode": place.mode,
            "device": place.device,
            "distribution": place.distribution,
            "python": bool(place.profile_python),
        }
        (folder / "job.json").write_text(json.dumps(job), encoding="utf-8")

    def step(
        self, step: str, probe: Probe, numbers: dict[str, int], dtype: str, seed: int, limit: float, **more: Any
    ) -> Result:
        """Ask for one step and wait `limit` seconds at most; time in which a kernel compiles counts apart."""
        started = time.monotonic()
        if self._child is None or self._child.poll() is not None:
            failed = self._start(probe, seed)
            if failed is not None:
                return failed
        request = {
            "step": step, "probe": probe.model_dump(mode="json"), "numbers": numbers, "dtype": dtype, "seed": seed,
            **more,
        }  # fmt: skip
        result = self._ask(request, limit)
        return Result(result.data, result.failure, result.error, time.monotonic() - started)

    def close(self) -> None:
        if self._child is not None:
            self._child.kill()
            self._child = None

    def clear(self) -> None:
        """Delete the raw tensors that steps have handed back."""
        for path in self.out.iterdir():
            if path.is_file() and not path.is_symlink():
                path.unlink()

    def _start(self, probe: Probe, seed: int) -> Result | None:
        self._results.unlink(missing_ok=True)  # a new file: the last child may have left anything at this name
        self._results.touch(exist_ok=False)
        self._offset = 0
        self._child = Child.start(
            [sys.executable, "-m", "analyzer_worker", str(self.folder / "job.json")],
            cwd=self.folder,
            env=self._environment(),
            log=self.folder / "log.txt",
            limits=Limits(memory_bytes=self.place.memory_bytes, processes=PROCESSES),
            isolation=self.place.isolation,
            readable=[self.place.tree],
            writable=[self.folder],
        )
        loaded = self._ask({"step": "load", "probe": probe.model_dump(mode="json"), "seed": seed}, IMPORT_SECONDS)
        self.bridges = tuple(_remark(bridge) for bridge in loaded.data.get("bridges", ()))
        return None if loaded.ok else loaded

    def _environment(self) -> dict[str, str]:
        env = {"TRITON_CACHE_DIR": str(self.folder / "triton"), "TRITON_DEFAULT_FP_FUSION": "1"}
        paths = [entry for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry]
        # Our own checkout stays out: its kernels/ would shadow the package of that name that engines import.
        kept = [
            entry for entry in paths if not ((Path(entry) / "analyzer").exists() and (Path(entry) / "kernels").exists())
        ]
        if kept:
            env["PYTHONPATH"] = os.pathsep.join(kept)
        if self.place.device == "cpu":
            env["CUDA_VISIBLE_DEVICES"] = ""
        if self.place.interpret:
            env["TRITON_INTERPRET"] = "1"
        return env

    def _ask(self, request: dict[str, Any], limit: float) -> Result:
        assert self._child is not None
        self._count += 1
        number, compiling = self._count, False
        deadline = time.monotonic() + limit
        offset = self._offset
        try:
            self._child.send(json.dumps({"id": number, **request}))
        except ChildEnded:
            return self._ended()
        while True:
            ended = self._child.poll()
            try:
                records, offset = self._records(offset)
            except OSError as error:
                self.close()
                return Result(failure="crash", error=f"it replaced its file of results: {error}")
            self._offset = offset
            for record in records:
                if record.get("id") == number:
                    return _result(record)
                if "beat" in record:
                    compiling = record["beat"] == "compiling"
                    deadline = time.monotonic() + (COMPILE_SECONDS if compiling else limit)
            if ended is not None:
                return self._ended()
            if time.monotonic() > deadline:
                self.close()
                what = "compiling a kernel took" if compiling else "no answer for"
                return Result(failure="hang", error=f"{what} more than {COMPILE_SECONDS if compiling else limit:.0f} s")
            time.sleep(_POLL_SECONDS)

    def _records(self, offset: int) -> tuple[list[dict[str, Any]], int]:
        """Whole lines that the child has written since `offset`, and where they end; other than JSON is skipped."""
        with open_plain(self._results) as file:
            file.seek(offset)
            written = file.read()
        whole = written[: written.rfind(b"\n") + 1]
        records = []
        for line in whole.splitlines():
            try:
                record = json.loads(line)
            except ValueError:
                continue
            if isinstance(record, dict):
                records.append(record)
        return records, offset + len(whole)

    def _ended(self) -> Result:
        assert self._child is not None
        ended = self._child.wait(10)
        self.close()
        if ended.out_of_memory:
            return Result(failure="out-of-memory", error="the process was ended at its memory limit")
        how = f"signal {ended.signal_name}" if ended.kind == "signal" else f"exit status {ended.code}"
        return Result(failure="crash", error=f"the process died: {how}")


def _remark(said: object) -> Text:
    """What a child says that it bridged, in both languages; what is no pair of texts is taken as it is."""
    pair = said if isinstance(said, list) and len(said) == 2 else [said, said]
    return Text(en=str(pair[0]), zh=str(pair[1]))


def _result(record: dict[str, Any]) -> Result:
    if record.get("ok") is True and isinstance(record.get("data"), dict):
        return Result(data=record["data"])
    kind = record.get("kind")
    known: dict[str, Failure] = {"refused": "refused", "out-of-memory": "out-of-memory"}
    return Result(failure=known.get(str(kind), "raised"), error=str(record.get("error", ""))[:500])
