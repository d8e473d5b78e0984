"""Change -> findings. The rules are data (rules/*.yml); `matching` knows which edits fit them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from analyzer.findings.matching import Matcher
from analyzer.findings.rule import Rule
from analyzer.findings.waivers import waived
from analyzer.findings.yaml_source import read_list
from analyzer.model.base import LEVELS
from analyzer.model.change import Change, Edit
from analyzer.model.finding import Finding

#: Files of rules/ that hold something else than risk rules.
OTHER = ("checks.yml",)


def load_rules(extra: Sequence[Rule] = ()) -> list[Rule]:
    """The shipped rules, and a repository's own."""
    return [*_shipped(), *extra]


def read_rules(text: str, source: str) -> list[Rule]:
    """The rules of one file; errors name `source` and the line."""
    return read_list(Rule, text, source)


def find(rules: Iterable[Rule], change: Change, settings: Any = None) -> tuple[Finding, ...]:
    """One finding a rule and symbol, strongest first; waived ones are marked and stay, silenced rules are left out.

    `settings` has `waivers` and `silence` (rule ids); None: neither.
    """
    silenced = set(getattr(settings, "silence", ()))
    waivers = tuple(getattr(settings, "waivers", ()))
    rules = list(rules)
    matcher = Matcher(change)
    matched = {rule.id: matcher.matched(rule) for rule in rules}
    taken: dict[str, set[int]] = {rule.id: set() for rule in rules}
    for rule in rules:  # a rule that refines another takes over the edits that both match
        if rule.refines in taken:
            taken[rule.refines] |= {id(edit) for edits in matched[rule.id].values() for edit in edits}
    found = [
        _finding(rule, change.files[number].path, symbol, matcher.with_companions(rule, number, left))
        for rule in rules
        if rule.id not in silenced
        for (number, symbol), edits in matched[rule.id].items()
        if (left := [edit for edit in edits if id(edit) not in taken[rule.id]])
    ]
    found = [finding.model_copy(update={"waived_by": waived(finding, waivers)}) for finding in found]
    return tuple(sorted(found, key=lambda finding: -LEVELS.index(finding.severity)))


@cache
def _shipped() -> tuple[Rule, ...]:
    folder = files("analyzer.rules")
    names = sorted(item.name for item in folder.iterdir() if item.name.endswith(".yml") and item.name not in OTHER)
    return tuple(
        rule for name in names for rule in read_rules((folder / name).read_text(encoding="utf-8"), f"rules/{name}")
    )


def _finding(rule: Rule, path: str, symbol: str, edits: tuple[Edit, ...]) -> Finding:
    first = edits[0]
    return Finding(
        rule=rule.id,
        family=rule.family,
        severity=rule.severity,
        title=rule.title,
        path=path,
        line=first.head_line or first.base_line,
        symbol=symbol,
        edits=edits,
        why=rule.why,
        instead=rule.instead,
        tags=rule.tags,
        small_fix=rule.small_fix,
        impact=dict(rule.impact),
    )
