"""A risk rule: data that says which edits are worth a finding, why, and what to do instead."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Literal

from pydantic import Field, field_validator

from analyzer.findings.kinds import KINDS
from analyzer.model.base import Record, Severity, Text
from analyzer.model.change import Category, Edit
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
    which the edit's detail has one; a text is a glob, and a key that the edit lacks counts as false. Of a list of
    details one has to fit. `before` and `after`: globs of which the span of that side matches one. `count_min`: the
    edit's least count.
    """

    kinds: tuple[str, ...] = Field(min_length=1)
    categories: tuple[Category, ...] = ("source", "kernel")
    symbol_kinds: tuple[str, ...] = ()
    detail: tuple[dict[str, tuple[Scalar, ...]], ...] = ()
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    count_min: int = 1

    @field_validator("detail", mode="before")
    @classmethod
    def alternatives(cls, value: object) -> object:
        return [value] if isinstance(value, dict) else value

    @field_validator("kinds")
    @classmethod
    def known(cls, kinds: tuple[str, ...]) -> tuple[str, ...]:
        for kind in kinds:
            if kind not in KINDS:
                raise ValueError(f"no edit kind {kind!r}")
        return kinds

    def allows(self, edit: Edit) -> bool:
        """Whether an edit is of the kinds, with the detail and the spans, that the pattern asks for."""
        return (
            edit.kind in self.kinds
            and edit.count >= self.count_min
            and (not self.detail or any(_has(edit, wanted) for wanted in self.detail))
            and (not self.before or any(fnmatchcase(edit.before, glob) for glob in self.before))
            and (not self.after or any(fnmatchcase(edit.after, glob) for glob in self.after))
        )


def _has(edit: Edit, wanted: dict[str, tuple[Scalar, ...]]) -> bool:
    return all(any(_same(edit.detail.get(key, False), one) for one in values) for key, values in wanted.items())


def _same(value: Scalar, wanted: Scalar) -> bool:
    if isinstance(value, str) and isinstance(wanted, str):
        return fnmatchcase(value, wanted)
    return value == wanted and isinstance(value, bool) == isinstance(wanted, bool)


class Companion(Pattern):
    """Another edit of the same symbol, file or change; `same`: keys whose value in its detail is the edit's own."""

    scope: Literal["symbol", "file", "change"] = "symbol"
    same: tuple[str, ...] = ()


class Match(Pattern):
    """`also`: at least one such edit has to be there; `unless` (one pattern, or a list): none may."""

    also: Companion | None = None
    unless: tuple[Companion, ...] = ()

    @field_validator("unless", mode="before")
    @classmethod
    def listed(cls, value: object) -> object:
        return [value] if isinstance(value, dict) else value


class Example(Record):
    """A file before and after, None where it is absent on that side; `beside`: another file of the same change."""

    before: str | None = None
    after: str | None = None
    path: str = "sampler/ops.py"
    beside: Example | None = None


class Examples(Record):
    matches: Example
    counter: Example = Field(alias="not")


class Source(Record):
    """What shows the risk: a pull request, an issue, or a page of documentation, by its own title."""

    title: str = Field(min_length=1)
    url: str = Field(pattern=r"^https://\S+$")


class Rule(Record):
    """`small_fix`: `instead` is a change of a few lines, so that a fix forward is an alternative to a revert.

    `refines`: the id of a more general rule, which leaves to this one the edits that both match. `impact` says whom it
    reaches: users, system, team. `source` and `example` may be left out in a repository's own rules only.
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
    refines: str | None = None
    source: Source | None = None
    example: Examples | None = None
