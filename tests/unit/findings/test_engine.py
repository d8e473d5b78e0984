"""How rules are read and matched: errors by file and line, conditions, waivers, silence."""

from __future__ import annotations

from datetime import date
from types import SimpleNamespace

import pytest

from analyzer.errors import UsageError
from analyzer.findings.engine import find, load_rules, read_rules
from analyzer.findings.rule import Rule
from analyzer.findings.waivers import stale, waived
from analyzer.model.base import Text
from analyzer.model.change import Category, Change, Edit, FileChange, Symbol
from analyzer.model.evidence import Check

TEXT = {"en": "a", "zh": "甲"}
DAY = date(2026, 6, 1)


def rule(severity: str = "high", **match: object) -> dict:
    words = {"title": TEXT, "why": TEXT, "instead": TEXT}
    return {"id": "mine", "family": "index", "severity": severity, "match": match, **words}


def shipped(name: str) -> list[Rule]:
    """One of the rules that we ship; others may match the same kind."""
    return [one for one in load_rules() if one.id == name]


def change(*edits: Edit, category: Category = "kernel", path: str = "k.py") -> Change:
    symbols = tuple(Symbol(name=edit.symbol, kind="kernel", change="body") for edit in edits)
    return Change(files=(FileChange(path=path, status="modified", category=category, symbols=symbols, edits=edits),))


def edit(kind: str, symbol: str = "_kernel", count: int = 1, path: str = "k.py", **detail: object) -> Edit:
    return Edit(kind=kind, path=path, symbol=symbol, head_line=3, count=count, detail=detail)


def found(match: dict, *edits: Edit, **more: object) -> list[str]:
    rules = [Rule.model_validate(rule(**match))]
    return [finding.symbol for finding in find(rules, change(*edits, **more))]


def test_detail_and_count_decide() -> None:
    """A pattern asks for values of the detail and for a least count; a missing key counts as false."""
    match = {"kinds": ["cast-removed"], "detail": {"dtype": ["float32"], "bitcast": [False]}, "count_min": 2}
    assert found(match, edit("cast-removed", count=2, dtype="float32")) == ["_kernel"]
    assert found(match, edit("cast-removed", count=1, dtype="float32")) == []
    assert found(match, edit("cast-removed", count=2, dtype="int64")) == []
    assert found(match, edit("cast-removed", count=2, dtype="float32", bitcast=True)) == []
    assert found(match, edit("cast-added", count=2, dtype="float32")) == []


def test_also_and_unless_look_where_they_are_told() -> None:
    """`also` within the symbol is not met by another symbol; `unless` within the change is."""
    copy, write = edit("copy-removed"), edit("in-place-introduced")
    elsewhere = edit("copy-removed", symbol="other")
    also = {"kinds": ["in-place-introduced"], "also": {"kinds": ["copy-removed"]}}
    unless = {"kinds": ["in-place-introduced"], "unless": {"kinds": ["copy-removed"], "scope": "change"}}
    assert found(also, write, copy) == ["_kernel"]
    assert found(also, write, elsewhere) == []
    assert found(unless, write) == ["_kernel"]
    assert found(unless, write, elsewhere) == []


def test_companions_are_part_of_the_finding() -> None:
    """The finding rests on the matching edit first, then on what had to be there too."""
    match = {"kinds": ["in-place-introduced"], "also": {"kinds": ["copy-removed"]}}
    rules = [Rule.model_validate(rule(**match))]
    (finding,) = find(rules, change(edit("copy-removed"), edit("in-place-introduced")))
    assert [e.kind for e in finding.edits] == ["in-place-introduced", "copy-removed"]
    assert (finding.path, finding.line) == ("k.py", 3)


def test_tests_are_not_taken_for_kernels() -> None:
    """A rule without categories speaks of sources and kernels only."""
    assert found({"kinds": ["cast-removed"]}, edit("cast-removed"), category="test", path="tests/t.py") == []


def test_strongest_first() -> None:
    """Findings come in the order of their severity."""
    weak = Rule.model_validate({**rule("low", kinds=["cast-removed"]), "id": "weak"})
    strong = Rule.model_validate({**rule("critical", kinds=["barrier-removed"]), "id": "strong"})
    findings = find([weak, strong], change(edit("cast-removed"), edit("barrier-removed")))
    assert [finding.rule for finding in findings] == ["strong", "weak"]


