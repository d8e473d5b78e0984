"""Base and head in this process: for tests that call many small pairs, where starting processes would take the time.

What a hang or a crash does needs real processes; those pairs are measured with them (`measure.py`).
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

from analyzer.build import worker as package
from analyzer.build.workers import Place, Result, Worker
from analyzer.checks.probe_run import ProbeRun
from analyzer.model.change import Change, Subject
from analyzer.model.evidence import Isolation
from analyzer.model.plan import Plan, Probe


class LocalWorker:
    """Answers steps as `analyzer.build.workers.Worker` does, by the same code, with the revision's modules its own."""

    def __init__(self, tree: Path, out: Path, device: str = "cpu") -> None:
        sys.modules.setdefault("analyzer_worker", package)
        steps = importlib.import_module("analyzer_worker.steps")
        self.tree, self.out, self.device = tree, out, device
        out.mkdir(parents=True, exist_ok=True)
        job = {
            "out": str(out),
            "tree": str(tree),
            "mode": "slice",
            "device": device,
            "distribution": {},
            "python": False,
        }
        self._failure = importlib.import_module("analyzer_worker.__main__").failure
        self._modules: dict[str, Any] = {}
        self._session = steps.Session(job, beat=lambda what: None)
        self._session._bridges = []
        self._count = 0

    def step(
        self, step: str, probe: Probe, numbers: dict[str, int], dtype: str, seed: int, limit: float, **more: Any
    ) -> Result:
        self._count += 1
        request = {
            "id": self._count, "step": step, "probe": probe.model_dump(mode="json"), "numbers": numbers,
            "dtype": dtype, "seed": seed, **more,
        }  # fmt: skip
        before = set(sys.modules)
        sys.modules |= self._modules
        sys.path.insert(0, str(self.tree))
        importlib.invalidate_caches()
        try:
            return Result(self._session.run(request))
        except Exception as error:
            found = self._failure(error, str(self.tree))
            kind = found["kind"] if found["kind"] in ("refused", "out-of-memory") else "raised"
            return Result(failure=kind, error=found["error"])  # type: ignore[arg-type]
        finally:
            sys.path.remove(str(self.tree))
            mine = [
                name for name, module in sys.modules.items()
                if name not in before and str(getattr(module, "__file__", "")).startswith(str(self.tree))
            ]  # fmt: skip
            self._modules |= {name: sys.modules.pop(name) for name in mine}
            for name in self._modules:
                sys.modules.pop(name, None)

    def clear(self) -> None:
        for path in self.out.iterdir():
            path.unlink()

    def close(self) -> None:
        self._modules.clear()

    def another(self) -> LocalWorker:
        """Another of the same tree, with modules of its own."""
        return LocalWorker(
            self.tree, self.out.with_name(f"{self.out.name}-{len(list(self.out.parent.iterdir()))}"), self.device
        )


Workers = dict[str, Any]


def local_workers(folder: Path, module: str, sources: dict[str, str], device: str = "cpu") -> Workers:
    """Base and head in this process, from their source texts."""
    return {
        side: LocalWorker(_tree(folder / side, module, text), folder / side / "out", device)
        for side, text in sources.items()
    }


def process_workers(folder: Path, module: str, sources: dict[str, str], device: str = "cpu") -> Workers:
    """Base and head in processes of their own, as the check stage has them."""
    return {
        side: Process(
            Place(side, _tree(folder / side, module, text), "slice", device, "", {}, Isolation()),  # type: ignore[arg-type]
            folder / side / "worker",
        )
        for side, text in sources.items()
    }


class Process(Worker):
    """A real worker that can open another beside it."""

    def another(self) -> Process:
        return Process(
            self.place, self.folder.with_name(f"{self.folder.name}-{len(list(self.folder.parent.iterdir()))}")
        )


def _tree(folder: Path, module: str, text: str) -> Path:
    tree = folder / "tree"
    tree.mkdir(parents=True, exist_ok=True)
    (tree / f"{module}.py").write_text(text, encoding="utf-8")
    return tree


def pair_run(workers: Workers, probe: Probe, dtype: str = "fp32", seed: int = 0, device: str = "cpu") -> ProbeRun:
    """A run of `probe` over both sides."""
    plan = Plan(
        subject=Subject(repository="pair", base="0" * 40, head="1" * 40),
        change=Change(files=()),
        profile="generic",
        seed=seed,
    )

    def open_fresh(side: str, number: int) -> Any:
        name = f"{side} {number}"
        if name not in workers:
            workers[name] = workers[side].another()
        return workers[name]

    return ProbeRun(
        plan,
        probe,
        dtype,
        lambda side: workers[side],
        False,
        None,
        device,
        device == "cpu",
        open_fresh=open_fresh,  # type: ignore[arg-type]
    )
