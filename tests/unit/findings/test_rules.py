"""Every shipped rule carries its proof: a change that it matches and one that it does not."""

from __future__ import annotations

import re
from importlib.resources import files
from typing import get_args

import pytest

from analyzer.change.facts import NoTree, SourcePair, change_edits
from analyzer.change.reversal import reverse_kind
from analyzer.change.revisions.category import category
from analyzer.findings.checks import names
from analyzer.findings.engine import find, load_rules, read_rules
from analyzer.findings.rule import Example, Family, Rule
from analyzer.model.base import LEVELS
from analyzer.model.change import Change, FileChange

FOLDER = files("analyzer.rules")
RULES = {rule.id: rule for rule in load_rules()}


def files_of(example: Example) -> list[Example]:
    return [example, *(files_of(example.beside) if example.beside else ())]


def change_of(example: Example) -> Change:
    files = files_of(example)
    facts = change_edits([SourcePair(one.path, None, one.before, one.after) for one in files], NoTree())
    return Change(
        files=tuple(
            FileChange(
                path=one.path,
                status="modified",
                category=category(one.path, (one.after or one.before or "").encode()),
                symbols=facts[one.path].symbols,
                edits=facts[one.path].edits,
            )
            for one in files
        )
    )


def turned(example: Example) -> Example:
    """The example of the reversed change."""
    beside = turned(example.beside) if example.beside else None
    return example.model_copy(update={"before": example.after, "after": example.before, "beside": beside})


def swapped(detail: dict) -> dict:
    """A pattern's detail with what was and what is exchanged."""
    sides = {"_before": "_after", "_after": "_before"}
    ends = {key: next((end for end in sides if key.endswith(end)), "") for key in detail}
    return {key.removesuffix(ends[key]) + sides.get(ends[key], ""): values for key, values in detail.items()}


def directed(rule: Rule) -> bool:
    """Whether a rule asks for one direction: of the edit kind, of a side's text, or of what a detail was and is."""
    of_detail = any(swapped(detail) not in rule.match.detail for detail in rule.match.detail)
    other_way = {reverse_kind(kind) for kind in rule.match.kinds}
    if rule.match.also and other_way & set(rule.match.also.kinds):
        return False  # something gone here and new there
    of_kind = not other_way & set(rule.match.kinds)
    return of_kind or of_detail or rule.match.before != rule.match.after


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


@pytest.mark.parametrize("rule", [rule for rule in RULES.values() if directed(rule)], ids=lambda rule: rule.id)
def test_a_directed_rule_leaves_the_reversed_example_alone(rule: Rule) -> None:
    """What a rule warns of is not found in the change that takes it back."""
    assert find([rule], change_of(turned(rule.example.matches))) == ()


@pytest.mark.parametrize("rule", [rule for rule in RULES.values() if rule.refines], ids=lambda rule: rule.id)
def test_a_refined_rule_leaves_the_edit_to_the_finer_one(rule: Rule) -> None:
    """The general rule matches the example too, and speaks only where the finer rule does not."""
    general = RULES[rule.refines]
    assert general.refines is None
    assert find([general], change_of(rule.example.matches))
    found = {finding.rule for finding in find([general, rule], change_of(rule.example.matches))}
    assert found == {rule.id}


def test_what_a_platform_is_asked_is_no_test_of_a_tensor() -> None:
    """``platform.is_cuda()`` says nothing of a tensor, ``x.is_cuda`` does."""
    text = "def run(x, fast):\n    if {} and fast:\n        x = external.quick(x)\n    return external.finish(x)\n"
    for test, found in (("platform.is_cuda()", False), ("x.is_cuda", True)):
        before = text.format(test)
        example = Example(path="sampler/ops.py", before=before, after=before.replace(" and fast", ""))
        assert bool(find([RULES["tensor-dispatch-widened"]], change_of(example))) is found


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES.keys())
def test_speaks_both_languages(rule: Rule) -> None:
    """Title, reason, remedy and tags are there in English and in Chinese, and are two different texts."""
    texts = [rule.title, rule.why, rule.instead, *rule.tags, *rule.impact.values()]
    assert rule.tags
    for text in texts:
        assert not re.search("[\u4e00-\u9fff]", text.en)
        assert re.search("[\u4e00-\u9fff]", text.zh)


def test_ids_are_unique() -> None:
    """No two rules share an id, and none has the name of a check: a waiver means one thing."""
    assert len(load_rules()) == len(RULES) >= 40
    assert not set(RULES) & set(names())


def test_each_family_has_a_file_of_its_own_with_two_rules_or_more() -> None:
    """A rule of a family is found in the file that is called like it; the families are those that the tool promises."""
    families = {
        family: read_rules((FOLDER / f"{family}.yml").read_text("utf-8"), family) for family in get_args(Family)
    }
    for family, rules in families.items():
        assert {rule.family for rule in rules} == {family}
        assert len(rules) >= 2
    assert sum(map(len, families.values())) == len(RULES)


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES.keys())
def test_a_shipped_rule_names_its_source(rule: Rule) -> None:
    """Each rule rests on something that can be read: a pull request or an issue by number, or a page by its title."""
    number = re.fullmatch(r"https://github\.com/[\w.-]+/([\w.-]+)/(?:pull|issues)/(\d+)", rule.source.url)
    if number:
        assert re.match(rf"\S+ #{number[2]}: \S", rule.source.title)
    else:
        assert re.search(r"\(.+\)$", rule.source.title)


def test_renames_and_moves_match_nothing_above_info() -> None:
    """A function or a parameter with another name is no risk by itself."""
    quiet = {"function-renamed", "function-moved", "parameter-changed", "function-extracted", "function-inlined"}
    loud = [
        rule.id
        for rule in RULES.values()
        if quiet & set(rule.match.kinds) and LEVELS.index(rule.severity) > LEVELS.index("info")
    ]
    assert loud == []
