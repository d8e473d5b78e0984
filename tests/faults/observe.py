"""Runs a sampler's text on one set of small inputs, and says in what two texts differ.

What counts is all that a caller can see: results, what was written to the inputs and between their rows, which input a
result lies in, whether an earlier result changes later, and errors.
"""

from __future__ import annotations

import importlib.util
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from faults import inputs
from faults.zoo import Sampler


@dataclass
class Seen:
    """What is visible of one call."""

    results: list[torch.Tensor]
    later: list[torch.Tensor]
    written: dict[str, torch.Tensor]
    aliases: list[tuple[int, str]]
    error: str = ""


def load(text: str, sampler: Sampler, folder: Path) -> Callable[..., Any]:
    """The entry function of a text. It is a file, since kernels are compiled from one; each load is a module anew."""
    number = len(list(folder.iterdir()))
    path = folder / f"{sampler.name}_{number}.py"
    path.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    try:
        spec.loader.exec_module(module)
    finally:
        del sys.modules[path.stem]
    return getattr(module, sampler.entry)


def _whole(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor with what lies between its rows."""
    return (tensor if tensor._base is None else tensor._base).clone()


def observe(text: str, sampler: Sampler, name: str, folder: Path) -> list[Seen]:
    """What is seen of each call of the set `name`."""
    entry = load(text, sampler, folder)
    torch.manual_seed(0)
    seen = []
    for arguments in inputs.calls(sampler.name, name):
        tensors = {key: value for key, value in arguments.items() if isinstance(value, torch.Tensor)}
        results: list[torch.Tensor] = []
        error = ""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                result = entry(**arguments)
            results = list(result) if isinstance(result, tuple) else [result]
        except Exception as failure:
            error = type(failure).__name__
        places = {key: tensor.untyped_storage().data_ptr() for key, tensor in tensors.items() if tensor.numel()}
        aliases = [
            (index, key)
            for index, one in enumerate(results)
            for key, place in places.items()
            if one.numel() and one.untyped_storage().data_ptr() == place
        ]
        written = {key: _whole(tensor) for key, tensor in tensors.items()}
        seen.append(Seen([one.clone() for one in results], results, written, aliases, error))
    return seen


def _apart(base: torch.Tensor, head: torch.Tensor, tolerance: float) -> bool:
    if base.shape != head.shape or base.dtype != head.dtype:
        return True
    if tolerance and base.is_floating_point():
        return not torch.allclose(base, head, rtol=tolerance, atol=tolerance, equal_nan=True)
    return not torch.equal(base.nan_to_num(nan=12345.0), head.nan_to_num(nan=12345.0))


def _names_equals(base: Seen, head: Seen) -> Seen:
    """`head` with the ids of `base` where those that it names have the same logits: any of equal tokens is right."""
    if len(base.results) < 2 or len(head.results) < 2 or base.results[1].shape != head.results[1].shape:
        return head
    logits = head.written["logits"]
    if torch.equal(logits.gather(1, base.results[1]), logits.gather(1, head.results[1])):
        head.results[1] = head.later[1] = base.results[1]
    return head


def difference(base: list[Seen], head: list[Seen], sampler: Sampler, tolerance: float = 0.0) -> str:
    """In what the two differ; empty where a caller sees no difference."""
    for number, (one, other) in enumerate(zip(base, head, strict=True)):
        if sampler.name == "logprobs":
            other = _names_equals(one, other)
        if one.error != other.error:
            return f"call {number}: {other.error or 'no error'}, not {one.error or 'no error'}"
        if one.aliases != other.aliases:
            return f"call {number}: results lie in inputs {other.aliases}, not {one.aliases}"
        for field, before, after in (
            ("result", one.results, other.results),
            ("result after later calls", one.later, other.later),
            ("input", list(one.written.values()), list(other.written.values())),
        ):
            if len(before) != len(after):
                return f"call {number}: {len(after)} results, not {len(before)}"
            for index, (left, right) in enumerate(zip(before, after, strict=True)):
                if _apart(left, right, tolerance):
                    return f"call {number}: {field} {index} differs"
    return ""
