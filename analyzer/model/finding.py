"""What the rules say about a change."""

from __future__ import annotations

from analyzer.model.base import Record, Severity, Text
from analyzer.model.change import Edit


class Finding(Record):
    """A rule that matched. `why`, `instead` and `tags` are the rule's own text; `edits` are what it rests on."""

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
    waived_by: str | None = None
