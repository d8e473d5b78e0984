"""Relations between changes, from messages and from contents."""

from __future__ import annotations

import pytest

from analyzer.errors import UsageError
from analyzer.history.hunks import parse
from analyzer.history.reverts import relations
from analyzer.history.subject import describe, read_conversation, with_conversation
from analyzer.model.change import Subject

SOURCE = "".join(f"line {number}\n" for number in range(30))
FAST = SOURCE.replace("line 5\n", "line five\n").replace("line 20\n", "line twenty\n")


def related(repository, head: str, base: str | None = None) -> tuple[set[tuple[str, int | None]], Subject]:
    """(relation, PR) of everything that goes with a change, and its subject."""
    with repository.open() as opened:
        pair = opened.pair(head, base)
        found = relations(opened, pair, opened.diff(pair.base, pair.head))
        for one in found:
            assert one.why.en and one.why.zh
        return {(one.relation, one.pr) for one in found}, describe(opened, pair, found)


def test_exact_revert(repository):
    """A revert that gives every line back is an exact inverse, seen from both sides; the change counts as reverted."""
    repository.commit({"a.py": SOURCE}, "Start (#1)")
    change = repository.commit({"a.py": FAST}, "Faster (#2)")
    repository.commit({"b.py": "b = 1\n"}, "Another (#3)")
    revert = repository.commit({"a.py": SOURCE}, 'Revert "Faster" (#2) (#4)')
    found, subject = related(repository, change)
    assert {("reverted-by", 4), ("exact-inverse-of", 4), ("same-file", 1)} == found
    assert (subject.state, subject.pr, subject.title) == ("reverted", 2, "Faster")
    found, subject = related(repository, revert)
    assert {("reverts", 2), ("exact-inverse-of", 2), ("same-file", 1)} == found
    assert subject.state == "merged"


def test_exact_inverse_beside_other_changes_of_the_file(repository):
    """Lines that go back exactly are an exact inverse even where the file changed elsewhere in between."""
    repository.commit({"a.py": SOURCE}, "Start (#1)")
    change = repository.commit({"a.py": FAST}, "Faster (#2)")
    later = FAST + "more\n"
    repository.commit({"a.py": later}, "More (#3)")
    repository.commit({"a.py": later.replace("five", "5").replace("twenty", "20")}, "Revert #2 (#4)")
    found, _ = related(repository, change)
    assert {("reverted-by", 4), ("exact-inverse-of", 4)} <= found


def test_partial_revert(repository):
    """A revert that gives back only some of the places is partial, and is no exact inverse."""
    repository.commit({"a.py": SOURCE}, "Start (#1)")
    change = repository.commit({"a.py": FAST}, "Faster (#2)")
    revert = repository.commit({"a.py": FAST.replace("line five", "line 5")}, "Revert #2 in part (#3)")
    assert related(repository, change)[0] == {("partially-reverted-by", 3), ("same-file", 1)}
    assert related(repository, revert)[0] == {("partially-reverts", 2), ("same-file", 1)}


def test_silent_revert(repository):
    """Contents that go back make a revert whatever the message says."""
    repository.commit({"a.py": SOURCE}, "Start (#1)")
    change = repository.commit({"a.py": FAST}, "Faster (#2)")
    repository.commit({"a.py": SOURCE}, "Clean up (#3)")
    found, subject = related(repository, change)
    assert {("reverted-by", 3), ("exact-inverse-of", 3)} <= found
    assert subject.state == "reverted"


def test_reland(repository):
    """A revert of the revert brings the change back: a reland of it, and no culprit."""
    repository.commit({"a.py": SOURCE}, "Start (#1)")
    change = repository.commit({"a.py": FAST}, "Faster (#2)")
    repository.commit({"a.py": SOURCE}, 'Revert "Faster (#2)" (#3)')
    again = repository.commit({"a.py": FAST}, 'Revert "Revert "Faster (#2)" (#3)" (#4)')
    found, _ = related(repository, again)
    assert {("reverts", 3), ("exact-inverse-of", 3), ("relands", 2)} <= found
    assert ("relanded-by", 4) in related(repository, change)[0]