def test_silenced_rules_are_left_out() -> None:
    """A silenced rule finds nothing; the others go on."""
    barrier = change(edit("barrier-removed"))
    assert [f.rule for f in find(shipped("barrier-removed"), barrier)] == ["barrier-removed"]
    assert find(shipped("barrier-removed"), barrier, SimpleNamespace(silence=("barrier-removed",), waivers=())) == ()


@pytest.mark.parametrize(
    ("waiver", "holds"),
    [
        ({"rule": "barrier-removed", "path": "k.*"}, True),
        ({"rule": "barrier-removed", "symbol": "_kernel"}, True),
        ({"rule": "barrier-removed", "path": "other/*"}, False),
        ({"rule": "index-narrowed", "path": "k.*"}, False),
        ({"check": "barrier-removed", "path": "k.*"}, False),
        ({"rule": "barrier-removed", "path": "k.*", "until": "2000-01-01"}, False),
    ],
)
def test_waivers_mark_and_never_hide(waiver: dict, holds: bool) -> None:
    """A waiver that names the rule and the place marks the finding; an expired or foreign one does not count."""
    given = {"reason": "measured by hand", "until": "2999-12-31", **waiver}
    (finding,) = find(
        shipped("barrier-removed"), change(edit("barrier-removed")), SimpleNamespace(waivers=(given,), silence=())
    )
    assert (finding.waived_by == "measured by hand (until 2999-12-31)") is holds
    assert holds or finding.waived_by is None


def test_a_waiver_holds_through_its_last_day() -> None:
    """`until` is the last day on which a waiver counts."""
    check = Check(check="mutation", probe="p", symbol="Sampler.apply", outcome="fail", reason=Text(en="", zh=""))
    waiver = {"check": "mutation", "symbol": "apply", "reason": "declared", "until": DAY}
    assert waived(check, [waiver], today=DAY) == "declared (until 2026-06-01)"
    assert waived(check, [waiver], today=date(2026, 6, 2)) is None


def test_a_waiver_that_is_over_or_names_no_file_is_said() -> None:
    """Only these two are noted: a waiver that a change does not touch is in order."""
    given = {"rule": "mask-removed", "reason": "measured", "until": DAY}
    waivers = [
        {**given, "path": "ops/*"},
        {**given, "path": "gone/*"},
        {**given, "path": "ops/*", "until": date(2026, 5, 31)},
        {**given, "symbol": "_kernel", "path": ""},
    ]
    notes = stale(waivers, ["ops/masks.py", "README.md"], today=DAY)
    assert [note.en for note in notes] == [
        "The waiver of `mask-removed` for `gone/*` matches no file of the revision.",
        "The waiver of `mask-removed` for `ops/*` ended on 2026-05-31; it no longer counts.",
    ]
    assert all("`mask-removed`" in note.zh for note in notes)


def test_a_checks_waiver_by_path_needs_the_symbols_file() -> None:
    """A waiver of a check by path counts where the check's symbol lies in that file."""
    check = Check(check="mutation", probe="p", symbol="apply", outcome="fail", reason=Text(en="", zh=""))
    waiver = {"check": "mutation", "path": "mini/*", "reason": "declared", "until": None}
    assert waived(check, [waiver], paths=["mini/sampler.py"]) == "declared"
    assert waived(check, [waiver], paths=["other/sampler.py"]) is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- id: a\n  title: {en: a, zh: b\n", "rules.yml:2: "),
        ("id: a\n", "rules.yml:1: a list of entries is wanted"),
        ("- id: x\n  severity: enormous\n", "rules.yml:1: title: Field required"),
        (
            "- id: x\n  family: index\n  severity: low\n  title: &t {en: a, zh: b}\n  why: *t\n  instead: *t\n"
            "  match:\n    kinds: [cast-deleted]\n",
            "rules.yml:8: match.kinds: no edit kind 'cast-deleted'",
        ),
        (
            "- id: x\n  family: index\n  severity: enormous\n  title: &t {en: a, zh: b}\n  why: *t\n  instead: *t\n"
            "  match: {kinds: [cast-added]}\n",
            "rules.yml:3: severity: ",
        ),
        (
            "- id: x\n  family: index\n  severity: low\n  title: &t {en: a, zh: b}\n  why: *t\n  instead: *t\n"
            "  match: {kinds: [cast-added]}\n  colour: red\n",
            "rules.yml:8: colour: ",
        ),
        ("- !!python/object/apply:os.system [id]\n", "rules.yml:1: could not determine a constructor"),
    ],
)
def test_a_rule_with_an_error_names_file_and_line(text: str, message: str) -> None:
    """A file that cannot be used is one line: where, and what is wrong with it."""
    with pytest.raises(UsageError) as error:
        read_rules(text, "rules.yml")
    assert str(error.value).startswith(message)
    assert "\n" not in str(error.value)


