"""What the functions that a function calls gained or lost: what moved into one still runs, in other words or not."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property

from analyzer.change.align import Alignment
from analyzer.change.functions import Matching
from analyzer.change.inside.surroundings import spelled_out
from analyzer.change.nodes import last_name
from analyzer.change.source import Function, Statement, once
from analyzer.model.change import Edit

#: Methods that a call of their class, or of an object of it, runs.
_OF_CLASS = ("__init__", "__new__", "__post_init__", "__call__")


def awaited(node: ast.expr) -> ast.expr:
    """The call that an ``await`` waits for; any other expression as it is."""
    return node.value if isinstance(node, ast.Await) else node


def effects_of(statement: Statement) -> Iterator[str]:
    """What a statement calls for its effect or sets, by the last name of it."""
    node = statement.node
    if isinstance(node, ast.Expr) and isinstance(call := awaited(node.value), ast.Call):
        yield f"call {last_name(call.func)}"
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AugAssign) else []
    for target in targets:
        part = target
        while isinstance(target, ast.Subscript):
            target = target.value
        if last_name(target):
            yield f"set {last_name(target)}"
        if part is not target and isinstance(target, ast.Name):  # a local, which may have another name elsewhere
            yield from (f"call {last_name(call.func)}" for call in statement.calls)


@once
def _effects(function: Function) -> frozenset[str]:
    """Those of all its statements; a call counts wherever it stands, and what is asked before a `raise`."""
    calls = (f"call {last_name(call.func)}" for s in function.statements for call in s.calls)
    asked = (
        f"refuse {name}"
        for s in function.statements
        for test in _refusing(s)
        for name in [*attributes_of(test), *calls_in(test)]
    )
    return frozenset([*calls, *asked, *(effect for s in function.statements for effect in effects_of(s))])


def _refusing(statement: Statement) -> Iterator[ast.expr]:
    """The tests that an assertion makes, or that stand around a `raise`."""
    if isinstance(statement.node, ast.Assert):
        yield statement.node.test
    elif isinstance(statement.node, ast.Raise):
        yield from (spelled_out(test, statement.function) for test, _ in statement.conditions)


def attributes_of(node: ast.AST) -> list[str]:
    return [one.attr for one in ast.walk(node) if isinstance(one, ast.Attribute)]


def calls_in(node: ast.AST) -> list[str]:
    return [last_name(one.func) for one in ast.walk(node) if isinstance(one, ast.Call)]


#: Facts of one call: what they are told of is its last name.
_OF_A_CALL = frozenset({"allocation", "cast", "copy", "contiguity", "synchronization", "barrier"})


#: Those that a function may do which is called by another name: of casts and copies no one is passed over for that.
_BESIDE = frozenset({"guard", "allocation", "synchronization"})


def _done(noun: str, text: str, moved: set[str]) -> bool:
    """Whether the code of a fact is among what functions do."""
    try:
        node = ast.parse(f"({text})", mode="eval").body
    except SyntaxError:
        return False  # a long one, cut
    if noun != "guard":
        return isinstance(node, ast.Call) and f"call {last_name(node.func)}" in moved
    names = calls_in(node)
    if names:
        return any(f"refuse {name}" in moved for name in names)
    names = attributes_of(node)
    return bool(names) and all(f"refuse {name}" in moved for name in names)


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
    def _beside(self) -> tuple[dict[str, set[str]], dict[str, set[str]]]:
        """For each side: path -> what the functions of the file do that only this side has."""
        found: tuple[dict[str, set[str]], dict[str, set[str]]] = (defaultdict(set), defaultdict(set))
        for side, functions in enumerate((self._matching.removed, self._matching.added)):
            for function in functions:
                found[side][function.path] |= _effects(function)
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

    def beside(self, function: Function, side: int) -> set[str]:
        """The same, with what functions of its file do that only this side has: they may be called by another name."""
        return self.effects(function, side) | self._beside[side].get(function.path, set())

    def tells(self, edit: Edit, alignment: Alignment) -> bool:
        """Whether what one side lacks is what a function does there that it runs, in other words or not."""
        noun, _, way = edit.kind.rpartition("-")
        if way not in ("added", "removed") or (noun != "guard" and noun not in _OF_A_CALL):
            return False
        side = 1 if way == "removed" else 0  # the side that lacks it
        function = (alignment.base, alignment.head)[side][0]
        moved = self.beside(function, side) if noun in _BESIDE else self.effects(function, side)
        if noun == "allocation" and f"set {str(edit.detail.get('target', '')).rpartition('.')[2]}" in moved:
            return True
        return bool(moved) and _done(noun, edit.before if way == "removed" else edit.after, moved)


def _note(found: dict[str, set[str]], function: Function, what: frozenset[str]) -> None:
    found[function.simple_name] |= what
    if function.simple_name in _OF_CLASS and function.owner:
        found[function.owner.rpartition(".")[2]] |= what