def test_same_title_twice(repository):
    """A title without a number means the newest change of that title before the revert."""
    repository.commit({"a.py": SOURCE}, "Start (#1)")
    first = repository.commit({"a.py": FAST}, "Faster (#2)")
    repository.commit({"a.py": SOURCE}, 'Revert "Faster" (#3)')
    second = repository.commit({"a.py": FAST + "x\n"}, "Faster (#4)")
    repository.commit({"a.py": SOURCE}, 'Revert "Faster" (#5)')
    assert ("reverted-by", 3) in related(repository, first)[0]
    assert ("reverted-by", 5) in related(repository, second)[0]
    assert ("reverted-by", 5) not in related(repository, first)[0]


def test_backwards_pair(repository):
    """A pair that is no commit and its parent has no title, is open, and is related by content only."""
    start = repository.commit({"a.py": SOURCE}, "Start (#1)")
    fix = repository.commit({"a.py": FAST}, "Fix #1 (#2)")
    found, subject = related(repository, start, fix)
    assert found == {("exact-inverse-of", 2)}
    assert (subject.title, subject.pr, subject.author, subject.state) == ("", None, "", "open")


def test_mentions(repository):
    """What a message names, and later messages that name this change, are told."""
    repository.commit({"a.py": SOURCE}, "Start (#1)")
    change = repository.commit({"a.py": FAST}, "Faster (#2)\n\nNeeds #1 and #77.")
    repository.commit({"b.py": "b = 1\n"}, "Follow #2 up (#3)")
    assert {("mentions", 1), ("mentions", 77), ("mentioned-by", 3)} <= related(repository, change)[0]


def test_states(repository):
    """On the default branch a change is merged, beside it open; without any branch nobody can tell."""
    repository.commit({"a.py": SOURCE}, "Start (#1)")
    repository.git("checkout", "--quiet", "-b", "topic")
    topic = repository.commit({"a.py": FAST}, "Faster")
    assert related(repository, "main")[1].state == "merged"
    assert related(repository, topic)[1].state == "open"
    assert related(repository, topic)[1].merged_at is None
    repository.git("checkout", "--quiet", "--detach")
    repository.git("branch", "--quiet", "-D", "main", "topic")
    assert related(repository, topic)[1].state == "unknown"


def test_hunks_hold_lines_that_look_like_headers():
    """Lines that begin with dashes and pluses, and files without a last newline, are counted as they are."""
    patch = (
        "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1 @@\n--- old\n-two\n\\ No newline at end of file\n+++ new\n"
        "@@ -9,0 +9 @@\n+diff --git a/y b/y\n"
    )
    assert parse(patch) == {
        ("x", ("-- old", "two"), ("++ new",)): 1,
        ("x", (), ("diff --git a/y b/y",)): 1,
    }


SUBJECT = Subject(repository="r", base="0" * 40, head="1" * 40, pr=7, title="Git's", state="merged", merged_at="2026")


def test_conversation_wins():
    """What the PR itself states wins over Git: an open PR is open although its commit is on the branch."""
    told = with_conversation(SUBJECT, {"number": 7, "title": "The PR's", "state": "open", "author": "ada"})
    assert (told.title, told.state, told.author, told.merged_at) == ("The PR's", "open", "ada", None)
    assert with_conversation(SUBJECT, None) == SUBJECT
    assert with_conversation(SUBJECT, {"number": 7, "state": "closed"}).state == "unknown"


def test_conversation_of_another_pr():
    """Another PR's conversation is refused."""
    with pytest.raises(UsageError, match="#8's, the change is #7"):
        with_conversation(SUBJECT, {"number": 8})


