"""The Python files of both revisions, one by one: the text of a path, for meaning that lies in another file."""

from __future__ import annotations

from collections.abc import Iterable

from analyzer.change.revisions.repository import Repository
from analyzer.change.revisions.sources import SourcePair
from analyzer.change.source import Module


class RevisionTree:
    """Files that the change leaves alone are the same on both sides, and are read once, from head."""

    def __init__(self, repository: Repository, head: str, pairs: Iterable[SourcePair] = ()) -> None:
        self.parsed: dict[tuple[str, str], Module] = {}
        self._repository = repository
        self._blobs = repository.blobs(head, ["*.py"])
        self._texts: dict[str, str | None] = {}
        self._changed: dict[str, dict[str, str | None]] = {"base": {}, "head": {}}
        for pair in pairs:
            for side, path, text in (
                ("base", pair.previous_path or pair.path, pair.base),
                ("head", pair.path, pair.head),
            ):
                self._changed[side][path] = text
                self._changed["head" if side == "base" else "base"].setdefault(path, None)

    def file(self, side: str, path: str) -> str | None:
        """The text of a file of `side` (base or head); None where there is no such file, or its content is missing."""
        if path in self._changed[side]:
            return self._changed[side][path]
        if path not in self._blobs:
            return None
        if path not in self._texts:
            self.read([path])
        return self._texts[path]

    def read(self, paths: Iterable[str]) -> None:
        """Fetch many files at once."""
        wanted = {path: self._blobs[path] for path in paths if path in self._blobs and path not in self._texts}
        contents = self._repository.read_many(wanted.values())
        for path, blob in wanted.items():
            content = contents[blob]
            self._texts[path] = None if content is None else content.decode("utf-8", "replace")
