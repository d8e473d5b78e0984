"""The bundle: deterministic to write, and read without trust."""

from __future__ import annotations

import gzip
import io
import tarfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from analyzer import bundle as module
from analyzer.bundle import Bundle, safe_path, sha256
from analyzer.errors import UsageError
from analyzer.model.change import Change, Subject
from analyzer.model.plan import Plan, Revision

CONTENTS = {sha256(text): text for text in (b"a = 1\n", b"a = 2\n")}
ONE, TWO = (sha256(text) for text in (b"a = 1\n", b"a = 2\n"))


def plan(base: dict[str, str] | None = None, head: dict[str, str] | None = None) -> Plan:
    return Plan(
        subject=Subject(repository="r", base="0" * 40, head="1" * 40),
        change=Change(files=()),
        profile="generic",
        revisions=(
            Revision(name="base", commit="0" * 40, files=base if base is not None else {"a.py": ONE, "same.py": ONE}),
            Revision(name="head", commit="1" * 40, files=head if head is not None else {"a.py": TWO, "same.py": ONE}),
        ),
    )


def archive(path: Path, members: list[tuple[tarfile.TarInfo, bytes]]) -> Path:
    """A tar.gz with exactly these members, whatever they are."""
    with tarfile.open(path, "w:gz") as target:
        for about, content in members:
            about.size = len(content)
            target.addfile(about, io.BytesIO(content))
    return path


def good() -> list[tuple[tarfile.TarInfo, bytes]]:
    """The members of an honest bundle."""
    named = [("plan.json", plan().model_dump_json().encode())]
    named += [(f"blobs/{sha}", content) for sha, content in CONTENTS.items()]
    return [(tarfile.TarInfo(name), content) for name, content in named]


def test_round_trip(tmp_path):
    """What is written is read: the plan, every file of both revisions, the profile, and the digest."""
    made = Bundle.make(plan(), CONTENTS, "sources: []\n", "x = 1\n")
    made.write(tmp_path / "b.tar.gz")
    read = Bundle.read(tmp_path / "b.tar.gz")
    assert read == made
    assert (read.profile, read.probes) == ("sources: []\n", "x = 1\n")
    assert read.source("head", "a.py") == b"a = 2\n"
    assert read.source("head", "b.py") is None
    read.extract("base", tmp_path / "tree")
    assert {path.name: path.read_bytes() for path in (tmp_path / "tree").iterdir()} == {
        "a.py": b"a = 1\n",
        "same.py": b"a = 1\n",
    }
    with pytest.raises(UsageError, match="no revision 'other'"):
        read.extract("other", tmp_path / "tree")


def test_bytes_are_the_same_and_the_digest_ignores_compression(tmp_path):
    """Two writes give the same bytes; packed otherwise, the digest is the same; another content, another digest."""
    made = Bundle.make(plan(), CONTENTS)
    for name in ("one", "two"):
        made.write(tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    loose = gzip.compress(gzip.decompress((tmp_path / "one").read_bytes()), 1)
    (tmp_path / "loose").write_bytes(loose)
    assert Bundle.read(tmp_path / "loose").digest == made.digest
    assert Bundle.make(plan(), CONTENTS, "sources: []\n").digest != made.digest


def test_honest_archive_is_read(tmp_path):
    """The members that the hostile cases start from are a bundle."""
    assert Bundle.read(archive(tmp_path / "b", good())).source("base", "a.py") == b"a = 1\n"


@pytest.mark.parametrize(
    "name", ["/etc/passwd", "../plan.json", "blobs/../../x", "blobs/short", "extra.txt", "blobs/" + "A" * 64, "a\nb"]
)
def test_member_that_does_not_belong(tmp_path, name):
    """A member of any other name is refused, wherever it points."""
    with pytest.raises(UsageError, match="does not belong in a bundle"):
        Bundle.read(archive(tmp_path / "b", [*good(), (tarfile.TarInfo(name), b"x")]))


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE, tarfile.DIRTYPE])
def test_member_that_is_no_file(tmp_path, kind):
    """Links, devices, pipes and folders are refused under any name."""
    about = tarfile.TarInfo("profile/probes.py")
    about.type, about.linkname = kind, "/etc/passwd"
    with pytest.raises(UsageError, match="not a regular file"):
        Bundle.read(archive(tmp_path / "b", [*good(), (about, b"")]))


def test_member_twice(tmp_path):
    """A name that comes twice is refused: two readers could take different ones."""
    with pytest.raises(UsageError, match="there twice"):
        Bundle.read(archive(tmp_path / "b", [*good(), good()[0]]))


