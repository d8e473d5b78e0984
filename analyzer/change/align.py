"""Pairing the statements of two versions of a function, so that what merely moved or was renamed is no difference.

Everything here is symmetric: pairing (a, b) gives the mirrored pairs of pairing (b, a).
"""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

from analyzer.change.limits import spend
from analyzer.change.nodes import root_name
from analyzer.change.sequences import greedy, lcs, similarity
from analyzer.change.shapes import dump, names_in_order, shape, words
from analyzer.change.source import Function, Statement

#: A pair of unequal statements shares at least this much of its words.
SIMILAR = 0.55
#: Below this only the place of two paired statements is the same.
WEAK = 0.4
#: Above this many candidate pairs only neighbours are compared.
MANY = 40_000


class Renames(dict[str, str]):
    """Names of base -> names of head."""

    @cached_property
    def canonical(self) -> tuple[dict[str, str], dict[str, str]]:
        """For each side, name -> a name that both sides share and that does not depend on which side is base."""
        joint = {x: "~".join(sorted((x, y))) for x, y in self.items()}
        return joint, {y: joint[x] for x, y in self.items()}


@dataclass(eq=False)
class Alignment:
    """Two versions of the same code as pooled statements (a function, or a function and what was cut out of it).

    `globals`: global names that were renamed by the change. `renamed`: the same of locals.
    """

    base: tuple[Function, ...]
    head: tuple[Function, ...]
    globals: Renames

    def counterpart(self, function: Function) -> Function | None:
        """The other version of a function, None for one that was cut out or put in."""
        if function is self.base[0]:
            return self.head[0]
        return self.base[0] if function is self.head[0] else None

    def paths(self, renames: Mapping[str, str]) -> list[str]:
        """The files that the functions are in, under their names in head."""
        return [renames.get(f.path, f.path) for f in self.base] + [f.path for f in self.head]

    @cached_property
    def base_statements(self) -> list[Statement]:
        return [s for f in self.base for s in f.statements]

    @cached_property
    def head_statements(self) -> list[Statement]:
        return [s for f in self.head for s in f.statements]

    @cached_property
    def renamed(self) -> dict[str, str]:
        gone, new = self.own_names
        if not gone or not new:
            return {}
        base_locals = frozenset().union(*(f.locals for f in self.base))
        head_locals = frozenset().union(*(f.locals for f in self.head))
        gone, new = base_locals - head_locals, head_locals - base_locals
        if not gone or not new:
            return {}
        votes: dict[tuple[str, str], int] = defaultdict(int)

        def vote(a: Sequence[str], b: Sequence[str]) -> None:
            for x, y in zip(a, b, strict=False):
                if x in gone and y in new:
                    votes[x, y] += 1

        blank_a = [shape(s, lambda n: "§" if n in base_locals else n) for s in self.base_statements]
        blank_b = [shape(s, lambda n: "§" if n in head_locals else n) for s in self.head_statements]
        for i, j in lcs(blank_a, blank_b):
            vote(
                names_in_order(self.base_statements[i], base_locals),
                names_in_order(self.head_statements[j], head_locals),
            )
        for f, g in zip(self.base, self.head, strict=False):
            if len(f.parameters) == len(g.parameters):
                vote([a.arg for a in f.parameters], [a.arg for a in g.parameters])
        best_for_base = _best(votes, 0)
        best_for_head = _best(votes, 1)
        types = [
            {p.arg: ast.dump(p.annotation) for f in functions for p in f.parameters if p.annotation is not None}
            for functions in (self.base, self.head)
        ]
        return {
            x: y
            for x, y in best_for_base.items()
            if best_for_head.get(y) == x and _agree(types[0].get(x), types[1].get(y))
        }

    @cached_property
    def own_names(self) -> tuple[set[str], set[str]]:
        """At least the locals that the other side has not, told without a look at the statements that both have."""
        base, head = (
            {p.arg for f in functions for p in f.parameters}.union(
                *(s.bound for f in functions for s in f.statements if s.source not in self._twins)
            )
            for functions in (self.base, self.head)
        )
        return base - head, head - base

    @cached_property
    def _canonical(self) -> tuple[dict[str, str], dict[str, str]]:
        """For each side, name -> a name that both sides share and that does not depend on which side is base."""
        joint, back = self.globals.canonical
        local = {x: y for x, y in self.renamed.items() if x not in joint}
        if not local:
            return joint, back
        own = Renames(local).canonical
        return {**own[0], **joint}, {**own[1], **back}

    def base_key(self, node: ast.AST) -> str:
        return dump(node, lambda n: self._canonical[0].get(n, n))

    def head_key(self, node: ast.AST) -> str:
        return dump(node, lambda n: self._canonical[1].get(n, n))

    def base_name(self, name: str) -> str:
        return self._canonical[0].get(name, name)

    def head_name(self, name: str) -> str:
        return self._canonical[1].get(name, name)

    @cached_property
    def base_shapes(self) -> list[str]:
        """What tells whether statements are the same, a text for each: equal ones are."""
        return self._shapes[0]

    @cached_property
    def head_shapes(self) -> list[str]:
        return self._shapes[1]

    @cached_property
    def _shapes(self) -> tuple[list[str], list[str]]:
        sides = (self.base_statements, self.base_name), (self.head_statements, self.head_name)
        if any(self._canonical):
            return tuple([shape(s, name) for s in statements] for statements, name in sides)
        # The same source on both sides says as much as its structure, and costs less.
        return tuple(
            [s.source if s.source in self._twins else shape(s, name) for s in statements] for statements, name in sides
        )

    @cached_property
    def _twins(self) -> set[str]:
        """Sources of statements that both sides have."""
        return ({s.source for s in self.base_statements} & {s.source for s in self.head_statements}) - {""}

    def _words(self, statement: Statement) -> Counter:
        return words(shape(statement, self.base_name if statement.function in self.base else self.head_name))

    @cached_property
    def equal(self) -> list[tuple[int, int]]:
        """Statements that are the same in the same order."""
        return lcs(self.base_shapes, self.head_shapes)

    @cached_property
    def pairs(self) -> dict[int, int]:
        """Base statement -> head statement: the same, or the same place with another content."""
        pairs = dict(self.equal)
        pairs.update(self._lone_parts(pairs))
        taken = set(pairs.values())
        left_a = [i for i in range(len(self.base_statements)) if i not in pairs]
        left_b = [j for j in range(len(self.head_statements)) if j not in taken]
        gaps = _gaps(self.equal, len(self.base_statements), len(self.head_statements))
        many = len(left_a) * len(left_b) > MANY
        words_a = {i: self._words(self.base_statements[i]) for i in left_a}
        words_b = {j: self._words(self.head_statements[j]) for j in left_b}
        candidates: dict[tuple[int, int], float] = {}
        targets = (
            {i: self.base_name(self.base_statements[i].target()) for i in left_a},
            {j: self.head_name(self.head_statements[j].target()) for j in left_b},
        )
        stored = (
            {i: self.base_name(stored_into(self.base_statements[i])) for i in left_a},
            {j: self.head_name(stored_into(self.head_statements[j])) for j in left_b},
        )
        entries = (
            {i: _entry(self.base_statements[i]) for i in left_a},
            {j: _entry(self.head_statements[j]) for j in left_b},
        )
        near = _neighbours(left_a, left_b, *gaps) if many else None
        for i in left_a:
            x = self.base_statements[i]
            for j in left_b if near is None else near[i]:
                y = self.head_statements[j]
                same_gap = gaps[0][i] == gaps[1][j]
                if type(x.node) is not type(y.node) or stored[0][i] != stored[1][j]:
                    continue
                if entries[0][i] and entries[1][j] and entries[0][i] != entries[1][j]:
                    continue
                spend(50)
                score = similarity(words_a[i], words_b[j])
                if same_gap:
                    score += 0.15 + 0.25 * (bool(targets[0][i]) and targets[0][i] == targets[1][j])
                if score >= SIMILAR:
                    candidates[i, j] = score
        pairs.update(greedy(candidates))
        pairs.update(self._lone_exits(left_a, left_b, gaps, pairs))
        return pairs

    def _lone_exits(self, left_a: list[int], left_b: list[int], gaps, pairs: dict[int, int]) -> dict[int, int]:
        """The only `return` or `raise` that is left in the same gap under the same tests: it leaves otherwise."""
        taken = set(pairs.values())
        sides = []
        for left, statements, its, key in (
            ([i for i in left_a if i not in pairs], self.base_statements, gaps[0], self.base_key),
            ([j for j in left_b if j not in taken], self.head_statements, gaps[1], self.head_key),
        ):
            places = defaultdict(list)
            for place in left:
                node = statements[place].node
                if isinstance(node, ast.Return | ast.Raise):
                    tests = tuple((holds, key(test)) for test, holds in statements[place].conditions)
                    places[its[place], type(node).__name__, tests].append(place)
            sides.append(places)
        both = sides[0].keys() & sides[1].keys()
        return {sides[0][k][0]: sides[1][k][0] for k in both if len(sides[0][k]) == len(sides[1][k]) == 1}

    def _lone_parts(self, pairs: dict[int, int]) -> dict[int, int]:
        """The only assignment to an attribute or an element on both sides: what it is set to is another value now."""
        sides = []
        for taken, statements, key in (
            (pairs.keys(), self.base_statements, self.base_key),
            (set(pairs.values()), self.head_statements, self.head_key),
        ):
            left = {key(node) for n, s in enumerate(statements) if n not in taken and (node := part_set(s)) is not None}
            places = defaultdict(list)
            for place, statement in enumerate(statements if left else ()):
                if (node := part_set(statement)) is not None:
                    places[key(node)].append(place)
            sides.append({name: places[name][0] for name in left if len(places[name]) == 1})
        return {sides[0][name]: sides[1][name] for name in sides[0].keys() & sides[1].keys()}

    def differing(self, told: set[tuple[int, int]]) -> Alignment:
        """The same code with only those pairs of statements that differ, without those that are `told` already."""
        same = {*self.equal, *told}
        found = Alignment(self.base, self.head, self.globals)
        found.__dict__.update(self.__dict__)  # what is known of both versions holds on
        found.__dict__["pairs"] = {i: j for i, j in self.pairs.items() if (i, j) not in same}
        found.__dict__.pop("weak", None)
        return found

    @cached_property
    def lone(self) -> tuple[dict[str, ast.expr], dict[str, ast.expr]]:
        """For each side, the locals that the other has not and that hold one thing wherever they are bound."""
        if not any(self.own_names):
            return {}, {}
        known = [
            {rename(name) for f in functions for name in f.locals}
            for functions, rename in ((self.base, self.base_name), (self.head, self.head_name))
        ]
        found: tuple[dict[str, ast.expr], dict[str, ast.expr]] = ({}, {})
        sides = ((self.base, self.base_name, self.base_key), (self.head, self.head_name, self.head_key))
        for side, (functions, rename, key) in enumerate(sides):
            for f in functions:
                parameters = {p.arg for p in f.parameters}
                for name, values in f.assigned.items():
                    if name in parameters or rename(name) in known[1 - side]:
                        continue
                    if len(values) != f.bindings[name] or name in f.filled:
                        continue
                    if len(values) == 1 or len({key(value) for _, value in values}) == 1:
                        found[side][name] = values[0][1]
        return found

    @cached_property
    def weak(self) -> set[tuple[int, int]]:
        """Pairs that have the place in common and little else: the one was written in place of the other."""
        same = set(self.equal)
        found = set()
        for i, j in self.pairs.items():
            if (i, j) in same:
                continue
            x, y = self._words(self.base_statements[i]), self._words(self.head_statements[j])
            unlike = max(x.total(), y.total()) > 4 and similarity(x, y) < WEAK
            if unlike or self._another_local(i, j) or self._one_of_several(i, j):
                found.add((i, j))
        return found

    def _another_local(self, i: int, j: int) -> bool:
        """Whether two locals are given a value of which neither became the other: they hold different things."""
        x, y = self.base_statements[i].target(), self.head_statements[j].target()
        return x.isidentifier() and y.isidentifier() and self.base_name(x) != self.head_name(y)

    def _one_of_several(self, i: int, j: int) -> bool:
        """Whether a local is set to another kind of value, or under other tests, and not as often on both sides."""
        x, y = self.base_statements[i], self.head_statements[j]
        values = [
            s.node.value if isinstance(s.node, ast.Assign) and s.target().isidentifier() else None for s in (x, y)
        ]
        if not all(values):
            return False
        tests = [
            [(holds, key(test)) for test, holds in s.conditions] for s, key in ((x, self.base_key), (y, self.head_key))
        ]
        bound = [s.function.assigned.get(s.target(), ()) for s in (x, y)]
        if len(bound[0]) == len(bound[1]):
            return False
        if type(values[0]) is not type(values[1]):
            return True
        if tests[0] == tests[1]:
            return False
        kinds = [Counter(type(_whole(s, value)) for s, value in its) for its in bound]
        return kinds[0][type(values[0])] != kinds[1][type(values[1])]

    @cached_property
    def touched(self) -> tuple[set[int], set[int]]:
        """Statements of each side that are not the same on the other, or whose tests or names' values are not."""
        own = (self.base_statements, self.head_statements)
        keys, names = (cache(self.base_key), cache(self.head_key)), (self.base_name, self.head_name)
        found = tuple(set(range(len(s))) - {pair[n] for pair in self.equal} for n, s in enumerate(own))
        stored = {
            rename(name)
            for statements, places, rename in zip(own, found, names, strict=True)
            for place in places
            for name in statements[place].bound
        }
        plain = not any(self._canonical)
        for i, j in self.equal:
            x, y = self.base_statements[i], self.head_statements[j]
            changed = (x.conditions or y.conditions) and (
                [(holds, keys[0](test)) for test, holds in x.conditions]
                != [(holds, keys[1](test)) for test, holds in y.conditions]
            )
            if not changed and not (plain and x.source and not any(name in x.source for name in stored)):
                changed = stored.intersection(names[0](n.id) for n in x.nodes if isinstance(n, ast.Name))
            if changed:
                found[0].add(i)
                found[1].add(j)
        return found

    @cached_property
    def same(self) -> bool:
        """Whether nothing differs but names."""
        return self.base_shapes == self.head_shapes


