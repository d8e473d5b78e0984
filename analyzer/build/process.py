"""Child processes for code that is not trusted: their own environment, group, namespaces, limits and end.

A child writes to a log file and never to a pipe of ours, so that nothing it leaves behind can keep us waiting. A thread
looks at its memory and its number of processes ten times a second and ends all of it where that is too much: limits of
address space (RLIMIT_AS) break CUDA, which reserves more than there is.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import select
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from analyzer.build import isolation as apart
from analyzer.build import procfs
from analyzer.build.isolation import capabilities
from analyzer.build.plain import open_plain
from analyzer.errors import AnalyzerError
from analyzer.model.evidence import Isolation

__all__ = ["Child", "ChildEnded", "Ended", "Limits", "capabilities"]

#: What a child inherits of our environment; everything else is handed over or not there.
INHERITED = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "LD_LIBRARY_PATH")
INHERITED += ("NVIDIA_VISIBLE_DEVICES", "NVIDIA_DRIVER_CAPABILITIES")
INHERITED_PREFIX = "CUDA_"
_SECRET = ("TOKEN", "SECRET", "PASSWORD", "CREDENTIAL", "KEY")

WATCH_SECONDS = 0.1
SEND_SECONDS = 30.0
#: How long the processes of a namespace may take to die together.
_NAMESPACE_SECONDS = 10.0
#: The unit of `ulimit -f` in POSIX shells, bytes.
_BLOCK = 512
_MARKER = "ANALYZER_CHILD"


@dataclass(frozen=True)
class Limits:
    """None: no limit. Memory and processes count the child and all it started; the others each process of it.

    `memory_bytes` of RAM (procfs.memory), `cpu_seconds` of processor time, `file_bytes` of one file, log included.
    """

    memory_bytes: int | None = None
    cpu_seconds: int | None = None
    file_bytes: int | None = None
    processes: int | None = None


@dataclass(frozen=True)
class Ended:
    """How a child ended. `code`: its exit code, negative signal number where a signal ended it.

    exit: by itself. signal: by a signal that we did not send. timeout: `wait` ran out. killed: by `kill` or by a limit
    of ours, which `reason` names. `out_of_memory`: over its limit, or ended by the kernel for want of memory.
    """

    kind: Literal["exit", "signal", "timeout", "killed"]
    code: int = 0
    signal_name: str = ""
    out_of_memory: bool = False
    reason: str = ""


class ChildEnded(Exception):
    """The child is not there any more; `ended` says how it went."""

    def __init__(self, ended: Ended) -> None:
        super().__init__(f"{ended.kind} {ended.signal_name or ended.code} {ended.reason}".strip())
        self.ended = ended


class Child:
    """A running child; as a context manager it ends with the block."""

    def __init__(self, process: subprocess.Popen, log: Path, limits: Limits, isolation: Isolation, marker: str) -> None:
        self._process, self._log, self._limits, self._isolation = process, log, limits, isolation
        self._marker = marker
        self._oom_kills = procfs.oom_kills()
        self._verdict: Ended | None = None
        self._ended: Ended | None = None
        self._lock = threading.Lock()
        if limits.memory_bytes is not None or limits.processes is not None:
            threading.Thread(target=self._watch, name=f"watch {process.pid}", daemon=True).start()

    @classmethod
    def start(
        cls,
        argv: Sequence[str],
        cwd: Path,
        env: Mapping[str, str],
        log: Path,
        limits: Limits,
        isolation: Isolation,
        readable: Sequence[Path] = (),
        writable: Sequence[Path] = (),
    ) -> Child:
        """Start `argv` in `cwd`, stdout and stderr into `log`, stdin from `send`.

        `isolation` (from `capabilities`, or less) is what is used. HOME and TMPDIR are the first writable folder, or
        `cwd`. With another user, `cwd` and `writable` become that user's, and folders of ours under the temporary
        folder are opened on the way to them and to `readable`. Raises AnalyzerError where that is not enough, or `cwd`
        is not there; a program that is not there ends with exit code 127 and says so in the log.
        """
        folders = [Path(cwd), *map(Path, writable)]
        if isolation.other_user:
            for folder in folders:
                _give(folder)
            for path in (*folders, *map(Path, readable)):
                _open_way(path)
        marker = f"{_MARKER}={secrets.token_hex(16)}"
        try:
            with open_plain(log, "ab") as output:
                process = subprocess.Popen(
                    apart.wrap(list(argv), isolation, _ulimits(limits)),
                    cwd=cwd,
                    env=_environment(env, folders[1] if writable else folders[0], marker),
                    stdin=subprocess.PIPE,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
        except OSError as error:
            raise AnalyzerError(f"cannot start {argv[0]}: {error}") from None
        os.set_blocking(process.stdin.fileno(), False)
        return cls(process, Path(log), limits, isolation, marker)

    @property
    def pid(self) -> int:
        return self._process.pid

    def __enter__(self) -> Child:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def send(self, line: str, timeout: float = SEND_SECONDS) -> None:
        """Write a line to the child's stdin. Raises ChildEnded; a child that does not read for `timeout` s is ended."""
        data = memoryview(line.rstrip("\n").encode() + b"\n")
        deadline = time.monotonic() + timeout
        try:
            while data:
                if ended := self.poll():
                    raise ChildEnded(ended)
                if select.select([], [self._process.stdin], [], 0.1)[1]:
                    data = data[os.write(self._process.stdin.fileno(), data) :]
                elif time.monotonic() > deadline:
                    raise ChildEnded(self._end(Ended("timeout", reason="does not read its input")))
        except BrokenPipeError:
            # It closed its input; a process that does is on its way out.
            raise ChildEnded(self.wait(timeout=WATCH_SECONDS * 10)) from None

    def poll(self) -> Ended | None:
        """How the child ended, None while it runs."""
        if self._ended is None and self._process.poll() is not None:
            self._finish()
        return self._ended

    def wait(self, timeout: float | None) -> Ended:
        """Wait for the end; after `timeout` s everything the child started is ended ("timeout")."""
        try:
            self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            return self._end(Ended("timeout", reason=f"did not end within {timeout:g} s"))
        return self._finish()

    def kill(self) -> None:
        """End the child and all it started. Does nothing where it has ended."""
        if self.poll() is None:
            self._end(Ended("killed"))

    def log_tail(self, n: int) -> str:
        """The last `n` bytes of the log."""
        try:
            with open_plain(self._log) as log:
                log.seek(max(0, log.seek(0, os.SEEK_END) - n))
                return log.read().decode(errors="replace")
        except OSError:
            return ""

    # The end

    def _end(self, verdict: Ended) -> Ended:
        with self._lock:
            self._verdict = self._verdict or verdict
        self._sweep()
        self._process.wait()
        return self._finish()

    def _finish(self) -> Ended:
        """Once the child itself is dead: end what it left, and say how it ended."""
        if self._ended is None:
            self._sweep()
            with contextlib.suppress(OSError):
                self._process.stdin.close()
            by_itself = self._by_itself(self._process.returncode)
            self._ended = replace(self._verdict, code=by_itself.code) if self._verdict else by_itself
        return self._ended

    def _by_itself(self, status: int) -> Ended:
        if self._isolation.pid_namespace and status > 128:
            status = 128 - status  # the first process of the namespace reports a signal so
        if status >= 0:
            return Ended("exit", status)
        try:
            name = signal.Signals(-status).name
        except ValueError:
            return Ended("exit", 128 - status)
        starved = name == "SIGKILL" and procfs.oom_kills() > self._oom_kills
        return Ended("signal", status, name, starved, "ended by the kernel for want of memory" if starved else "")

    def _sweep(self) -> None:
        """End all that the child started."""
        if self._isolation.pid_namespace and self._process.poll() is None:
            # With the first process of a namespace all of it ends, and `unshare` only after that.
            for pid in procfs.children(self.pid):
                _signal(pid, signal.SIGKILL)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_NAMESPACE_SECONDS)
        _signal_group(self.pid, signal.SIGKILL)
        if not self._isolation.pid_namespace:
            self._sweep_family()
        # What was killed may take a while to be gone: thousands of processes do.
        deadline = time.monotonic() + _NAMESPACE_SECONDS
        while procfs.near(self.pid) and time.monotonic() < deadline:
            time.sleep(0.01)

    def _sweep_family(self) -> None:
        """End whoever left the group: first stop all that can be found, then none can escape."""
        stopped: set[int] = set()
        while found := procfs.family(self.pid, self._marker) - stopped:
            for pid in found:
                _signal(pid, signal.SIGSTOP)
            stopped |= found
        for pid in stopped:
            _signal(pid, signal.SIGKILL)

    def _watch(self) -> None:
        memory, count = self._limits.memory_bytes, self._limits.processes
        while self._process.poll() is None:
            pids = procfs.near(self.pid, procfs.recent(WATCH_SECONDS / 2))
            if count is not None and len(pids) - self._helpers() > count:
                self._over(Ended("killed", reason=f"more than {count} processes"))
            elif memory is not None and procfs.memory(pids) > memory:
                self._over(Ended("killed", out_of_memory=True, reason=f"more than {memory} bytes of memory"))
            time.sleep(WATCH_SECONDS)

    def _over(self, verdict: Ended) -> None:
        with self._lock:
            self._verdict = self._verdict or verdict
        self._sweep()

    def _helpers(self) -> int:
        """Processes of the tree that are ours: `unshare` and the shell in it."""
        return 2 if self._isolation.pid_namespace else 0


