"""Peak memory of a call: from the CUDA allocator, or predicted by running the call on fake tensors."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

# Taken before the code under test is imported, so that it cannot put others in their place.
_statistics = getattr(torch._C, "_cuda_memoryStats", None)
_reset_peak = getattr(torch._C, "_cuda_resetPeakMemoryStats", None)
_synchronize = torch.cuda.synchronize


def _bytes(kind: str, which: str) -> int:
    return int(_statistics(torch.cuda.current_device())[kind]["all"][which])


#: Bytes that a process may keep for its next call; base and head share the GPU, and the checks need some of it.
KEPT_BYTES = 4 << 30


def release() -> None:
    """Hand unused memory back to the GPU where it is much."""
    if torch.cuda.is_initialized() and torch.cuda.memory_reserved() > KEPT_BYTES:
        torch.cuda.empty_cache()


def measure(call: Callable[[], Any]) -> dict[str, int]:
    """Run `call`; the peak above what was allocated before it, in bytes: as the allocator rounds, and as requested."""
    _synchronize()
    _reset_peak(torch.cuda.current_device())
    before = {kind: _bytes(kind, "current") for kind in ("allocated_bytes", "requested_bytes")}
    result = call()
    _synchronize()
    peaks = {kind: _bytes(kind, "peak") - before[kind] for kind in before}
    del result
    return {"bytes": peaks["allocated_bytes"], "requested": peaks["requested_bytes"]}


def peak_source(call: Callable[[], Any], tree: str) -> str:
    """Where in the revision the largest block that is live at the peak of `call` was allocated: "file:line", or ""."""
    torch.cuda.memory._record_memory_history(context="alloc", stacks="python", max_entries=200_000)
    try:
        result = call()
        _synchronize()
        trace = torch.cuda.memory._snapshot()["device_traces"][torch.cuda.current_device()]
    finally:
        torch.cuda.memory._record_memory_history(enabled=None)
    del result
    live: dict[int, dict[str, Any]] = {}
    now = top = 0
    largest: dict[str, Any] | None = None
    for event in trace:
        if event["action"] == "alloc":
            live[event["addr"]] = event
            now += event["size"]
            if now > top:
                top, largest = now, max(live.values(), key=lambda block: block["size"])
        elif event["action"] == "free_completed" and event["addr"] in live:
            now -= live.pop(event["addr"])["size"]
    for frame in (largest or {}).get("frames", ()):
        if frame["filename"].startswith(tree):
            return f"{Path(frame['filename']).relative_to(tree)}:{frame['line']}"
    return ""


class Prediction(TorchDispatchMode):
    """Follows the storages that operations make, and where in `tree` they were made.

    `peak` is the largest sum of bytes alive at once; `source` the line that made the largest storage alive then.
    `ignore` has the inputs, whose storages do not count. Sizes are as requested, without the allocator's rounding.
    """

    def __init__(self, tree: str, ignore: tuple[torch.Tensor, ...]) -> None:
        super().__init__()
        self.tree, self.now, self.peak, self.source = tree, 0, 0, ""
        self._ignored = [tensor.untyped_storage() for tensor in ignore]
        self._live: dict[int, tuple[int, str]] = {}
        self._known = {storage._cdata for storage in self._ignored}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        for leaf in tree_leaves(result):
            if isinstance(leaf, torch.Tensor):
                self._track(leaf.untyped_storage())
        return result

    def _track(self, storage: torch.UntypedStorage) -> None:
        key = storage._cdata
        if key in self._known:
            return
        self._known.add(key)
        self._live[key] = (storage.nbytes(), self._line())
        self.now += storage.nbytes()
        weakref.finalize(storage, self._end, key)
        if self.now > self.peak:
            self.peak = self.now
            self.source = max(self._live.values())[1]

    def _end(self, key: int) -> None:
        size, _ = self._live.pop(key)
        self._known.discard(key)
        self.now -= size

    def _line(self) -> str:
        frame = sys._getframe()
        while frame is not None:
            if frame.f_code.co_filename.startswith(self.tree):
                return f"{Path(frame.f_code.co_filename).relative_to(self.tree)}:{frame.f_lineno}"
            frame = frame.f_back
        return ""
