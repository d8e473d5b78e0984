"""The table of recommendations, level and score: pure functions from facts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.findings.checks import rate
from analyzer.model.base import LEVELS, Text
from analyzer.model.change import Change, Edit, FileChange, Related, State, Subject, Symbol
from analyzer.model.evidence import Check, Evidence
from analyzer.model.finding import Finding
from analyzer.model.plan import Plan, PlannedCheck
from analyzer.model.report import Recommendation
from analyzer.verdict import level, recommend, score

WORDS = Text(en="words", zh="话")
FIX = Text(en="put it back", zh="改回去")


def finding(severity: str, family: str = "numerics", **more: object) -> Finding:
    return Finding(
        rule=f"{family}-{severity}",
        family=family,
        severity=severity,
        title=WORDS,
        path="a.py",
        why=WORDS,
        instead=FIX,
        **more,
    )


def check(name: str, outcome: str, **more: object) -> Check:
    return rate(Check(check=name, probe="p", symbol="s", outcome=outcome, reason=WORDS, **more))


PASSED = (check("mutation", "pass"), check("kept-set", "pass"))


def judge(
    state: State = "open",
    findings: tuple[Finding, ...] = (),
    checks: tuple[Check, ...] | None = PASSED,
    planned: tuple[str, ...] = ("mutation", "kept-set", "latency"),
    files: tuple[FileChange, ...] = (),
    **more: object,
) -> Recommendation:
    subject = Subject(repository="r", base="a" * 40, head="b" * 40, state=state)
    plan = Plan(
        subject=subject,
        change=Change(files=files),
        profile="generic",
        checks=tuple(PlannedCheck(check=name, probe="p", symbols=("s",)) for name in planned),
        **more,
    )
    evidence = None if checks is None else Evidence(bundle="c", checks=checks)
    return recommend(subject, findings, evidence, plan)


FAILED = (check("mutation", "pass"), check("kept-set", "fail"))
NOT_RUN = (check("mutation", "pass"), check("kept-set", "not-run"))


@pytest.mark.parametrize(
    ("state", "findings", "checks", "action"),
    [
        ("open", (), PASSED, "merge"),
        ("open", (finding("low"),), PASSED, "merge"),
        ("unknown", (), PASSED, "merge"),
        ("open", (finding("medium"),), PASSED, "review"),
        ("open", (), NOT_RUN, "review"),
        ("open", (), None, "review"),
        ("open", (finding("high"),), PASSED, "hold"),
        ("open", (finding("high"),), None, "hold"),
        ("open", (), FAILED, "hold"),
        ("open", (), (check("kept-set", "crash"),), "hold"),
        ("open", (), (check("kept-set", "hang"),), "hold"),
        ("open", (), (check("kept-set", "out-of-memory"),), "hold"),
        ("open", (), (*PASSED, check("peak-memory", "changed", delta={"bytes": 2**32})), "merge"),
        ("open", (), (check("mutation", "pass"), check("kept-set", "pre-existing")), "merge"),
        ("open", (), (check("mutation", "pass"), check("kept-set", "inconclusive")), "review"),
        ("merged", (), PASSED, "keep"),
        ("merged", (), FAILED, "revert"),
        ("merged", (finding("high"),), FAILED, "revert"),
        ("merged", (finding("high", small_fix=True),), FAILED, "forward-fix"),
        ("merged", (finding("high", "tests", small_fix=True),), FAILED, "revert"),
        ("merged", (finding("high", small_fix=True), finding("high", "aliasing")), FAILED, "revert"),
        ("merged", (finding("high"),), PASSED, "unsure"),
        ("merged", (), NOT_RUN, "unsure"),
        ("merged", (), None, "unsure"),
        ("reverted", (), PASSED, "already-reverted"),
        ("reverted", (finding("high"),), FAILED, "already-reverted"),
    ],
)
def test_the_table(state: State, findings: tuple, checks: tuple | None, action: str) -> None:
    """Every row of the table of recommendations."""
    assert judge(state, findings, checks).action == action


def test_nothing_to_measure_is_no_reason_to_wait() -> None:
    """A change that calls for no deciding check is merged on the diff alone."""
    assert judge(checks=None, planned=()).action == "merge"
    assert judge(checks=None, planned=("latency",)).action == "merge"


def test_a_waived_finding_or_check_does_not_hold() -> None:
    """What a maintainer accepted is shown elsewhere and does not decide."""
    waived = check("kept-set", "fail").model_copy(update={"waived_by": "known"})
    assert judge(findings=(finding("high", waived_by="known"),)).action == "merge"
    assert judge(checks=(check("mutation", "pass"), waived)).action == "merge"
    assert level([finding("high", waived_by="known")], [waived]) == "none"
    assert score([finding("high", waived_by="known")], [waived]) == 0


def reverting(*relations: str) -> dict:
    related = tuple(Related(relation=relation, pr=6, why=WORDS) for relation in relations)
    return {"is_revert": True, "related": related}


RISE = check("peak-memory", "changed", delta={"bytes": 4424968192, "bytes_per_logit": 4.0}, parameters={"rows": 7280})


def test_a_revert_names_its_price() -> None:
    """A revert whose checks ran is kept or merged for what it brings back, and says what that costs."""
    for state, action in (("open", "merge"), ("merged", "keep")):
        said = judge(state, (finding("medium"),), (*PASSED, RISE), **reverting("reverts", "exact-inverse-of"))
        assert said.action == action
        assert said.reasons[0].en == (
            "takes back PR 6 exactly, at a price: 4 bytes a logit more memory, 4.121 GiB at 7,280 rows"
        )
        assert not any("peak memory" in reason.en for reason in said.reasons), "the price is told once"
    assert "exactly" not in judge("merged", **reverting("reverts")).reasons[0].en


def test_a_revert_that_brings_back_worse_is_held() -> None:
    """What a revert brings back is measured like any change; without the measurement it is not decided."""
    assert judge("open", (), FAILED, **reverting("reverts")).action == "hold"
    assert judge("open", (), None, **reverting("reverts")).action == "review"
    assert judge("merged", (), NOT_RUN, **reverting("reverts")).action == "unsure"


def test_already_reverted_says_by_which() -> None:
    """The revert is named, and whether it is an exact inverse."""
    by = tuple(Related(relation=relation, pr=9, why=WORDS) for relation in ("reverted-by", "exact-inverse-of"))
    assert judge("reverted", related=by).reasons[0].en == "reverted by PR 9, the exact inverse"
    assert judge("reverted", related=by[:1]).reasons[0].en == "reverted by PR 9, which is no exact inverse"
    assert judge("reverted").reasons[0].en == "reverted later on the default branch"


def test_reasons_are_ordered_and_carry_their_figures() -> None:
    """Failed checks, findings, measured differences, each with its figure; a review says what is missing."""
    kept = check("kept-set", "fail", delta={"rows_differing": 52, "rows": 1024})
    flips = check("token-flips", "changed", delta={"flipped": 11, "tokens": 1024})
    said = judge("open", (finding("high"),), (check("mutation", "pass"), flips, kept))
    assert [reason.en for reason in said.reasons] == [
        "`kept-set` fails: 52 of 1,024 rows (5.1%) keep another token set (`s`)",
        "words (`numerics-high`, high)",
        "1.07% of sampled tokens differ at the same seeds (`s`)",
    ]
    assert said.to_proceed == (FIX,)
    review = judge("open", (), None)
    assert review.reasons[-1].en == "not measured: `mutation`, `kept-set`"
    assert review.to_proceed[0].en == "Run `mutation`, `kept-set` where they can be measured (a GPU)."


def test_a_rule_is_one_reason() -> None:
    """A rule that matched many symbols is told once, with the first of them and the number of the others."""
    many = tuple(finding("high", symbol=f"k{i}") for i in range(5))
    assert judge("open", many).reasons[0].en == "words in `k0`, `k1`, `k2` and 2 more (`numerics-high`, high)"


def test_a_failure_without_a_finding_still_has_a_way_out() -> None:
    """Where no finding explains a failed check, the table's own words say what would make it go away."""
    said = judge("open", (), FAILED)
    assert "fp32" in said.to_proceed[0].en


