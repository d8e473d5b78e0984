"""Whom a change reaches: statements on callers and tests, each with the place that it rests on."""

from __future__ import annotations

import pytest

from analyzer.change.reversal import reverse
from analyzer.model.base import Text
from analyzer.model.change import Caller, Change, Coverage, Edit, FileChange, Subject
from analyzer.model.plan import Plan
from analyzer.report.impact import impact


def plan_of(edits: tuple[Edit, ...] = (), **change) -> Plan:
    subject = Subject(repository="r", base="0" * 40, head="1" * 40)
    file = FileChange(path="ops.py", status="modified", edits=edits)
    return Plan(subject=subject, change=Change(files=(file,), **change), profile="none")


def caller(**more) -> Caller:
    return Caller(**{"symbol": "draw", "path": "user.py", "line": 7, "calls": "halve", "changed": False, **more})


AFTER = Text(en="afterwards reads `x` at line 9", zh="此后在第 9 行读取 `x`")


@pytest.mark.parametrize(
    "detail, en, zh",
    [
        (
            {},
            "`draw` hands its tensor to `halve`, which now overwrites it; it afterwards reads `x` at line 9",
            "`draw` 将其张量交给 `halve`，后者现在会覆写它；`draw` 此后在第 9 行读取 `x`",
        ),
        (
            {"conditional": True},
            "`draw` hands its tensor to `halve`, which now can overwrite it; it afterwards reads `x` at line 9",
            "`draw` 将其张量交给 `halve`，后者现在可能会覆写它；`draw` 此后在第 9 行读取 `x`",
        ),
        (
            {"unless": "raw"},
            "`draw` hands its tensor to `halve`, which now overwrites it, except where `raw` holds; "
            "it afterwards reads `x` at line 9",
            "`draw` 将其张量交给 `halve`，后者现在会覆写它（`raw` 成立时除外）；`draw` 此后在第 9 行读取 `x`",
        ),
    ],
)
def test_what_becomes_of_an_overwritten_tensor(detail, en, zh):
    """Always, under a condition, or except where a copy is made: as the edit says."""
    edit = Edit(kind="in-place-introduced", path="ops.py", symbol="halve", detail={"parameter": "x", **detail})
    (said,) = impact(plan_of((edit,), callers=(caller(after=AFTER),)), ()).system
    assert (said.text.en, said.text.zh, said.fact) == (en, zh, "user.py:7")


COPY = {"kind": "copy-added", "path": "ops.py", "symbol": "halve", "detail": {"size": "numel(x) × 2 bytes"}}


@pytest.mark.parametrize(
    "others, told",
    [
        ((), True),
        (({"kind": "in-place-removed"}, {"kind": "alias-returned-removed"}, {"kind": "parameter-added"}), True),
        (({"kind": "value-changed"},), False),
        (({"kind": "value-changed", "symbol": "other"}, {"kind": "value-changed", "path": "b.py"}), True),
        (({"kind": "allocation-removed"},), False),
        (({"kind": "statement-removed"},), False),
        (({"kind": "statement-added"},), True),
    ],
)
def test_a_copy_costs_its_size_where_it_replaces_nothing(others, told):
    """``y = x / t`` that became ``y = x.clone().div_(t)`` takes no more: the size is told where nothing went or changed
    in the function that may have made a tensor; the other way round it is no less."""
    edits = [Edit(**COPY), *(Edit(**{"path": "ops.py", "symbol": "halve"} | other) for other in others)]
    users = impact(plan_of(tuple(edits)), ()).users
    assert [said.text.en for said in users] == [
        "`numel(x) × 2 bytes` more memory while `halve` runs (not measured)"
    ] * told
    swapped = [reverse(edit) for edit in edits]
    assert len(impact(plan_of(tuple(swapped)), ()).users) == told


def test_names_that_are_gone():
    """One caller names, two name; a module's own code is called by its path."""
    one = caller(gone=True, how="imports", symbol="<module>")
    (said,) = impact(plan_of(callers=(one,)), ()).system
    assert said.text.en == "`user.py` still names `halve`, which is no longer there"
    (said,) = impact(plan_of(callers=(one, caller(gone=True, line=8))), ()).system
    assert said.text.en == "`user.py`, `draw` still name `halve`, which is no longer there"
    assert said.fact == "user.py:7, user.py:8"


@pytest.mark.parametrize(
    "record, en",
    [
        ({"unchanged": ("a",)}, "Found to name `f`: 1 test, which did not change"),
        ({"unchanged": ("a", "b")}, "Found to name `f`: 2 tests, none of which changed"),
        ({"changed": ("a",)}, "Found to name `f`: 1 test that is new or changed"),
        (
            {"changed": ("a",), "unchanged": ("b",)},
            "Found to name `f`: 1 test that is new or changed, and 1 that did not change",
        ),
        (
            {"changed": ("a", "b"), "unchanged": ("c", "d")},
            "Found to name `f`: 2 tests that are new or changed, and 2 that did not change",
        ),
        ({}, "No test names `f`"),
        (
            {"through": "g", "launches": True, "through_unchanged": ("a", "b")},
            "No test names `f`; found to name `g`, which launches it: 2 tests, none of which changed",
        ),
        (
            {"through": "g", "through_changed": ("a",)},
            "No test names `f`; found to name `g`, which calls it: 1 test, which is new or changed",
        ),
        (
            {"through": "g", "through_unchanged": ("a",)},
            "No test names `f`; found to name `g`, which calls it: 1 test, which did not change",
        ),
    ],
)
def test_tests_that_name_a_symbol(record, en):
    """How many tests were found to name a symbol (more may), and whether they changed; not what they run."""
    (said,) = impact(plan_of(coverage=(Coverage(symbol="f", path="ops.py", **record),)), ()).team
    assert said.text.en == en
    assert said.fact == "ops.py" and said.text.zh


def test_symbols_that_no_test_names_are_one_statement():
    """Several are joined, in a sentence of their own; a removed test that named one is told first."""
    records = (Coverage(symbol="f", path="a.py", removed=("t::x",)), Coverage(symbol="g", path="b.py"))
    gone, bare = impact(plan_of(coverage=records), ()).team
    assert (gone.text.en, gone.fact) == ("1 removed test named `f`", "t::x")
    assert (bare.text.en, bare.text.zh) == ("No test names `f` or `g`", "没有测试提到 `f`、`g`")
