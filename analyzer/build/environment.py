"""The machine of the check stage."""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from typing import Literal

from analyzer.errors import UsageError
from analyzer.model.evidence import Environment

#: What kernels are compiled for where no GPU says otherwise.
DEFAULT_ARCHITECTURE = "sm_90"


def choose_device(wanted: Literal["auto", "cuda", "cpu"]) -> Literal["cuda", "cpu"]:
    """The device to run on; UsageError where "cuda" is asked for and there is none."""
    import torch

    there = torch.cuda.is_available()
    if wanted == "cuda" and not there:
        raise UsageError("--device cuda: torch finds no CUDA GPU here; `analyze doctor` says what this machine can do")
    return "cuda" if there and wanted != "cpu" else "cpu"


def describe(device: Literal["cuda", "cpu"]) -> Environment:
    """Versions, and the GPU where the device is one."""
    gpu = architecture = driver = ""
    if device == "cuda":
        import torch

        gpu = torch.cuda.get_device_name(0)
        architecture = "sm_{}{}".format(*torch.cuda.get_device_capability(0))
        driver = driver_version()
    return Environment(
        gpu=gpu,
        architecture=architecture,
        driver=driver,
        torch=_version("torch"),
        triton=_version("triton"),
        numpy=_version("numpy"),
        python=platform.python_version(),
        platform=f"{platform.system()} {platform.machine()}",
    )


def gpu_answers(seconds: float = 120.0) -> bool:
    """Whether a fresh process can compute on the GPU: code under test may have left it hung or in an error."""
    program = "import torch; assert torch.ones(1024, device='cuda').sum().item() == 1024"
    try:
        run = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=seconds, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return run.returncode == 0


def driver_version() -> str:
    """The NVIDIA driver's version, empty where nvidia-smi does not answer."""
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return ""
    try:
        run = subprocess.run(
            [tool, "--query-gpu=driver_version", "--format=csv,noheader"],
            capture_output=True, text=True, timeout=20, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return run.stdout.strip().splitlines()[0].strip() if run.returncode == 0 and run.stdout.strip() else ""


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""
