"""What a check's outcome weighs, from rules/checks.yml: severity, tags, what to do, and whether it decides."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Literal

from pydantic import Field

from analyzer.findings.rule import Family
from analyzer.findings.yaml_source import read_list
from analyzer.model.base import Record, Severity, Text
from analyzer.model.evidence import Check, Outcome

SOURCE = "checks.yml"


class Sign(Record):
    """A figure of the check's delta that has to lie above or below `than`."""

    figure: str
    side: Literal["above", "below"]
    than: float = 0.0


class Rating(Record):
    """`instead`: what would make the outcome go away."""

    outcomes: tuple[Outcome, ...] = Field(min_length=1)
    when: Sign | None = None
    severity: Severity
    tags: tuple[Text, ...] = ()
    instead: Text | None = None


class CheckRule(Record):
    """`check` is a name, or ``*`` for what holds for every check that has no rating of its own.

    `decides`: a change that calls for this check is not recommended before it has run. `families`: the rule families
    whose findings explain a failure of it.
    """

    check: str
    decides: bool = False
    families: tuple[Family, ...] = ()
    ratings: tuple[Rating, ...] = ()


def rate(check: Check) -> Check:
    """The check with the severity and the tags of its outcome."""
    rating = _rating(check)
    if rating is None:
        return check.model_copy(update={"severity": "info", "tags": ()})
    return check.model_copy(update={"severity": rating.severity, "tags": rating.tags})


def remedy(check: Check) -> Text | None:
    """What would make a check's outcome go away, None where the table has no word on it."""
    rating = _rating(check)
    return rating.instead if rating else None


def decides(name: str) -> bool:
    """Whether a recommendation waits for the check called `name`."""
    return name in _table() and _table()[name].decides


def families(name: str) -> tuple[str, ...]:
    """The rule families whose findings explain a failure of the check called `name`."""
    return _table()[name].families if name in _table() else ()


def order(name: str) -> int:
    """The place of the check called `name` among all, the most telling first."""
    return list(_table()).index(name) if name in _table() else len(_table())


def names() -> tuple[str, ...]:
    """All checks, the most telling first."""
    return tuple(name for name in _table() if name != "*")


@cache
def _table() -> dict[str, CheckRule]:
    text = (files("analyzer.rules") / SOURCE).read_text(encoding="utf-8")
    return {rule.check: rule for rule in read_list(CheckRule, text, f"rules/{SOURCE}")}


def _rating(check: Check) -> Rating | None:
    candidates = [
        *(_table()[check.check].ratings if check.check in _table() else ()),
        *_table()["*"].ratings,
    ]
    return next((rating for rating in candidates if _holds(rating, check)), None)


def _holds(rating: Rating, check: Check) -> bool:
    if check.outcome not in rating.outcomes:
        return False
    if rating.when is None:
        return True
    value = check.delta.get(rating.when.figure)
    if not isinstance(value, int | float):
        return False
    return value > rating.when.than if rating.when.side == "above" else value < rating.when.than
