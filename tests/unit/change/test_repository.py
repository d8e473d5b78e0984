"""Reading a Git repository: revisions, pairs, diffs and files."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from analyzer.change.revisions.repository import ZEROS, Repository, _origin
from analyzer.errors import NothingToAnalyze, UsageError


def test_folder_without_repository(tmp_path):
    """A folder outside any repository is refused with one line, and so is a folder that is not there."""
    for folder in (tmp_path, tmp_path / "absent"):
        with pytest.raises(NothingToAnalyze, match="no repository at"), Repository.open(folder):
            pass


def test_name_and_address(repository):
    """A hosted origin gives owner/name and an address; without one the folder gives the name."""
    repository.commit({"a.py": "a = 1\n"})
    with repository.open() as opened:
        assert (opened.name, opened.url) == ("repository", "")
    repository.git("remote", "add", "origin", "git@github.com:owner/name.git")
    with repository.open() as opened:
        assert (opened.name, opened.url) == ("owner/name", "https://github.com/owner/name")


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("https://github.com/owner/name", "owner/name"),
        ("https://user:secret@github.com/owner/name.git", "owner/name"),
        ("ssh://git@host.example:2222/owner/name.git", "owner/name"),
        ("/srv/mirrors/owner/name.git", ""),
        ("../name", ""),
        ("", ""),
    ],
)
def test_origin(address, name):
    """Addresses of every usual form are understood, none leaks a password, and a folder is no address."""
    found, page = _origin(address)
    assert found == name
    assert "secret" not in page


@pytest.mark.parametrize("revision", ["--upload-pack=x", "-n", "", "a\nb", "a\0b"])
def test_revision_that_is_none(repository, revision):
    """What could be an option, or could not be a name, never reaches Git."""
    repository.commit({"a.py": "a = 1\n"})
    with repository.open() as opened, pytest.raises(UsageError, match="not a revision"):
        opened.resolve(revision)


def test_unknown_revision(repository):
    """An unknown name is nothing to analyze, and so are a tree and a blob."""
    repository.commit({"a.py": "a = 1\n"})
    with repository.open() as opened:
        assert opened.resolve("main") == repository.git("rev-parse", "main")
        for revision in ("nowhere", "main^{tree}", "main:a.py", "a..b"):
            with pytest.raises(NothingToAnalyze, match="unknown revision"):
                opened.resolve(revision)


def test_first_parent_and_explicit_base(repository):
    """Without a base the first parent is taken; any other base is an exact end, and not adjacent."""
    first = repository.commit({"a.py": "a = 1\n"})
    second = repository.commit({"a.py": "a = 2\n"})
    third = repository.commit({"a.py": "a = 3\n"})
    with repository.open() as opened:
        assert opened.pair("main") == opened.pair(third, second)
        assert opened.pair("main").adjacent
        backwards = opened.pair(first, third)
        assert (backwards.base, backwards.head, backwards.adjacent) == (third, first, False)


def test_branch_against_its_merge_base(repository):
    """A branch of several commits against the commit where it left the default branch is a PR's pair."""
    start = repository.commit({"a.py": "a = 1\n"})
    repository.git("checkout", "--quiet", "-b", "topic")
    repository.commit({"a.py": "a = 2\n"})
    tip = repository.commit({"a.py": "a = 3\n"})
    repository.git("checkout", "--quiet", "main")
    repository.commit({"b.py": "b = 1\n"})
    with repository.open() as opened:
        assert opened.pair(tip, start).adjacent


def test_root_commit(repository):
    """A root commit is compared with the empty tree, and the report says so."""
    root = repository.commit({"a.py": "a = 1\n", "b/c.py": "c = 1\n"})
    with repository.open() as opened:
        pair = opened.pair(root)
        assert pair.base == ZEROS
        assert "empty tree" in pair.notes[0].en
        assert "空树" in pair.notes[0].zh
        assert [(entry.path, entry.status, entry.added) for entry in opened.diff(pair.base, pair.head)] == [
            ("a.py", "added", 1),
            ("b/c.py", "added", 1),
        ]


