"""The evidence by what it has to say: what differs as rows of a table, what passed or did not run in a line each."""

from __future__ import annotations

from dataclasses import dataclass

from analyzer.findings.checks import order
from analyzer.model.base import LEVELS, Text
from analyzer.model.evidence import BAD_OUTCOMES, Check, Evidence
from analyzer.report.figures import Row, row

#: Checks whose pass is a statement of its own: nothing else says that a kernel is the same.
TOLD_WHEN_PASSED = ("identity",)


@dataclass(frozen=True)
class CheckGroup:
    """Checks of one probe (a name) with one outcome and, where they did not run, one reason."""

    probe: str
    checks: str
    reason: Text


def rows(evidence: Evidence | None) -> list[Row]:
    """What failed, changed or stayed open, strongest first."""
    checks = [check for check in evidence.checks if _told(check)] if evidence else []
    checks.sort(
        key=lambda c: (c.outcome not in BAD_OUTCOMES, c.outcome == "pass", -LEVELS.index(c.severity), order(c.check))
    )
    return [row(check, bad=check.outcome in BAD_OUTCOMES) for check in checks]


def passed(evidence: Evidence | None) -> list[CheckGroup]:
    """The checks that passed, a group a probe."""
    return _groups([c for c in evidence.checks if c.outcome == "pass" and not _told(c)] if evidence else [])


def not_run(evidence: Evidence | None) -> list[CheckGroup]:
    """The checks that did not run, a group a probe and reason."""
    return _groups([c for c in evidence.checks if c.outcome == "not-run"] if evidence else [])


def _told(check: Check) -> bool:
    return check.outcome not in ("pass", "not-run") or (check.outcome == "pass" and check.check in TOLD_WHEN_PASSED)


def _groups(checks: list[Check]) -> list[CheckGroup]:
    dtypes: dict[tuple[str, str, str], dict[str, list[str]]] = {}
    reasons: dict[tuple[str, str, str], Text] = {}
    for check in checks:
        reason = check.reason if check.outcome == "not-run" else Text(en="", zh="")
        key = (check.probe or check.symbol, reason.en, reason.zh)
        reasons[key] = reason
        dtypes.setdefault(key, {}).setdefault(check.check, []).append(check.specialization.dtype)
    return [
        CheckGroup(key[0], ", ".join(_name(check, found) for check, found in named.items()), reasons[key])
        for key, named in dtypes.items()
    ]


def _name(check: str, dtypes: list[str]) -> str:
    known = [dtype for dtype in dict.fromkeys(dtypes) if dtype]
    return f"{check} ({', '.join(known)})" if known else check
