"""The plan stage over small repositories: what it says, what it takes along, and whose settings it obeys."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from analyzer import plan
from analyzer.bundle import Bundle
from analyzer.change.revisions.repository import Repository
from analyzer.errors import UsageError
from analyzer.plan import Request

BASE = """import torch


def scale(x, factor):
    x = x.to(torch.float32, copy=True)
    x.mul_(factor)
    return x
"""
HEAD = """import torch


def scale(x, factor):
    x.mul_(factor)
    return x
"""
PROBE = """
probes:
  - name: scale
    target: package.ops:scale
    covers: [scale]
    inputs: [{name: x, shape: [rows, 8]}]
    arguments: {factor: 2.0}
    cases: {cpu: {rows: 4}}
    output: tensor
    checks: [mutation]
"""


def make(folder: Path, revision: str = "main", base: str | None = None, **flags: object) -> Bundle:
    with Repository.open(folder) as opened:
        bundle, _ = plan.make(opened, Request(revision, base, flags), lambda _: None)
    return bundle


def test_facts_of_a_change(repository):
    """Files, symbols, edits, callers and findings of a change are in the plan."""
    user = "from package.ops import scale\n\n\ndef use(x):\n    return scale(x, 2.0)\n"
    repository.commit({"package/ops.py": BASE, "package/user.py": user, "README.md": "x\n"}, "Start")
    repository.commit({"package/ops.py": HEAD, "README.md": "y\n"}, "Scale in place (#7)")
    made = make(repository.folder, device="none").plan
    files = {file.path: file for file in made.change.files}
    assert (files["package/ops.py"].category, files["README.md"].category) == ("source", "docs")
    assert [symbol.name for symbol in files["package/ops.py"].symbols] == ["scale"]
    kinds = {edit.kind for edit in made.change.edits}
    assert {"copy-removed", "in-place-introduced"} <= kinds
    assert not any(kind.startswith("copy-added") for kind in kinds)
    assert [(one.symbol, one.calls) for one in made.change.callers] == [("use", "scale")]
    assert "high" in {finding.severity for finding in made.findings}
    assert (made.subject.title, made.subject.pr, made.profile) == ("Scale in place", 7, "generic")


def test_nothing_is_packed_that_no_check_needs(repository):
    """Without a device, and without a probe that covers the change, no source travels."""
    repository.commit({"package/ops.py": BASE, ".analyzer.yml": PROBE})
    repository.commit({"package/ops.py": HEAD})
    assert make(repository.folder, device="none").plan.revisions == ()
    repository.commit({"package/other.py": "a = 1\n"})
    assert make(repository.folder).plan.revisions == ()


def test_sources_of_both_revisions(repository, tmp_path):
    """A planned check takes both revisions' Python files along, each content once, and nothing else."""
    repository.commit(
        {"package/ops.py": BASE, "package/same.py": "s = 1\n", "data.bin": b"\0" * 9, ".analyzer.yml": PROBE}
    )
    repository.commit({"package/ops.py": HEAD, "package/new.py": "n = 1\n"})
    made = make(repository.folder)
    assert [(item.check, item.probe, item.symbols) for item in made.plan.checks] == [("mutation", "scale", ("scale",))]
    base, head = (made.revision(name).files for name in ("base", "head"))
    assert set(base) == {"package/ops.py", "package/same.py"}
    assert set(head) == {*base, "package/new.py"}
    assert base["package/same.py"] == head["package/same.py"]
    assert made.source("base", "package/ops.py") == BASE.encode()
    made.write(tmp_path / "bundle")
    assert Bundle.read(tmp_path / "bundle") == made
    assert make(repository.folder).digest == made.digest


def test_settings_come_from_the_base_revision(repository):
    """A change that silences every rule and drops the probe changes no finding and no check; the report says so."""
    repository.commit({"package/ops.py": BASE, ".analyzer.yml": PROBE})
    repository.commit({"package/ops.py": HEAD})
    honest = make(repository.folder).plan
    repository.git("reset", "--quiet", "--hard", "main~1")
    silence = "silence: [" + ", ".join({finding.rule for finding in honest.findings}) + "]\n"
    repository.commit({"package/ops.py": HEAD, ".analyzer.yml": silence})
    hostile = make(repository.folder).plan
    assert hostile.findings == honest.findings != ()
    assert hostile.checks == honest.checks != ()
    assert ".analyzer.yml" in hostile.subject.notes[0].en and ".analyzer.yml" in hostile.subject.notes[0].zh
    repository.commit({"package/ops.py": BASE})
    repository.commit({"package/ops.py": HEAD})
    assert {finding.rule for finding in make(repository.folder).plan.findings}.isdisjoint(
        {finding.rule for finding in honest.findings}
    )


def test_mistake_in_the_settings_file(repository):
    """A mistake in the base revision's file is one line that names file, revision and field."""
    base = repository.commit({"a.py": "a = 1\n", ".analyzer.yml": "devise: cpu\n"})
    repository.commit({"a.py": "a = 2\n"})
    with pytest.raises(UsageError, match=rf"^\.analyzer\.yml at {base[:10]}:1: devise: "):
        make(repository.folder)


def test_unknown_profile(repository):
    """A profile that is not there is one line that lists those that are."""
    repository.commit({"a.py": "a = 1\n"})
    with pytest.raises(UsageError, match=r"no profile 'nothing'; there are: .*generic"):
        make(repository.folder, profile="nothing")


