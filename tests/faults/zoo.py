"""Loads the zoo: samplers, changes of them that are wrong, and changes that are harmless."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Sampler:
    """A correct sampler and how it is called."""

    name: str
    file: str
    entry: str
    kind: str
    contract: str
    inputs: tuple[dict[str, Any], ...]
    returns: str
    may_write: tuple[str, ...] = ()
    launches: tuple[str, ...] = ()
    arguments: dict[str, Any] = field(default_factory=dict)
    arguments_words: str = ""

    @property
    def source(self) -> str:
        return (FOLDER / "samplers" / self.file).read_text(encoding="utf-8")


@dataclass(frozen=True)
class Case:
    """A change of a sampler. `kind` and `model` are empty for a harmless one; a mutant has its whole `text`."""

    name: str
    sampler: Sampler
    says: str
    edits: tuple[dict[str, str], ...]
    kind: str = ""
    model: str = ""
    shows: str = ""
    tolerance: float = 0.0
    text: str = ""

    @property
    def base(self) -> str:
        return self.sampler.source

    @property
    def head(self) -> str:
        """The base with the edits. Each `find` is looked for in the base, so that no edit depends on another."""
        if self.text:
            return self.text
        text = self.base
        spans = []
        for edit in self.edits:
            found = text.count(edit["find"])
            if found != 1:
                raise ValueError(
                    f"{self.name}: occurs {found} times, not once, in {self.sampler.file}: {edit['find']!r}"
                )
            start = text.index(edit["find"])
            spans.append((start, start + len(edit["find"]), edit["replace"]))
        spans.sort(reverse=True)
        for (start, _, _), (_, end, _) in pairwise(spans):
            if start < end:
                raise ValueError(f"{self.name}: two edits overlap in {self.sampler.file}")
        for start, end, replace in spans:
            text = text[:start] + replace + text[end:]
        return text


def _read(file: str) -> list[dict[str, Any]]:
    return yaml.safe_load((FOLDER / file).read_text(encoding="utf-8"))


@cache
def samplers() -> dict[str, Sampler]:
    """The samplers by name."""
    tuples = ("inputs", "may_write", "launches")
    read = (
        Sampler(**{key: tuple(value) if key in tuples else value for key, value in one.items()})
        for one in _read("samplers.yml")
    )
    return {sampler.name: sampler for sampler in read}


def _cases(file: str) -> list[Case]:
    known = samplers()
    return [Case(**{**one, "sampler": known[one["sampler"]], "edits": tuple(one["edits"])}) for one in _read(file)]


def faults() -> list[Case]:
    """Changes that break a sampler's contract."""
    return _cases("written.yml")


def equivalents() -> list[Case]:
    """Changes that a sampler's contract does not see."""
    return _cases("equivalents.yml")
