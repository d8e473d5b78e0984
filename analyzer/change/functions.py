"""Which function of base is which function of head: the same, renamed, moved, extracted, inlined, added, removed."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from analyzer.change.align import Alignment, dump, greedy, shape, similarity
from analyzer.change.source import Function, last_name

#: Bodies of a renamed or moved function share at least this much; of statements, names of locals left out.
RENAMED = 0.6
#: Share of an extracted function's expressions that its origin had.
EXTRACTED = 0.6


@dataclass(eq=False)
class Body:
    """What a function is made of, for comparing functions of different names."""

    function: Function

    def _blank(self, name: str) -> str:
        return "§" if name in self.function.locals and name not in ("self", "cls") else name

    @cached_property
    def statements(self) -> Counter:
        return Counter(shape(s, self._blank) for s in self.function.statements)

    @cached_property
    def calls(self) -> Counter:
        """Calls with their structure, and statements of some size: what carries over when code is cut out."""
        found: Counter = Counter()
        for statement in self.function.statements:
            for node in statement.calls:
                found[dump(node, self._blank)] += 1
        return found

    @cached_property
    def called(self) -> frozenset[str]:
        names = set()
        for statement in self.function.statements:
            for node in statement.calls:
                names.add(last_name(node.func.value if isinstance(node.func, ast.Subscript) else node.func))
        return frozenset(names)


@dataclass
class Matching:
    """Functions of base and head in their groups. An alignment holds a pair and what was cut out of or put into it."""

    alignments: list[Alignment]
    renamed: list[tuple[Function, Function]]
    extracted: list[tuple[Function, Function]]  # (origin of base, new function of head)
    inlined: list[tuple[Function, Function]]  # (function of base, where it went in head)
    added: list[Function]
    removed: list[Function]


def match_functions(base: Iterable[Function], head: Iterable[Function], renames: dict[str, str]) -> Matching:
    """Match all functions of the changed files. `renames`: path in base -> path in head of renamed files."""
    left = {(renames.get(f.path, f.path), f.name): f for f in base}
    right = {(f.path, f.name): f for f in head}
    pairs = [(left[k], right[k]) for k in left if k in right]
    gone = [f for k, f in left.items() if k not in right]
    new = [f for k, f in right.items() if k not in left]
    bodies = {f: Body(f) for f in [*left.values(), *right.values()]}

    found = greedy(
        {
            (i, j): score
            for i, f in enumerate(gone)
            for j, g in enumerate(new)
            if (score := _likeness(bodies[f], bodies[g])) >= RENAMED
        }
    )
    renamed = [(gone[i], new[j]) for i, j in found]
    gone = [f for i, f in enumerate(gone) if i not in {i for i, _ in found}]
    new = [f for j, f in enumerate(new) if j not in {j for _, j in found}]
    both = [(f, g) for f, g in [*pairs, *renamed] if f.text != g.text]

    cut: dict[Function, Function] = {}  # new function -> the base function that it was cut out of
    put: dict[Function, Function] = {}  # gone function -> the head function that it was put into
    for f, g in both:
        for one in new:
            if one not in cut and _absorbs(bodies[f], bodies[g], bodies[one]):
                cut[one] = f
        for one in gone:
            if one not in put and _absorbs(bodies[g], bodies[f], bodies[one]):
                put[one] = g
    names = {f.simple_name: g.simple_name for f, g in renamed if f.simple_name != g.simple_name}
    alignments = [
        Alignment(
            (f, *(one for one, into in put.items() if into is g)),
            (g, *(one for one, origin in cut.items() if origin is f)),
            names,
        )
        for f, g in both
    ]
    return Matching(
        alignments,
        renamed,
        [(origin, one) for one, origin in cut.items()],
        [(one, into) for one, into in put.items()],
        [f for f in new if f not in cut],
        [f for f in gone if f not in put],
    )


def _likeness(a: Body, b: Body) -> float:
    """How alike two functions are; small bodies have to be equal, and a shared name counts."""
    f, g = a.function, b.function
    if f.kind == "kernel" != g.kind or f.simple_name.startswith("test") != g.simple_name.startswith("test"):
        return 0.0
    score = similarity(a.statements, b.statements)
    if min(len(f.statements), len(g.statements)) < 3 and f.simple_name != g.simple_name and score < 1:
        return 0.0
    if len(f.statements) < 2 and f.simple_name != g.simple_name:
        return 0.0
    return score + 0.2 * (f.simple_name == g.simple_name) if score else 0.0


def _absorbs(whole: Body, calling: Body, part: Body) -> bool:
    """Whether `part` is code that `whole` has and `calling`, the other version of `whole`, reaches by a call."""
    name = part.function.simple_name
    if name not in calling.called or name in whole.called:
        return False
    shared = part.statements & whole.statements
    if sum(shared.values()) >= 2 and sum(shared.values()) >= EXTRACTED * sum(part.statements.values()):
        return True
    calls = part.calls & whole.calls
    return sum(calls.values()) >= 2 and sum(calls.values()) >= EXTRACTED * sum(part.calls.values())