@pytest.mark.parametrize("content", ["no JSON", "[]", "{}", '{"number": "7"}'])
def test_conversation_file(tmp_path, content):
    """A file that is no conversation is refused with a line that names it, and so is one that is not there."""
    path = tmp_path / "pr.json"
    path.write_text(content)
    with pytest.raises(UsageError, match=r"pr\.json"):
        read_conversation(path)
    with pytest.raises(UsageError, match="No such file"):
        read_conversation(tmp_path / "absent.json")


def whys(repository, head: str) -> dict[str, str]:
    with repository.open() as opened:
        pair = opened.pair(head, None)
        found = relations(opened, pair, opened.diff(pair.base, pair.head))
        return {one.relation: one.why.en for one in found}


def test_a_partial_revert_names_its_files(repository):
    """Files undone wholly, in part, and left; and what changes beside them."""
    repository.commit({"a.py": SOURCE, "b.py": SOURCE, "c.py": SOURCE, "d.py": SOURCE}, "Start (#1)")
    repository.commit({"a.py": FAST, "b.py": FAST, "c.py": FAST}, "Faster (#2)")
    half = FAST.replace("line five", "line 5")
    revert = repository.commit({"a.py": SOURCE, "b.py": half, "d.py": SOURCE + "more\n"}, "Revert #2 in part (#3)")
    assert whys(repository, revert)["partially-reverts"] == (
        "its own message says so; 3 of 6 changed places go back exactly: wholly in `a.py`; in part in `b.py` (1 of 2); "
        "nothing in `c.py`; 1 other place changes beside, in `d.py`"
    )


def test_a_revert_with_more_beside_it(repository):
    """Where every place goes back and something else changes as well, the revert is whole and no exact inverse."""
    repository.commit({"a.py": SOURCE, "b.py": "b = 1\n"}, "Start (#1)")
    repository.commit({"a.py": FAST}, "Faster (#2)")
    revert = repository.commit({"a.py": SOURCE, "b.py": "b = 2\n"}, "Revert #2 (#3)")
    found = whys(repository, revert)
    assert found["reverts"] == (
        "its own message says so; all 2 changed places go back exactly; 1 other place changes beside, in `b.py`"
    )
    assert "exact-inverse-of" not in found


def test_a_silent_partial_revert(repository):
    """Files that get the content of before make a revert in part without any message, where they are half of it."""
    repository.commit({"a.py": SOURCE, "b.py": SOURCE, "c.py": SOURCE}, "Start (#1)")
    change = repository.commit({"a.py": FAST, "b.py": FAST}, "Faster (#2)")
    later = repository.commit({"a.py": SOURCE, "c.py": FAST}, "Tidy (#3)")
    text = "`a.py` goes the other way, content for content; not `b.py`"
    assert whys(repository, later)["partially-reverts"] == text
    assert whys(repository, change)["partially-reverted-by"] == text
    assert related(repository, change)[1].state == "merged"


def test_a_silent_exact_revert_of_places(repository):
    """The same places go back in a file that changed elsewhere in between: an exact inverse, whatever the message."""
    repository.commit({"a.py": SOURCE}, "Start (#1)")
    repository.commit({"a.py": FAST}, "Faster (#2)")
    repository.commit({"a.py": "first\n" + FAST}, "More (#3)")
    revert = repository.commit({"a.py": "first\n" + SOURCE}, "Tidy (#4)")
    found = whys(repository, revert)
    assert found["exact-inverse-of"] == (
        "the 2 changed places of the two diffs are the same, with before and after swapped"
    )
    assert "reverts" in found


def test_equal_lines_around_a_place(repository):
    """A place between equal lines has several diffs; content that goes back is an exact inverse all the same."""
    before = "def a():\n    pass\n\n\ndef c():\n    pass\n"
    after = "def a():\n    pass\n\n\ndef b():\n    pass\n\n\ndef c():\n    pass\n"
    repository.commit({"a.py": before}, "Start (#1)")
    repository.commit({"a.py": after}, "Add b (#2)")
    revert = repository.commit({"a.py": before}, "Revert #2 (#3)")
    assert "exact-inverse-of" in whys(repository, revert)
