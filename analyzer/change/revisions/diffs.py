"""The files in which two trees differ, one pair at a time or many at once."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from analyzer.change.revisions.git import Git, GitFailed, fields, printable
from analyzer.errors import AnalyzerError
from analyzer.model.change import Status

ZEROS = "0" * 40
_STATUS: dict[str, Status] = {
    "A": "added",
    "C": "added",
    "M": "modified",
    "D": "deleted",
    "R": "renamed",
    "T": "type-changed",
}
_FLAGS = ("diff-tree", "-r", "-z", "--no-textconv", "--no-ext-diff", "--full-index")
#: Renames with some similarity; between at most this many files, since Git compares all with all.
_RENAMES = ("-M", "-l2000")
_HEADER = re.compile(r"[0-9a-f]{40} [0-9a-f]{40}\n")


@dataclass(frozen=True)
class Entry:
    """One file of a diff. Blobs are object ids, None on a side without the file; `modes` as Git writes them."""

    path: str
    previous_path: str | None
    status: Status
    base_blob: str | None
    head_blob: str | None
    added: int = 0
    removed: int = 0
    modes: tuple[str, str] = ("100644", "100644")

    @property
    def special(self) -> bool:
        """Whether a side is no regular file but a link or a submodule, whose "blob" is a commit."""
        return not set(self.modes) <= {"000000", "100644", "100755", "100664"}


def diff(git: Git, base: str, head: str) -> tuple[Entry, ...]:
    """The files that differ, in path order, possibly none. AnalyzerError where a tree is missing."""
    try:
        raw = git.run(*_FLAGS, "--raw", *_RENAMES, base, head)
        counts = git.run(*_FLAGS, "--numstat", *_RENAMES, base, head)
    except GitFailed:
        # Similarity and line counts need content that this clone has not: take exact renames, count what is there.
        raw, counts = _without_content(git, base, head)
    return _entries(fields(raw), _counts(fields(counts)))


def diffs(git: Git, pairs: list[tuple[str, str]]) -> Iterator[tuple[Entry, ...] | None]:
    """What `diff` says of each (base, head) in turn, None where a tree is missing.

    One process for all of which the content is there: what lacks some is diffed by itself, and the rest goes on.
    """
    done = 0
    while done < len(pairs):
        told = _leading(git, pairs[done:])
        yield from told
        done += len(told)
        if done < len(pairs):
            try:
                yield diff(git, *pairs[done])
            except AnalyzerError:
                yield None
            done += 1


def _leading(git: Git, pairs: list[tuple[str, str]]) -> list[tuple[Entry, ...]]:
    """The diffs of the leading pairs, up to the first that lacks content."""
    try:
        trees = git.run("rev-parse", *(f"{name}^{{tree}}" for pair in pairs for name in pair)).decode().split()
    except GitFailed:
        return []
    lines = [f"{base} {head}" for base, head in zip(trees[::2], trees[1::2], strict=True)]
    try:
        output = git.run(*_FLAGS, "--stdin", "--raw", "--numstat", *_RENAMES, stdin="\n".join([*lines, ""]).encode())
        complete = True
    except GitFailed as failure:
        output, complete = failure.output, False
    found: list[tuple[list[str], list[str]]] = []
    rest = iter(output.decode("utf-8", "surrogateescape").split("\0"))
    for line in rest:
        while _HEADER.match(line):  # each answer begins with the line that asked for it
            line = _HEADER.sub("", line, count=1)
            found.append(([], []))
        if line.startswith(":"):
            renamed = line.rpartition(" ")[2][0] in "RC"
            found[-1][0].extend([line, *(next(rest, "") for _ in range(1 + renamed))])
        elif "\t" in line:
            found[-1][1].extend([line, *(next(rest, "") for _ in range(2 if line.endswith("\t") else 0))])
    told = found if complete else found[:-1]
    return [_entries(raw, _counts(counts)) for raw, counts in told]


def _without_content(git: Git, base: str, head: str) -> tuple[bytes, bytes]:
    try:
        raw = git.run(*_FLAGS, "--raw", "-M100%", base, head)
    except GitFailed as failure:
        raise AnalyzerError(f"the trees of {head[:10]} are not all in this clone: {failure.message}") from None
    counts = []
    for entry in _entries(fields(raw), {}):
        try:
            paths = [f":(literal){path}" for path in (entry.path, entry.previous_path) if path]
            counts.append(git.run(*_FLAGS, "--numstat", "-M100%", base, head, "--", *paths))
        except GitFailed:
            continue
    return raw, b"".join(counts)


def _counts(numbers: list[str]) -> dict[str, tuple[int, int]]:
    """path -> (added, removed) of ``--numstat -z``; a rename takes three fields; a binary file counts as zero."""
    counts = {}
    rest = iter(numbers)
    for line in rest:
        added, removed, path = line.split("\t", 2)
        if not path:
            next(rest)
            path = next(rest)
        counts[path] = (int(added), int(removed)) if added != "-" else (0, 0)
    return counts


def _entries(raw: list[str], counts: dict[str, tuple[int, int]]) -> tuple[Entry, ...]:
    """The entries of ``--raw -z``: ``:mode mode blob blob status``, then one path, two for a rename."""
    entries = []
    rest = iter(raw)
    for line in rest:
        base_mode, head_mode, base_blob, head_blob, status = line[1:].split(" ")
        previous = next(rest) if status[0] in "RC" else None
        path = next(rest)
        added, removed = counts.get(path, (0, 0))
        entries.append(
            Entry(
                path=printable(path),
                previous_path=printable(previous) if previous and status[0] == "R" else None,
                status=_STATUS[status[0]],
                base_blob=None if base_blob == ZEROS or status[0] == "C" else base_blob,
                head_blob=None if head_blob == ZEROS else head_blob,
                added=added,
                removed=removed,
                modes=(base_mode, head_mode),
            )
        )
    return tuple(entries)
