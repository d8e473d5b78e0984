"""Custom operators: what an operator that is registered with torch declares to write.

The declaration is torch's source of truth (its functionalization rests on it), so it wins over what the body shows.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from analyzer.change.nodes import keyword, last_name
from analyzer.change.source import Function, Module, once


@dataclass(frozen=True, eq=False)
class Operator:
    """`function` runs it; `writes`: what it declares to write. None where that is not known."""

    function: Function | None
    writes: frozenset[str] | None = None


def called_operator(func: ast.expr, module: Module) -> str:
    """``name`` of ``torch.ops.space.name`` and of its ``.default``; empty for any other expression."""
    parts: list[str] = []
    while isinstance(func, ast.Attribute):
        parts.append(func.attr)
        func = func.value
    if not isinstance(func, ast.Name):
        return ""
    dotted = [*module.imports.get(func.id, func.id).split("."), *reversed(parts)]
    return dotted[3] if dotted[:2] == ["torch", "ops"] and len(dotted) in (4, 5) else ""


def operators(module: Module) -> dict[str, Operator]:
    """Operators that a file registers, by name: by a decorator, or by a call that names function and arguments."""
    kept = module.__dict__
    if "operators" not in kept:
        kept["operators"] = _operators(module)
    return kept["operators"]


def _operators(module: Module) -> dict[str, Operator]:
    if "custom_op" not in module.text and "op_name" not in module.text:
        return {}
    found: dict[str, Operator] = {}
    for function in module.whole.functions.values():
        for decorator in function.node.decorator_list:
            if isinstance(decorator, ast.Call) and last_name(decorator) == "custom_op" and decorator.args:
                name = _text(decorator.args[0]).rpartition("::")[2]
                found[name] = Operator(function, _names(keyword(decorator, "mutates_args")))
    for statement in module.whole.top.statements:
        for call in statement.calls:
            function = keyword(call, "op_func")
            name = _text(keyword(call, "op_name"))
            if name and isinstance(function, ast.Name) and function.id in module.whole.functions:
                its = module.whole.functions[function.id]
                found[name.rpartition("::")[2]] = Operator(its, _names(keyword(call, "mutates_args")))
    return {name: operator for name, operator in found.items() if name}


@once
def declared(function: Function) -> frozenset[str] | None:
    """What a function declares to write where it is itself decorated as an operator; None where it is none."""
    for operator in operators(function.module).values():
        if operator.function.name == function.name and function.node.decorator_list:
            return operator.writes
    return None


def _names(node: ast.expr | None) -> frozenset[str] | None:
    if not isinstance(node, ast.List | ast.Tuple | ast.Set) or not all(map(_text, node.elts)):
        return None  # not given, "unknown", or made elsewhere
    return frozenset(map(_text, node.elts))


def _text(node: ast.expr | None) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
