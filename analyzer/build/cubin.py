"""A compiled kernel's resources, read from its cubin without a GPU."""

from __future__ import annotations

import importlib.util
import re
import struct
import subprocess
from pathlib import Path

from analyzer.model.evidence import Resources

_USAGE = re.compile(r"REG:(\d+) STACK:(\d+) SHARED:(\d+)")


def disassembler() -> Path | None:
    """The cuobjdump that Triton ships, found without importing Triton; None where there is none."""
    spec = importlib.util.find_spec("triton")
    for root in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(root) / "backends" / "nvidia" / "bin" / "cuobjdump"
        if path.exists():
            return path
    return None


def resources(cubin: Path, shared: int) -> Resources | None:
    """Registers and stack of the kernel, and its code's size; `shared` is what its launch asks for, in bytes.

    None where there is no disassembler or it does not know the file.
    """
    tool = disassembler()
    if tool is None:
        return None
    try:
        run = subprocess.run(
            [str(tool), "-res-usage", str(cubin)], capture_output=True, text=True, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = _USAGE.search(run.stdout)
    if not found:
        return None
    registers, stack, static = map(int, found.groups())
    return Resources(
        registers=registers, stack_bytes=stack, shared_bytes=max(shared, static), code_bytes=code_bytes(cubin)
    )


def code_bytes(cubin: Path) -> int:
    """Bytes of machine code: the sizes of an ELF64 file's .text sections, 0 where it is no such file."""
    data = cubin.read_bytes()
    if len(data) < 64 or data[:5] != b"\x7fELF\x02":
        return 0
    (offset,) = struct.unpack_from("<Q", data, 0x28)
    size, count, names = struct.unpack_from("<HHH", data, 0x3A)
    try:
        headers = [struct.unpack_from("<IIQQQQ", data, offset + index * size) for index in range(count)]
        name_offset = headers[names][4]
    except (struct.error, IndexError):
        return 0
    return sum(header[5] for header in headers if data[name_offset + header[0] :].startswith(b".text."))
