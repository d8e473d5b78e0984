"""Statements that both sides have and that run in another order, where one writes what the other uses."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from analyzer.change.align import Alignment
from analyzer.change.edits import at, make
from analyzer.change.inside import vocabulary as v
from analyzer.change.inside.operations import MESSAGES
from analyzer.change.inside.surroundings import surroundings
from analyzer.change.nodes import last_name, root_name
from analyzer.change.source import TOLD, Function, Statement, once
from analyzer.model.change import Edit

#: More statements than these in another order are a rewrite, of which nothing is told.
MANY = 12


def order_edits(alignment: Alignment) -> Iterator[Edit]:
    base, head = alignment.base[0], alignment.head[0]
    counts = Counter(alignment.base_shapes), Counter(alignment.head_shapes)
    same = [
        (i, j)
        for i, j in sorted(alignment.pairs.items())
        if alignment.base_shapes[i] == alignment.head_shapes[j]
        and counts[0][alignment.base_shapes[i]] == counts[1][alignment.head_shapes[j]] == 1
        and alignment.base_statements[i].function is base and alignment.head_statements[j].function is head
    ]  # fmt: skip
    if not any(a[1] > b[1] for a, b in pairwise(same)):
        return
    crossing = [(a, b) for n, a in enumerate(same) for b in same[n + 1 :] if a[1] > b[1]]
    moved = {one for pair in crossing for one in pair}
    if len(moved) > MANY:
        return
    fresh = [
        Counter(name for one in moved for name in _fresh(statements[one[side]]))
        for side, statements in enumerate((alignment.base_statements, alignment.head_statements))
    ]
    used: set[tuple[int, int]] = set()
    shapes = alignment.base_shapes
    for a, b in sorted(crossing, key=lambda pair: (_distance(*pair), sorted(shapes[one[0]] for one in pair))):
        x, y = alignment.base_statements[a[0]], alignment.base_statements[b[0]]
        p, q = alignment.head_statements[a[1]], alignment.head_statements[b[1]]
        if a in used or b in used or not (_in_a_row(x, y) and _in_a_row(p, q)):
            continue
        shared, others = _shared(x, y, fresh[0]), _shared(p, q, fresh[1])
        if not shared or not others:
            continue
        used |= {a, b}
        detail = {
            "first_before": _text(x),
            "second_before": _text(y),
            "first_after": _text(q),
            "second_after": _text(p),
        }
        subjects = min(shared).lstrip("*"), min(others).lstrip("*")
        if subjects[0] == subjects[1]:
            detail["subject"] = subjects[0]
        else:
            detail |= {"subject_before": subjects[0], "subject_after": subjects[1]}
        yield make("order-changed", at(base, x.node, _text(x)), at(head, q.node, _text(q)), detail)


def _distance(a: tuple[int, int], b: tuple[int, int]) -> tuple:
    """Nearest first, whichever side is base."""
    spans = (abs(a[0] - b[0]), abs(a[1] - b[1]))
    return (sum(spans), sorted(spans), sorted((min(a[0], b[0]), min(a[1], b[1]))))


def _in_a_row(x: Statement, y: Statement) -> bool:
    """Whether one runs and then the other: under the same tests and in the same loops."""
    around = surroundings(x.function)
    plain = [tuple((id(one.node), one.holds) for one in around[s] if not one.leaves) for s in (x, y)]
    return plain[0] == plain[1]


def _shared(x: Statement, y: Statement, fresh: Counter) -> set[str]:
    """What one of two statements writes and the other reads; a name that is given a new value twice is two things."""
    (reads_x, writes_x), (reads_y, writes_y) = _uses(x.function)[x], _uses(y.function)[y]
    found = {name for name in (writes_x & reads_y) | (writes_y & reads_x) if fresh[name] < 2}
    return found | _held_back(x, y) | _held_back(y, x)


def _held_back(barrier: Statement, other: Statement) -> set[str]:
    """The memory that a statement reads or writes on one side of a C++ barrier."""
    if not any(barrier.function.module.language_call(call) == TOLD for call in barrier.calls):
        return set()
    return {root_name(node) for node in other.nodes if isinstance(node, ast.Subscript) and root_name(node)}


def _fresh(statement: Statement) -> set[str]:
    """Names to which a statement gives a value that does not rest on the one before."""
    bound = {target.id for target in _targets(statement.node) if isinstance(target, ast.Name)}
    return bound - _uses(statement.function)[statement][0]


@once
def _uses(function: Function) -> dict[Statement, tuple[set[str], set[str]]]:
    return {statement: (_reads(statement), _writes(statement)) for statement in function.statements}


def _reads(statement: Statement) -> set[str]:
    """Names and attributes of `self` that a statement reads; ``*name`` is memory that a kernel loads."""
    found: set[str] = set()
    for node in statement.nodes:
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
            found |= _path(node)
    if isinstance(statement.node, ast.AugAssign):
        found |= _path(statement.node.target)
    for call in statement.calls:
        op = statement.function.module.language_call(call)
        if (op == "load" or op.startswith("atomic_")) and call.args:
            found.add(f"*{_first_name(call.args[0])}")
    return found


def _writes(statement: Statement) -> set[str]:
    """What a statement surely writes: names, attributes, the memory behind a subscript, an in-place call, a store."""
    found: set[str] = set()
    for target in _targets(statement.node):
        found |= _path(target)
    for call in statement.calls:
        func = call.func
        if isinstance(func, ast.Attribute) and func.attr.endswith("_") and not func.attr.startswith("_"):
            found |= _path(func.value) if func.attr not in v.NOT_WRITES else set()
        for k in call.keywords:
            found |= _path(k.value) if k.arg == "out" else set()
        op = statement.function.module.language_call(call)
        if (op == "store" or op.startswith("atomic_")) and call.args:
            found.add(f"*{_first_name(call.args[0])}")
    node = statement.node
    effect = isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and not _is_message(node.value)
    if effect and not statement.function.is_kernel:  # a call for its effects alone
        given = [*node.value.args, *(k.value for k in node.value.keywords)]
        found |= {one.id for one in given if isinstance(one, ast.Name) and one.id in statement.function.locals}
    return found


def _first_name(node: ast.AST) -> str:
    """``row`` of ``row + offsets * 2``."""
    while isinstance(node, ast.BinOp):
        node = node.left
    return root_name(node)


def _is_message(call: ast.Call) -> bool:
    name = last_name(call.func)
    return name in MESSAGES or name.startswith(("_check", "check", "assert")) or name in v.SYNCHRONIZATIONS


def _targets(node: ast.stmt) -> list[ast.expr]:
    if isinstance(node, ast.Assign):
        found = list(node.targets)
    elif isinstance(node, ast.AugAssign | ast.AnnAssign | ast.For | ast.AsyncFor):
        found = [node.target]
    else:
        found = []
    for target in list(found):
        if isinstance(target, ast.Tuple | ast.List):
            found += target.elts
    return found


def _path(node: ast.AST) -> set[str]:
    """``a`` of ``a`` and of ``a[0]``, ``self.a`` of ``self.a`` and ``self.a[0].b``."""
    while isinstance(node, ast.Subscript | ast.Starred):
        node = node.value
    if isinstance(node, ast.Name):
        return set() if node.id in ("self", "cls") else {node.id}
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return {f"{node.value.id}.{node.attr}"} if node.value.id in ("self", "cls") else {node.value.id}
    if isinstance(node, ast.Attribute | ast.Call):
        return _path(node.value if isinstance(node, ast.Attribute) else node.func)
    return set()


def _text(statement: Statement) -> str:
    header = hasattr(statement.node, "body")
    text = " ".join(statement.function.module.segment(statement.parts[-1] if header else statement.node).split())
    return text if len(text) <= 100 else text[:97] + "..."
