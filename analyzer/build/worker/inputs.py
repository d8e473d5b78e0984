"""A probe's inputs, made the same way in the child and in the parent: from numbers and a seed."""

from __future__ import annotations

import ast
import math
import operator
from typing import Any

import torch

DTYPES = {
    "fp32": torch.float32,
    "bf16": torch.bfloat16,
    "fp16": torch.float16,
    "fp64": torch.float64,
    "int32": torch.int32,
    "int64": torch.int64,
    "bool": torch.bool,
}

_OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}


def number(expression: int | float | str | bool, numbers: dict[str, Any]) -> Any:
    """The value of an integer, a float, or an expression such as ``rows // 8`` over the case's numbers."""
    if not isinstance(expression, str):
        return expression

    def value(node: ast.expr) -> Any:
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name):
            return numbers[node.id]
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            return _OPERATORS[type(node.op)](value(node.left), value(node.right))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -value(node.operand)
        raise ValueError(f"not an expression over {sorted(numbers)}: {expression!r}")

    return value(ast.parse(expression, mode="eval").body)


def make(
    spec: dict[str, Any], numbers: dict[str, Any], logits_dtype: str, device: str, seed: int, random: bool = True
) -> torch.Tensor | None:
    """One input tensor (None for fill "none"), with its spots and blank rows."""
    made = _filled(spec, numbers, logits_dtype, device, seed, random)
    if made is None or not made.numel():
        return made
    for name, flat in (("spots", made.view(-1)), ("blanks", made)):
        wanted = [number(value, numbers) for value in spec.get("parameters", {}).get(name, ())]
        for every, value in zip(wanted[::2], wanted[1::2], strict=True):
            flat[every - 1 :: every] = value
    return made


def _filled(
    spec: dict[str, Any], numbers: dict[str, Any], logits_dtype: str, device: str, seed: int, random: bool
) -> torch.Tensor | None:
    """Random fills draw from a generator of `device` that is seeded with `seed`, so that both revisions, and the
    parent, get the same bytes. `random=False` leaves random fills unset: shapes are all that a fake run needs."""
    fill, options = spec["fill"], spec.get("parameters", {})
    if fill == "none":
        return None
    shape = [number(size, numbers) for size in spec["shape"]]
    dtype = DTYPES[logits_dtype if spec["dtype"] == "logits" else spec["dtype"]]

    def option(name: str, default: float) -> Any:
        return number(options.get(name, default), numbers)

    if fill == "constant":
        return torch.full(shape, option("value", 0), dtype=dtype, device=device)
    if fill == "arange":
        last = option("start", 0) + shape[0] * option("step", 1)
        return torch.arange(option("start", 0), last, option("step", 1), dtype=dtype, device=device)
    if fill == "repeat":
        return (torch.arange(shape[0], device=device) // option("every", 1)).to(dtype)
    if fill == "cycle":
        return (torch.arange(shape[0], device=device) % option("every", 1)).to(dtype)
    if fill == "columns":
        column = torch.arange(math.prod(shape), device=device) % shape[-1]
        return (column * option("step", 1)).to(dtype).reshape(shape)
    if fill == "values":
        wanted = torch.tensor([number(value, numbers) for value in options["values"]], dtype=dtype, device=device)
        place = torch.arange(math.prod(shape), device=device) % len(wanted)
        return wanted[place].reshape(shape)
    if not random:
        return torch.empty(shape, dtype=dtype, device=device)
    generator = torch.Generator(device=device).manual_seed(seed)
    if fill == "normal":
        return torch.randn(shape, generator=generator, device=device).mul_(option("scale", 1.0)).to(dtype)
    if fill == "uniform":
        drawn = torch.rand(shape, generator=generator, device=device)
        return (option("low", 0.0) + drawn * (option("high", 1.0) - option("low", 0.0))).to(dtype)
    if fill == "distinct":  # each row begins elsewhere and goes on by an odd step; its number is below high / 100
        high = option("high", 2)
        first = torch.randint(high, (shape[0], 1), generator=generator, device=device)
        step = 1 + 2 * torch.randint(50, (shape[0], 1), generator=generator, device=device)
        return ((first + step * torch.arange(shape[1], device=device)) % high).to(dtype)
    if fill == "softmax":
        drawn = torch.randn(shape, generator=generator, device=device).mul_(option("scale", 1.0))
        return drawn.softmax(-1).to(dtype)
    if fill == "exponential":
        return torch.empty(shape, device=device).exponential_(generator=generator).to(dtype)
    if fill == "integers":
        return torch.randint(option("low", 0), option("high", 2), shape, generator=generator, device=device).to(dtype)
    raise ValueError(f"unknown fill {fill!r}")


def make_all(
    probe: dict[str, Any], numbers: dict[str, Any], logits_dtype: str, device: str, seed: int, random: bool = True
) -> dict[str, torch.Tensor | None]:
    """All inputs of a probe by name; the i-th is seeded with seed + i."""
    return {
        spec["name"]: make(spec, numbers, logits_dtype, device, seed + index, random)
        for index, spec in enumerate(probe["inputs"])
    }
