"""The facts of a whole history."""

from __future__ import annotations

import os
import sqlite3

import pytest

from analyzer.change.facts import NoTree, SourcePair, change_edits
from analyzer.errors import AnalyzerError, NothingToAnalyze, UsageError
from analyzer.history import facts_store
from analyzer.history import scan as scanning
from analyzer.history.scan import scan

ONE = "import torch\n\n\ndef scale(x):\n    return x.softmax(dim=-1)\n"
TWO = ONE.replace("dim=-1", "dim=-1, dtype=torch.float32")
THREE = TWO.replace("def scale(x)", "def scale(x, wide=True)")


@pytest.fixture
def history(repository):
    """A root and two changes of one function, a commit without files, one of a document."""
    return [
        repository.commit({"a.py": ONE}),
        repository.commit({"a.py": TWO}),
        repository.commit({"a.py": THREE}),
        repository.commit({}),
        repository.commit({"notes.md": "text\n"}),
    ]


def test_each_commit_has_its_facts(repository, history):
    """Newest first, against the first parent, a root against the empty tree; the edits are those of the two files."""
    found = list(scan(repository.folder, workers=0))
    assert [one.commit for one in found] == history[::-1]
    assert [one.parent for one in found] == [*history[-2::-1], "0" * 40]
    edits = [[edit.kind for file in one.files for edit in file.edits] for one in found]
    assert edits[:4] == [[], [], ["parameter-added"], ["dtype-argument-added"]]
    expected = change_edits([SourcePair("a.py", None, ONE, TWO)], NoTree())["a.py"]
    assert found[3].files[0].edits == expected.edits
    assert [(file.path, file.category, file.added) for file in found[0].files] == [("notes.md", "docs", 1)]


def test_a_limit_and_a_revision(repository, history):
    """The last commits of the named revision; an unknown one is an error."""
    assert [one.commit for one in scan(repository.folder, history[2], limit=2, workers=0)] == history[2:0:-1]
    with pytest.raises(NothingToAnalyze):
        list(scan(repository.folder, "nowhere", workers=0))


def test_workers_find_the_same(repository, history, monkeypatch):
    """Processes, and runs of two commits, give the same facts in the same order, and tell how far they are."""
    monkeypatch.setattr(scanning, "RUN", 2)
    told = []
    found = list(scan(repository.folder, workers=2, progress=lambda done, total: told.append((done, total))))
    assert found == list(scan(repository.folder, workers=0))
    assert told == [(2, 5), (4, 5), (5, 5)]


def test_kept_facts_are_not_found_again(repository, history, tmp_path, monkeypatch):
    """A second scan reads what the first kept, and finds only what is new; a new version of the code finds all."""
    store = tmp_path / "kept" / "facts.sqlite"
    first = list(scan(repository.folder, workers=0, store=store))
    newest = repository.commit({"b.py": "b = 1\n"})
    asked = []
    found_by = scanning._facts
    monkeypatch.setattr(scanning, "_facts", lambda r, pairs: asked.extend(c for c, _ in pairs) or found_by(r, pairs))
    assert list(scan(repository.folder, workers=0, store=store))[1:] == first
    assert asked == [newest]
    monkeypatch.setattr(facts_store, "version", lambda: "another")
    assert list(scan(repository.folder, workers=0, store=store))[1:] == first
    assert len(asked) == 1 + 6


def test_what_is_not_there_is_noted(repository, history):
    """A commit whose trees are not in the clone has a note instead of files; the others have their facts."""
    tree = repository.git("rev-parse", f"{history[4]}^{{tree}}")
    (repository.folder / ".git/objects" / tree[:2] / tree[2:]).unlink()
    found = list(scan(repository.folder, workers=0))
    assert found[0].note == "its trees are not all in this clone" and not found[0].files
    assert found[2].files[0].edits


def test_a_store_that_is_none_is_refused(repository, history, tmp_path):
    """One line for a file that is no database, and for a folder that cannot be made."""
    wrong = tmp_path / "text"
    wrong.write_text("not a database, but long enough to have a header that is read\n" * 10)
    for store in (wrong, wrong / "below.sqlite"):
        with pytest.raises(UsageError, match="cannot keep facts"):
            list(scan(repository.folder, workers=0, store=store))


def _die(pairs):
    os._exit(9)


def test_a_worker_that_dies_is_told(repository, history, monkeypatch):
    """One line, not a traceback of a pool."""
    monkeypatch.setattr(scanning, "_work", _die)
    with pytest.raises(AnalyzerError, match="a worker of the history scan died"):
        list(scan(repository.folder, workers=1))


def test_the_store_holds_packed_json(repository, history, tmp_path):
    """One row a commit, of this version."""
    store = tmp_path / "facts.sqlite"
    list(scan(repository.folder, workers=0, store=store))
    with sqlite3.connect(store) as connection:
        assert connection.execute("SELECT count(*), count(DISTINCT version) FROM facts").fetchone() == (5, 1)
    connection.close()
