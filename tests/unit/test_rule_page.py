"""`analyze rules ID`: one rule as a page, in both languages."""

from __future__ import annotations

import io
import json

import pytest
from rich.console import Console

from analyzer.cli import invoke
from analyzer.findings.engine import load_rules
from analyzer.findings.rule import Rule
from analyzer.rule_page import WORDS, page

RULES = {rule.id: rule for rule in load_rules()}
TEXT = {"en": "a text", "zh": "一段话"}


def shown(rule: Rule, lang: str) -> str:
    console = Console(file=io.StringIO(), width=2000, color_system=None)
    console.print(page(rule, lang))
    return "\n".join(line.rstrip() for line in console.file.getvalue().splitlines())


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("rule", RULES.values(), ids=RULES.keys())
def test_a_page_has_all_that_a_rule_says(rule: Rule, lang: str) -> None:
    """Title, reason, remedy and tags in the language that is asked for, source, kinds, and how to switch it off."""
    told = shown(rule, lang)
    for text in (rule.title, rule.why, rule.instead, *rule.tags):
        assert getattr(text, lang) in told
    for text in (rule.id, rule.family, rule.severity, rule.source.title, rule.source.url, *rule.match.kinds):
        assert text in told
    assert f"- rule: {rule.id}" in told and f"silence: [{rule.id}]" in told


def test_both_languages_have_the_same_words() -> None:
    """No label is told in one language only."""
    assert WORDS["en"].keys() == WORDS["zh"].keys()


def test_what_a_rule_matches_in_words() -> None:
    """Each part of a pattern is told: kinds, place, detail, spans, number, and what must be or not be there too."""
    match = {
        "kinds": ["mask-changed", "mask-removed"],
        "symbol_kinds": ["kernel"],
        "detail": {"operation": ["load"], "other_after": ["0", False]},
        "before": ["*inf*"],
        "count_min": 2,
        "also": {"kinds": ["cast-added"], "scope": "file", "categories": []},
        "unless": {"kinds": ["copy-added"], "same": ["subject"], "categories": []},
    }
    words = {"title": TEXT, "why": TEXT, "instead": TEXT}
    rule = Rule.model_validate({"id": "mine", "family": "index", "severity": "low", "match": match, **words})
    assert (
        "Matches: an edit of kind mask-changed or mask-removed of a kernel in source or kernel files"
        " where operation is load and other_after is 0 or missing and the text before is *inf*, 2 times or more;"
        " with an edit of kind cast-added in the same file;"
        " without an edit of kind copy-added of the same subject in the same symbol"
    ) in shown(rule, "en")


def test_examples_are_diffs() -> None:
    """The example shows what goes and what comes, with the lines around it, and its file."""
    told = shown(RULES["barrier-removed"], "en")
    assert "  -    tl.debug_barrier()" in told and "  +    tl.debug_barrier()" in told
    assert "   @triton.jit" in told and "  sampler/ops.py" in told


def test_an_unknown_rule_is_one_line(capsys: pytest.CaptureFixture) -> None:
    """The nearest ids are named; where none is near, the command that lists them."""
    assert invoke(["rules", "barier-removed"]) == 2
    told = capsys.readouterr()
    assert told.err.startswith("analyze: no rule 'barier-removed'; did you mean 'barrier-removed'")
    assert told.err.count("\n") == 1 and not told.out
    assert invoke(["rules", "zzzz"]) == 2
    assert "`analyze rules` lists them" in capsys.readouterr().err


def test_rules_for_machines(capsys: pytest.CaptureFixture) -> None:
    """--json prints what the files say: one rule, or all; each can be read back."""
    assert invoke(["rules", "mask-removed", "--json"]) == 0
    assert Rule.model_validate(json.loads(capsys.readouterr().out)) == RULES["mask-removed"]
    assert invoke(["rules", "--json"]) == 0
    assert [Rule.model_validate(one) for one in json.loads(capsys.readouterr().out)] == list(RULES.values())


def test_the_list_names_every_rule(capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    """The table has all ids, with titles in the language that is asked for."""
    monkeypatch.setenv("COLUMNS", "250")
    assert invoke(["rules", "--lang", "zh"]) == 0
    told = capsys.readouterr().out
    assert all(rule.id in told and rule.title.zh in told for rule in RULES.values())
