"""Comparisons, operators and constants of a statement: what differs where its structure is the same."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from analyzer.change.inside.allocations import is_allocation
from analyzer.change.inside.dtypes import dtype_of
from analyzer.change.inside.fact import Fact, Key, View
from analyzer.change.inside.guards import is_guard
from analyzer.change.inside.launches import tile_statements
from analyzer.change.inside.vocabulary import BYTES, KERNEL_RANDOM, TOLERANCES
from analyzer.change.nodes import children, last_name
from analyzer.change.source import TOLD, Function
from analyzer.change.writing import SYMBOLS, written

MIRRORED = {"Lt": "Gt", "Gt": "Lt", "LtE": "GtE", "GtE": "LtE"}
#: Operations that move or place values, and those that are facts of their own.
MOVES = frozenset({
    "load", "store", "program_id", "num_programs", "arange", "cast", "range", "static_range", "debug_barrier",
    TOLD, "multiple_of", "max_contiguous", "zeros", "full", "constexpr", "expand_dims", "broadcast_to", "reshape",
})  # fmt: skip
#: Calls whose string arguments are messages.
MESSAGES = frozenset(
    {"warning", "warning_once", "info", "info_once", "debug", "debug_once", "error", "exception", "print", "warn"}
)


class _Blank(ast.NodeTransformer):
    """Numbers, truth values and strings replaced, so that only structure is left."""

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        return node if node.value is None or node.value is Ellipsis else ast.Name("#", ast.Load())

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        if isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
            return ast.Name("#", ast.Load())
        return self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if dtype_of(node) in BYTES and isinstance(node.value, ast.Name):
            return ast.Name("#", ast.Load())
        return self.generic_visit(node)


class _Compared(_Blank):
    """The way of comparing replaced as well."""

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        node = self.generic_visit(node)
        node.ops = [ast.Eq() if type(op).__name__ in (*MIRRORED, "Eq", "NotEq") else op for op in node.ops]
        return node


def blank(node: ast.AST, view: View) -> str:
    """The key of a node without its constants."""
    return view.key(_Blank().visit(_copy(node)))


def same_but_values(base: ast.AST, head: ast.AST, base_key: Key, head_key: Key) -> bool:
    """Whether two expressions differ in nothing but constants and which way they compare."""
    return base_key(_Compared().visit(_copy(base))) == head_key(_Compared().visit(_copy(head)))


def _copy(node: ast.AST) -> ast.AST:
    made = type(node)()
    for name, value in ast.iter_fields(node):
        if isinstance(value, ast.AST):
            value = _copy(value)
        elif isinstance(value, list):
            value = [_copy(v) if isinstance(v, ast.AST) else v for v in value]
        setattr(made, name, value)
    return made


def comparisons(view: View) -> Iterator[Fact]:
    if is_guard(view.statement.node):
        return
    for node in view.statement.nodes:
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            op = written = type(node.ops[0]).__name__
            left, right = blank(node.left, view), blank(node.comparators[0], view)
            if op in MIRRORED and left > right:
                left, right, op = right, left, MIRRORED[op]
            yield view.fact("comparison", node, f"{left} {right}", op, detail={"operator": SYMBOLS[written]})


def operators(view: View) -> Iterator[Fact]:
    """The operators of a statement and, in a kernel, the operations of Triton's that it calls; order left out."""
    if is_guard(view.statement.node):
        return
    ops = [op for part in view.statement.parts for op in operators_of(part, view.function, view.lone)]
    anchor = "kernel" if view.function.is_kernel else len(ops)  # host code is compared where as many stand
    node = view.statement.node
    shown = node if isinstance(node, ast.AnnAssign) else view.statement.parts[0]
    yield view.fact("operator", shown, f"{anchor}", tuple(sorted(ops)))


def symbol(op: ast.AST, function: Function) -> str:
    """An operator as the function's language writes it."""
    text = SYMBOLS.get(type(op).__name__, "+")
    return text if function.module.language == "python" else {"and": "&&", "or": "||", "not": "!"}.get(text, text)


def operators_of(node: ast.AST, function: Function, lone: Mapping[str, ast.expr]) -> Iterator[str]:
    """The operators in an expression and, in a kernel, the operations that it calls.

    `lone`: locals that only this version has, with their values: what they stand for is part of the expression.
    """
    if isinstance(node, ast.Name) and node.id in lone and isinstance(node.ctx, ast.Load):
        if any(_is_work(one, function) for one in ast.walk(lone[node.id])):
            return  # what is read or made by a call is worked out where the local is bound
        yield from operators_of(lone[node.id], function, {name: its for name, its in lone.items() if name != node.id})
    if isinstance(node, ast.BinOp | ast.AugAssign | ast.BoolOp) or (
        isinstance(node, ast.UnaryOp) and not isinstance(node.operand, ast.Constant | ast.Call)
    ):
        yield symbol(node.op, function)
    elif isinstance(node, ast.Call) and function.is_kernel:
        op = function.module.language_call(node)
        if op in KERNEL_RANDOM:
            return  # its arguments are the draw's
        if op and op not in MOVES and not op.startswith("atomic_"):
            yield op
    for child in children(node):
        if not (isinstance(child, ast.keyword) and child.arg in ("mask", "other")):  # a mask is a fact of its own
            yield from operators_of(child, function, lone)


def _is_work(node: ast.AST, function: Function) -> bool:
    """Whether a part of a local's value is no operator's: a load of a kernel, any call of host code."""
    return function.module.language_call(node) == "load" or (isinstance(node, ast.Call) and not function.is_kernel)


def constants(view: View) -> Iterator[Fact]:
    """Constants by the expression around them; messages, launch options and tolerances are other facts."""
    statement = view.statement
    if isinstance(statement.node, ast.Raise) or is_guard(statement.node):
        return
    if statement.index in tile_statements(view.function):
        return
    for part in statement.parts:
        yield from _constants(part, None, view)


def _constants(node: ast.AST, parent: ast.AST | None, view: View) -> Iterator[Fact]:
    if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Call) and last_name(node.func) in MESSAGES):
        return
    if isinstance(node, ast.keyword) and (
        node.arg in TOLERANCES or (node.arg in ("mask", "other") and view.function.is_kernel)
    ):
        return
    if isinstance(node, ast.Call) and is_allocation(node) and "full" not in last_name(node.func):
        return  # its size is the allocation's
    if view.op(node) == TOLD:
        return
    number = node
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        number = node.operand
    if isinstance(number, ast.Constant):
        text = isinstance(number.value, str | bytes)
        if (
            number.value is None
            or number.value is Ellipsis
            or (text and not isinstance(parent, ast.Compare | ast.keyword))
        ):
            return
        yield _constant(node, parent, view, written(node))
        return
    if isinstance(node, ast.Attribute) and dtype_of(node) in BYTES and isinstance(node.value, ast.Name):
        if not isinstance(parent, ast.Call | ast.keyword):
            yield _constant(node, parent, view, dtype_of(node))
        return
    around = node if isinstance(node, ast.expr | ast.stmt | ast.keyword) else parent
    for child in children(node):
        yield from _constants(child, around, view)


def _constant(node: ast.AST, parent: ast.AST | None, view: View, value: str) -> Fact:
    around = blank(parent, view) if parent is not None else ""
    detail = {"value": value}
    if isinstance(parent, ast.keyword) and parent.arg:
        detail["keyword"] = parent.arg
    return view.fact("constant", node, around, value, detail=detail)


EXTRACTORS = (comparisons, operators, constants)
