"""Statements that one version has in another form: what they set is neither gone nor new."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator

from analyzer.change.align import Alignment, part_set
from analyzer.change.nodes import last_name
from analyzer.change.source import Statement


def in_another_form(alignment: Alignment, side: int) -> set[int]:
    """Places of the statements of a side (0 base, 1 head) whose target the other side sets in another form."""
    own, other = _side(alignment, side), _side(alignment, 1 - side)
    pairs = [(alignment.base_statements[i], alignment.head_statements[j]) for i, j in alignment.pairs.items()]
    both = {id(pair[1 - side]) for pair in pairs if all(_sets_several(statement) for statement in pair)}
    parts = set(_parts_in_tuples(*other, both))
    locals_set: dict[str, list[Statement]] = defaultdict(list)
    for statement in other[0]:
        if isinstance(statement.node, ast.Assign | ast.AugAssign) and statement.target().isidentifier():
            locals_set[other[2](statement.target())].append(statement)
    if not parts and not locals_set:
        return set()
    found = set()
    taken = {pair[side] for pair in alignment.pairs.items()}
    for place, statement in enumerate((alignment.base_statements, alignment.head_statements)[side]):
        if place in taken:
            continue
        node, target = part_set(statement), statement.target()
        if target.isidentifier() and isinstance(statement.node, ast.Assign):
            node = statement.node.targets[0]
        others = locals_set.get(own[2](target), ()) if target.isidentifier() else ()
        alike = (_same_update(statement, its) or _same_call(statement, own[1], its, other[1]) for its in others)
        if (node is not None and own[1](node) in parts) or any(alike):
            found.add(place)
    return found


def _side(alignment: Alignment, side: int) -> tuple:
    """The statements of a side that the other has not as they are, its key and its names."""
    same = {pair[side] for pair in alignment.equal}
    statements = (alignment.base_statements, alignment.head_statements)[side]
    left = [s for place, s in enumerate(statements) if place not in same]
    return left, *((alignment.base_key, alignment.base_name), (alignment.head_key, alignment.head_name))[side]


def _parts_in_tuples(statements: list[Statement], key, _, both: set[int]) -> Iterator[str]:
    """What is set as one of several; attributes and elements by a loop or a `with`, too.

    `both`: statements that both sides have, in other words: the locals that they set are set by both anyway.
    """
    for statement in statements:
        several = _sets_several(statement) and id(statement) not in both
        if part_set(statement) is None:
            for node in statement.nodes:
                part = isinstance(node, ast.Attribute | ast.Subscript) or (several and isinstance(node, ast.Name))
                if part and isinstance(node.ctx, ast.Store):
                    yield key(node)


def _sets_several(statement: Statement) -> bool:
    return isinstance(statement.node, ast.Assign) and not statement.target().isidentifier()


def _same_update(one: Statement, other: Statement) -> bool:
    """Whether an update of a local (``x &= a``) has an assignment in its place (``x = a``), or the other way round."""
    if not isinstance(one.node, ast.AugAssign):
        one, other = other, one
    if not isinstance(one.node, ast.AugAssign) or not isinstance(other.node, ast.Assign):
        return False
    return not any(isinstance(n, ast.Name) and n.id == other.target() for n in ast.walk(other.node.value))


def updates(alignment: Alignment) -> Iterator[tuple[Statement, Statement]]:
    """An update of a local on one side and the assignment of the same value, to the same local, on the other."""
    sides: list[dict[tuple[str, str], list[Statement]]] = []
    for side in (0, 1):
        left, key, rename = _side(alignment, side)
        found = defaultdict(list)
        for statement in left:
            plain = isinstance(statement.node, ast.Assign | ast.AugAssign) and statement.target().isidentifier()
            if plain:
                found[rename(statement.target()), key(statement.node.value)].append(statement)
        sides.append(found)
    for what in sides[0].keys() & sides[1].keys():
        if len(sides[0][what]) == len(sides[1][what]):
            yield from ((x, y) for x, y in zip(sides[0][what], sides[1][what], strict=True) if _same_update(x, y))


def _same_call(one: Statement, key, other: Statement, other_key) -> bool:
    """Whether both give the local what the same function returns, perhaps under a test."""
    if not (isinstance(one.node, ast.Assign) and isinstance(other.node, ast.Assign)):
        return False
    ours, theirs = (
        {its(value.func) for value in _ways(s.node.value) if isinstance(value, ast.Call)}
        for s, its in ((one, key), (other, other_key))
    )
    return bool(ours & theirs)


def _ways(value: ast.expr) -> tuple[ast.expr, ...]:
    """What ``a if test else b`` may be, any other value itself."""
    return (value.body, value.orelse) if isinstance(value, ast.IfExp) else (value,)


def of_another(alignment: Alignment) -> set[tuple[int, int]]:
    """Pairs that call the same method of two things at two places: the one does not stand in place of the other."""
    same = set(alignment.equal)
    found = set()
    for i, j in alignment.pairs.items():
        nodes = alignment.base_statements[i].node, alignment.head_statements[j].node
        if (i, j) in same or not all(isinstance(n, ast.Expr) and isinstance(n.value, ast.Call) for n in nodes):
            continue
        one, two = nodes[0].value.func, nodes[1].value.func
        if not (isinstance(one, ast.Attribute) and isinstance(two, ast.Attribute)) or one.attr != two.attr:
            continue
        names = alignment.base_name(last_name(one.value)), alignment.head_name(last_name(two.value))
        if names[0] != names[1] and sum(a < i for a, _ in same) != sum(b < j for _, b in same):
            found.add((i, j))
    return found