def test_merge_commit(repository):
    """A merge commit is compared with its first parent, and the report names what it merges."""
    repository.commit({"a.py": "a = 1\n"})
    repository.git("checkout", "--quiet", "-b", "topic")
    topic = repository.commit({"b.py": "b = 1\n"})
    repository.git("checkout", "--quiet", "main")
    first = repository.commit({"c.py": "c = 1\n"})
    repository.git("merge", "--quiet", "--no-ff", "--message", "Merge", "topic")
    with repository.open() as opened:
        pair = opened.pair("main")
        assert pair.base == first
        assert topic[:10] in pair.notes[0].en and topic[:10] in pair.notes[0].zh
        assert [entry.path for entry in opened.diff(pair.base, pair.head)] == ["b.py"]


def test_empty_diff(repository):
    """Two revisions with the same files are nothing to analyze."""
    repository.commit({"a.py": "a = 1\n"})
    repository.commit({})
    with repository.open() as opened:
        pair = opened.pair("main")
        with pytest.raises(NothingToAnalyze, match="empty diff"):
            opened.diff(pair.base, pair.head)


def test_renames_and_line_counts(repository):
    """A rename is one entry with both paths and the lines that changed beside it."""
    lines = [f"value_{number} = {number}\n" for number in range(40)]
    repository.commit({"old.py": "".join(lines), "gone.py": "x = 1\n", "same.py": "y = 1\n"})
    repository.commit({"old.py": None, "new.py": "".join([*lines, "more = 1\n"]), "gone.py": None})
    with repository.open() as opened:
        entries = {entry.path: entry for entry in opened.diff(*_ends(opened))}
    assert set(entries) == {"new.py", "gone.py"}
    assert (entries["new.py"].status, entries["new.py"].previous_path) == ("renamed", "old.py")
    assert (entries["new.py"].added, entries["new.py"].removed) == (1, 0)
    assert (entries["gone.py"].status, entries["gone.py"].head_blob) == ("deleted", None)


def _ends(opened: Repository) -> tuple[str, str]:
    pair = opened.pair("main")
    return pair.base, pair.head


def test_odd_names(repository):
    """Names with spaces, quotes, newlines, glob characters, or bytes that are no UTF-8 come through."""
    names = ["a b.py", 'quo"te.py', "new\nline.py", "glob*[x].py", "数.py"]
    repository.commit({"start.py": "s = 1\n"})
    Path(os.fsdecode(os.fsencode(repository.folder) + b"/raw\xff.py")).write_text("r = 1\n")
    repository.commit({name: f"{number} + 0\n" for number, name in enumerate(names)})
    with repository.open() as opened:
        entries = {entry.path: entry for entry in opened.diff(*_ends(opened))}
        contents = opened.read_many(entry.head_blob for entry in entries.values())
        assert set(entries) == {*names, "raw\\xff.py"}
        assert contents[entries["new\nline.py"].head_blob] == b"2 + 0\n"
        assert opened.blobs(opened.resolve("main"), ["*.py"]).keys() == {*names, "raw\\xff.py", "start.py"}


def test_links_and_submodules_are_said(repository):
    """A symbolic link and a submodule are no source: they are named and never followed."""
    start = repository.commit({"a.py": "a = 1\n"})
    os.symlink("/etc/passwd", repository.folder / "link.py")
    repository.git("update-index", "--add", "--cacheinfo", f"160000,{start},module")
    repository.commit({})
    with repository.open() as opened:
        special = {entry.path: entry.special for entry in opened.diff(*_ends(opened))}
        assert special["link.py"] is True
        assert "link.py" not in opened.blobs(opened.resolve("main"))
    assert set(special) <= {"link.py", "module"}


def test_read_many_and_missing(repository):
    """One call reads many objects; what is not there is None, and the rest still comes."""
    repository.commit({"a.py": "a = 1\n", "empty.py": ""})
    with repository.open() as opened:
        blobs = opened.blobs(opened.resolve("main"), ["*.py"])
        absent = "1" * 40
        contents = opened.read_many([*blobs.values(), absent])
        assert contents == {blobs["a.py"]: b"a = 1\n", blobs["empty.py"]: b"", absent: None}
        assert opened.read(opened.resolve("main"), "a.py") == b"a = 1\n"
        assert opened.read(opened.resolve("main"), "b.py") is None


