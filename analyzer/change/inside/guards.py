"""What a function demands of its inputs: assertions, and tests that raise.

A guard is a conjunction of clauses; a clause is a set of alternatives on one subject, or a bound. A clause is wider
than another where it lets more values through.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Iterator
from dataclasses import dataclass

from analyzer.change.inside.dtypes import dtype_of
from analyzer.change.inside.fact import Fact, Key, View
from analyzer.change.inside.vocabulary import BYTES
from analyzer.change.nodes import last_name
from analyzer.change.writing import written

NEGATED = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
MIRRORED = {ast.Lt: ast.Gt, ast.Gt: ast.Lt, ast.LtE: ast.GtE, ast.GtE: ast.LtE, ast.Eq: ast.Eq, ast.NotEq: ast.NotEq}
HOLDS = {ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge}


@dataclass(frozen=True)
class Clause:
    """`kind`: allowed (one of `values`), forbidden (none of them), bound (op and number), other (alternatives)."""

    subject: str
    kind: str
    values: frozenset = frozenset()
    op: type | None = None
    number: float = 0.0


def guards(view: View) -> Iterator[Fact]:
    """One fact a clause of an assertion, of ``if ...: raise``, of ``torch._check``."""
    node, negated = view.statement.node, False
    test: ast.expr | None = None
    if isinstance(node, ast.Assert):
        test = node.test
    elif isinstance(node, ast.If) and is_guard(node):
        test, negated = node.test, True
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        name = last_name(node.value.func)
        if (name in ("_check", "device_assert", "static_assert") or name.startswith("_check_")) and node.value.args:
            test = node.value.args[0]
    if test is None:
        return
    for part, flipped in _conjuncts(test, negated):
        its = clause(part, flipped, view.key)
        subject = written(_subject(part))
        detail = {"subject": subject, "allows": _say(its, part, flipped), "demands": _demand(part, flipped)}
        if view.statement.conditions:
            detail["condition"] = view.statement.innermost
        yield view.fact("guard", part, its.subject, its, detail=detail)


def is_guard(node: ast.stmt) -> bool:
    """An assertion, or an `if` that only raises; what it works out for the message changes nothing."""
    if isinstance(node, ast.Assert):
        return True
    if not isinstance(node, ast.If) or node.orelse or not isinstance(node.body[-1], ast.Raise):
        return False
    return all(isinstance(one, ast.Assign | ast.Expr) for one in node.body[:-1])


def direction(base: Clause, head: Clause) -> str:
    """widened, narrowed, or changed where neither lets through all that the other does."""
    if _contains(head, base):
        return "changed" if _contains(base, head) else "widened"
    return "narrowed" if _contains(base, head) else "changed"


def _contains(wide: Clause, narrow: Clause) -> bool:
    """Whether everything that `narrow` lets through passes `wide` too, as far as it can be told."""
    kinds = (wide.kind, narrow.kind)
    if kinds in (("allowed", "allowed"), ("other", "other")):
        return wide.values >= narrow.values
    if kinds == ("forbidden", "forbidden"):
        return wide.values <= narrow.values
    if kinds == ("forbidden", "allowed"):
        return not wide.values & narrow.values
    if kinds == ("bound", "allowed"):
        numbers = [_number(value) for value in narrow.values]
        return all(n is not None and HOLDS[wide.op](n, wide.number) for n in numbers)
    if kinds == ("bound", "bound"):
        up = (ast.Lt, ast.LtE)
        if (wide.op in up) != (narrow.op in up):
            return False
        if wide.number == narrow.number:
            return wide.op == narrow.op or wide.op in (ast.LtE, ast.GtE)
        return (wide.number > narrow.number) == (wide.op in up)
    return False


def _conjuncts(test: ast.expr, negated: bool) -> Iterator[tuple[ast.expr, bool]]:
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from _conjuncts(test.operand, not negated)
    elif isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or if negated else ast.And):
        for value in test.values:
            yield from _conjuncts(value, negated)
    else:
        yield test, negated


def _disjuncts(test: ast.expr, negated: bool) -> list[tuple[ast.expr, bool]]:
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _disjuncts(test.operand, not negated)
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And if negated else ast.Or):
        return [pair for value in test.values for pair in _disjuncts(value, negated)]
    return [(test, negated)]


def clause(test: ast.expr, negated: bool, key: Key) -> Clause:
    """A test without conjunctions, or its opposite, as one clause."""
    clauses = [_atom(part, flipped, key) for part, flipped in _disjuncts(test, negated)]
    first = clauses[0]
    if len(clauses) == 1:
        return first
    if all(c.kind == "allowed" and c.subject == first.subject for c in clauses):
        return Clause(first.subject, "allowed", frozenset().union(*(c.values for c in clauses)))
    alternatives = frozenset(alternative for c in clauses for alternative in _alternatives(c))
    return Clause(first.subject, "other", alternatives)


def _alternatives(clause: Clause) -> frozenset:
    if clause.kind == "other":
        return clause.values
    if clause.kind == "allowed":
        return frozenset((clause.subject, value) for value in clause.values)
    return frozenset({clause})


def _subject(test: ast.expr) -> ast.expr:
    while isinstance(test, ast.UnaryOp) or (isinstance(test, ast.BoolOp) and test.values):
        test = test.operand if isinstance(test, ast.UnaryOp) else test.values[0]
    if isinstance(test, ast.Compare):
        mirrored = isinstance(test.left, ast.Constant) and not isinstance(test.comparators[0], ast.Constant)
        return test.comparators[0] if mirrored else test.left
    if isinstance(test, ast.Call) and last_name(test.func) == "isinstance" and len(test.args) == 2:
        return test.args[0]
    return test


def _atom(test: ast.expr, negated: bool, key: Key) -> Clause:
    if isinstance(test, ast.Call) and last_name(test.func) == "isinstance" and len(test.args) == 2:
        return Clause(key(test.args[0]), "forbidden" if negated else "allowed", _values(test.args[1], key))
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return Clause(key(_subject(test)), "other", frozenset({("not " if negated else "") + key(test)}))
    left, op, right = test.left, type(test.ops[0]), test.comparators[0]
    if isinstance(left, ast.Constant) and not isinstance(right, ast.Constant) and op in MIRRORED:
        left, op, right = right, MIRRORED[op], left
    if negated:
        op = NEGATED[op]
    if op in (ast.Eq, ast.Is):
        return Clause(key(left), "allowed", frozenset({_value(right, key)}))
    if op in (ast.NotEq, ast.IsNot):
        return Clause(key(left), "forbidden", frozenset({_value(right, key)}))
    if op in (ast.In, ast.NotIn):
        return Clause(key(left), "allowed" if op is ast.In else "forbidden", _values(right, key))
    number = _number(_value(right, key))
    if number is not None:
        return Clause(key(left), "bound", op=op, number=number)
    return Clause(key(left), "other", frozenset({f"{op.__name__} {key(right)}"}))


def _values(node: ast.expr, key: Key) -> frozenset:
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        return frozenset(_value(e, key) for e in node.elts)
    return frozenset({_value(node, key)})


def _value(node: ast.expr, key: Key) -> str:
    dtype = dtype_of(node)
    return dtype if dtype in BYTES else key(node)


def _number(text: str) -> float | None:
    try:
        number = float(text.replace("(UnaryOp (USub) ", "-").rstrip(")"))
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _say(clause: Clause, test: ast.expr, negated: bool) -> str:
    """The clause's alternatives for a reader."""
    if clause.kind == "allowed" and all(value in BYTES for value in clause.values):
        return ", ".join(sorted(clause.values))
    return _demand(test, negated)


def _demand(test: ast.expr, negated: bool) -> str:
    """What has to hold, where a guard is passed."""
    if negated and isinstance(test, ast.Compare) and len(test.ops) == 1:
        return written(ast.Compare(test.left, [NEGATED[type(test.ops[0])]()], test.comparators))
    return written(ast.UnaryOp(ast.Not(), test)) if negated else written(test)
