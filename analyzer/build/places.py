"""Each revision's code on disk, in the two ways that make it runnable: the whole package, or a slice of it."""

from __future__ import annotations

import hashlib
import json
import threading
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from analyzer.build.slices import cut
from analyzer.build.workers import Place, Result, Worker
from analyzer.bundle import Bundle
from analyzer.model.base import Text
from analyzer.model.evidence import Isolation
from analyzer.model.plan import Probe
from analyzer.profiles import Profile

Mode = Literal["package", "slice"]


@dataclass
class Workspace:
    """Trees and workers of a bundle's revisions below one scratch folder.

    `broken_heads`: probe -> how head failed to import where base did not.

    `device`, `isolation` and `memory_bytes` are what every child gets. A worker is shared by all probes that run in
    package mode; a slice has a worker of its own.
    """

    bundle: Bundle
    profile: Profile
    folder: Path
    device: Literal["cuda", "cpu"]
    isolation: Isolation
    memory_bytes: int | None = None

    def __post_init__(self) -> None:
        self._places: dict[tuple[str, str, Mode], tuple[Place, str]] = {}
        self._workers: dict[tuple[str, str, bool, int], Worker] = {}
        self._modes: dict[str, tuple[Mode | None, str]] = {}
        self._no_package = ""
        self.broken_heads: dict[str, str] = {}
        self._serial = 0
        self._lock = threading.RLock()  # the compiler's threads share the places

    def has_target(self, revision: str, probe: Probe) -> bool:
        """Whether the probe's module is in the revision, and names the target's first part."""
        source = self._read(revision, probe.target.partition(":")[0].replace(".", "/"))
        return source is not None and probe.target.partition(":")[2].split(".")[0] in source

    def mode(self, probe: Probe) -> tuple[Mode | None, str]:
        """The first way in which base and head can both be imported, or None with the reason why there is none."""
        with self._lock:
            if probe.name not in self._modes:
                self._modes[probe.name] = self._find_mode(probe)
            return self._modes[probe.name]

    def order(self, probe: Probe, compiling: bool = False) -> list[Mode]:
        """The probe's modes in the order in which they are tried.

        To run on a GPU the package comes first: it is what users run. To compile, and without a GPU, the slice does: it
        imports in a second, needs none of the project's dependencies, and its content names all that a build rests on.
        """
        return sorted(probe.modes, reverse=compiling or self.device == "cpu")

    def place(self, revision: str, probe: Probe, mode: Mode) -> tuple[Place, str]:
        """The revision's tree in a mode, and a hash of all the code in it."""
        key = (revision, "" if mode == "package" else probe.name, mode)
        with self._lock:
            if key not in self._places:
                self._places[key] = self._slice(revision, probe) if mode == "slice" else self._package(revision)
            return self._places[key]

    def worker(self, revision: str, probe: Probe, mode: Mode, interpret: bool = False, number: int = 0) -> Worker:
        """The running worker for a probe; `number` tells several beside each other apart."""
        key = (revision, "" if mode == "package" else probe.name, interpret, number)
        if key not in self._workers:
            self._workers[key] = self.new_worker(revision, probe, mode, interpret)
        return self._workers[key]

    def new_worker(self, revision: str, probe: Probe, mode: Mode, interpret: bool = False) -> Worker:
        """A worker of one's own; the caller closes it."""
        place = replace(self.place(revision, probe, mode)[0], interpret=interpret)
        with self._lock:
            self._serial += 1
            folder = self.folder / "workers" / f"{self._serial}-{revision}"
        return Worker(place, folder)

    def bridges(self) -> tuple[Text, ...]:
        """What stood in for missing parts, over all that ran."""
        replaced = dict.fromkeys(name for place, _ in self._places.values() for name in place.bridges)
        slices = [Text(en=f"slice: {name} replaced", zh=f"切片：替换了 {name}") for name in replaced]
        loaded = [bridge for worker in self._workers.values() for bridge in worker.bridges]
        return tuple(dict.fromkeys((*loaded, *slices)))

    def clear(self, probe: Probe, ended: bool) -> None:
        """Delete the raw tensors that workers have handed back; a probe that has `ended` needs its slices no more."""
        for (_, name, _, _), worker in self._workers.items():
            worker.clear()
            if ended and name == probe.name:
                worker.close()

    def close(self) -> None:
        for worker in self._workers.values():
            worker.close()
        self._workers.clear()

    def _find_mode(self, probe: Probe) -> tuple[Mode | None, str]:
        reasons = []
        for mode in self.order(probe):
            if mode == "package" and self._no_package:
                reasons.append(f"package: {self._no_package}")
                continue
            failed = self._try(probe, mode)
            if failed is None:
                return mode, "; ".join(reasons)
            if mode == "package":
                self._no_package = failed
            reasons.append(f"{mode}: {failed}")
        return None, "; ".join(reasons)

    def _try(self, probe: Probe, mode: Mode) -> str | None:
        for revision in ("base", "head"):
            result = self.load(revision, probe, mode)
            if not result.ok:
                # A module that is not installed here says nothing of the change.
                if revision == "head" and not result.error.startswith("ModuleNotFoundError"):
                    self.broken_heads[probe.name] = f"{mode}: {result.error}"
                return f"{revision} cannot be imported ({result.error})"
        return None

    def load(self, revision: str, probe: Probe, mode: Mode) -> Result:
        """Import the probe's target."""
        return self.worker(revision, probe, mode).step("load", probe, {}, probe.dtypes[0], 0, limit=180.0)

    def _package(self, revision: str) -> tuple[Place, str]:
        tree = self.folder / revision / "tree"
        self.bundle.extract(revision, tree)
        return self._at(revision, tree, "package", self.bundle.probes, ()), _hash(self.bundle.revision(revision).files)

    def _slice(self, revision: str, probe: Probe) -> tuple[Place, str]:
        module, _, qualified = probe.target.partition(":")
        tree = self.folder / revision / "slices" / probe.name
        cutting = cut(lambda path: self._text(revision, path), module, [qualified.split(".")[0]], self.profile.stubs)
        for path, source in cutting.files.items():
            (tree / path).parent.mkdir(parents=True, exist_ok=True)
            (tree / path).write_text(source, encoding="utf-8")
        bridges = (*cutting.bridges, *cutting.missing)
        python = self.bundle.probes if probe.python else ""  # what it builds is part of what a build rests on
        return self._at(revision, tree, "slice", python, bridges), _hash({**cutting.files, "probes.py": python})

    def _at(self, revision: str, tree: Path, mode: Mode, python: str, bridges: tuple[str, ...]) -> Place:
        return Place(
            revision, tree, mode, self.device, python, dict(self.profile.distribution), self.isolation,
            self.memory_bytes, bridges=bridges,
        )  # fmt: skip

    def _read(self, revision: str, stem: str) -> str | None:
        return self._text(revision, f"{stem}.py") or self._text(revision, f"{stem}/__init__.py")

    def _text(self, revision: str, path: str) -> str | None:
        """A file's text by its path from the import root; the first of the profile's roots that has it."""
        for root in self.profile.roots:
            content = self.bundle.source(revision, f"{root}/{path}" if root else path)
            if content is not None:
                return content.decode("utf-8", "replace")
        return None


def _hash(files: dict[str, str]) -> str:
    return hashlib.sha256(json.dumps(sorted(files.items())).encode()).hexdigest()
