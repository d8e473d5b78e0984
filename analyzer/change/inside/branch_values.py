"""Locals that one version alone has and that hold one thing in one branch and another thing in another.

A statement that reads such a local in place of an expression is the statement of before where the local holds that
expression; what the other branches give it is what is new. Where none of them gives it that, its operators are those
of the local's values as well, so that nothing is said of operators.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from dataclasses import dataclass, field

from analyzer.change.align import Alignment
from analyzer.change.shapes import shape
from analyzer.change.source import Statement


@dataclass
class BranchValues:
    """`same`: pairs of statements (places in base and head) that are the same in one branch.

    `unsure`: pairs of which one reads such a local and that are the same in no branch. `given`: for each side, the
    assignments of the other values.
    """

    same: set[tuple[int, int]] = field(default_factory=set)
    unsure: set[tuple[int, int]] = field(default_factory=set)
    given: tuple[set[Statement], set[Statement]] = field(default_factory=lambda: (set(), set()))


def branch_values(alignment: Alignment) -> BranchValues:
    """Those of an alignment; found once and kept with it."""
    kept = alignment.__dict__
    if "_branch_values" not in kept:
        kept["_branch_values"] = _find(alignment)
    return kept["_branch_values"]


def _find(alignment: Alignment) -> BranchValues:
    found = BranchValues()
    if alignment.head[0].module.language != "python":
        return found
    same = set(alignment.equal)
    unequal = [pair for pair in alignment.pairs.items() if pair not in same]
    if not unequal or not any(alignment.own_names):
        return found
    for side in (0, 1):
        choices = _choices(alignment, side)
        for pair in unequal if choices else ():
            statement = (alignment.base_statements[pair[0]], alignment.head_statements[pair[1]])[side]
            read = {n.id for n in statement.nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
            names = read & choices.keys()
            if not names:
                continue
            others = _others(alignment, pair, side, statement, choices, names)
            if others is None:
                found.unsure.add(pair)
            else:
                found.same.add(pair)
                found.given[side].update(others)
    return found


def _choices(alignment: Alignment, side: int) -> dict[str, list[tuple[Statement, ast.expr]]]:
    """The locals of a side that the other has not, each with its different values."""
    functions = (alignment.base, alignment.head)
    names = (alignment.base_name, alignment.head_name)
    known = {names[1 - side](name) for f in functions[1 - side] for name in f.locals}
    found = defaultdict(list)
    for f in functions[side]:
        parameters = {p.arg for p in f.parameters}
        for name, values in f.assigned.items():
            if name not in parameters and names[side](name) not in known and name not in alignment.lone[side]:
                found[name] += values
    return dict(found)


def _others(
    alignment: Alignment, pair: tuple[int, int], side: int, statement: Statement, choices: dict, names: set[str]
) -> list[Statement] | None:
    """The assignments of what the local holds where the statement is not the other side's; None: it never is."""
    if len(names) > 1:
        return None
    (name,) = names
    key, rename = ((alignment.base_key, alignment.base_name), (alignment.head_key, alignment.head_name))[side]
    wanted = (alignment.head_shapes[pair[1]], alignment.base_shapes[pair[0]])[side]
    for _, value in choices[name]:
        text = key(value)
        if shape(statement, lambda n, text=text: text if n == name else rename(n)) == wanted:
            return [bound for bound, other in choices[name] if key(other) != text]
    return None


def lone_locals(alignment: Alignment) -> dict[int, int]:
    """Assignments, one on each side, of a local that is bound nowhere else and that both sides read alike.

    Those that stand at the same place or have something in common are paired in `alignment.pairs`.
    """
    paired = [
        (i, j)
        for i, j in alignment.pairs.items()
        if alignment.base_name(alignment.base_statements[i].target())
        == alignment.head_name(alignment.head_statements[j].target())
    ]
    sides = []
    for side, (statements, rename) in enumerate(
        ((alignment.base_statements, alignment.base_name), (alignment.head_statements, alignment.head_name))
    ):
        taken = {pair[side] for pair in paired}
        found = {}
        for place, statement in enumerate(statements):
            target = statement.target()
            plain = isinstance(statement.node, ast.Assign | ast.AnnAssign) and target.isidentifier()
            if place in taken or not plain or statement.node.value is None:
                continue
            function = statement.function
            bound = sum(target in other.bound for other in function.statements)
            if bound == 1 and target not in {p.arg for p in function.parameters}:
                found[rename(target)] = place
        sides.append(found)
    both = sides[0].keys() & sides[1].keys()
    if not both:
        return {}
    read = {
        alignment.base_name(n.id)
        for i, _ in alignment.equal
        for n in alignment.base_statements[i].nodes
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)
    }
    return {sides[0][name]: sides[1][name] for name in both & read}
