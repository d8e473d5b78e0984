"""What is known of tensors while a function is interpreted, and what calling a function does to those it is handed."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from analyzer.change.source import Function, once

NONE: frozenset[str] = frozenset()
TENSOR_ATTRIBUTES = frozenset({"shape", "dtype", "device", "stride", "size", "ndim", "numel", "is_contiguous"})


@dataclass(frozen=True)
class Value:
    """`dtype` is empty where it is the parameter's own."""

    alias: frozenset[str] = NONE
    exact: frozenset[str] = NONE
    computed: frozenset[str] = NONE
    dtype: str = ""

    def __or__(self, other: Value) -> Value:
        dtype = self.dtype if self.dtype == other.dtype else ""
        return Value(self.alias | other.alias, self.exact | other.exact, self.computed | other.computed, dtype)

    @property
    def any(self) -> frozenset[str]:
        return self.alias | self.exact | self.computed

    def result(self) -> Value:
        """Something computed from this value."""
        return Value(computed=self.exact | self.computed)


@dataclass(frozen=True)
class Write:
    """A store into something that holds a parameter's elements.

    `via`: the function or operation that stores. `rounds`: a computed value is stored, None where it is not known.
    `aliased`: the parameter's own memory is written, not a copy. `dtype` is the memory's, empty for the parameter's.
    """

    parameter: str
    via: str
    rounds: bool | None
    aliased: bool
    dtype: str
    kernels: tuple[str, ...]
    node: ast.AST
    conditions: tuple[str, ...] = ()


@dataclass
class Summary:
    """What calling a function does, by parameter."""

    writes: list[Write] = field(default_factory=list)
    returned: Value = Value()
    #: (parameter, call, whether it was handed the parameter's own memory) of calls that could not be found.
    unresolved: list[tuple[str, str, bool]] = field(default_factory=list)
    #: (parameter, node) of full-precision copies that were kept under a name.
    protected: list[tuple[str, ast.AST]] = field(default_factory=list)
    #: Calls with what they were handed: equal lists need no look at the callees.
    calls: list[tuple] = field(default_factory=list)
    #: (parameter, node) where a parameter's memory is handed back.
    returns: list[tuple[str, ast.AST]] = field(default_factory=list)
    #: Parameter -> its dimensions by the names that they are unpacked into, here or by a callee.
    shapes: dict[str, str] = field(default_factory=dict)


@once
def tensor_parameters(function: Function) -> list[str]:
    """Parameters that are annotated as tensors, or used as such where there is no annotation."""
    used = {
        node.value.id
        for statement in function.statements
        for node in statement.nodes
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
        and (node.attr in TENSOR_ATTRIBUTES or (node.attr.endswith("_") and not node.attr.endswith("__")))
    }  # fmt: skip
    names = []
    for parameter in function.parameters:
        if parameter.annotation is None:
            tensor = function.is_kernel or parameter.arg in used
        else:
            text = ast.unparse(parameter.annotation)
            tensor = ("Tensor" in text and "Callable" not in text) or (function.is_kernel and "constexpr" not in text)
        if tensor and parameter.arg not in ("self", "cls"):
            names.append(parameter.arg)
    return names


def through(value: Value, parameter: str, returned: Value) -> Value:
    """What of an argument is in the result of the call that it was given to."""
    kept = parameter in returned.exact
    computed = value.exact | value.computed if parameter in returned.computed else value.computed if kept else NONE
    return Value(
        value.alias if parameter in returned.alias else NONE,
        value.exact if kept else NONE,
        computed,
        value.dtype if parameter in returned.alias else returned.dtype or value.dtype,
    )


def joined(values: list[Value]) -> Value:
    """All of them at once; values that hold nothing do not count."""
    held = [value for value in values if value.any]
    result = held[0] if held else Value()
    for value in held[1:]:
        result |= value
    return result
