"""What surrounds a statement: tests, loops, `with` and `try` blocks, and the exits before it.

A test is taken apart into clauses that all hold, each spelled in one way, so that ``if a and b``, ``if a: if b`` and
``if not a: return`` before the statement say the same.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from analyzer.change.inside.fact import Key
from analyzer.change.inside.guards import is_guard
from analyzer.change.nodes import Block, negated
from analyzer.change.source import Function, Statement, once
from analyzer.change.writing import written

#: What leaves a block, as it is told.
_EXITS = {ast.Return: "return", ast.Continue: "continue", ast.Break: "break", ast.Raise: "raise"}
_MIRRORED = {ast.Gt: ast.Lt, ast.LtE: ast.GtE}
_NEGATIVE = {ast.NotEq: ast.Eq, ast.IsNot: ast.Is, ast.NotIn: ast.In, ast.GtE: ast.Lt}


@dataclass(frozen=True)
class Around:
    """One thing around a statement. `kind`: if, while, for, with, try, handler, case.

    `holds`: whether the statement runs where `test` holds. `leaves`: how the block with the test is left where it is
    an earlier block that keeps the statement from running, else empty.
    """

    node: ast.AST
    kind: str
    test: ast.expr | None = None
    holds: bool = True
    leaves: str = ""

    @property
    def written(self) -> str:
        """The test as the code has it."""
        return written(getattr(self.node, "test", self.test))

    @property
    def text(self) -> str:
        """As a reader would write it; of a test, what holds where the statement runs."""
        node = self.node
        if isinstance(node, ast.If | ast.While):
            return written(node.test if self.holds else negated(node.test))
        if isinstance(node, ast.For | ast.AsyncFor):
            return written(node.iter)
        if isinstance(node, ast.With | ast.AsyncWith):
            return ", ".join(written(item.context_expr) for item in node.items)
        if isinstance(node, ast.Try):
            caught = ["except" + (f" {written(h.type)}" if h.type is not None else "") for h in node.handlers]
            return "; ".join([*caught, *(["finally"] if node.finalbody else [])])
        if isinstance(node, ast.ExceptHandler):
            return "except" + (f" {written(node.type)}" if node.type is not None else "")
        return written(node.pattern) if isinstance(node, ast.match_case) else ""

    def clauses(self, key: Key) -> dict[str, tuple[ast.expr, bool] | None]:
        """What it says, in parts that both versions spell alike."""
        node = self.node
        if self.test is not None:
            return {f"{self.kind} {name}": part for name, part in clauses(self.test, self.holds, key).items()}
        if isinstance(node, ast.For | ast.AsyncFor):
            return {f"for {iteration(node, key)}": None}
        if isinstance(node, ast.With | ast.AsyncWith):
            return {f"with {key(item.context_expr)}": None for item in node.items}
        return {f"{self.kind} {self.text}": None}


#: What a local may stand for in a test.
_SPELLED = ast.Compare | ast.BoolOp | ast.UnaryOp | ast.Call | ast.Attribute | ast.Subscript


def _mentions(node: ast.AST, name: str) -> bool:
    return any(isinstance(one, ast.Name) and one.id == name for one in ast.walk(node))


def spelled_out(test: ast.expr, function: Function, seen: frozenset[str] = frozenset()) -> ast.expr:
    """A test with the locals that are bound once replaced by what they hold, and what that names, too."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return ast.copy_location(ast.UnaryOp(test.op, spelled_out(test.operand, function, seen)), test)
    if isinstance(test, ast.BoolOp):
        values = [spelled_out(value, function, seen) for value in test.values]
        return ast.copy_location(ast.BoolOp(test.op, values), test)
    if isinstance(test, ast.Compare):
        sides = [spelled_out(side, function, seen) for side in (test.left, *test.comparators)]
        return ast.copy_location(ast.Compare(sides[0], test.ops, sides[1:]), test)
    if isinstance(test, ast.Name) and test.id not in seen:
        value = function.held(test.id)
        if isinstance(value, _SPELLED) and not _mentions(value, test.id):
            return spelled_out(value, function, seen | {test.id})
    return test


def clauses(test: ast.expr, holds: bool, key: Key) -> dict[str, tuple[ast.expr, bool]]:
    """Clause -> its expression and whether it holds; all of them together are `test` (or its opposite)."""
    if isinstance(test, ast.NamedExpr):
        return clauses(test.value, holds, key)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return clauses(test.operand, not holds, key)
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And if holds else ast.Or):
        return {name: part for value in test.values for name, part in clauses(value, holds, key).items()}
    if holds and isinstance(test, ast.Compare) and len(test.ops) > 1:
        found = {}
        for left, op, right in zip([test.left, *test.comparators], test.ops, test.comparators, strict=False):
            found |= clauses(ast.Compare(left, [op], [right]), True, key)
        return found
    return {_alternatives(test, holds, key): (test, holds)}


def _alternatives(test: ast.expr, holds: bool, key: Key) -> str:
    parts = sorted(set(disjuncts(test, holds, key)))
    return parts[0] if len(parts) == 1 else f"any({' | '.join(parts)})"


