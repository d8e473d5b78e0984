"""Change facts of commits, kept on disk. A commit's facts never change; the code that finds them does."""

from __future__ import annotations

import hashlib
import platform
import sqlite3
import zlib
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path

from analyzer import change, model
from analyzer.errors import UsageError

#: Bound variables of one statement that every SQLite allows.
_VARIABLES = 500


@cache
def version() -> str:
    """A digest of the code that finds facts, and of the Python whose parser it uses."""
    digest = hashlib.sha256(platform.python_version().encode())
    for package in (change, model):
        folder = Path(package.__path__[0])
        for path in sorted(folder.rglob("*.py")):
            digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


class FactsStore:
    """`with FactsStore.open(path) as store`. Holds packed JSON by commit; facts of other versions are dropped."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    @classmethod
    @contextmanager
    def open(cls, path: Path | None) -> Iterator[FactsStore]:
        """None: in memory, for this run alone. UsageError for a file that is no such store or cannot be written."""
        try:
            if path is not None:
                path.parent.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(path or ":memory:", timeout=60)) as connection:
                connection.execute("PRAGMA journal_mode = WAL")  # a second scan may read while one writes
                connection.execute("CREATE TABLE IF NOT EXISTS facts (sha TEXT PRIMARY KEY, version TEXT, packed BLOB)")
                connection.execute("DELETE FROM facts WHERE version != ?", (version(),))
                connection.commit()
                yield cls(connection)
        except (sqlite3.Error, OSError) as error:
            raise UsageError(f"cannot keep facts in {path}: {error}") from None

    def get(self, shas: list[str]) -> dict[str, bytes]:
        """JSON by commit, of those that are there."""
        found: dict[str, bytes] = {}
        for start in range(0, len(shas), _VARIABLES):
            some = shas[start : start + _VARIABLES]
            marks = ",".join("?" * len(some))
            rows = self._connection.execute(f"SELECT sha, packed FROM facts WHERE sha IN ({marks})", some)
            found |= {sha: zlib.decompress(packed) for sha, packed in rows}
        return found

    def put(self, facts: Iterable[tuple[str, bytes]]) -> None:
        rows = [(sha, version(), zlib.compress(json, 1)) for sha, json in facts]
        with self._connection:
            self._connection.executemany("INSERT OR REPLACE INTO facts VALUES (?, ?, ?)", rows)
