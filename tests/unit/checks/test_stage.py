"""What travels in a bundle is read without trust."""

from __future__ import annotations

import pytest

from analyzer.bundle import Bundle
from analyzer.checks import stage
from analyzer.errors import UsageError
from analyzer.model.change import Change, Subject
from analyzer.model.plan import Plan


@pytest.mark.parametrize("text", ["a: [", "- a", "probes: 1", "seed: 2026-13-45"])
def test_a_profile_that_is_none(text):
    """A bundle whose profile cannot be read is refused in one line."""
    subject = Subject(repository="r", base="0" * 40, head="1" * 40)
    plan = Plan(subject=subject, change=Change(files=()), profile="generic")
    with pytest.raises(UsageError, match=r"the bundle's profile cannot be read: .+"):
        stage.profile(Bundle.make(plan, {}, text))