def disjuncts(test: ast.expr, holds: bool, key: Key) -> Iterator[str]:
    """The ways in which a clause can hold."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from disjuncts(test.operand, not holds, key)
    elif isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or if holds else ast.And):
        for value in test.values:
            yield from disjuncts(value, holds, key)
    elif isinstance(test, ast.BoolOp):
        yield f"all({' & '.join(sorted(clauses(test, holds, key)))})"
    else:
        yield _literal(test, holds, key)


def _literal(test: ast.expr, holds: bool, key: Key) -> str:
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return f"{'' if holds else 'not '}{key(test)}"
    sides = [e.value if isinstance(e, ast.NamedExpr) else e for e in (test.left, test.comparators[0])]
    left, op, right = key(sides[0]), type(test.ops[0]), key(sides[1])
    if op in _MIRRORED:
        left, op, right = right, _MIRRORED[op], left
    if op in _NEGATIVE:
        op, holds = _NEGATIVE[op], not holds
    if op in (ast.Eq, ast.Is):
        left, right = sorted((left, right))
    return f"{'' if holds else 'not '}{left} {op.__name__} {right}"


def iteration(node: ast.For | ast.AsyncFor, key: Key) -> str:
    """What a loop goes over: ``range(0, n)`` is ``range(n)``, and counting along is no other loop."""
    value = node.iter
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
        arguments = list(value.args)
        if value.func.id == "enumerate" and arguments:
            return key(arguments[0])
        if value.func.id == "range" and not value.keywords:
            if len(arguments) == 3 and _is(arguments[2], 1):
                arguments.pop()
            if len(arguments) == 2 and _is(arguments[0], 0):
                arguments.pop(0)
            return f"range({' '.join(map(key, arguments))})"
    return key(value)


def _is(node: ast.expr, number: int) -> bool:
    return isinstance(node, ast.Constant) and node.value == number


def leaves(body: list[ast.stmt]) -> str:
    """How a block is left before its end is passed, empty where it can be passed: "return", "continue or raise"."""
    way = _left(body)
    return " or ".join(sorted({way, *_exits(body)})) if way else ""


def _exits(body: list[ast.stmt]) -> Iterator[str]:
    """The exits in a block under tests of their own; what leaves a loop in it does not leave the block."""
    for node in body:
        if type(node) in _EXITS:
            yield _EXITS[type(node)]
        elif isinstance(node, ast.If) and not is_guard(node):
            yield from _exits([*node.body, *node.orelse])
        elif isinstance(node, ast.With | ast.AsyncWith):
            yield from _exits(node.body)


def _left(body: list[ast.stmt]) -> str:
    if not body:
        return ""
    last = body[-1]
    if isinstance(last, ast.If) and last.orelse:
        ways = _left(last.body), _left(last.orelse)
        return ways[0] if all(ways) else ""
    if isinstance(last, ast.With | ast.AsyncWith):
        return _left(last.body)
    return _EXITS.get(type(last), "")


@once
def surroundings(function: Function) -> dict[Statement, tuple[Around, ...]]:
    """Statement -> what surrounds it, from the outside in."""
    own = {id(statement.node): statement for statement in function.statements}
    found: dict[Statement, tuple[Around, ...]] = {}

    def walk(body: list[ast.stmt], around: tuple[Around, ...]) -> tuple[Around, ...]:
        """What surrounds what follows the body: the exits in it, too."""
        for node in body:
            statement = own.get(id(node))
            if statement is not None:
                found[statement] = around
            if isinstance(node, ast.If):
                walk(node.body, (*around, Around(node, "if", spelled_out(node.test, function))))
                walk(node.orelse, (*around, Around(node, "if", spelled_out(node.test, function), False)))
                around += _passed(node, function)
            elif isinstance(node, ast.While):
                walk(node.body, (*around, Around(node, "while", spelled_out(node.test, function))))
                walk(node.orelse, around)
            elif isinstance(node, ast.For | ast.AsyncFor):
                walk(node.body, (*around, Around(node, "for")))
                walk(node.orelse, around)
            elif isinstance(node, ast.With | ast.AsyncWith):
                around += walk(node.body, (*around, Around(node, "with")))[len(around) + 1 :]
            elif isinstance(node, ast.Try):
                walk(node.body, (*around, Around(node, "try")))
                for handler in node.handlers:
                    walk(handler.body, (*around, Around(handler, "handler")))
                walk(node.orelse, around)
                walk(node.finalbody, around)
            elif isinstance(node, Block):
                around = walk(node.body, around)
            elif isinstance(node, ast.Match):
                for case in node.cases:
                    walk(case.body, (*around, Around(case, "case")))
        return around

    walk(function.node.body, ())
    walk = None  # it holds itself, and with it the function
    return found


@once
def inner_exits(function: Function) -> list[Around]:
    """The exits that surround nothing behind the outer `if` that they are in, which can be passed otherwise."""
    outer = [node for s in function.statements if isinstance(node := s.node, ast.If) and not _passed(node, function)]
    inner = (one for node in outer for branch in (node.body, node.orelse) for one in branch)
    return [exit for one in inner if isinstance(one, ast.If) for exit in _passed(one, function)]


def _passed(node: ast.If, function: Function) -> tuple[Around, ...]:
    """What holds behind an `if` of which one branch leaves the block. What it demands of inputs is told as a guard."""
    if is_guard(node):
        return ()
    test = spelled_out(node.test, function)
    body, other = leaves(node.body), leaves(node.orelse)
    if body and not other:
        return (Around(node, "if", test, False, body),)
    if other and not body:
        return (Around(node, "if", test, True, other),)
    inner = node.body[0]
    nested = len(node.body) == 1 and isinstance(inner, ast.If) and not node.orelse and not inner.orelse
    if nested and not is_guard(inner) and (way := leaves(inner.body)):
        both = ast.BoolOp(ast.And(), [test, spelled_out(inner.test, function)])
        return (Around(node, "if", both, False, way),)
    return ()