def stored_into(statement: Statement) -> str:
    """The pointer that a kernel's store begins with: stores through other pointers are other statements."""
    node = statement.node
    if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and node.value.args):
        return ""
    if statement.function.module.language_call(node.value) != "store":
        return ""
    address = node.value.args[0]
    while isinstance(address, ast.BinOp):
        address = address.left
    return root_name(address)


def _entry(statement: Statement) -> str:
    """The name in ``state["name"] = ...``: what is stored under another one is another thing."""
    targets = statement.node.targets if isinstance(statement.node, ast.Assign) else []
    place = targets[0] if len(targets) == 1 else None
    if (
        isinstance(place, ast.Subscript)
        and isinstance(place.slice, ast.Constant)
        and isinstance(place.slice.value, str)
    ):
        return place.slice.value
    return ""


def part_set(statement: Statement) -> ast.expr | None:
    """The attribute or element that a plain assignment sets."""
    node = statement.node
    target = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
    return target if isinstance(target, ast.Attribute | ast.Subscript) else None


def _whole(statement: Statement, value: ast.expr) -> ast.expr:
    """What an assignment assigns, where a name gets a part of it."""
    return getattr(statement.node, "value", None) or value


def _agree(base: str | None, head: str | None) -> bool:
    """Whether two annotations, where both are given, are the same."""
    return base is None or head is None or base == head


