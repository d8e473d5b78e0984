"""Raw tensors between child and parent: bytes in a file, dtype and shape beside it. Nothing is unpickled."""

from __future__ import annotations

import math
import os
import stat
from pathlib import Path
from typing import Any

import numpy
import torch

_NAMES = {
    "float32": torch.float32,
    "bfloat16": torch.bfloat16,
    "float16": torch.float16,
    "float64": torch.float64,
    "int32": torch.int32,
    "int64": torch.int64,
    "uint8": torch.uint8,
    "bool": torch.bool,
}


def write(tensor: torch.Tensor, path: Path) -> dict[str, Any]:
    """Write a tensor's elements in row-major order; returns what `read` needs."""
    flat = tensor.detach().contiguous().cpu().reshape(-1).view(torch.uint8)
    flat.numpy().tofile(path)
    return {"path": path.name, "dtype": str(tensor.dtype).removeprefix("torch."), "shape": list(tensor.shape)}


def hashed(tensor: torch.Tensor) -> torch.Tensor:
    """A hash of a tensor's bytes, int64 on its device: the sum of its bytes, each times an odd number of its place."""
    flat = tensor.detach().contiguous().reshape(-1).view(torch.uint8).long()
    place = torch.arange(len(flat), device=flat.device)
    mixed = (flat + 1) * (place * 0x9E3779B97F4A7C1 + 0x2545F4914F6CDD1D | 1)
    return (mixed ^ (mixed >> 29)).sum()


def poison(given: dict[str, Any]) -> None:
    """Fill memory that the allocator will hand out next with NaN: what a call leaves unwritten shows."""
    for value in given.values():
        if isinstance(value, torch.Tensor) and value.is_cuda and value.numel():
            # Twice: an output of the inputs' shape, in their dtype or in fp32, and scratch.
            blocks = [torch.full(value.shape, math.nan, device=value.device) for _ in range(2)]
            if value.is_floating_point():
                blocks.append(torch.full(value.shape, math.nan, dtype=value.dtype, device=value.device))
            del blocks


def read(record: dict[str, Any], folder: Path) -> torch.Tensor:
    """Read a tensor that `write` wrote in `folder`; ValueError where record and file do not fit each other."""
    dtype, shape = _NAMES.get(str(record["dtype"])), [int(size) for size in record["shape"]]
    if dtype is None or min(shape, default=0) < 0:
        raise ValueError(f"not a tensor that can be read: {record}")
    wanted = math.prod(shape) * dtype.itemsize
    # The child may have put anything at the path: a link, a pipe, a device.
    number = os.open(folder / Path(str(record["path"])).name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with open(number, "rb") as file:
        about = os.fstat(number)
        if not stat.S_ISREG(about.st_mode) or about.st_nlink != 1 or about.st_size != wanted:
            raise ValueError(f"{record['path']} is no file of {wanted} bytes, which {record} needs")
        content = numpy.fromfile(file, dtype=numpy.uint8)
    return torch.from_numpy(content).view(dtype).reshape(shape) if wanted else torch.empty(shape, dtype=dtype)