def test_blob_with_another_content(tmp_path):
    """A blob is what its name says."""
    members = [*good()[:2], (good()[2][0], b"evil = 1\n")]
    with pytest.raises(UsageError, match="something else than its name says"):
        Bundle.read(archive(tmp_path / "b", members))


def test_missing_and_unneeded_blobs(tmp_path):
    """All that the plan names is there, and nothing else."""
    with pytest.raises(UsageError, match="1 of the plan's files"):
        Bundle.read(archive(tmp_path / "b", good()[:2]))
    unneeded = tarfile.TarInfo(f"blobs/{sha256(b'more')}")
    with pytest.raises(UsageError, match="belongs to no file"):
        Bundle.read(archive(tmp_path / "b", [*good(), (unneeded, b"more")]))


@pytest.mark.parametrize("path", ["/etc/passwd", "../x.py", "a/../../x.py", "a//b", "", "a\\b", "C:x", "a/./b", "a\0b"])
def test_path_that_leaves_the_folder(tmp_path, path):
    """A plan cannot place a file outside the folder that a revision is written to."""
    made = Bundle.make(plan(base={path: ONE}, head={"a.py": TWO}), CONTENTS)
    made.write(tmp_path / "b")
    with pytest.raises(UsageError, match="cannot be a file of a revision"):
        Bundle.read(tmp_path / "b")


def test_file_that_is_a_folder_too(tmp_path):
    """One path cannot be both a file and a folder."""
    Bundle.make(plan(base={"a": ONE, "a/b": ONE}), CONTENTS).write(tmp_path / "b")
    with pytest.raises(UsageError, match="cannot be a file"):
        Bundle.read(tmp_path / "b")


def test_bomb(tmp_path, monkeypatch):
    """An archive that unpacks to more than a bundle may hold is refused before it is unpacked."""
    monkeypatch.setattr(module, "_TOTAL_BYTES", 1 << 20)
    about = tarfile.TarInfo("profile/probes.py")
    with pytest.raises(UsageError, match="more than a bundle may hold"):
        Bundle.read(archive(tmp_path / "b", [*good(), (about, b"\0" * (8 << 20))]))


def test_member_too_large(tmp_path, monkeypatch):
    """One member alone cannot be larger than any real one."""
    monkeypatch.setattr(module, "_MEMBER_BYTES", 100)
    with pytest.raises(UsageError, match="more than a bundle may hold"):
        Bundle.read(archive(tmp_path / "b", good()))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "not a whole bundle|not a bundle"),
        (b"PK\x03\x04 a zip", "not a whole bundle"),
        (gzip.compress(b"no tar at all" * 100, mtime=0), "not a whole bundle"),
    ],
    ids=["empty", "zip", "no tar"],
)
def test_file_that_is_no_bundle(tmp_path, content, said):
    """Any other file is refused with a line that names it."""
    (tmp_path / "b").write_bytes(content)
    with pytest.raises(UsageError, match=said) as caught:
        Bundle.read(tmp_path / "b")
    assert str(tmp_path / "b") in str(caught.value)


def test_absent_and_other_version(tmp_path):
    """A file that is not there, and a plan of another version, are one line each."""
    with pytest.raises(UsageError, match="No such file"):
        Bundle.read(tmp_path / "absent")
    text = plan().model_dump_json().replace('"schema_version":1', '"schema_version":2').encode()
    with pytest.raises(UsageError, match="schema_version 2"):
        Bundle.read(archive(tmp_path / "b", [(tarfile.TarInfo("plan.json"), text), *good()[1:]]))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cut=st.integers(0, 2000), flip=st.integers(0, 2000), value=st.integers(1, 255))
def test_damaged_bundle(tmp_path, cut, flip, value):
    """A bundle that was cut or changed anywhere is refused with one line, or is the very same bundle."""
    made = Bundle.make(plan(), CONTENTS)
    made.write(tmp_path / "whole")
    data = bytearray((tmp_path / "whole").read_bytes())
    data[flip % len(data)] ^= value
    for damaged in (bytes(data), bytes(data[: cut % len(data)])):
        (tmp_path / "damaged").write_bytes(damaged)
        try:
            assert Bundle.read(tmp_path / "damaged") == made
        except UsageError as error:
            assert "\n" not in str(error)


@given(st.text(max_size=30))
def test_safe_path_stays_inside(path):
    """A path that is called safe stays below any folder it is joined to."""
    if safe_path(path):
        joined = Path("/folder") / path
        assert joined.is_relative_to("/folder") and ".." not in joined.parts and joined != Path("/folder")
