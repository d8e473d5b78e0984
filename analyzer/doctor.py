"""What this machine can do, each line measured and none assumed."""

from __future__ import annotations

import importlib
import importlib.metadata
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from typing import NamedTuple

from rich.table import Table

_EXTRA = "pip install torch triton numpy scipy"
ARCHITECTURES = ("sm_80", "sm_90", "sm_100")


class Finding(NamedTuple):
    """`ok`: whether it is there and works; `detail`: its version, or what is wrong and what to do."""

    what: str
    ok: bool
    detail: str


def examine(progress: Callable[[str], None]) -> list[Finding]:
    """Every finding, in the order in which one depends on the other."""
    progress("looking at the installation")
    found = [_git(), Finding("Python", True, f"{platform.python_version()} ({sys.executable})")]
    found += [_package(name) for name in ("torch", "triton", "numpy", "scipy")]
    found.append(_gpu())
    progress("trying to isolate a child process")
    found += _isolation()
    progress("compiling a kernel")
    found += [_compiles(architecture) for architecture in ARCHITECTURES]
    progress("testing the interpreter")
    found.append(_interpreter())
    return found


def table(found: list[Finding]) -> Table:
    shown = Table("", "what", "detail", box=None)
    for one in found:
        shown.add_row("[green]✓[/]" if one.ok else "[yellow]✗[/]", one.what, one.detail.replace("[", r"\["))
    return shown


def _git() -> Finding:
    if shutil.which("git") is None:
        return Finding("Git", False, "not installed: install Git 2.30 or newer")
    return Finding("Git", True, _said(["git", "--version"]).removeprefix("git version "))


def _package(name: str) -> Finding:
    try:
        return Finding(name, True, importlib.metadata.version(name))
    except importlib.metadata.PackageNotFoundError:
        return Finding(name, False, f"not installed; only the static part runs without it: {_EXTRA}")


def _gpu() -> Finding:
    listed = _said(["nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"])
    try:
        torch = importlib.import_module("torch")
    except ImportError:
        return Finding("GPU", False, f"{listed or 'none found'}; unusable without torch")
    if not torch.cuda.is_available():
        why = "this torch has no CUDA" if torch.version.cuda is None else "CUDA does not start"
        return Finding("GPU", False, f"{listed}; {why}" if listed else f"none ({why}): checks run on the CPU")
    major, minor = torch.cuda.get_device_capability()
    name = torch.cuda.get_device_name()
    return Finding("GPU", True, f"{listed.splitlines()[0] if listed else name}, sm_{major}{minor}")


def _isolation() -> list[Finding]:
    from analyzer.build.process import capabilities

    isolation = capabilities()
    parts = {
        "own process namespace": isolation.pid_namespace,
        "no network": isolation.network_namespace,
        "another user": isolation.other_user,
    }
    missing = "; ".join(getattr(one, "en", one) for one in isolation.missing)
    return [
        Finding(f"isolation: {name}", has, "" if has else missing or "not possible here") for name, has in parts.items()
    ]


def _compiles(architecture: str) -> Finding:
    """Really compile a small kernel, in a process of its own with an empty cache."""
    what = f"compiling for {architecture}"
    try:
        importlib.metadata.version("triton")
    except importlib.metadata.PackageNotFoundError:
        return Finding(what, False, f"needs Triton: {_EXTRA}")
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "TRITON_CACHE_DIR": cache}
        command = [sys.executable, "-m", "analyzer.doctor_kernel", architecture]
        ended = subprocess.run(command, env=environment, cwd=cache, capture_output=True, text=True, check=False)
    if ended.returncode == 0:
        return Finding(what, True, ended.stdout.strip())
    return Finding(what, False, (ended.stderr.strip().splitlines() or [f"exit code {ended.returncode}"])[-1])


def _interpreter() -> Finding:
    what = "Triton interpreter, bf16 and int32"
    try:
        self_test = importlib.import_module("analyzer.build.interpreter").self_test
    except ImportError as error:
        return Finding(what, False, f"{error}: {_EXTRA}")
    ok, reason = self_test()
    return Finding(what, ok, reason)


def _said(command: list[str]) -> str:
    """A command's output, empty where it is not there or fails."""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=30).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""
