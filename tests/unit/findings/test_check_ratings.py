"""rules/checks.yml: what each outcome weighs."""

from __future__ import annotations

from typing import get_args

import pytest

from analyzer.findings.checks import decides, families, order, rate, remedy
from analyzer.model.base import LEVELS, Text
from analyzer.model.evidence import BAD_OUTCOMES, Check, Outcome

NAMES = sorted(
    {
        *("identity", "oracle", "kept-set", "distribution-distance", "token-flips", "sampling", "mutation", "hang"),
        *("batch-invariance", "determinism", "layout", "special-values", "index-width", "peak-memory", "latency"),
        "resources",
    }
)


def check(name: str, outcome: str, **delta: float) -> Check:
    return Check(check=name, probe="p", symbol="s", outcome=outcome, reason=Text(en="", zh=""), delta=delta)


@pytest.mark.parametrize("name", NAMES)
def test_every_bad_outcome_is_high_or_above_with_a_way_out(name: str) -> None:
    """A failed check of any name holds a change and says what to do, where it is known."""
    for outcome in BAD_OUTCOMES:
        rated = rate(check(name, outcome))
        assert LEVELS.index(rated.severity) >= LEVELS.index("high"), outcome
        if outcome != "fail":
            assert remedy(rated) is not None


@pytest.mark.parametrize("name", NAMES)
def test_an_outcome_that_is_no_fault_is_below_high(name: str) -> None:
    """What passed, was there before or did not run weighs nothing."""
    for outcome in set(get_args(Outcome)) - {*BAD_OUTCOMES, "changed"}:
        assert rate(check(name, outcome)).severity == "info"
    assert LEVELS.index(rate(check(name, "changed")).severity) <= LEVELS.index("medium")


def test_the_sign_of_a_difference_decides_its_tag() -> None:
    """A higher peak and a lower one, slower and faster, are told apart."""
    tags = [
        rate(check(*outcome, **{figure: value})).tags[0].en
        for *outcome, figure, value in (
            ("peak-memory", "changed", "bytes", 4.0),
            ("peak-memory", "changed", "bytes", -4.0),
            ("latency", "changed", "ratio", 1.2),
            ("latency", "changed", "ratio", 0.8),
        )
    ]
    assert tags == ["memory peak raised", "memory peak reduced", "slower", "faster"]


def test_a_rating_overwrites_what_the_record_claims() -> None:
    """Severity and tags come from our table, whatever the evidence says of itself."""
    claimed = check("mutation", "fail").model_copy(update={"severity": "info", "tags": (Text(en="fine", zh="好"),)})
    assert rate(claimed).severity == "high"
    assert [tag.en for tag in rate(claimed).tags] == ["input mutation"]


def test_which_checks_decide() -> None:
    """Numerics and mutation are waited for; time, memory and identity are told but not waited for."""
    assert {name for name in NAMES if decides(name)} >= {"mutation", "kept-set", "distribution-distance", "oracle"}
    assert not any(decides(name) for name in ("latency", "peak-memory", "identity", "resources", "token-flips"))
    assert not decides("no-such-check")
    assert families("mutation") == ("aliasing",)
    assert order("mutation") < order("kept-set") < order("latency") < order("no-such-check")
