"""What this machine allows to keep a child process apart, found by trying, and the commands that do it.

Namespaces come from `unshare`: a process namespace with a /proc of its own (nothing started in it survives, no
ancestor is visible) and a network namespace without any network. `setpriv` takes the capabilities away and, for root,
changes to another user.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from analyzer.model.base import Text
from analyzer.model.evidence import Isolation

#: The user and group of a child that root starts: nobody's numbers on most systems.
OTHER_USER = 65534
TRY_SECONDS = 10

# A process that is the first of its namespace ignores signals it sends itself, so a shell stands before it; it
# reports a signal as 128 + number. Root stays the shell's user: a change of user would undo --kill-child.
_INIT = '"$@"; exit $?'


@lru_cache(maxsize=8)
def capabilities(interpreter: str = sys.executable, readable: tuple[Path, ...] = ()) -> Isolation:
    """What can be had for children that run `interpreter` and read the `readable` paths. Tried once per process."""
    missing = []
    process = _reason_against(namespaces(process=True, network=False))
    if process:
        missing.append(Text(en=f"no process namespace ({process})", zh=f"没有独立的进程命名空间（{process}）"))
    network = process or _reason_against(namespaces(process=True, network=True))
    if network:
        missing.append(Text(en=f"no network namespace ({network})", zh=f"没有独立的网络命名空间（{network}）"))
    user = _reason_against_user(interpreter, readable)
    if user:
        missing.append(Text(en=f"the same user ({user})", zh=f"用户相同（{user}）"))
    if not Path("/proc/self/stat").exists():
        en, zh = "no limit of memory and processes (there is no /proc)", "内存与进程数不受限制（没有 /proc）"
        missing.append(Text(en=en, zh=zh))
    return Isolation(
        pid_namespace=not process, network_namespace=not network, other_user=not user, missing=tuple(missing)
    )


def wrap(argv: Sequence[str], isolation: Isolation, setup: str = "") -> list[str]:
    """The command that runs `argv` with this isolation; `setup` is shell text that runs before it."""
    privileges = _privileges(isolation.other_user) if isolation.pid_namespace or isolation.other_user else []
    command = [*privileges, *argv]
    if not isolation.pid_namespace:
        return ["/bin/sh", "-c", f'{setup}exec "$@"', "child", *command]
    apart = namespaces(process=True, network=isolation.network_namespace)
    return [*apart, "/bin/sh", "-c", f"{setup}{_INIT}", "init", *command]


def namespaces(process: bool, network: bool) -> list[str]:
    """The `unshare` command; without root's rights it takes a user namespace to get the others."""
    options = ["--pid", "--fork", "--mount-proc", "--kill-child"] if process else []
    return [
        "unshare",
        *([] if _is_root() else ["--user", "--map-root-user"]),
        *options,
        *(["--net"] if network else []),
    ]


def open_to_other(path: Path) -> str:
    """Why OTHER_USER cannot reach and read a path, empty where it can (its own, or by the mode bits for others)."""

    def allows(place: Path, bits: int) -> bool:
        found = place.stat()
        return found.st_uid == OTHER_USER or found.st_mode & bits == bits

    path = path.resolve()
    for folder in reversed(path.parents):
        if not allows(folder, 0o001):
            return f"{folder} is not open to it"
    return "" if allows(path, 0o005 if path.is_dir() else 0o004) else f"{path} is not readable for it"


def _is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0


def _privileges(other_user: bool) -> list[str]:
    user = ["--reuid", str(OTHER_USER), "--regid", str(OTHER_USER), "--clear-groups"] if other_user else []
    return ["setpriv", *user, "--no-new-privs", "--bounding-set=-all", "--inh-caps=-all", "--"]


def _reason_against(command: list[str]) -> str:
    """Why a command of namespaces does not work here, empty where it does."""
    probe = [*command, "/bin/sh", "-c", f"test $$ = 1 && {_INIT}", "init", *_privileges(False), "true"]
    return _fails(probe)


def _reason_against_user(interpreter: str, readable: tuple[Path, ...]) -> str:
    if not _is_root():
        return "only root can change it"
    path = Path(shutil.which(interpreter) or interpreter)
    for needed in (path, *readable):
        if needed.exists() and (closed := open_to_other(needed)):
            return closed
    return _fails([*_privileges(True), str(path), "-c", ""], interpreter)


def _fails(command: list[str], what: str = "") -> str:
    """The reason why a command fails, empty where it does not."""
    if not shutil.which(command[0]):
        return f"{command[0]} is not installed"
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TRY_SECONDS, cwd="/", check=False
        )
    except subprocess.TimeoutExpired:
        return f"{what or command[0]} does not end"
    except OSError as error:
        return str(error)
    if done.returncode == 0:
        return ""
    return (done.stderr.strip().splitlines() or [f"{what or command[0]} exits with {done.returncode}"])[-1]
