"""A kernel's launches without a GPU, and what they compile to.

The kernel's own wrapper runs on fake CUDA tensors of the real shapes, with ``JITFunction.run`` intercepted: grid,
pointer dtypes, integers and constexprs come out as the wrapper makes them. Compiling goes through the JIT function's
own binder (``warmup=True`` under a stand-in driver), because a signature alone lacks the divisibility and equal-to-one
attributes and compiles another kernel than the one that is launched.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

_SHORT = {torch.float32: "fp32", torch.bfloat16: "bf16", torch.float16: "fp16", torch.float64: "fp64"}
_LONG = {name: dtype for dtype, name in _SHORT.items()}
_LONG |= {str(dtype).removeprefix("torch."): dtype for dtype in (torch.bool, torch.int8, torch.uint8, torch.int16)}
_LONG |= {str(dtype).removeprefix("torch."): dtype for dtype in (torch.int32, torch.int64)}


class Pointer:
    """Stands for a tensor in a launch: its dtype, and an address of the same alignment."""

    def __init__(self, dtype: torch.dtype, alignment: int) -> None:
        self.dtype, self.alignment = dtype, alignment

    def data_ptr(self) -> int:
        return 4096 + self.alignment

    def ptr_range(self) -> int:
        return 0


class FakeCudaGaps(TorchFunctionMode):
    """Methods that need a CUDA build even under FakeTensorMode, sent to the operators that do not."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        aten = torch.ops.aten
        if func is torch.Tensor.copy_:
            return aten.copy_(args[0], args[1])
        if func is torch.Tensor.new_tensor:
            return torch.tensor(args[1], dtype=kwargs.get("dtype", args[0].dtype), device=args[0].device)
        if func is torch.Tensor.__getitem__:
            return self._index(args[0], args[1])
        if func is torch.Tensor.__setitem__:
            return self._assign(*args)
        if func in (torch.Tensor.contiguous, torch.Tensor.clone):
            fresh = func is torch.Tensor.clone or not args[0].is_contiguous()
            return aten.copy_(torch.empty_like(args[0]), args[0]) if fresh else args[0]
        return func(*args, **kwargs)

    def _assign(self, tensor: torch.Tensor, index: Any, value: Any) -> None:
        aten = torch.ops.aten
        if isinstance(index, torch.Tensor):
            values = value if isinstance(value, torch.Tensor) else torch.full((), value, device=tensor.device)
            aten.index_put_(tensor, [index], values.to(tensor.dtype))
        elif isinstance(value, torch.Tensor):
            aten.copy_(self._index(tensor, index), value)
        else:
            aten.fill_(self._index(tensor, index), value)

    def _index(self, tensor: torch.Tensor, index: Any) -> torch.Tensor:
        aten, axis, tensors = torch.ops.aten, 0, []
        parts = index if isinstance(index, tuple) else (index,)
        missing = tensor.dim() - sum(part is not None and part is not Ellipsis for part in parts)
        for part in parts:
            if isinstance(part, torch.Tensor):
                tensors.append(part)
                axis += 1
                continue
            if tensors:
                raise NotImplementedError("an index that mixes tensors with slices, on fake tensors")
            if part is Ellipsis:
                axis += missing
            elif part is None:
                tensor = aten.unsqueeze(tensor, axis)
                axis += 1
            elif isinstance(part, slice):
                stop = part.stop if part.stop is not None else tensor.shape[axis]
                tensor = aten.slice(tensor, axis, part.start or 0, stop, part.step or 1)
                axis += 1
            else:
                tensor = aten.select(tensor, axis, int(part))
        return aten.index(tensor, tensors) if tensors else tensor


class FakeCuda:
    """FakeTensorMode in which device "cuda" exists whatever this machine has. Can be entered again and again."""

    def __init__(self) -> None:
        from torch._subclasses.fake_tensor import FakeTensorMode

        self._mode = FakeTensorMode(allow_non_fake_inputs=True)
        self._entered: list[contextlib.ExitStack] = []

    def __enter__(self) -> FakeCuda:
        stack = contextlib.ExitStack()
        stack.enter_context(self._mode)
        if not torch.cuda.is_available():
            stack.enter_context(FakeCudaGaps())
        self._entered.append(stack)
        return self

    def __exit__(self, *exception: Any) -> None:
        self._entered.pop().__exit__(*exception)


@contextlib.contextmanager
def intercepted(launches: list[dict[str, Any]]) -> Iterator[None]:
    """Record every Triton launch in `launches` in place of launching. Autotuners launch their first config."""
    from triton.runtime.autotuner import Autotuner
    from triton.runtime.jit import JITFunction

    def record(self: Any, *args: Any, grid: Any, warmup: bool = False, **kwargs: Any) -> None:
        launches.append({"function": self, "args": args, "kwargs": kwargs, "grid": grid})

    def first_config(self: Any, *args: Any, **kwargs: Any) -> Any:
        return self.fn.run(*args, **kwargs, **self.configs[0].all_kwargs())

    originals = JITFunction.run, Autotuner.run
    JITFunction.run, Autotuner.run = record, first_config
    try:
        yield
    finally:
        JITFunction.run, Autotuner.run = originals


