"""What holds at a place of one version, and a statement as the extractors see it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field

from analyzer.change.source import Function, Statement

Key = Callable[[ast.AST], str]


@dataclass(frozen=True, eq=False)
class Fact:
    """`anchor`: what it is about. `value`: what is compared. `place`: index of its statement in the pooled code.

    `present` is False for a place where the fact could hold and does not (a call without a dtype argument).
    `operand`: the expression that stays where the fact is taken away (`x` of ``x.float()``).
    """

    noun: str
    statement: Statement
    place: int
    node: ast.AST
    anchor: str
    value: Hashable
    present: bool = True
    operand: ast.AST | None = None
    detail: dict = field(default_factory=dict)

    @property
    def function(self) -> Function:
        return self.statement.function

    @property
    def line(self) -> int:
        return getattr(self.node, "lineno", self.statement.line)

    @property
    def text(self) -> str:
        return self.function.module.segment(self.node)


@dataclass(frozen=True, eq=False)
class View:
    """One statement seen by the extractors: `key` turns a node into text that both versions share up to renames.

    `lone`: locals that the other version has not, bound once, with their values.
    """

    statement: Statement
    place: int
    key: Key
    lone: Mapping[str, ast.expr] = field(default_factory=dict)

    @property
    def function(self) -> Function:
        return self.statement.function

    def calls(self) -> Iterator[ast.Call]:
        return iter(self.statement.calls)

    def op(self, call: ast.AST) -> str:
        return self.function.module.language_call(call)

    def fact(self, noun: str, node: ast.AST, anchor: str, value: Hashable, **more) -> Fact:
        return Fact(noun, self.statement, self.place, node, anchor, value, **more)

    def about(self, name: str) -> str:
        """The tests around the statement that look at `name`, as a key."""
        return "&".join(
            f"{holds}{self.key(test)}"
            for test, holds in self.statement.conditions
            if any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(test))
        )
