"""The contents of a diff's files, and the record of each file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from analyzer.change.category import category
from analyzer.change.facts import FileFacts, SourcePair
from analyzer.change.repository import Entry, Repository
from analyzer.model.base import Text
from analyzer.model.change import Category, FileChange

#: A file above this many bytes is data, whatever its name says: neither parsed nor bundled.
LARGE = 4 << 20


def blobs(entries: Iterable[Entry]) -> set[str]:
    """The blobs of both sides of every regular file."""
    return {blob for entry in entries if not entry.special for blob in (entry.base_blob, entry.head_blob) if blob}


class Sources:
    """The contents of a diff's files, read once."""

    def __init__(self, entries: tuple[Entry, ...], contents: Mapping[str, bytes | None]) -> None:
        self._entries = entries
        self._contents = contents

    @classmethod
    def of(cls, repository: Repository, entries: tuple[Entry, ...]) -> Sources:
        return cls(entries, repository.read_many(blobs(entries)))

    def head(self, entry: Entry) -> bytes:
        """The newest content that there is, empty for a file that could not be read."""
        return self._contents.get(entry.head_blob or entry.base_blob or "") or b""

    def unread(self, entry: Entry) -> str | None:
        """Why a file's content is not in the analysis, None where it is."""
        if entry.special:
            return entry.special
        for side, blob in (("base", entry.base_blob), ("head", entry.head_blob)):
            if not blob:
                continue
            content = self._contents[blob]
            if content is None:
                return f"its content at {side} is not in this clone (blob {blob[:10]})"
            if len(content) > LARGE:
                return f"{len(content) >> 20} MiB at {side}: too large to be source"
            if b"\0" in content:
                return "a binary file"
        return None

    def pairs(self) -> list[SourcePair]:
        """The text of both sides of every file that could be read."""
        return [
            SourcePair(entry.path, entry.previous_path, self._text(entry.base_blob), self._text(entry.head_blob))
            for entry in self._entries
            if not self.unread(entry)
        ]

    def _text(self, blob: str | None) -> str | None:
        return (self._contents[blob] or b"").decode("utf-8", "replace") if blob else None


def file_change(
    entry: Entry, sources: Sources, facts: FileFacts | None, module: Text, known: Category | None
) -> FileChange:
    """One file of the diff. `known`: the category that a profile gives it, None where it gives none."""
    return FileChange(
        path=entry.path,
        previous_path=entry.previous_path,
        status=entry.status,
        module=module,
        category=known or category(entry.path, sources.head(entry)),
        added=entry.added,
        removed=entry.removed,
        symbols=facts.symbols if facts else (),
        edits=facts.edits if facts else (),
        notes=facts.notes if facts else (),
        unread=sources.unread(entry),
    )
