"""What the rules say about a change."""

from __future__ import annotations

from typing import Literal

from analyzer.model.base import Record, Severity, Text
from analyzer.model.change import Edit


class Finding(Record):
    """A rule that matched, and the `edits` that it rests on. Words, `small_fix` and `impact` are the rule's own."""

    rule: str
    family: str
    severity: Severity
    title: Text
    path: str
    line: int | None = None
    symbol: str = ""
    edits: tuple[Edit, ...] = ()
    why: Text
    instead: Text
    tags: tuple[Text, ...] = ()
    small_fix: bool = False
    impact: dict[Literal["users", "system", "team"], Text] = {}
    waived_by: str | None = None
