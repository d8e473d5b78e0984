"""Waivers: a maintainer's word that a finding is accepted, for a reason and until a day. Shown, never hidden."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date, datetime, timezone
from fnmatch import fnmatchcase
from typing import Any

from analyzer.model.base import Text
from analyzer.model.evidence import Check
from analyzer.model.finding import Finding


def waived(
    subject: Finding | Check, waivers: Iterable[Any], paths: Sequence[str] = (), today: date | None = None
) -> str | None:
    """The reason and the end of the first waiver that holds for a finding or a check, None where none does.

    A waiver has `rule` or `check`, `path` or `symbol` (globs; a symbol's last dotted part is enough), `reason` and
    `until` (a date, the last day on which it counts; None: no end), as attributes or as keys. `paths`: the files that
    a check's symbol is in.
    """
    today = today or datetime.now(timezone.utc).date()
    for waiver in waivers:
        if _names(subject, waiver, paths) and not _expired(waiver, today):
            until = _field(waiver, "until")
            return f"{_field(waiver, 'reason')} (until {until})" if until else str(_field(waiver, "reason"))
    return None


def stale(waivers: Iterable[Any], paths: Iterable[str], today: date | None = None) -> tuple[Text, ...]:
    """A note on each waiver whose last day is over, or whose path no file of the revision has. `paths`: its files."""
    today = today or datetime.now(timezone.utc).date()
    paths = list(paths)
    notes = []
    for waiver in waivers:
        what, path = _field(waiver, "rule") or _field(waiver, "check"), _field(waiver, "path")
        place, until = path or _field(waiver, "symbol"), _field(waiver, "until")
        if _expired(waiver, today):
            notes.append(
                Text(
                    en=f"The waiver of `{what}` for `{place}` ended on {until}; it no longer counts.",
                    zh=f"对 `{place}` 的 `{what}` 豁免已于 {until} 到期，不再生效。",
                )
            )
        elif path and not any(fnmatchcase(one, path) for one in paths):
            notes.append(
                Text(
                    en=f"The waiver of `{what}` for `{path}` matches no file of the revision.",
                    zh=f"对 `{path}` 的 `{what}` 豁免在该版本中没有匹配的文件。",
                )
            )
    return tuple(notes)


def _names(subject: Finding | Check, waiver: Any, paths: Sequence[str]) -> bool:
    """Whether a waiver is for this rule or check at this place; one that names neither is for nothing."""
    if isinstance(subject, Finding):
        wanted, name, paths = _field(waiver, "rule"), subject.rule, (subject.path,)
    else:
        wanted, name = _field(waiver, "check"), subject.check
    path_glob, symbol_glob = _field(waiver, "path"), _field(waiver, "symbol")
    if not wanted or wanted != name:
        return False
    if path_glob and not any(fnmatchcase(path, path_glob) for path in paths):
        return False
    names = (subject.symbol, subject.symbol.rpartition(".")[2])
    return not symbol_glob or any(fnmatchcase(part, symbol_glob) for part in names)


def _expired(waiver: Any, today: date) -> bool:
    until = _field(waiver, "until")
    if not until:
        return False
    return (until if isinstance(until, date) else date.fromisoformat(str(until))) < today


def _field(waiver: Any, name: str) -> Any:
    return waiver.get(name) if isinstance(waiver, dict) else getattr(waiver, name, None)
