"""Compares a change with one that may take it back, file by file, by the lines that both change."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from analyzer.change.revisions.repository import Repository

#: (file, lines removed, lines added)
Hunk = tuple[str, tuple[str, ...], tuple[str, ...]]
_HEADER = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")


@dataclass(frozen=True)
class Share:
    """One file: how many changed places the suspect and the reverter have in it, and how many go back exactly."""

    path: str
    back: int
    suspect: int
    reverter: int


class Comparison:
    """One change, as the suspect or the reverter beside others.

    The suspect is read backwards: so the two diffs of contents that go back are the same diff, hunk for hunk, however
    Git chooses between equal lines.
    """

    def __init__(self, repository: Repository, base: str, head: str) -> None:
        self._repository = repository
        self._ends = base, head
        self._read: dict[bool, Counter[Hunk] | None] = {}

    def taken_back_by(self, sha: str) -> tuple[Share, ...] | None:
        """This change beside a commit that may take it back, by path; None where content is missing."""
        return _shares(self._own(backwards=True), _read(self._repository, f"{sha}^", sha))

    def takes_back(self, sha: str) -> tuple[Share, ...] | None:
        """A commit beside this change, which may take it back."""
        return _shares(_read(self._repository, sha, f"{sha}^"), self._own(backwards=False))

    def _own(self, backwards: bool) -> Counter[Hunk] | None:
        if backwards not in self._read:
            self._read[backwards] = _read(self._repository, *(self._ends[::-1] if backwards else self._ends))
        return self._read[backwards]


def _shares(suspect: Counter[Hunk] | None, reverter: Counter[Hunk] | None) -> tuple[Share, ...] | None:
    if suspect is None or reverter is None:
        return None
    counts: dict[str, list[int]] = {}
    for at, hunks in enumerate((suspect & reverter, suspect, reverter)):
        for (path, _, _), count in hunks.items():
            counts.setdefault(path, [0, 0, 0])[at] += count
    return tuple(Share(path, *its) for path, its in sorted(counts.items()))


def _read(repository: Repository, base: str, head: str) -> Counter[Hunk] | None:
    patch = repository.patch(base, head)
    return None if patch is None else parse(patch)


def parse(patch: str) -> Counter[Hunk]:
    """The hunks of a patch that has no context lines; carriage returns stay in the lines."""
    found: Counter[Hunk] = Counter()
    path = ""
    lines = iter(patch.split("\n"))
    for line in lines:
        if line.startswith("diff --git "):
            path = _path(line.removeprefix("diff --git "))
        elif match := _HEADER.match(line):
            sides: dict[str, list[str]] = {"-": [], "+": []}
            left = int(match[1] or 1) + int(match[2] or 1)
            while left:
                changed = next(lines)
                if changed[:1] in sides:
                    sides[changed[0]].append(changed[1:])
                    left -= 1
            found[path, tuple(sides["-"]), tuple(sides["+"])] += 1
    return found


def _path(names: str) -> str:
    """``x`` of ``a/x b/x``: without renames both names are the same; one that Git quotes stays quoted."""
    first = names[: (len(names) - 1) // 2]
    return '"' + first.removeprefix('"a/') if first.startswith('"') else first.removeprefix("a/")
