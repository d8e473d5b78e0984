"""What travels in a bundle is read without trust."""

from __future__ import annotations

import pytest

from analyzer.bundle import Bundle
from analyzer.checks import stage
from analyzer.errors import UsageError
from analyzer.model.change import Change, Subject
from analyzer.model.plan import Plan, PlannedCheck

pytest.importorskip("torch", reason="needs the checks extra")

from analyzer.checks import session


@pytest.mark.parametrize("text", ["a: [", "- a", "probes: 1", "seed: 2026-13-45"])
def test_a_profile_that_is_none(text):
    """A bundle whose profile cannot be read is refused in one line."""
    subject = Subject(repository="r", base="0" * 40, head="1" * 40)
    plan = Plan(subject=subject, change=Change(files=()), profile="generic")
    with pytest.raises(UsageError, match=r"the bundle's profile cannot be read: .+"):
        stage.profile(Bundle.make(plan, {}, text))


def test_cheap_checks_come_first_and_then_what_is_likely():
    """A budget that ends has asked every probe the cheap questions; a finding puts the checks of its family first."""
    names = ("index-width", "latency", "layout", "kept-set", "identity", "mutation", "batch-invariance", "unknown")
    planned = [PlannedCheck(check=name, probe=probe, symbols=("f",)) for probe in ("a", "b") for name in names]
    cheap, costly = session.rounds(planned, {"index"})
    assert [item.check for item in cheap] == ["mutation"] * 2 + ["kept-set"] * 2 + ["unknown"] * 2
    assert [item.check for item in costly if item.probe == "a"] == [
        "batch-invariance", "layout", "index-width", "latency",
    ]  # fmt: skip
    assert [item.check for item in session.rounds(planned, ())[1] if item.probe == "a"] == [
        "batch-invariance", "layout", "latency", "index-width",
    ]  # fmt: skip
