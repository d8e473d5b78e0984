"""What Triton's CPU interpreter may be asked: it gets some dtypes wrong in some versions, so it is tried first."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

_PROGRAM = """
import json, torch, triton, triton.language as tl

@triton.jit
def add(x, y, out, n: tl.constexpr):
    i = tl.arange(0, n)
    tl.store(out + i, tl.load(x + i) + tl.load(y + i))

@triton.jit
def half(x, out, n: tl.constexpr):
    i = tl.arange(0, n)
    tl.store(out + i, tl.load(x + i).to(tl.float32) / 2)

def run(kernel, *given, dtype):
    out = torch.empty(4, dtype=dtype)
    kernel[(1,)](*given, out, n=4)
    return out

failed = {}
for name, dtype in (("fp32", torch.float32), ("bf16", torch.bfloat16), ("fp16", torch.float16)):
    try:
        a = torch.tensor([2.5, -1.0, 0.0, 96.0], dtype=dtype)
        b = torch.tensor([2.0, 0.5, -0.25, 1.0], dtype=dtype)
        if not torch.equal(run(add, a, b, dtype=dtype), a + b):
            failed[name] = f"2.5 + 2.0 gives {run(add, a, b, dtype=dtype)[0].item()} in {name}"
        elif not torch.equal(run(half, a, dtype=dtype), (a.float() / 2).to(dtype)):
            failed[name] = f"a cast from {name} gives a wrong value"
    except Exception as error:
        failed[name] = f"{name}: {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
try:
    a = torch.tensor([2**31 - 1, -2**31, 7, 0], dtype=torch.int32)
    b = torch.tensor([0, 1, -9, 0], dtype=torch.int32)
    if not torch.equal(run(add, a, b, dtype=torch.int32), a + b):
        failed["int32"] = "int32 addition gives a wrong value"
except Exception as error:
    failed["int32"] = f"int32: {type(error).__name__}: {error}"
print(json.dumps(failed))
"""


@cache
def failures() -> dict[str, str]:
    """What the interpreter gets wrong here: dtype ("fp32", "bf16", "fp16", "int32", or "all") -> reason."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "self_test.py"
        script.write_text(_PROGRAM, encoding="utf-8")
        try:
            run = subprocess.run(
                [sys.executable, str(script)],
                env={**os.environ, "TRITON_INTERPRET": "1", "CUDA_VISIBLE_DEVICES": ""},
                capture_output=True, text=True, timeout=120, check=False, cwd=folder,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return {"all": "the interpreter's self-test did not end within 120 s"}
    lines = run.stdout.strip().splitlines()
    if run.returncode or not lines:
        error = (run.stderr.strip().splitlines() or [f"exit status {run.returncode}"])[-1]
        return {"all": f"the interpreter's self-test failed: {error}"}
    return json.loads(lines[-1])


def refusal(dtype: str) -> str | None:
    """Why a kernel may not run in the interpreter at this dtype, None where it may."""
    failed = failures()
    return failed.get("all") or failed.get("int32") or failed.get(dtype)


def self_test() -> tuple[bool, str]:
    """Whether the interpreter gets every dtype right here, and what it gets wrong."""
    return not failures(), "; ".join(failures().values())
