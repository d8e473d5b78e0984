"""Which function of base is which function of head: the same, renamed, moved, extracted, inlined, added, removed."""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import product

from analyzer.change.align import Alignment, Renames
from analyzer.change.nodes import last_name
from analyzer.change.sequences import greedy, similarity
from analyzer.change.shapes import dump, shape
from analyzer.change.source import Function

#: Bodies of a renamed or moved function share at least this much; of statements, names of locals left out.
RENAMED = 0.6
#: What it counts that both are in the same file, where several are as alike.
AT_HOME = 0.05
#: Share of an extracted function's expressions that its origin had.
EXTRACTED = 0.6
#: So many pairs of functions are compared for what was renamed.
CANDIDATES = 100_000


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
    #: Whether all that might be renamed was compared.
    complete: bool = True


def match_functions(base: Iterable[Function], head: Iterable[Function], renames: dict[str, str]) -> Matching:
    """Match all functions of the changed files. `renames`: path in base -> path in head of renamed files."""
    left = {(renames.get(f.path, f.path), f.key): f for f in base}
    right = {(f.path, f.key): f for f in head}
    pairs = [(left[k], right[k]) for k in left if k in right]
    gone = [f for k, f in left.items() if k not in right]
    new = [f for k, f in right.items() if k not in left]
    bodies = {f: Body(f) for f in [*left.values(), *right.values()]}

    candidates, complete = _candidates([bodies[f] for f in gone], [bodies[f] for f in new])
    found = greedy(
        {
            (i, j): score + AT_HOME * (renames.get(gone[i].path, gone[i].path) == new[j].path)
            for i, j in candidates
            if (score := _likeness(bodies[gone[i]], bodies[new[j]])) >= RENAMED
        }
    )
    renamed = []
    for f, g in ((gone[i], new[j]) for i, j in found):
        overload = f.name == g.name and renames.get(f.path, f.path) == g.path
        (pairs if overload else renamed).append((f, g))
    gone = [f for i, f in enumerate(gone) if i not in {i for i, _ in found}]
    new = [f for j, f in enumerate(new) if j not in {j for _, j in found}]
    both = [(f, g) for f, g in [*pairs, *renamed] if f.text != g.text]

    cut: dict[Function, Function] = {}  # new function -> the base function that it was cut out of
    put: dict[Function, Function] = {}  # gone function -> the head function that it was put into
    named = (_by_name(new), _by_name(gone))
    for f, g in both:
        for one in _called(bodies[g], named[0]):
            if one not in cut and _absorbs(bodies[f], bodies[g], bodies[one]):
                cut[one] = f
        for one in _called(bodies[f], named[1]):
            if one not in put and _absorbs(bodies[g], bodies[f], bodies[one]):
                put[one] = g
    names = Renames({f.simple_name: g.simple_name for f, g in renamed if f.simple_name != g.simple_name})
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
        complete,
    )


def _candidates(gone: list[Body], new: list[Body]) -> tuple[list[tuple[int, int]], bool]:
    """Pairs of functions with a statement in common, those with a rare one first; whether that is all of them."""
    places: tuple[dict[str, list[int]], ...] = (defaultdict(list), defaultdict(list))
    if gone and new:
        for side, bodies in zip(places, (gone, new), strict=True):
            for place, body in enumerate(bodies):
                for statement in body.statements or [f"nothing in {body.function.simple_name}"]:
                    side[statement].append(place)
    shared = [(len(its) * len(places[1][s]), s) for s, its in places[0].items() if s in places[1]]
    found: dict[tuple[int, int], None] = {}
    for size, statement in sorted(shared):
        if len(found) + size > CANDIDATES:
            return sorted(found), False
        found |= dict.fromkeys(product(places[0][statement], places[1][statement]))
    return sorted(found), True


def _by_name(functions: list[Function]) -> dict[str, list[tuple[int, Function]]]:
    """Functions and their places by the name that a call uses."""
    found: dict[str, list[tuple[int, Function]]] = defaultdict(list)
    for place, function in enumerate(functions):
        found[function.simple_name].append((place, function))
    return found


def _called(body: Body, named: dict[str, list[tuple[int, Function]]]) -> list[Function]:
    """The functions that a body calls by name, in order; of several of one name those of its class, or of its file."""
    mentioned = [name for name in named if name in body.function.text]  # far quicker than to look for its calls
    if not mentioned:
        return []
    found: list[tuple[int, Function]] = []
    for name in body.called.intersection(mentioned):
        here = [pair for pair in named[name] if pair[1].path == body.function.path]
        found += [pair for pair in here if pair[1].owner == body.function.owner] or here or named[name]
    return [one for _, one in sorted(found, key=lambda pair: pair[0])]


def _likeness(a: Body, b: Body) -> float:
    """How alike two functions are; small bodies have to be equal, and a shared name counts."""
    f, g = a.function, b.function
    if f.module.language != g.module.language:
        return 0.0
    if (f.kind == "kernel") != (g.kind == "kernel") or f.simple_name.startswith("test") != g.simple_name.startswith(
        "test"
    ):
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
