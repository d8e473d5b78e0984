"""Change -> findings. The rules are data (rules/*.yml); this file only knows how to match them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from analyzer.findings.rule import Companion, Pattern, Rule
from analyzer.findings.waivers import waived
from analyzer.findings.yaml_source import read_list
from analyzer.model.base import LEVELS
from analyzer.model.change import Change, Edit, FileChange
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
    matched = {rule.id: [_matched(rule, file, change) for file in change.files] for rule in rules}
    for rule in rules:  # a rule that refines another takes over the edits that both match
        for fine, coarse in zip(matched[rule.id], matched.get(rule.refines or "", ()), strict=False):
            for symbol, edits in fine.items():
                coarse[symbol] = [edit for edit in coarse.get(symbol, ()) if edit not in edits]
    found = [
        _finding(rule, file, symbol, _with_companions(rule, edits, file, change))
        for rule in rules
        if rule.id not in silenced
        for file, by_symbol in zip(change.files, matched[rule.id], strict=True)
        for symbol, edits in by_symbol.items()
        if edits
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


def _matched(rule: Rule, file: FileChange, change: Change) -> dict[str, list[Edit]]:
    """Symbol -> the file's edits that the rule matches, where what has to be there too is there."""
    also = rule.match.also
    by_symbol: dict[str, list[Edit]] = {}
    for edit in file.edits:
        if (
            _fits(rule.match, edit, file)
            and (not also or _companions(also, edit, file, change))
            and not any(_companions(unless, edit, file, change) for unless in rule.match.unless)
        ):
            by_symbol.setdefault(edit.symbol, []).append(edit)
    return by_symbol


def _companions(pattern: Companion, edit: Edit, file: FileChange, change: Change) -> list[Edit]:
    where = change.files if pattern.scope == "change" else (file,)
    return [
        other
        for its in where
        for other in its.edits
        if _fits(pattern, other, its)
        and (pattern.scope != "symbol" or other.symbol == edit.symbol)
        and all(other.detail.get(key) == edit.detail.get(key) for key in pattern.same)
    ]


def _with_companions(rule: Rule, edits: list[Edit], file: FileChange, change: Change) -> list[Edit]:
    """What a finding rests on: the edits that match, then those that had to be there too, each once."""
    also = rule.match.also
    its = [other for edit in edits for other in _companions(also, edit, file, change)] if also else []
    return [*edits, *(other for number, other in enumerate(its) if other not in its[:number])]


def _fits(pattern: Pattern, edit: Edit, file: FileChange) -> bool:
    return (
        pattern.allows(edit)
        and (not pattern.categories or file.category in pattern.categories)
        and (not pattern.symbol_kinds or _symbol_kind(edit, file) in pattern.symbol_kinds)
    )


def _symbol_kind(edit: Edit, file: FileChange) -> str:
    return next((symbol.kind for symbol in file.symbols if symbol.name == edit.symbol), "")


def _finding(rule: Rule, file: FileChange, symbol: str, edits: list[Edit]) -> Finding:
    first = edits[0]
    return Finding(
        rule=rule.id,
        family=rule.family,
        severity=rule.severity,
        title=rule.title,
        path=file.path,
        line=first.head_line or first.base_line,
        symbol=symbol,
        edits=tuple(edits),
        why=rule.why,
        instead=rule.instead,
        tags=rule.tags,
        small_fix=rule.small_fix,
        impact=dict(rule.impact),
    )
