"""A risk rule: data that says which edits are worth a finding, why, and what to do instead."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_validator

from analyzer.findings.kinds import KINDS
from analyzer.model.base import Record, Severity, Text
from analyzer.model.change import Category
from analyzer.model.plan import Scalar

Family = Literal[
    "numerics",
    "memory",
    "aliasing",
    "concurrency",
    "index",
    "layout",
    "sampling",
    "randomness",
    "launch",
    "guards",
    "tests",
    "build",
    "api",
]


class Pattern(Record):
    """Which edits fit. An empty tuple asks for nothing.

    `symbol_kinds`: kinds of the symbol that the edit belongs to (``kernel``). `detail`: for each key the values of
    which the edit's detail has one; a key that the edit lacks counts as false. `count_min`: the edit's least count.
    """

    kinds: tuple[str, ...] = Field(min_length=1)
    categories: tuple[Category, ...] = ("source", "kernel")
    symbol_kinds: tuple[str, ...] = ()
    detail: dict[str, tuple[Scalar, ...]] = {}
    count_min: int = 1

    @field_validator("kinds")
    @classmethod
    def known(cls, kinds: tuple[str, ...]) -> tuple[str, ...]:
        for kind in kinds:
            if kind not in KINDS:
                raise ValueError(f"no edit kind {kind!r}")
        return kinds


class Companion(Pattern):
    """Another edit of the same symbol, file or change."""

    scope: Literal["symbol", "file", "change"] = "symbol"


class Match(Pattern):
    """`also`: at least one such edit has to be there; `unless`: none may."""

    also: Companion | None = None
    unless: Companion | None = None


class Example(Record):
    """A file before and after; None where it is absent on that side."""

    before: str | None = None
    after: str | None = None
    path: str = "sampler/ops.py"


class Examples(Record):
    matches: Example
    counter: Example = Field(alias="not")


class Rule(Record):
    """`small_fix`: `instead` is a change of a few lines, so that a fix forward is an alternative to a revert.

    `impact` says whom it reaches: users, system, team. `example` may be left out in a repository's own rules only.
    """

    id: str = Field(pattern=r"^[a-z][a-z0-9-]*$")
    title: Text
    family: Family
    severity: Severity
    tags: tuple[Text, ...] = ()
    why: Text
    instead: Text
    small_fix: bool = False
    impact: dict[Literal["users", "system", "team"], Text] = {}
    match: Match
    example: Examples | None = None
