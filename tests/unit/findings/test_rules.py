"""Every shipped rule carries its proof: a change that it matches and one that it does not."""

from __future__ import annotations

import re

import pytest

from analyzer.change.category import category
from analyzer.change.facts import NoTree, SourcePair, change_edits
from analyzer.findings.engine import find, load_rules
from analyzer.findings.rule import Example, Rule
from analyzer.model.base import LEVELS
from analyzer.model.change import Change, FileChange

RULES = {rule.id: rule for rule in load_rules()}


def change_of(example: Example) -> Change:
    pair = SourcePair(example.path, None, example.before, example.after)
    facts = change_edits([pair], NoTree())[example.path]
    source = (example.after or example.before or "").encode()
    file = FileChange(
        path=example.path,
        status="modified",
        category=category(example.path, source),
        symbols=facts.symbols,
        edits=facts.edits,
    )
    return Change(files=(file,))


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES.keys())
def test_matches_its_example(rule: Rule) -> None:
    """The rule finds what its example shows, with its own words and the edits that it rests on."""
    found = find([rule], change_of(rule.example.matches))
    assert found, f"edits: {[edit.kind for edit in change_of(rule.example.matches).edits]}"
    assert {finding.rule for finding in found} == {rule.id}
    assert all(finding.edits and finding.why == rule.why for finding in found)


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES.keys())
def test_leaves_its_counter_example_alone(rule: Rule) -> None:
    """The rule is directional and careful: the near miss is no finding."""
    assert find([rule], change_of(rule.example.counter)) == ()


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES.keys())
def test_speaks_both_languages(rule: Rule) -> None:
    """Title, reason, remedy and tags are there in English and in Chinese, and are two different texts."""
    texts = [rule.title, rule.why, rule.instead, *rule.tags, *rule.impact.values()]
    assert rule.tags
    for text in texts:
        assert not re.search("[\u4e00-\u9fff]", text.en)
        assert re.search("[\u4e00-\u9fff]", text.zh)


def test_ids_are_unique_and_many() -> None:
    """No two rules share an id, and the families that the tool promises have rules."""
    rules = load_rules()
    assert len(rules) == len(RULES) >= 14
    families = {rule.family for rule in rules}
    promised = "numerics memory aliasing concurrency index layout sampling randomness launch guards tests api"
    assert families >= set(promised.split())


def test_renames_and_moves_match_nothing_above_info() -> None:
    """A function or a parameter with another name is no risk by itself."""
    quiet = {"function-renamed", "function-moved", "parameter-changed", "function-extracted", "function-inlined"}
    loud = [
        rule.id
        for rule in RULES.values()
        if quiet & set(rule.match.kinds) and LEVELS.index(rule.severity) > LEVELS.index("info")
    ]
    assert loud == []
