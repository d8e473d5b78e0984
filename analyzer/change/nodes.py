"""Small questions to the nodes of a syntax tree."""

from __future__ import annotations

import ast

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


def children(node: ast.AST) -> list[ast.AST]:
    """What `ast.iter_child_nodes` gives, in less time; contexts (load, store) left out."""
    found: list[ast.AST] = []
    for name in node._fields:
        value = getattr(node, name, None)
        if isinstance(value, list):
            found += [one for one in value if isinstance(one, ast.AST)]
        elif isinstance(value, ast.AST) and name != "ctx":
            found.append(value)
    return found


def nodes_of(part: ast.AST) -> list[ast.AST]:
    """A node and all below it in the order of `ast.walk`."""
    found = [part]
    for node in found:  # which grows meanwhile
        found += children(node)
    return found


class Block(ast.stmt):
    """Statements in braces of their own (C++); what surrounds it surrounds them."""

    _fields = ("body",)


#: Comparisons of plain values and identities, with their opposites.
_OPPOSITES = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip


def negated(test: ast.expr) -> ast.expr:
    """The opposite of a test, as it would be written: ``x is not None`` of ``x is None``."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return test.operand
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and type(test.ops[0]) in _OPPOSITES:
        return ast.Compare(test.left, [_OPPOSITES[type(test.ops[0])]()], test.comparators)
    return ast.UnaryOp(ast.Not(), test)


def last_name(node: ast.AST) -> str:
    """``c`` of ``a.b.c``, of ``a.b.c(...)`` and of ``c``."""
    if isinstance(node, ast.Call):
        return last_name(node.func)
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def root_name(node: ast.AST) -> str:
    """``a`` of ``a.b[0].c(...)``, empty where the expression does not start with a name."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call | ast.Starred):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def keyword(call: ast.Call, name: str) -> ast.expr | None:
    return next((k.value for k in call.keywords if k.arg == name), None)


def argument(call: ast.Call, position: int, name: str) -> ast.expr | None:
    """An argument given by position or by keyword."""
    return call.args[position] if len(call.args) > position else keyword(call, name)


def blocks_of(node: ast.stmt) -> list[list[ast.stmt]]:
    blocks = [getattr(node, name) for name in ("body", "orelse", "finalbody") if getattr(node, name, None)]
    blocks += [handler.body for handler in getattr(node, "handlers", [])]
    blocks += [case.body for case in getattr(node, "cases", [])]
    return [block for block in blocks if isinstance(block, list)]


def is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