@given(
    st.lists(st.sampled_from(LEVELS[1:]), max_size=6),
    st.sampled_from(LEVELS[1:]),
)
def test_level_and_score_never_fall_with_another_finding(severities: list[str], more: str) -> None:
    """The level is the highest severity; the score lies in 0-100 and grows with every finding."""
    findings = [finding(severity) for severity in severities]
    assert level(findings, ()) == max(severities, key=LEVELS.index, default="none")
    assert 0 <= score(findings, ()) <= score([*findings, finding(more)], ()) <= 100


def test_failed_checks_raise_the_level_and_changed_ones_do_not() -> None:
    """A measured difference that is no fault by itself leaves the level alone."""
    assert level((), [check("kept-set", "fail")]) == "high"
    assert level((), [check("index-width", "crash")]) == "critical"
    assert level((), [RISE, check("token-flips", "changed"), *PASSED]) == "none"


@pytest.mark.parametrize(("state", "action", "settled"), [("open", "review", "merge"), ("merged", "unsure", "keep")])
def test_a_kernel_that_nothing_judges_is_no_merge(state: State, action: str, settled: str) -> None:
    """A kernel whose change is of no known kind and that no check ran on is neither good nor bad."""
    edit = Edit(kind="barrier-added", path="k.py", symbol="kernel")
    symbols = (Symbol(name="kernel", kind="kernel", change="body"),)
    file = FileChange(path="k.py", status="modified", category="kernel", symbols=symbols)
    told = judge(state, checks=None, planned=(), files=(file,))
    assert told.action == action and "`kernel`" in told.reasons[0].en and "`kernel`" in told.to_proceed[0].en
    assert judge(state, planned=(), files=(file,)).action == settled
    known = file.model_copy(update={"edits": (edit,)})
    assert judge(state, checks=None, planned=(), files=(known,)).action == settled