def test_a_repositorys_own_rules() -> None:
    """Extra rules come after the shipped ones."""
    own = Rule.model_validate(rule(kinds=["cast-added"]))
    assert load_rules([own]) == [*load_rules(), own]


def test_a_finer_rule_takes_over_what_both_match() -> None:
    """The general rule keeps the edits that the finer one leaves; silencing the finer one does not wake the other."""
    narrow, plain = edit("cast-added", dtype="float16"), edit("cast-added", dtype="int64")
    general = Rule.model_validate({**rule(kinds=["cast-added"]), "id": "general"})
    finer = rule(kinds=["cast-added"], detail={"dtype": ["float16"]})
    finer = Rule.model_validate({**finer, "id": "finer", "refines": "general"})
    told = {finding.rule: finding.edits for finding in find([general, finer], change(narrow, plain))}
    assert told == {"general": (plain,), "finer": (narrow,)}
    silent = SimpleNamespace(silence=("finer",), waivers=())
    assert find([general, finer], change(narrow), silent) == ()


def test_spans_and_globs_decide() -> None:
    """A text of a pattern is a glob, of the detail as of the spans; false stands for what is missing, not for zero."""
    match = {"kinds": ["mask-changed"], "detail": {"other_before": ["*inf*"], "other_after": ["[0-9]*", False]}}
    gone, zero = (
        edit("mask-changed", other_before="-float('inf')"),
        edit("mask-changed", other_before="inf", other_after="0"),
    )
    assert found(match, gone) == found(match, zero) == ["_kernel"]
    assert found(match, edit("mask-changed", other_before="inf", other_after="-inf")) == []
    assert found({"kinds": ["cast-added"], "detail": {"bits": [False]}}, edit("cast-added", bits=0)) == []
    spans = {"kinds": ["operator-changed"], "before": ["*exp(*-*"], "after": ["*exp(*"]}
    shifted = edit("operator-changed").model_copy(update={"before": "tl.exp(x - m)", "after": "tl.exp(x)"})
    assert found(spans, shifted) == ["_kernel"]
    assert found(spans, shifted.model_copy(update={"after": "x"})) == []


def test_of_several_details_one_has_to_fit() -> None:
    """Pairs of values are told apart: ``<`` to ``<=`` is not ``<`` to ``>=``."""
    pairs = [{"operator_before": ["<"], "operator_after": ["<="]}, {"operator_before": [">"], "operator_after": [">="]}]
    match = {"kinds": ["comparison-changed"], "detail": pairs}
    assert found(match, edit("comparison-changed", operator_before=">", operator_after=">=")) == ["_kernel"]
    assert found(match, edit("comparison-changed", operator_before="<", operator_after=">=")) == []


def test_a_companion_may_have_to_share_a_detail() -> None:
    """A write into a parameter that is new is no surprise; a write into another one is."""
    unless = [{"kinds": ["parameter-added"], "same": ["parameter"]}]
    match = {"kinds": ["in-place-introduced"], "unless": unless}
    new = edit("parameter-added", parameter="out")
    assert found(match, new, edit("in-place-introduced", parameter="out")) == []
    assert found(match, new, edit("in-place-introduced", parameter="x")) == ["_kernel"]
