"""Compares two diffs by the lines that they change, wherever in the file those stand."""

from __future__ import annotations

import re
from collections import Counter

from analyzer.change.repository import Repository

#: (file, lines removed, lines added)
Hunk = tuple[str, tuple[str, ...], tuple[str, ...]]
_HEADER = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")


class Comparison:
    """One diff, and how far others are its inverse."""

    def __init__(self, repository: Repository, base: str, head: str) -> None:
        self._repository = repository
        self._ends = base, head
        self._own: Counter[Hunk] | None = None

    def with_commit(self, sha: str) -> tuple[int, int, int] | None:
        """How many changed places go back exactly, how many this diff has, how many the commit has.

        None where content is missing.
        """
        if self._own is None:
            self._own = _read(self._repository, *self._ends)
        theirs = _read(self._repository, f"{sha}^", sha)
        if self._own is None or theirs is None:
            return None
        back = Counter({(path, after, before): count for (path, before, after), count in theirs.items()})
        return sum((self._own & back).values()), sum(self._own.values()), sum(back.values())


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
            path = line
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
