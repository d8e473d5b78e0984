"""What code that both sides have runs under: conditions, loops, `with` and `try` blocks that came, went or changed.

Compared are pairs of statements that are the same on both sides and occur once, so that no `return` is taken for
another one. Code that only one side has says nothing here.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property, partial

from analyzer.change.align import Alignment
from analyzer.change.edits import Side, make
from analyzer.change.inside import guards
from analyzer.change.inside.fact import Key
from analyzer.change.inside.operations import same_but_values
from analyzer.change.inside.surroundings import (
    Around,
    clauses,
    disjuncts,
    inner_exits,
    iteration,
    leaves,
    spelled_out,
    surroundings,
)
from analyzer.change.nodes import negated
from analyzer.change.refusals import demanded, refused_in_branches
from analyzer.change.sequences import greedy
from analyzer.change.shapes import spelled
from analyzer.change.source import Statement, conjunction
from analyzer.change.writing import written
from analyzer.model.change import Edit

#: Kind of surrounding -> noun of its edits, and the name of its text in an edit's detail.
NOUNS = {
    "if": ("condition", "test"), "while": ("condition", "test"), "for": ("loop", "loop"),
    "with": ("context", "context"), "try": ("context", "context"),
}  # fmt: skip


@dataclass
class Structure:
    """The edits, and the pairs of headers (base place, head place) that they tell of."""

    edits: list[Edit] = field(default_factory=list)
    told: set[tuple[int, int]] = field(default_factory=set)


def structure(alignment: Alignment) -> Structure:
    """Of the functions themselves; code that was cut out of one has other surroundings by nature."""
    found = Structure()
    base, head = alignment.base[0], alignment.head[0]
    pairs = [
        (alignment.base_statements[i], alignment.head_statements[j])
        for i, j in sorted(alignment.pairs.items())
        if alignment.base_statements[i].function is base and alignment.head_statements[j].function is head
    ]
    comparison = _Comparison(alignment, pairs)
    for x, y in [*pairs, *comparison.enclosing]:
        if type(x.node) is type(y.node) and _is_header(x.node):
            edit, told = comparison.header(x, y)
            found.edits += [edit] if edit else []
            if told:
                found.told.add((comparison.places[x], comparison.places[y]))
    found.edits += comparison.regrouped()
    return found


def _is_header(node: ast.stmt) -> bool:
    return isinstance(node, ast.If | ast.While | ast.For | ast.AsyncFor | ast.With | ast.AsyncWith)


class _Comparison:
    """Pairs of statements, each with what surrounds it on either side."""

    def __init__(self, alignment: Alignment, pairs: list[tuple[Statement, Statement]]) -> None:
        self.alignment = alignment
        self.places = {
            s: n for side in (alignment.base_statements, alignment.head_statements) for n, s in enumerate(side)
        }
        self._around = around = surroundings(alignment.base[0]), surroundings(alignment.head[0])
        self.twin = {id(x.node): y.node for x, y in pairs if _loops(around[0][x]) == _loops(around[1][y])}
        self.likenesses = pairs
        counts = Counter(alignment.base_shapes), Counter(alignment.head_shapes)
        self.pairs = []
        for x, y in pairs:
            shape = alignment.base_shapes[self.places[x]]
            if shape == alignment.head_shapes[self.places[y]] and counts[0][shape] == counts[1][shape] == 1:
                self.pairs.append((x, y, around[0][x], around[1][y]))
        #: Headers that share little with each other, but have the same code under them.
        self.enclosing = self._enclosing()
        self.twin |= {id(x.node): y.node for x, y in self.enclosing}

    def _enclosing(self) -> list[tuple[Statement, Statement]]:
        headers = [{id(s.node): s for s in f.statements} for f in (self.alignment.base[0], self.alignment.head[0])]
        taken = {id(node) for node in self.twin.values()}
        votes: Counter = Counter()
        for _, _, before, after in self.pairs:
            ends = [[one for one in around if not one.leaves][-1:] for around in (before, after)]
            if not all(ends):
                continue
            (one,), (two,) = ends
            if id(one.node) in self.twin or id(two.node) in taken or one.holds != two.holds:
                continue
            x, y = headers[0].get(id(one.node)), headers[1].get(id(two.node))
            if x is not None and y is not None and type(x.node) is type(y.node) and _is_header(x.node):
                votes[x.index, y.index] += 1
        base, head = self.alignment.base[0].statements, self.alignment.head[0].statements
        return [(base[i], head[j]) for i, j in greedy(votes)]

    def header(self, x: Statement, y: Statement) -> tuple[Edit | None, bool]:
        """The edit of a header that both sides have, and whether what differs in it is told."""
        a, b = x.node, y.node
        if self.twin.get(id(a)) is not b:
            return None, True  # an inner loop is not the outer one
        keys = self.alignment.base_key, self.alignment.head_key
        if isinstance(a, ast.For | ast.AsyncFor):
            spellings = [
                partial(spelled, key=key, held=held) for key, held in zip(keys, self.alignment.lone, strict=True)
            ]
            if iteration(a, spellings[0]) == iteration(b, spellings[1]):
                return None, True
            detail = {"loop_before": written(a.iter), "loop_after": written(b.iter)}
            return self._make("loop-changed", (x, a.iter), (y, b.iter), detail), True
        if isinstance(a, ast.With | ast.AsyncWith):
            texts = [", ".join(written(item.context_expr) for item in node.items) for node in (a, b)]
            names = [
                sorted(key(item.context_expr) for item in node.items) for node, key in zip((a, b), keys, strict=True)
            ]
            if names[0] == names[1]:
                return None, True
            detail = {"form": "with", "context_before": texts[0], "context_after": texts[1]}
            return self._make(
                "context-changed", (x, a.items[0].context_expr), (y, b.items[0].context_expr), detail
            ), True
        if guards.is_guard(a) or guards.is_guard(b) or keys[0](a.test) == keys[1](b.test):
            return None, False
        tests = spelled_out(a.test, x.function), spelled_out(b.test, y.function)
        before, after = clauses(tests[0], True, keys[0]), clauses(tests[1], True, keys[1])
        if before.keys() == after.keys() or self._settled(a, b):
            return None, True
        if not self._shares(a, b):
            return None, True  # a test of other code is another test
        around = self._around[0].get(x, ()), self._around[1].get(y, ())
        own = Around(a, "if", tests[0]), Around(b, "if", tests[1])  # of an `if` or a `while`, as its body has it
        totals = [
            {name: part for one in (*its, header) for name, part in one.clauses(key).items() if part is not None}
            for its, header, key in zip(around, own, keys, strict=True)
        ]
        if totals[0].keys() == totals[1].keys():
            return None, True  # what one side has around it, the other has in it
        opposite = clauses(tests[1], False, keys[1])
        if before.keys() == opposite.keys() and not self._keeps(a, b):
            return None, True  # the opposite test, of other code
        if same_but_values(a.test, b.test, *keys):
            return None, False  # told by the comparison or the constant
        alone = [self._lone(its, other, side) for its, other, side in zip(around, around[::-1], (0, 1), strict=True)]
        texts = [
            conjunction([*tests, (node.test, True)], s.function) if tests else written(node.test)
            for tests, node, s in zip(alone, (a, b), (x, y), strict=True)
        ]
        detail = {
            "form": "if" if isinstance(a, ast.If) else "while", "test_before": texts[0], "test_after": texts[1],
        }  # fmt: skip
        ways = [direction(*sides, keys) for sides in ((before, after), totals)]
        way = ways[1] if any(alone) else ways[0] if ways[0] == ways[1] else "changed"
        return self._make(f"condition-{way}", (x, a.test), (y, b.test), detail), True

    def _lone(self, own: tuple[Around, ...], other: tuple[Around, ...], side: int) -> list[tuple[ast.expr, bool]]:
        """Tests around a header that the other side has neither around its header nor in other words."""
        key = (self.alignment.base_key, self.alignment.head_key)[side]
        said = self._names(other, 1 - side)
        return [
            (one.node.test, one.holds)
            for one in own
            if one.kind == "if" and not one.leaves and not self._has(other, one, side)
            if not said >= one.clauses(key).keys()
        ]

    def _shares(self, a: ast.stmt, b: ast.stmt) -> bool:
        """Whether any code that both sides have, in other words or not, is in both or is left out by both."""
        ends = type(a.body[-1]), type(b.body[-1])
        if ends[0] is ends[1] and issubclass(ends[0], ast.Return | ast.Continue | ast.Break):
            return True
        return self._shares_inside(a, b, self.likenesses)

    def _shares_inside(self, a: ast.stmt, b: ast.stmt, pairs: list[tuple[Statement, Statement]]) -> bool:
        """Whether any of the pairs of statements stands in both."""
        inside = [{id(node) for node in ast.walk(side)} for side in (a, b)]
        return any(
            id(x.node) in inside[0] and id(y.node) in inside[1] for x, y in pairs if x.node is not a and y.node is not b
        )

    @cached_property
    def alike(self) -> list[tuple[Statement, Statement]]:
        """The pairs of which the one surely became the other."""
        weak = self.alignment.weak
        return [(x, y) for x, y in self.likenesses if (self.places[x], self.places[y]) not in weak]

    def _keeps(self, a: ast.If | ast.While, b: ast.If | ast.While) -> bool:
        """Whether any statement that both sides have runs where either test holds."""
        inside = [{id(node) for one in side.body for node in ast.walk(one)} for side in (a, b)]
        return any(id(x.node) in inside[0] and id(y.node) in inside[1] for x, y, _, _ in self.pairs)

    def _settled(self, a: ast.stmt, b: ast.stmt) -> bool:
        """Whether all code that is in both is under the same conditions all the same."""
        inside = [
            (before, after)
            for _, _, before, after in self.pairs
            if any(one.node is a for one in before) and any(one.node is b for one in after)
        ]
        return bool(inside) and all(self._names(x, 0) == self._names(y, 1) for x, y in inside)

    def _names(self, around: tuple[Around, ...], side: int) -> set[str]:
        key = (self.alignment.base_key, self.alignment.head_key)[side]
        return {name for one in around for name in one.clauses(key)}

    @cached_property
    def _refused(self) -> tuple[set[str], set[str]]:
        """For each side, what holds behind its guards that the other side has as branches."""
        base, head = (
            (self.alignment.base[0], self.alignment.base_key),
            (self.alignment.head[0], self.alignment.head_key),
        )
        return refused_in_branches(*base, *head), refused_in_branches(*head, *base)

    @cached_property
    def _demanded(self) -> tuple[set[str], set[str]]:
        """For each side, what holds behind its guards."""
        its = self.alignment
        return demanded(its.base[0], its.base_key), demanded(its.head[0], its.head_key)

    def regrouped(self) -> Iterator[Edit]:
        """What came around, or went from around, statements that did not change."""
        gone: dict[Around, list[int]] = {}
        new: dict[Around, list[int]] = {}
        for number, (x, y, before, after) in enumerate(self.pairs):
            if len(before) == len(after) and all(map(self._matches, before, after)):
                continue  # as for most statements: nothing around it came or went
            if _is_header(x.node) and not self._shares_inside(x.node, y.node, self.alike):
                continue  # the same test of other code
            for group, own, other, side in ((gone, before, after, 0), (new, after, before, 1)):
                said = self._names(other, 1 - side) | self._refused[1 - side] | self._flagged(other, 1 - side)
                own = [one for one in own if not (one.leaves and self._left_inside(one, side))]
                key = (self.alignment.base_key, self.alignment.head_key)[side]
                for one in own:
                    if self._implied(one, own, said, key):
                        continue
                    if one.leaves == "raise" and one.clauses(key).keys() <= self._demanded[1 - side]:
                        continue  # which the other side does, too, in a guard
                    if one.kind in NOUNS and not self._has(other, one, side) and not said >= one.clauses(key).keys():
                        group.setdefault(one, []).append(number)
        x, y = list(gone), list(new)
        overlaps = {
            (i, j): len({*gone[one]} & {*new[two]}) / len({*gone[one]} | {*new[two]})
            for i, one in enumerate(x)
            for j, two in enumerate(y)
            if NOUNS[one.kind] == NOUNS[two.kind]
        }
        both = greedy({pair: share for pair, share in overlaps.items() if share > 0.5})
        told: dict[tuple[int, int], list[tuple[Around, Around, list[int]]]] = {}
        for i, j in both:
            shared = sorted({*gone[x[i]]} & {*new[y[j]]})
            told.setdefault((id(x[i].node), id(y[j].node)), []).append((x[i], y[j], shared))
        for branches in told.values():  # of both branches of an `if`, one says it
            one, two, _ = min(branches, key=lambda b: (not (b[0].holds and b[1].holds), not (b[0].holds or b[1].holds)))
            yield self._pair(one, two, sorted(number for branch in branches for number in branch[2]))
        for i, one in enumerate(x):
            if i not in {i for i, _ in both}:
                yield self._single(one, gone[one], 0)
        for j, one in enumerate(y):
            if j not in {j for _, j in both}:
                yield self._single(one, new[one], 1)

    def _flagged(self, around: tuple[Around, ...], side: int) -> set[str]:
        """What may hold where a flag does that is bound several times: one of the values that it is given."""
        function = (self.alignment.base[0], self.alignment.head[0])[side]
        key = (self.alignment.base_key, self.alignment.head_key)[side]
        flags = {one.test.id: one.kind for one in around if isinstance(one.test, ast.Name) and one.holds}
        return {
            f"{kind} {name}"
            for flag, kind in flags.items()
            for _, value in function.assigned.get(flag, ())
            if not isinstance(value, ast.Constant)
            for name in clauses(spelled_out(value, function), True, key)
        }

    def _left_inside(self, one: Around, side: int) -> bool:
        """Whether the other side leaves so, too, only within a test of its own; another test is told of its header."""
        inner = self._inner_exits[1 - side]
        if (one.leaves, frozenset(one.clauses((self.alignment.base_key, self.alignment.head_key)[side]))) in inner:
            return True
        own = [(x, id(y))[1 - side] for x, y in self.twin.items() if (x, id(y))[side] == id(one.node)]
        return any((one.leaves, node) in self._inner_nodes[1 - side] for node in own)

    @cached_property
    def _inner_nodes(self) -> tuple[set[tuple[str, int]], ...]:
        functions = self.alignment.base[0], self.alignment.head[0]
        return tuple({(e.leaves, id(e.node)) for e in inner_exits(f)} for f in functions)

    @cached_property
    def _inner_exits(self) -> tuple[set[tuple[str, frozenset[str]]], set[tuple[str, frozenset[str]]]]:
        """For each side, how it is left within an outer test, and what holds behind that there."""
        sides = (self.alignment.base[0], self.alignment.base_key), (self.alignment.head[0], self.alignment.head_key)
        return tuple({(e.leaves, frozenset(e.clauses(key))) for e in inner_exits(f)} for f, key in sides)

    def _implied(self, one: Around, own: tuple[Around, ...], said: set[str], key: Key) -> bool:
        """Whether what both sides have around already says all that a test does: ``a`` says ``a or b``."""
        shared = {name for other in own if other is not one for name in other.clauses(key)} & said
        parts = one.clauses(key) if one.test is not None else {}
        return bool(parts) and all({f"if {way}" for way in disjuncts(*part, key)} & shared for part in parts.values())

    def _has(self, others: tuple[Around, ...], one: Around, side: int) -> bool:
        """Whether the other side has the same thing around, be its test another: that is told of its header."""
        for other in others:
            a, b = (one, other) if side == 0 else (other, one)
            if self._matches(a, b):
                return True
        return False

    def _matches(self, a: Around, b: Around) -> bool:
        return self.twin.get(id(a.node)) is b.node and (a.holds, a.kind) == (b.holds, b.kind)

    def _pair(self, one: Around, two: Around, numbers: list[int]) -> Edit:
        noun, name = NOUNS[one.kind]
        keys = self.alignment.base_key, self.alignment.head_key
        detail: dict = {f"{name}_before": one.text, f"{name}_after": two.text, "statements": len(numbers)}
        if one.kind == two.kind:
            detail["form"] = one.kind
        way = "changed"
        if one.test is not None and two.test is not None:
            way = direction(clauses(one.test, one.holds, keys[0]), clauses(two.test, two.holds, keys[1]), keys)
        first = self.pairs[numbers[0]]
        return self._make(f"{noun}-{way}", (first[0], _site(one)), (first[1], _site(two)), detail)

    def _single(self, one: Around, numbers: list[int], side: int) -> Edit:
        noun, name = NOUNS[one.kind]
        left = bool(one.leaves) and not self._still_left(one, side)
        shown = self._left_where(one, side) if left else one.text
        detail: dict = {name: shown, "form": one.kind, "statements": len(numbers), "guards": len(numbers)}
        if left:
            detail |= {"form": "exit", "guards": one.leaves}
        first = min((self.pairs[number] for number in numbers), key=lambda pair: pair[side].index)
        own, other = (first[0], _site(one)), (first[1], None)
        if side == 1:
            own, other = (first[1], _site(one)), (first[0], None)
            return self._make(f"{noun}-added", other, own, detail)
        return self._make(f"{noun}-removed", own, other, detail)

    def _still_left(self, one: Around, side: int) -> bool:
        """Whether the other side is left under the same test, and only what stands before that is another."""
        names = self._names((one,), side)
        function = (self.alignment.head, self.alignment.base)[side][0]
        exits = {other for around in surroundings(function).values() for other in around if other.leaves == one.leaves}
        return self._has(tuple(exits), one, side) or any(self._names((e,), 1 - side) == names for e in exits)

    def _left_where(self, one: Around, side: int) -> str:
        """All tests that hold where an exit is taken, those around it too; of many those nearest to it."""
        function = (self.alignment.base[0], self.alignment.head[0])[side]
        around = next((its for s, its in surroundings(function).items() if s.node is one.node), ())
        tests = [(other.node.test, other.holds) for other in around if other.kind == "if" and not other.leaves]
        tests.append((one.node.test, not one.holds))
        if not (leaves(one.node.body) or leaves(one.node.orelse)):
            tests.append((one.node.body[0].test, True))
        own = negated(one.node.test) if one.holds else one.node.test
        text = conjunction(tests, function) if tests[1:] else written(own)
        for start in range(1, len(tests)):
            if len(text) > 97:
                text = "... and " + conjunction(tests[start:], function)
        return text

    def _make(self, kind: str, base: tuple[Statement, ast.AST | None], head: tuple, detail: dict) -> Edit:
        sides = [
            Side(
                s.function,
                s.line if node is None else node.lineno,
                "" if node is None else s.function.module.segment(node),
            )
            for s, node in (base, head)
        ]
        return make(kind, *sides, {name: _cut(value) for name, value in detail.items()})


def _loops(around: tuple[Around, ...]) -> int:
    return sum(one.kind == "for" for one in around)


def _cut(value):
    return value[:97] + "..." if isinstance(value, str) and len(value) > 100 else value


def _site(one: Around) -> ast.AST:
    """The expression that an edit points at."""
    node = one.node
    if isinstance(node, ast.For | ast.AsyncFor):
        return node.iter
    if isinstance(node, ast.With | ast.AsyncWith):
        return node.items[0].context_expr
    if isinstance(node, ast.Try):
        types = [handler.type for handler in node.handlers if handler.type is not None]
        return types[0] if types else node.body[0]
    return node.test


def direction(before: dict, after: dict, keys: tuple) -> str:
    """widened, narrowed or changed, from the clauses of both sides; more clauses let fewer cases through."""
    gone, new = before.keys() - after.keys(), after.keys() - before.keys()
    if not gone:
        return "narrowed"
    if not new:
        return "widened"
    if len(gone) == len(new) == 1:
        (x,), (y,) = gone, new
        ways = [set(disjuncts(*part, key)) for part, key in zip((before[x], after[y]), keys, strict=True)]
        if ways[0] < ways[1] or ways[0] > ways[1]:
            return "widened" if ways[0] < ways[1] else "narrowed"
        parts = zip((before[x], after[y]), keys, strict=True)
        return guards.direction(*(guards.clause(test, not holds, key) for (test, holds), key in parts))
    return "changed"
