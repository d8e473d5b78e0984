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