def test_blobless_clone(repository, tmp_path):
    """A clone without contents gives its diff by exact names, says what is missing, and fetches nothing."""
    repository.commit({"a.py": "a = 1\n" * 50, "b.py": "b = 1\n"})
    repository.commit({"a.py": None, "c.py": "a = 1\n" * 50 + "more\n", "b.py": "b = 2\n"})
    repository.git("config", "uploadpack.allowFilter", "true")
    source = f"file://{repository.folder}"
    clone = tmp_path / "clone"
    subprocess.run(
        ["git", "clone", "--quiet", "--bare", "--filter=blob:none", source, clone], check=True, capture_output=True
    )
    with Repository.open(clone) as opened:
        entries = opened.diff(*_ends(opened))
        assert {entry.path: entry.status for entry in entries} == {
            "a.py": "deleted",
            "b.py": "modified",
            "c.py": "added",
        }
        contents = opened.read_many(entry.head_blob or entry.base_blob for entry in entries)
        assert set(contents.values()) == {None}


def test_shallow_clone(repository, tmp_path):
    """At the edge of a shallow clone the missing parent is named; a commit there is not taken for a root."""
    repository.commit({"a.py": "a = 1\n"})
    parent = repository.commit({"a.py": "a = 2\n"})
    repository.commit({"a.py": "a = 3\n"})
    clone = tmp_path / "clone"
    source = f"file://{repository.folder}"
    subprocess.run(["git", "clone", "--quiet", "--depth=1", source, clone], check=True, capture_output=True)
    with Repository.open(clone) as opened, pytest.raises(NothingToAnalyze, match=f"{parent[:10]}.*deepen"):
        opened.pair("HEAD")


def test_mirror_without_configuration(repository, tmp_path):
    """A bare folder without a config file, as some mirrors are, is read all the same."""
    commit = repository.commit({"a.py": "a = 1\n"})
    mirror = tmp_path / "mirror.git"
    subprocess.run(["git", "clone", "--quiet", "--bare", repository.folder, mirror], check=True, capture_output=True)
    (mirror / "config").unlink()
    with Repository.open(mirror) as opened:
        assert opened.resolve("main") == commit
        assert opened.read(commit, "a.py") == b"a = 1\n"


def test_repository_cannot_run_programs(repository, tmp_path):
    """Drivers, filters, hooks and monitors that a repository configures are never started."""
    canary = tmp_path / "canary"
    program = f"touch {canary}"
    repository.commit({".gitattributes": "*.py diff=evil filter=evil\n", "a.py": "a = 1\n"})
    repository.commit({"a.py": "a = 2\n"})
    for name in ("diff.evil.textconv", "diff.evil.command", "diff.external", "filter.evil.smudge", "core.fsmonitor"):
        repository.git("config", name, program)
    repository.git("config", "log.showSignature", "true")
    repository.git("config", "gpg.program", program)
    with repository.open() as opened:
        base, head = _ends(opened)
        assert [entry.added for entry in opened.diff(base, head)] == [1]
        assert opened.patch(base, head) is not None
        assert opened.log("--format=%H", head)
        assert opened.read(head, "a.py") == b"a = 2\n"
    assert not canary.exists()


def test_default_branch(repository):
    """The origin's default branch is taken before local names; without any usual name, the branch that is there."""
    main = repository.commit({"a.py": "a = 1\n"})
    repository.git("checkout", "--quiet", "-b", "topic")
    topic = repository.commit({"a.py": "a = 2\n"})
    with repository.open() as opened:
        assert opened.default_branch() == main
        assert opened.is_ancestor(main, topic) and not opened.is_ancestor(topic, main)
    repository.git("update-ref", "refs/remotes/origin/trunk", topic)
    repository.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/trunk")
    with repository.open() as opened:
        assert opened.default_branch() == topic


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give a folder away")
def test_repository_of_another_user(repository):
    """A repository that belongs to somebody else is refused with a line that names safe.directory."""
    repository.commit({"a.py": "a = 1\n"})
    for path in [repository.folder, *repository.folder.rglob("*")]:
        os.chown(path, 12345, 12345)
    with pytest.raises(UsageError, match=r"safe\.directory"), repository.open():
        pass


def test_many_words_are_found_as_one_is(repository, monkeypatch):
    """However many searches it takes, each line is there as often as the file has it."""
    head = repository.commit({"a.py": "one two\none two\nthree\none\n"})
    with Repository.open(repository.folder) as opened:
        whole = sorted(opened.grep(head, "one", "two", "three"))
        monkeypatch.setattr("analyzer.change.revisions.repository._PATTERNS", 1)
        assert sorted(opened.grep(head, "one", "two", "three")) == whole
    assert whole == [("a.py", "one"), ("a.py", "one two"), ("a.py", "one two"), ("a.py", "three")]