def test_rule_with_an_error(repository):
    """A repository's own rule that is wrong is one line that names the file, its revision and the line in it."""
    base = repository.commit({"a.py": "a = 1\n", ".analyzer.yml": "lang: en\nrules:\n- id: mine\n"})
    repository.commit({"a.py": "a = 2\n"})
    with pytest.raises(UsageError, match=rf"^\.analyzer\.yml at {base[:10]}:3: rules\.0\.title: ") as caught:
        make(repository.folder)
    assert "\n" not in str(caught.value)


def test_files_that_are_no_source(repository):
    """Binary, Latin-1, unparsable and CRLF files are listed; none ends the analysis."""
    repository.commit(
        {"b.py": b"a = 1\0\n", "l.py": "t = 'é'\n".encode("latin-1"), "p.py": "def f(:\n", "c.py": "c = 1\r\nd = 2\r\n"}
    )
    repository.commit(
        {"b.py": b"a = 2\0\n", "l.py": "t = 'è'\n".encode("latin-1"), "p.py": "def g(:\n", "c.py": "c = 1\r\nd = 3\r\n"}
    )
    made = make(repository.folder, device="none").plan
    files = {file.path: file for file in made.change.files}
    assert set(files) == {"b.py", "l.py", "p.py", "c.py"}
    assert files["b.py"].unread.en == "a binary file"
    assert [files[name].unread for name in ("l.py", "p.py", "c.py")] == [None] * 3
    assert (files["c.py"].added, files["c.py"].removed) == (1, 1)
    assert made.model_dump_json()


def test_blobless_clone(repository, tmp_path):
    """Contents that a clone has not are listed with the reason; the rest of the analysis goes on."""
    repository.commit({"package/ops.py": BASE, "package/other.py": "o = 1\n", ".analyzer.yml": PROBE})
    repository.commit({"package/ops.py": HEAD, "package/new.py": "n = 1\n"})
    repository.git("config", "uploadpack.allowFilter", "true")
    clone = tmp_path / "clone"
    command = ["git", "clone", "--quiet", "--filter=blob:none", f"file://{repository.folder}", str(clone)]
    subprocess.run(command, check=True, capture_output=True)  # has the files that its checkout needed: head's
    made = make(clone, base="main~1")
    files = {file.path: file for file in made.plan.change.files}
    assert "not in this clone" in files["package/ops.py"].unread.en
    assert files["package/new.py"].unread is None
    assert (files["package/ops.py"].status, files["package/new.py"].added) == ("modified", 1)
    assert [edit.path for edit in made.plan.change.edits if edit.path == "package/ops.py"] == []


def test_settings_that_are_not_in_the_clone(repository):
    """Settings that the clone has not are said to be missing, and the defaults are used."""
    repository.commit({"package/ops.py": BASE, ".analyzer.yml": PROBE})
    repository.commit({"package/ops.py": HEAD})
    blob = repository.git("rev-parse", "main:.analyzer.yml")
    (repository.folder / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    made = make(repository.folder).plan
    assert "not in this clone" in made.subject.notes[0].en and "默认设置" in made.subject.notes[0].zh
    assert made.checks == ()
    assert made.findings


def test_missing_sources_are_named_in_the_revision(repository, tmp_path):
    """A file that a check may need and that the clone has not is named beside the revision's files."""
    repository.commit({"package/ops.py": BASE, "package/gone.py": "g = 1\n", ".analyzer.yml": PROBE})
    middle = repository.commit({"package/ops.py": HEAD})
    blob = repository.git("rev-parse", "main:package/gone.py")
    made = make(repository.folder)
    assert made.revision("base").missing == ()
    (repository.folder / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    damaged = make(repository.folder, middle)
    assert damaged.revision("base").missing == ("package/gone.py",)
    assert set(damaged.revision("head").files) == {"package/ops.py"}


def test_root_and_merge_commits(repository):
    """A root commit and a merge commit are analyzed, and the subject says what they were compared with."""
    root = repository.commit({"a.py": "def a():\n    return 1\n"}, "Start")
    made = make(repository.folder, root, device="none").plan
    assert made.subject.base == "0" * 40 and "empty tree" in made.subject.notes[0].en
    assert [symbol.change for symbol in made.change.files[0].symbols] == ["added"]
    repository.git("checkout", "--quiet", "-b", "topic")
    repository.commit({"b.py": "def b():\n    return 1\n"})
    repository.git("checkout", "--quiet", "main")
    repository.commit({"c.py": "c = 1\n"})
    repository.git("merge", "--quiet", "--no-ff", "--message", "Merge", "topic")
    merged = make(repository.folder, "main", device="none").plan
    assert [file.path for file in merged.change.files] == ["b.py"]
    assert "first parent" in merged.subject.notes[0].en


def test_odd_path_does_not_travel_but_is_told(repository):
    """A path that could not be unpacked everywhere stays out of the bundle and is named as missing."""
    repository.commit({"package/ops.py": BASE, "a:b.py": "a = 1\n", ".analyzer.yml": PROBE})
    repository.commit({"package/ops.py": HEAD})
    made = make(repository.folder)
    assert made.revision("head").missing == ("a:b.py",)
