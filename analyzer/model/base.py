"""What all records share: frozen, closed, versioned where they are files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from analyzer.errors import UsageError

SCHEMA_VERSION = 1

#: Ordered from weakest to strongest; "none" is the level of a report without findings.
Severity = Literal["info", "low", "medium", "high", "critical"]
Level = Literal["none", "info", "low", "medium", "high", "critical"]
LEVELS: tuple[str, ...] = ("none", "info", "low", "medium", "high", "critical")


class Record(BaseModel):
    """A frozen record that refuses fields it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Text(Record):
    """One sentence or phrase in both languages of the report."""

    en: str
    zh: str


class Document(Record):
    """A record that is written to a file of its own."""

    schema_version: Literal[1] = SCHEMA_VERSION

    def dump(self, path: Path) -> None:
        path.write_text(self.model_dump_json(indent=1) + "\n", encoding="utf-8")


def read_json(data: bytes | str, source: str) -> Any:
    """JSON that can be written again as UTF-8, so without halves of surrogate pairs; UsageError for anything else."""
    try:
        raw = json.loads(data)
        json.dumps(raw, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{source}: not JSON ({error})") from None
    return raw


D = TypeVar("D", bound=Document)


def load(kind: type[D], data: bytes | str, source: str) -> D:
    """Read a document; a file of another version or shape is refused with one line that names `source`."""
    raw = read_json(data, source)
    version = raw.get("schema_version") if isinstance(raw, dict) else None
    if version != SCHEMA_VERSION:
        raise UsageError(f"{source}: schema_version {version!r}, this version reads {SCHEMA_VERSION}; write it again")
    try:
        return kind.model_validate(raw)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise UsageError(f"{source}: {where}: {first['msg']} ({error.error_count()} faults); write it again") from None
