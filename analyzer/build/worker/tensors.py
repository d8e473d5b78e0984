"""Raw tensors between child and parent: bytes in a file, dtype and shape beside it. Nothing is unpickled."""

from __future__ import annotations

from pathlib import Path
from typing import Any

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
    path = folder / Path(str(record["path"])).name
    count = 1
    for size in shape:
        count *= size
    if dtype is None or min(shape, default=0) < 0 or path.is_symlink():
        raise ValueError(f"not a tensor that can be read: {record}")
    if path.stat().st_size != count * dtype.itemsize:
        raise ValueError(f"{path.name} has {path.stat().st_size} bytes, {record} needs {count * dtype.itemsize}")
    if count == 0:
        return torch.empty(shape, dtype=dtype)
    return torch.from_file(str(path), size=count * dtype.itemsize, dtype=torch.uint8).view(dtype).reshape(shape)
