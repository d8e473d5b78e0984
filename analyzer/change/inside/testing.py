"""What changed in tests: added, removed, changed, skipped, and how close their comparisons have to be."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analyzer.change.inside.fact import Fact, View
from analyzer.change.inside.vocabulary import TOLERANCE_DEFAULTS, TOLERANCES
from analyzer.change.nodes import last_name
from analyzer.change.revisions import category
from analyzer.change.source import Function

#: Calls that compare with a tolerance.
COMPARING = frozenset({"allclose", "isclose", "assert_close", "assert_allclose", "approx", "assertAlmostEqual"})
SKIPS = frozenset({"skip", "skipif", "xfail", "skipIf", "skipUnless", "expectedFailure", "importorskip", "skipTest"})


def is_test(function: Function) -> bool:
    return category.is_test(function.path) and function.simple_name.startswith("test")


def tolerances(view: View) -> Iterator[Fact]:
    """Tolerances of comparing calls; one that is left out has the call's default where there is a fixed one."""
    for call in view.calls():
        name = last_name(call.func)
        given = {k.arg: k.value for k in call.keywords if k.arg in TOLERANCES}
        if name not in COMPARING and not given:
            continue
        defaults = {key: value for (of, key), value in TOLERANCE_DEFAULTS.items() if of == name}
        for key in sorted(given.keys() | defaults.keys()):
            value = _number(given[key]) if key in given else defaults[key]
            if value is not None:
                detail = {"call": name, "argument": key, "value": value}
                yield view.fact("tolerance", given.get(key, call), f"{name} {key}", value, detail=detail)


def _number(node: ast.expr) -> float | None:
    try:
        value = ast.literal_eval(node)
    except ValueError:
        return None
    return float(value) if isinstance(value, int | float) else None


def skips(function: Function) -> dict[str, ast.AST]:
    """What skips a test: text -> node, of its decorators and its own unconditional or conditional skip calls."""
    found = {ast.unparse(d): d for d in function.node.decorator_list if last_name(d) in SKIPS}
    for statement in function.statements:
        node = statement.node
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and last_name(node.value) in SKIPS:
            found[f"{ast.unparse(node)} if {statement.condition}"] = node
    return found


def skips_changed(base: dict[str, ast.AST], head: dict[str, ast.AST]) -> list[tuple[ast.expr, ast.expr]]:
    """Decorators that skip on both sides, each under conditions of its own: of a kind there is one on either side."""
    gone, new = (
        {last_name(node): node for text, node in own.items() if text not in other and isinstance(node, ast.expr)}
        for own, other in ((base, head), (head, base))
    )
    return [(gone[name], new[name]) for name in gone if name in new]


def parametrization(function: Function) -> list[str]:
    return [ast.unparse(d) for d in function.node.decorator_list if last_name(d) == "parametrize"]


EXTRACTORS = (tolerances,)
