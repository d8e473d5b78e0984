"""The default branch's first-parent history, read once."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from analyzer.change.revisions.git import printable
from analyzer.change.revisions.repository import ZEROS, Entry, Repository
from analyzer.history.messages import Targets, pr_of, title_of

#: One file of a commit as (path, blob before, blob after); 40 zeros stand for a file that is not there.
Swap = tuple[str, str, str]


@dataclass(frozen=True)
class Logged:
    """A commit of the default branch; `position` counts from the newest, which is 0."""

    sha: str
    date: str
    message: str
    position: int

    @cached_property
    def pr(self) -> int | None:
        return pr_of(self.message)

    @cached_property
    def title(self) -> str:
        return title_of(self.message)


@dataclass(frozen=True)
class Touch:
    """A commit that touches files of ours, with all of its own files."""

    sha: str
    files: frozenset[Swap]


class History:
    """What the default branch has seen, newest first; empty where the branch cannot be told."""

    def __init__(self, commits: Iterable[Logged]) -> None:
        self.commits = tuple(commits)

    @classmethod
    def read(cls, repository: Repository) -> History:
        tip = repository.default_branch()
        if tip is None:
            return cls(())
        told = iter(repository.log("--first-parent", "--format=%H%x1f%cI%x1f%B", tip))
        parts = (entry.split("\x1f", 2) for entry in told)
        return cls(Logged(*part, position=at) for at, part in enumerate(parts) if len(part) == 3)

    @cached_property
    def by_sha(self) -> dict[str, Logged]:
        return {commit.sha: commit for commit in self.commits}

    @cached_property
    def by_pr(self) -> dict[int, Logged]:
        """The first commit of each PR."""
        return {commit.pr: commit for commit in self.commits if commit.pr is not None}

    @cached_property
    def by_title(self) -> dict[str, list[Logged]]:
        """The commits of each title, newest first."""
        titles: dict[str, list[Logged]] = {}
        for commit in self.commits:
            titles.setdefault(commit.title, []).append(commit)
        return titles

    def find(self, targets: Targets, before: int = -1) -> list[Logged]:
        """The commits older than the position `before` that a message means.

        A title counts only where no number leads anywhere: its newest commit; one that was cut short with an ellipsis
        is completed where just one title begins so.
        """
        found = [self.by_pr[number] for number in targets.prs if number in self.by_pr]
        found += [commit for prefix in targets.commits if (commit := self._at(prefix))]
        if not found:
            found = [commit for title in targets.titles for commit in self._titled(title, before)[:1]]
        return list({commit.sha: commit for commit in found if commit.position > before}.values())

    def _titled(self, title: str, before: int) -> list[Logged]:
        cut = re.sub(r"\s*(\(#?\d*)?(…|\.\.\.)$", "", title)
        known = [title]
        if cut != title and len(cut) > 20:
            known = [other for other in self.by_title if other.startswith(cut)]
        commits = [commit for name in known for commit in self.by_title.get(name, ()) if commit.position > before]
        return commits if len(known) == 1 else []

    def _at(self, prefix: str) -> Logged | None:
        if len(prefix) == 40:
            return self.by_sha.get(prefix)
        return next((commit for commit in self.commits if commit.sha.startswith(prefix)), None)


def swaps(entries: Iterable[Entry]) -> frozenset[Swap]:
    """A diff as blob pairs; a rename is a file that goes and one that comes."""
    found = set()
    for entry in entries:
        if entry.previous_path:
            found.add((entry.previous_path, entry.base_blob or ZEROS, ZEROS))
            found.add((entry.path, ZEROS, entry.head_blob or ZEROS))
        else:
            found.add((entry.path, entry.base_blob or ZEROS, entry.head_blob or ZEROS))
    return frozenset(found)


def inverse(files: frozenset[Swap]) -> frozenset[Swap]:
    return frozenset((path, after, before) for path, before, after in files)


def touches(repository: Repository, paths: Iterable[str], limit: int, *revisions: str) -> list[Touch]:
    """The last `limit` first-parent commits among `revisions` (as `git log` takes them) that touch one of `paths`."""
    where = [f":(literal){path}" for path in paths]
    flags = ("--first-parent", "--no-renames", "--raw", "--no-abbrev", "--full-diff", f"-n{limit}", "--format=%x01%H")
    found: list[Touch] = []
    files: set[Swap] = set()
    told = iter(repository.log(*flags, *revisions, "--", *where))
    sha = ""
    for part in told:
        if part.startswith("\x01"):
            if sha:
                found.append(Touch(sha, frozenset(files)))
            sha, files = part[1:], set()
        elif (header := part.lstrip("\n")).startswith(":"):
            _, _, before, after, _ = header.split(" ")
            files.add((printable(next(told)), before, after))
    return [*found, Touch(sha, frozenset(files))] if sha else found
