"""Many diffs at once are the diffs one by one."""

from __future__ import annotations

import pytest

from analyzer.change.revisions.diffs import ZEROS
from analyzer.errors import NothingToAnalyze

LINES = "".join(f"line {n}\n" for n in range(30))


def one_by_one(opened, pairs):
    found = []
    for base, head in pairs:
        try:
            found.append(opened.diff(base, head))
        except NothingToAnalyze:
            found.append(())
    return found


@pytest.fixture
def pairs(repository):
    """A root, an edit, a rename with an edit and an odd name, an empty commit, a deletion with a new file."""
    commits = [
        repository.commit({"a.py": LINES, "b.py": "b = 1\n"}),
        repository.commit({"a.py": LINES.replace("line 3\n", "line three\nmore\n")}),
        repository.commit({"a.py": None, "sub/new\tname.py": LINES.replace("line 9\n", "")}),
        repository.commit({}),
        repository.commit({"b.py": None, "c.bin": b"\0\1\2"}),
    ]
    return [*zip([ZEROS, *commits[:-1]], commits, strict=True)]


def test_many_at_once_are_the_same(repository, pairs):
    """Paths, renames, blobs and line counts agree, in the order asked for; an empty commit has no files."""
    with repository.open() as opened:
        many = list(opened.diffs(pairs))
        assert many == one_by_one(opened, pairs)
    assert [len(entries) for entries in many] == [2, 1, 1, 0, 2]
    assert (many[2][0].previous_path, many[2][0].path) == ("a.py", "sub/new\tname.py")
    assert (many[1][0].added, many[1][0].removed) == (2, 1)


def test_missing_content_does_not_end_the_list(repository, pairs):
    """A commit whose blobs are gone is told without its line counts, and those after it are complete."""
    blob = repository.git("rev-parse", f"{pairs[1][1]}:a.py")
    (repository.folder / ".git/objects" / blob[:2] / blob[2:]).unlink()
    with repository.open() as opened:
        many = list(opened.diffs(pairs))
        assert many == one_by_one(opened, pairs)
    assert [entry.path for entry in many[1]] == ["a.py"] and many[1][0].added == 0
    assert len(many[4]) == 2 and many[4][0].removed == 1


def test_a_missing_tree_is_told(repository, pairs):
    """A commit whose tree is gone has no answer; its neighbours have."""
    tree = repository.git("rev-parse", f"{pairs[4][1]}^{{tree}}")
    (repository.folder / ".git/objects" / tree[:2] / tree[2:]).unlink()
    with repository.open() as opened:
        many = list(opened.diffs(pairs))
    assert many[4] is None
    assert [len(entries) for entries in many[:4]] == [2, 1, 1, 0]