def _environment(given: Mapping[str, str], scratch: Path, marker: str) -> dict[str, str]:
    kept = {
        name: value
        for name, value in os.environ.items()
        if (name in INHERITED or name.startswith(INHERITED_PREFIX)) and not any(word in name for word in _SECRET)
    }
    name, _, value = marker.partition("=")
    return {**kept, "HOME": str(scratch), "TMPDIR": str(scratch), **given, name: value}


def _ulimits(limits: Limits) -> str:
    lines = ["ulimit -c 0"]
    if limits.cpu_seconds is not None:
        # The soft limit's signal (SIGXCPU) names the cause, the hard one's (SIGKILL) does not.
        lines += [f"ulimit -S -t {limits.cpu_seconds}", f"ulimit -H -t {limits.cpu_seconds + 5}"]
    if limits.file_bytes is not None:
        lines.append(f"ulimit -f {-(-limits.file_bytes // _BLOCK)}")
    return "; ".join(lines) + "; "


def _open_way(path: Path) -> None:
    """Let OTHER_USER pass through our own folders under the temporary folder; AnalyzerError where others are shut."""
    temporary = Path(tempfile.gettempdir()).resolve()
    for folder in path.resolve().parents:
        if temporary in folder.parents and folder.stat().st_uid == os.geteuid():
            folder.chmod(folder.stat().st_mode | 0o011)
    if closed := apart.open_to_other(path):
        raise AnalyzerError(f"the child's user {apart.OTHER_USER} cannot use {path}: {closed}")


def _give(folder: Path) -> None:
    """Hand a folder to OTHER_USER; a hard link in it may be a file of ours that an earlier child has linked to."""
    for path in (folder, *folder.rglob("*")):
        if path.is_dir() or path.lstat().st_nlink == 1:
            os.chown(path, apart.OTHER_USER, apart.OTHER_USER, follow_symlinks=False)


def _signal(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def _signal_group(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, number)
