"""Decorators of functions and classes: what came, went, or is given other arguments."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from analyzer.change.align import Alignment
from analyzer.change.edits import at, make
from analyzer.change.nodes import last_name, root_name
from analyzer.change.writing import written
from analyzer.model.change import Edit

#: Told as launches (parameters.py), and what only speaks to a type checker.
_ELSEWHERE = frozenset(
    {"autotune", "heuristics", "__launch_bounds__", "overload", "override", "final", "no_type_check"}
)

Change = tuple[str, ast.expr | None, ast.expr | None]


def decorator_edits(alignment: Alignment) -> Iterator[Edit]:
    base, head = alignment.base[0], alignment.head[0]
    if base.text == head.text:
        return
    x, y = base.node.decorator_list, head.node.decorator_list
    for way, one, two in changes(x, y, alignment.base_key, alignment.head_key):
        sides = [at(f, node) if node is not None else at(f, text="") for f, node in ((base, one), (head, two))]
        yield make(f"decorator-{way}", *sides, detail_of("decorator", one, two))


def changes(base: list[ast.expr], head: list[ast.expr], base_key: Callable, head_key: Callable) -> Iterator[Change]:
    """(direction, of base, of head) of what differs in two lists; one that has the same name on both sides changed."""
    sides = [
        {key(node): node for node in nodes if last_name(node) not in _ELSEWHERE and root_name(node) != "pytest"}
        for nodes, key in ((base, base_key), (head, head_key))
    ]
    gone = [node for key, node in sides[0].items() if key not in sides[1]]
    new = [node for key, node in sides[1].items() if key not in sides[0]]
    for node in list(gone):
        other = next((n for n in new if last_name(n) == last_name(node)), None)
        if other is not None:
            gone.remove(node)
            new.remove(other)
            yield "changed", node, other
    for node in gone:
        yield "removed", node, None
    for node in new:
        yield "added", None, node


def detail_of(name: str, base: ast.expr | None, head: ast.expr | None) -> dict[str, str]:
    """The texts of both sides, or of the one that has it."""
    if base is None or head is None:
        return {name: written(head if base is None else base)}
    return {f"{name}_before": written(base), f"{name}_after": written(head)}
