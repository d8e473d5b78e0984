"""What travels in a bundle is read without trust."""

from __future__ import annotations

import pytest

from analyzer.build import environment
from analyzer.bundle import Bundle
from analyzer.checks import stage
from analyzer.errors import UsageError
from analyzer.model.base import Text
from analyzer.model.change import Change, Subject
from analyzer.model.evidence import Check
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


@pytest.mark.parametrize(("answers", "lost"), [(True, False), (False, True)])
def test_after_a_crash_the_gpu_is_asked(monkeypatch, answers, lost):
    """Once, after the first crash or hang; where it does not answer, what is left is not run, with that reason."""
    asked = []
    monkeypatch.setattr(session, "gpu_answers", lambda: asked.append(1) or answers)
    one = object.__new__(session.Session)
    one.device, one.gpu_lost = "cuda", False
    reason = Text(en="", zh="")
    fine, crash = (Check(check="hang", probe="p", symbol="s", outcome=o, reason=reason) for o in ("pass", "crash"))
    one._look_after([fine])
    assert not asked
    one._look_after([fine, crash])
    assert (len(asked), one.gpu_lost) == (1, lost)


def test_without_a_gpu_none_answers(monkeypatch):
    """The question is put to a process of its own, which fails here."""
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert not environment.gpu_answers()
