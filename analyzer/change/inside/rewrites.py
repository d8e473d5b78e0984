"""Edits of what differs in two versions of one statement: arguments, replaced calls, results, values, exceptions."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import PurePosixPath

from analyzer.change.align import Alignment
from analyzer.change.edits import Side, make
from analyzer.change.inside.branch_values import branch_values, lone_locals
from analyzer.change.inside.guards import is_guard
from analyzer.change.inside.launches import launch_of
from analyzer.change.inside.other_forms import of_another, updates
from analyzer.change.inside.side_by_side import Difference, SideBySide, text_of
from analyzer.change.nodes import last_name
from analyzer.change.source import Statement
from analyzer.change.writing import written
from analyzer.model.change import Edit

#: A statement with more differences than these was written anew.
MANY = 3


def rewrites(alignment: Alignment, told: set[tuple[int, int]]) -> Iterator[Edit]:
    """Edits of the pairs of statements that differ, but for those that are `told`."""
    unsure = branch_values(alignment).unsure
    same = ({*alignment.equal, *told} - unsure) | of_another(alignment)
    if PurePosixPath(alignment.head[0].path).name == "setup.py":
        return  # its lists are the build's
    for i, j in sorted(alignment.pairs.items()):
        x, y = alignment.base_statements[i], alignment.head_statements[j]
        if (i, j) in same or is_guard(x.node) or is_guard(y.node) or hasattr(x.node, "body"):
            continue
        if alignment.base_shapes[i] != alignment.head_shapes[j]:
            weak = (i, j) in alignment.weak or (i, j) in unsure
            found = list(dict.fromkeys(SideBySide(alignment, x, y, weak).differences()))
            if ((i, j) in alignment.weak or _is_part(x)) and _bindings(x) != _bindings(y):
                # Which of several assignments became which cannot be told.
                found = [] if (i, j) in alignment.weak else [one for one in found if one.noun != "value"]
            if x.function is not alignment.base[0] or y.function is not alignment.head[0]:
                found = [one for one in found if one.noun != "result"]  # what was cut out returns to another caller
            found = [one for one in found if not _tested_outside(one, x, y)]
            if not any(_calls_one_of(alignment, node) for one in found for node in (one.base, one.head)):
                yield from _edits(x, y, found)
    for x, y in updates(alignment):
        yield from _edits(x, y, [Difference("value", x.node, y.node)])
    for i, j in sorted(lone_locals(alignment).items()):
        x, y = alignment.base_statements[i], alignment.head_statements[j]
        if not any(_calls_one_of(alignment, s.node.value) for s in (x, y)):
            yield from _edits(x, y, [Difference("value", x.node.value, y.node.value)])


def _tested_outside(one: Difference, x: Statement, y: Statement) -> bool:
    """Whether ``a if test else b`` is `a` on the other side, where the statement has a test around it of its own."""
    sides = (one.base, x, one.head, y), (one.head, y, one.base, x)
    return any(
        isinstance(node, ast.IfExp)
        and other is not None
        and not isinstance(other, ast.IfExp)
        and len(around.conditions) > len(own.conditions)
        and written(other) in (written(node.body), written(node.orelse))
        for node, own, other, around in sides
    )


def _bindings(statement: Statement) -> int:
    """How often the function binds the name, or writes the place, that the statement does."""
    if not _is_part(statement):
        return len(statement.function.assigned.get(statement.target(), ()))
    return sum(other.target() == statement.target() for other in statement.function.statements)


def _is_part(statement: Statement) -> bool:
    """Whether an attribute or an element is assigned."""
    return not statement.target().isidentifier() and bool(statement.target())


def _calls_one_of(alignment: Alignment, node: ast.AST | None) -> bool:
    """Whether a part calls what was cut out of the function or put into it."""
    names = {f.simple_name for f in (*alignment.base[1:], *alignment.head[1:])}
    return (
        bool(names)
        and node is not None
        and any(isinstance(one, ast.Call) and last_name(one.func) in names for one in ast.walk(node))
    )


def _edits(x: Statement, y: Statement, found: list[Difference]) -> Iterator[Edit]:
    if len(found) > MANY:
        ends = [s.node.value if getattr(s.node, "value", None) is not None else s.node for s in (x, y)]
        noun = "result" if isinstance(x.node, ast.Return) else "value"
        found = [Difference(noun, *ends, form="call" if isinstance(x.node, ast.Expr) else "")]
    for one in found:
        texts = _cut(*(one.texts or map(text_of, (one.base, one.head))))
        way = "added" if one.base is None else "removed" if one.head is None else "changed"
        detail: dict = {"target": x.target() if x.target() == y.target() else ""} if one.noun == "value" else {}
        if one.form:
            detail = {"form": one.form}
            if one.form == "call" and isinstance(one.base, ast.Call) and isinstance(one.head, ast.Call):
                names = [_name(call) for call in (one.base, one.head)]
                called = [written(call.func) for call in (one.base, one.head)]
                # Of another receiver or function the calls are shown, not what they are given.
                detail |= {"call": names[0]} if called[0] == called[1] else {}
        if one.noun == "argument":
            detail = {"argument": one.argument} | _both("call", *(_name(call) for call in one.calls))
        if one.noun == "operator":
            detail = {f"operator_{side}": _name(call) for side, call in (("before", one.base), ("after", one.head))}
            operands = [e.args[0] if e.args else getattr(e.func, "value", e) for e in (one.base, one.head)]
            detail |= _both("operand", *_cut(*map(text_of, operands)))
        elif way == "changed":
            name = one.noun if one.noun in ("result", "exception") else "value"
            detail |= {f"{name}_before": texts[0], f"{name}_after": texts[1]} | ({"part": True} if one.part else {})
        else:
            detail["value"] = texts[0] or texts[1]
        sides = [
            Side(
                s.function, getattr(node, "lineno", s.line), s.function.module.segment(node) if node is not None else ""
            )
            for s, node in ((x, one.base), (y, one.head))
        ]
        yield make(f"{one.noun}-{way}", *sides, detail)


def _both(name: str, before: str, after: str) -> dict[str, str]:
    return {name: before} if before == after else {f"{name}_before": before, f"{name}_after": after}


def _name(call: ast.Call) -> str:
    launched = launch_of(call)
    return launched[0] if launched else last_name(call.func) or written(call.func)


def _cut(before: str, after: str) -> list[str]:
    """Both texts, of a readable length; long ones from shortly before where they differ."""
    same = next(
        (n for n, (x, y) in enumerate(zip(before, after, strict=False)) if x != y), min(len(before), len(after))
    )
    start = max(same - 30, 0) if max(len(before), len(after)) > 100 else 0
    shown = [("..." if start else "") + text[start:] if text else "" for text in (before, after)]
    return [text if len(text) <= 100 else text[:97] + "..." for text in shown]
