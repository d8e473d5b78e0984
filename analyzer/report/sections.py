"""Which sections the Markdown has, and how much of each; report.json always has everything."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from analyzer.model.report import FIXED_SECTIONS, SECTIONS

T = TypeVar("T")

#: Entries of each section that are shown where the settings say nothing; of snippets a section holds fewer long ones.
CAPS = {
    "motivation": 6, "implementation": 15, "evidence": 40, "snippets": 6, "discussion": 12, "risks": 10, "remedy": 8,
    "related": 8,
}  # fmt: skip
#: Lines of code shown over all snippets.
CODE_LINES = 110


@dataclass(frozen=True)
class Shape:
    """The sections to write, and how many entries of each."""

    sections: tuple[str, ...] = SECTIONS
    caps: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> Shape:
        """As a run's settings say (settings.py checks the names); all sections where they name none."""
        chosen = tuple(settings.get("sections") or SECTIONS)
        sections = tuple(name for name in SECTIONS if name in chosen or name in FIXED_SECTIONS)
        return cls(sections, dict(settings.get("caps") or {}))

    def cap(self, section: str) -> int:
        return self.caps.get(section, CAPS[section])

    def cut(self, section: str, entries: Iterable[T]) -> tuple[list[T], int]:
        """The entries that are shown, and how many are not."""
        entries = list(entries)
        cap = self.cap(section)
        return entries[:cap], max(len(entries) - cap, 0)
