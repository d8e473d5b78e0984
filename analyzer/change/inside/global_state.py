"""Writes to state that the whole process shares: switches of a library, the environment, globals of a module."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analyzer.change.inside.fact import Fact, View
from analyzer.change.nodes import last_name, root_name
from analyzer.change.source import Function, once

#: Calls of a library that set something for the whole process.
_SETTERS = ("set_default_", "set_float32_matmul_precision", "use_deterministic_algorithms", "set_num_threads", "putenv")


def global_state(view: View) -> Iterator[Fact]:
    node = view.statement.node
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AugAssign) else []
    for target in targets:
        text = ast.unparse(target) if is_shared(target, view.function) else ""
        if text:
            detail = {"target": text, "value": ast.unparse(node.value)[:100]}
            yield view.fact("global-state", target, view.key(target), "", detail=detail)
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        call = node.value
        if last_name(call.func).startswith(_SETTERS) and root_name(call.func) in view.function.module.imports:
            detail = {"target": ast.unparse(call.func), "value": ", ".join(map(ast.unparse, call.args))[:100]}
            yield view.fact("global-state", call, view.key(call.func), "", detail=detail)


def is_shared(target: ast.expr, function: Function) -> bool:
    """Whether a target is state of the whole process: an attribute of an imported module, a global."""
    if isinstance(target, ast.Name):
        return target.id in _declared(function)
    root = root_name(target)
    return root != "" and root in function.module.imports and root not in function.locals


@once
def _declared(function: Function) -> frozenset[str]:
    """Names that the function declares as globals."""
    names = [s.node.names for s in function.statements if isinstance(s.node, ast.Global)]
    return frozenset(name for group in names for name in group)
