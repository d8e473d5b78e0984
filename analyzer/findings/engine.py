"""Change -> findings. The rules are data (rules/*.yml); this file only knows how to match them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from pydantic import ValidationError

from analyzer.errors import UsageError
from analyzer.findings.rule import Companion, Pattern, Rule
from analyzer.findings.waivers import waived
from analyzer.findings.yaml_source import read_list, said
from analyzer.model.base import LEVELS
from analyzer.model.change import Change, Edit, FileChange
from analyzer.model.finding import Finding

#: Files of rules/ that hold something else than risk rules.
OTHER = ("checks.yml",)


def load_rules(extra: Sequence[dict] = (), source: str = "") -> list[Rule]:
    """The shipped rules and a repository's own (`extra`, read from `source`), which may not reuse an id.

    A rule with an error raises a UsageError that names the file and the line (of `extra`: the entry).
    """
    rules = list(_shipped())
    taken = {rule.id for rule in rules}
    for number, entry in enumerate(extra, start=1):
        where = f"{source or 'rules'}: rule {number}"
        try:
            rule = Rule.model_validate(entry)
        except ValidationError as error:
            raise UsageError(f"{where}: {said(error.errors()[0])}") from None
        if rule.id in taken:
            raise UsageError(f"{where}: the id {rule.id!r} is taken")
        taken.add(rule.id)
        rules.append(rule)
    return rules


def read_rules(text: str, source: str) -> list[Rule]:
    """The rules of one file; errors name `source` and the line."""
    return read_list(Rule, text, source)


def find(rules: Iterable[Rule], change: Change, settings: Any = None) -> tuple[Finding, ...]:
    """One finding a rule and symbol, strongest first; waived ones are marked and stay, silenced rules are left out.

    `settings` has `waivers` and `silence` (rule ids); None: neither.
    """
    silenced = set(getattr(settings, "silence", ()))
    waivers = tuple(getattr(settings, "waivers", ()))
    found = [
        finding
        for rule in rules
        if rule.id not in silenced
        for file in change.files
        for finding in _of_file(rule, file, change)
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


def _of_file(rule: Rule, file: FileChange, change: Change) -> list[Finding]:
    by_symbol: dict[str, list[Edit]] = {}
    for edit in file.edits:
        if _fits(rule.match, edit, file):
            by_symbol.setdefault(edit.symbol, []).append(edit)
    findings = []
    for symbol, edits in by_symbol.items():
        also, unless = rule.match.also, rule.match.unless
        companions = _companions(also, symbol, file, change) if also else []
        if (also and not companions) or (unless and _companions(unless, symbol, file, change)):
            continue
        findings.append(_finding(rule, file, symbol, [*edits, *companions]))
    return findings


def _companions(pattern: Companion, symbol: str, file: FileChange, change: Change) -> list[Edit]:
    where = change.files if pattern.scope == "change" else (file,)
    return [
        edit
        for other in where
        for edit in other.edits
        if _fits(pattern, edit, other) and (pattern.scope != "symbol" or edit.symbol == symbol)
    ]


def _fits(pattern: Pattern, edit: Edit, file: FileChange) -> bool:
    return (
        edit.kind in pattern.kinds
        and edit.count >= pattern.count_min
        and (not pattern.categories or file.category in pattern.categories)
        and (not pattern.symbol_kinds or _symbol_kind(edit, file) in pattern.symbol_kinds)
        and all(edit.detail.get(key, False) in values for key, values in pattern.detail.items())
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