def _best(votes: Mapping[tuple[str, str], int], side: int) -> dict[str, str]:
    """Each name's counterpart with the most votes, where no other has as many."""
    by_name: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for pair, count in votes.items():
        by_name[pair[side]].append((count, pair[1 - side]))
    best = {}
    for name, options in by_name.items():
        options.sort(reverse=True)
        if len(options) == 1 or options[0][0] > options[1][0]:
            best[name] = options[0][1]
    return best


def _neighbours(a: list[int], b: list[int], gaps_a: list[int], gaps_b: list[int]) -> dict[int, list[int]]:
    """For each statement of `a` those of `b` in the same gap, in a long gap only those at about the same place."""
    sides: tuple[dict[int, list[int]], ...] = (defaultdict(list), defaultdict(list))
    for side, places, gaps in zip(sides, (a, b), (gaps_a, gaps_b), strict=True):
        for place in places:
            side[gaps[place]].append(place)
    found = {}
    for gap, mine in sides[0].items():
        other = sides[1][gap]
        reach = max(1, MANY // max(len(mine), len(other), 1))
        for at, place in enumerate(mine):
            found[place] = other[max(0, at - reach) : at + reach + 1]
    return found


def _gaps(anchors: list[tuple[int, int]], n: int, m: int) -> tuple[list[int], list[int]]:
    """For each statement of each side, the number of anchors before it."""

    def count(size: int, positions: set[int]) -> list[int]:
        found, seen = [], 0
        for index in range(size):
            found.append(seen)
            seen += index in positions
        return found

    return count(n, {i for i, _ in anchors}), count(m, {j for _, j in anchors})
