"""Looks at the processes of this machine through /proc; where there is none (macOS) it sees nothing."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

PROC = Path("/proc")
KIB = 1024


class Process(NamedTuple):
    pid: int
    parent: int
    group: int
    session: int
    state: str


def is_readable() -> bool:
    """True where /proc shows this process."""
    return (PROC / "self" / "stat").exists()


def processes() -> list[Process]:
    """All processes that /proc shows now."""
    found = []
    for entry in os.listdir(PROC) if is_readable() else ():
        if not entry.isdigit():
            continue
        try:
            stat = (PROC / entry / "stat").read_bytes()
        except OSError:  # ended meanwhile
            continue
        # The name in parentheses may hold spaces and parentheses.
        state, parent, group, session = stat.rpartition(b")")[2].split()[:4]
        found.append(Process(int(entry), int(parent), int(group), int(session), state.decode()))
    return found


def children(parent: int) -> list[int]:
    """The processes that `parent` has started and not reaped."""
    return [process.pid for process in processes() if process.parent == parent]


class _Recent:
    """One look at /proc for all who ask within `seconds`: every child has a watcher, and a look costs milliseconds."""

    def __init__(self) -> None:
        self._lock, self._taken, self._found = threading.Lock(), 0.0, []

    def __call__(self, seconds: float) -> list[Process]:
        with self._lock:
            if time.monotonic() - self._taken > seconds:
                self._found = processes()
                self._taken = time.monotonic()
            return self._found


recent = _Recent()


def near(root: int, seen: Iterable[Process] | None = None) -> set[int]:
    """Living processes that descend from `root` or are in its session or group, itself included, among those `seen`."""
    alive = [process for process in (processes() if seen is None else seen) if process.state != "Z"]
    children: dict[int, list[int]] = {}
    for process in alive:
        children.setdefault(process.parent, []).append(process.pid)
    front = [process.pid for process in alive if root in (process.pid, process.session, process.group)]
    found = set(front)
    while front:
        front = [child for pid in front for child in children.get(pid, ()) if child not in found]
        found.update(front)
    return found


def family(root: int, marker: str) -> set[int]:
    """`near`, and whoever left session, group and parents but carries `marker` in its environment."""
    alive = (process.pid for process in processes() if process.state != "Z")
    return near(root) | {pid for pid in alive if marker.encode() in _read(pid, "environ")}


def memory(pids: Iterable[int]) -> int:
    """Bytes of RAM that belong to the processes and to no file (RssAnon + RssShmem of proc(5)).

    Pages shared after a fork count once for each process. Reserved addresses do not count: CUDA reserves far more
    than it uses.
    """
    total = 0
    for pid in pids:
        for line in _read(pid, "status").splitlines():
            if line.startswith((b"RssAnon:", b"RssShmem:")):
                total += int(line.split()[1]) * KIB
    return total


def oom_kills() -> int:
    """How many processes the kernel has ended for want of memory since it started."""
    try:
        lines = (PROC / "vmstat").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith("oom_kill "))


def _read(pid: int, name: str) -> bytes:
    try:
        return (PROC / str(pid) / name).read_bytes()
    except OSError:
        return b""
