"""What commit messages say about other changes."""

from __future__ import annotations

import pytest

from analyzer.history.messages import Targets, mentioned, pr_of, relanded, reverted, title_of


@pytest.mark.parametrize(
    ("message", "number", "title"),
    [
        ("Faster top-k (#12)", 12, "Faster top-k"),
        ('Revert "Faster top-k" (#12) (#13)', 13, 'Revert "Faster top-k" (#12)'),
        ("Fix #12", None, "Fix #12"),
        ("Merge pull request #12 from owner/branch\n\nFaster top-k\n", 12, "Faster top-k"),
        ("Faster top-k (#12)\n\nSee #11.", 12, "Faster top-k"),
    ],
)
def test_own_number(message, number, title):
    """A commit's own PR is the last number in brackets of its subject, or a merge commit's; the title is the rest."""
    assert (pr_of(message), title_of(message)) == (number, title)


@pytest.mark.parametrize(
    ("message", "targets"),
    [
        ('Revert "Faster top-k" (#12) (#13)', Targets(prs=(12,), titles=("Faster top-k",))),
        ('Revert "Faster top-k (#12)" (#13)', Targets(prs=(12,), titles=("Faster top-k",))),
        ('Revert "Faster top-k" (#13)', Targets(titles=("Faster top-k",))),
        ('Revert "Revert "Faster top-k" (#12)" (#13)', Targets(prs=(12,), titles=('Revert "Faster top-k"',))),
        ('[Bugfix] Revert "Faster top-k" (#13)', Targets(titles=("Faster top-k",))),
        ("Revert #12 and #11 (#13)", Targets(prs=(12, 11))),
        ("[CI] Revert PRs 1234 and 1235 (#1300)", Targets(prs=(1234, 1235))),
        ('Revert "A long title that was cut sh… (#13)', Targets(titles=("A long title that was cut sh…",))),
        ("Undo it (#13)\n\nThis reverts commit 0123456789abcdef.", Targets(commits=("0123456789abcdef",))),
        ("Undo it (#13)\n\nReverts owner/name#12", Targets(prs=(12,))),
        ("Revert the default to 4 (#13)", Targets()),
    ],
)
def test_reverted(message, targets):
    """Every form in which a revert names what it takes back; one that names nothing is still a revert."""
    assert reverted(message) == targets


@pytest.mark.parametrize(
    "message", ["Reverse the order (#13)", "Add a test for the revert of #12 (#13)", "Irrevertible"]
)
def test_no_revert(message):
    """A message that merely has the word in it is no revert."""
    assert reverted(message) is None


@pytest.mark.parametrize(
    ("message", "targets"),
    [
        ('Reland "Faster top-k" (#12) (#14)', Targets(prs=(12,), titles=("Faster top-k",))),
        ("[Redo] #12 with a limit (#14)", Targets(prs=(12,))),
        ("Reapply 1234 (#1400)", Targets(prs=(1234,))),
        ("[Bugfix] Re-land Faster top-k (#14)", Targets(titles=("Faster top-k",))),
        ("Relax a check (#14)", None),
    ],
)
def test_relanded(message, targets):
    """Every form in which a reland names what it brings back."""
    assert relanded(message) == targets


def test_mentioned():
    """Numbers of other PRs are mentioned; the own number, and what only looks like one, is not."""
    assert mentioned("Faster top-k (#12)\n\nAfter #11, see a#10 and &#9; and #12.") == (11,)