def portable(launch: dict[str, Any]) -> dict[str, Any]:
    """A recorded launch as data: arguments by parameter name, options, grid. Tensors become dtype and alignment."""
    function = launch["function"]
    names = [parameter.name for parameter in function.params]
    given = dict(zip(names, launch["args"], strict=False)) | launch["kwargs"]
    bound = {parameter.name: parameter.default for parameter in function.params if parameter.has_default} | given
    grid = launch["grid"]
    if callable(grid):
        grid = grid(bound)
    return {
        "kernel": function.fn.__qualname__,
        "grid": [int(size) for size in grid],
        "arguments": {name: _portable(given[name]) for name in names if name in given},
        "options": {name: value for name, value in launch["kwargs"].items() if name not in names},
    }


def _portable(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        offset = value.storage_offset() * value.element_size()
        return {"pointer": _SHORT.get(value.dtype, str(value.dtype).removeprefix("torch.")), "alignment": offset % 16}
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        return {"float": repr(value)}
    if isinstance(value, torch.dtype):
        return {"dtype": str(value).removeprefix("torch.")}
    if isinstance(value, int | float | bool | str) or value is None:
        return value
    if type(value).__module__.startswith("triton.language"):
        return {"triton": str(value)}
    raise TypeError(f"an argument of type {type(value).__name__} cannot be compiled for without a GPU")


def _argument(value: Any) -> Any:
    import triton.language as tl

    if not isinstance(value, dict):
        return value
    if "pointer" in value:
        return Pointer(_LONG[value["pointer"]], value["alignment"])
    if "float" in value:
        return float(value["float"])
    if "dtype" in value:
        return getattr(torch, value["dtype"])
    return getattr(tl, {"fp32": "float32", "fp16": "float16", "bf16": "bfloat16"}.get(value["triton"], value["triton"]))


class _Driver:
    """Answers what ``JITFunction.run(warmup=True)`` asks, for an architecture that need not be here."""

    def __init__(self, architecture: int) -> None:
        from triton.backends.compiler import GPUTarget

        self.target = GPUTarget("cuda", architecture, 32)

    def get_current_device(self) -> int:
        return 0

    def get_current_stream(self, device: int) -> int:
        return 0

    def get_current_target(self) -> Any:
        return self.target


def compile_launch(function: Any, launch: dict[str, Any], architecture: str, out: Path, name: str) -> dict[str, Any]:
    """Compile `function` for a portable launch ("sm_90"); cubin to `out`, normalised PTX as a hash.

    The stand-in driver stays: a process that compiles this way launches nothing.
    """
    from triton.runtime import driver

    driver.set_active(_Driver(int(architecture.removeprefix("sm_"))))
    function.device_caches.clear()
    arguments = {key: _argument(value) for key, value in launch["arguments"].items()}
    names = {parameter.name for parameter in function.params}
    missing = sorted(p.name for p in function.params if p.name not in arguments and not p.has_default)
    unknown = sorted(set(arguments) - names)
    if unknown or missing:
        raise TypeError(f"the parameters differ: missing {missing}, unknown {unknown}")
    kernel = function.run(grid=tuple(launch["grid"]), warmup=True, **arguments, **launch["options"])
    if hasattr(kernel, "result"):
        kernel = kernel.result()
    cubin = out / f"{name}.cubin"
    cubin.write_bytes(kernel.asm["cubin"])
    source = kernel.src
    return {
        "cubin": cubin.name,
        "ptx_sha256": hashlib.sha256(normalised(kernel.asm["ptx"], kernel.metadata.name).encode()).hexdigest(),
        "signature": {str(key): str(value) for key, value in source.signature.items()},
        "shared": int(kernel.metadata.shared),
    }


_DROPPED = re.compile(r"\s*(\.loc\b|\.file\b|\$L__tmp\d+:|$)")


def normalised(ptx: str, entry: str) -> str:
    """PTX without what changes with a file's path, lines, comments and the kernel's name.

    Drops .loc and .file directives, debug sections, comments and the temporary labels that only they use.
    """
    lines, in_section = [], False
    for raw in ptx.splitlines():
        line = re.sub(r"//.*", "", raw).rstrip()
        if re.match(r"\s*\.section\b", line):
            in_section = True
        elif in_section:
            in_section = "}" not in line
        elif not _DROPPED.match(line):
            lines.append(re.sub(rf"\b{re.escape(entry)}(?=\b|_param)", "KERNEL", line))
    return "\n".join(lines)
