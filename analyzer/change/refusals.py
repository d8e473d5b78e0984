"""What one version refuses by a guard and the other by a `raise` in a branch: it is not let through."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analyzer.change.align import Alignment
from analyzer.change.inside import guards
from analyzer.change.inside.fact import Fact, Key
from analyzer.change.inside.surroundings import clauses, spelled_out, surroundings
from analyzer.change.source import Function, Statement


def refused(function: Function, key: Key) -> set[guards.Clause]:
    """What has to hold, as a guard would say it, for a `raise` that is no guard's not to be reached."""
    return {guards.clause(test, holds, key) for test, holds in _tests(function, key)}


def ensured(statement: Statement, key: Key) -> set[guards.Clause]:
    """What surely holds where a statement runs, as a guard would say it, by the tests around it."""
    found = set()
    for one in surroundings(statement.function).get(statement, ()):
        for test in (one.test, getattr(one.node, "test", None)):
            if test is not None:
                parts = clauses(test, one.holds, key).values()
                found |= {guards.clause(part, not holds, key) for part, holds in parts}
    return found


def refused_in_branches(own: Function, own_key: Key, other: Function, other_key: Key) -> set[str]:
    """The clauses (as surroundings name them) that hold behind guards of `own` which `other` has as branches."""
    demanded: set[str] = set()
    for statement in own.statements:
        if isinstance(statement.node, ast.If) and guards.is_guard(statement.node):
            demanded |= clauses(spelled_out(statement.node.test, own), False, own_key).keys()
    if not demanded:
        return set()
    kept = {name for test, holds in _tests(other, other_key) for name in clauses(test, not holds, other_key)}
    return {f"if {name}" for name in demanded & kept}


def demanded(function: Function, key: Key) -> set[str]:
    """The clauses (as surroundings name them) that hold behind the guards of a function, or it raises."""
    found: set[str] = set()
    for statement in function.statements:
        node = statement.node
        if guards.is_guard(node):
            for test in (node.test, spelled_out(node.test, function)):
                found |= {f"if {name}" for name in clauses(test, isinstance(node, ast.Assert), key)}
    return found


def _tests(function: Function, key: Key) -> Iterator[tuple[ast.expr, bool]]:
    """The clauses of the tests around each `raise`."""
    for statement, around in surroundings(function).items():
        if not isinstance(statement.node, ast.Raise):
            continue
        tests = [one for one in around if one.test is not None]
        if tests and not guards.is_guard(tests[-1].node):
            yield from (part for one in tests for part in one.clauses(key).values() if part is not None)
            for one in tests:  # and as it is written, with the names of locals
                yield from clauses(one.node.test, one.holds, key).values()


def refused_otherwise(alignment: Alignment, in_base: bool) -> set[guards.Clause]:
    """What the version that has not the guard refuses in a branch."""
    function, key = (alignment.head[0], alignment.head_key) if in_base else (alignment.base[0], alignment.base_key)
    return refused(function, key)


def ensured_otherwise(fact: Fact, in_base: bool, alignment: Alignment) -> bool:
    """Whether all that both versions have behind a guard stands under tests in the other that demand the same."""
    behind, key = behind_guard(fact, in_base, alignment), alignment.head_key if in_base else alignment.base_key
    return bool(behind) and all(fact.value in ensured(statement, key) for statement in behind)


def behind_guard(fact: Fact, in_base: bool, alignment: Alignment) -> list[Statement]:
    """The other version's statements of what both have behind a guard, under the tests around it."""
    places = alignment.pairs if in_base else {j: i for i, j in alignment.pairs.items()}
    own, other = (alignment.base_statements, alignment.head_statements)[:: 1 if in_base else -1]
    around = fact.statement.conditions
    return [
        other[places[place]]
        for place in range(fact.place + 1, len(own))
        if place in places and own[place].conditions[: len(around)] == around and own[place].function is fact.function
    ]
