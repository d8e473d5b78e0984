"""What the functions that a function calls gained or lost: what moved into one still runs, in other words or not."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property

from analyzer.change.align import Alignment
from analyzer.change.functions import Matching
from analyzer.change.nodes import last_name
from analyzer.change.source import Function, Statement, once
from analyzer.model.change import Edit

#: Methods that a call of their class, or of an object of it, runs.
_OF_CLASS = ("__init__", "__new__", "__post_init__", "__call__")


def effects_of(statement: Statement) -> Iterator[str]:
    """What a statement calls for its effect or sets, by the last name of it."""
    node = statement.node
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield f"call {last_name(node.value.func)}"
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AugAssign) else []
    for target in targets:
        while isinstance(target, ast.Subscript):
            target = target.value
        if last_name(target):
            yield f"set {last_name(target)}"


@once
def _effects(function: Function) -> frozenset[str]:
    """Those of all its statements; a call counts wherever it stands."""
    calls = (f"call {last_name(call.func)}" for s in function.statements for call in s.calls)
    return frozenset([*calls, *(effect for s in function.statements for effect in effects_of(s))])


@once
def _mentioned(function: Function) -> frozenset[str]:
    nodes = (node for s in function.statements for node in s.nodes)
    return frozenset(last_name(node) for node in nodes if isinstance(node, ast.Name | ast.Attribute))


class HandedOver:
    """Of all changed files; looked up by the names of functions, so that it holds more, not less, than is so."""

    def __init__(self, matching: Matching) -> None:
        self._matching = matching

    @cached_property
    def _gained(self) -> tuple[dict[str, set[str]], dict[str, set[str]]]:
        """For each side: name of a function -> what only that side's function does."""
        its = self._matching
        sides = (
            [*its.removed, *(gone for gone, _ in its.inlined)], [*its.added, *(new for _, new in its.extracted)]
        )  # fmt: skip
        found: tuple[dict[str, set[str]], dict[str, set[str]]] = (defaultdict(set), defaultdict(set))
        for side, functions in enumerate(sides):
            for function in functions:
                _note(found[side], function, _effects(function))
        for alignment in its.alignments:
            base, head = alignment.base[0], alignment.head[0]
            _note(found[0], base, _effects(base) - _effects(head))
            _note(found[1], head, _effects(head) - _effects(base))
        return found

    @cached_property
    def _calls(self) -> tuple[dict[str, set[str]], dict[str, set[str]]]:
        """For each side: name of a function that only it has -> the names in it."""
        its = self._matching
        sides = (
            [*its.removed, *(gone for gone, _ in its.inlined)], [*its.added, *(new for _, new in its.extracted)]
        )  # fmt: skip
        found: tuple[dict[str, set[str]], dict[str, set[str]]] = (defaultdict(set), defaultdict(set))
        for side, functions in enumerate(sides):
            for function in functions:
                _note(found[side], function, _mentioned(function))
        return found

    def effects(self, function: Function, side: int) -> set[str]:
        """What the functions do, that `function` of a side (0 base, 1 head) runs, and did not on the other side."""
        gained, calls = self._gained[side], self._calls[side]
        seen: set[str] = set()
        waiting = set(_mentioned(function))
        while waiting:
            name = waiting.pop()
            seen.add(name)
            waiting |= calls.get(name, set()) - seen
        return set().union(*(gained.get(name, set()) for name in seen))

    def tells(self, edit: Edit, alignment: Alignment) -> bool:
        """Whether a buffer or a wait that one side lacks is what a function does there that it runs."""
        noun, _, way = edit.kind.rpartition("-")
        if way not in ("added", "removed") or noun not in ("allocation", "synchronization"):
            return False
        name = str(edit.detail.get("target" if noun == "allocation" else "operation", "")).rpartition(".")[2]
        side = 1 if way == "removed" else 0  # the side that lacks it
        verb = "set" if noun == "allocation" else "call"
        return bool(name) and f"{verb} {name}" in self.effects((alignment.base, alignment.head)[side][0], side)


def _note(found: dict[str, set[str]], function: Function, what: frozenset[str]) -> None:
    found[function.simple_name] |= what
    if function.simple_name in _OF_CLASS and function.owner:
        found[function.owner.rpartition(".")[2]] |= what
