"""The bundle: a tar.gz that holds all that the check stage needs, and no more.

    plan.json               the Plan
    blobs/<sha256>          each distinct file content of the plan's revisions, once
    profile/profile.yml     the profile that chose the probes
    profile/probes.py       its Python, where it has some

Writing is deterministic. Reading trusts nothing: a member is one of the above, within limits, and what its name says.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import re
import tarfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

from analyzer.errors import UsageError
from analyzer.model.base import load
from analyzer.model.plan import Plan, Revision

PLAN, PROFILE, PROBES = "plan.json", "profile/profile.yml", "profile/probes.py"
_MEMBER = re.compile(r"plan\.json|profile/profile\.yml|profile/probes\.py|blobs/[0-9a-f]{64}")
#: Unpacked bytes of one member and of all, and how many members; far above any real bundle, far below a bomb.
_MEMBER_BYTES, _TOTAL_BYTES, _MEMBERS = 64 << 20, 512 << 20, 200_000


@dataclass(frozen=True)
class Bundle:
    """A bundle in memory. `digest` names its content: the same members give the same digest, however compressed."""

    plan: Plan
    digest: str
    _members: Mapping[str, bytes]

    @classmethod
    def make(cls, plan: Plan, contents: Mapping[str, bytes], profile: str = "", probes: str = "") -> Bundle:
        """`contents` is sha256 -> bytes of every file of the plan's revisions."""
        members = {f"blobs/{sha}": content for sha, content in contents.items()}
        members[PLAN] = (plan.model_dump_json(indent=1) + "\n").encode()
        if profile:
            members[PROFILE] = profile.encode()
        if probes:
            members[PROBES] = probes.encode()
        return cls(plan, _digest(members), members)

    @classmethod
    def read(cls, path: Path) -> Bundle:
        """A bundle from a file; anything but a whole and honest one is refused with one line."""
        try:
            with path.open("rb") as file:
                members = _members(file, str(path))
        except OSError as error:
            raise UsageError(f"{path}: {error.strerror or error}") from None
        if PLAN not in members:
            raise UsageError(f"{path}: no {PLAN} in it; not a bundle")
        plan = load(Plan, members[PLAN], f"{path}: {PLAN}")
        _verify(plan, members, str(path))
        return cls(plan, _digest(members), members)

    def write(self, path: Path) -> None:
        """The same bytes for the same members: sorted, without times, owners or a file name."""
        with (
            path.open("wb") as file,
            gzip.GzipFile("", "wb", 6, file, mtime=0) as packed,
            tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
        ):
            for name in sorted(self._members):
                about = tarfile.TarInfo(name)
                about.size, about.mode = len(self._members[name]), 0o644
                archive.addfile(about, io.BytesIO(self._members[name]))

    @property
    def profile(self) -> str:
        """The profile.yml that the plan was made with, empty where none travelled."""
        return self._members.get(PROFILE, b"").decode("utf-8", "replace")

    @property
    def probes(self) -> str:
        """The profile's probes.py, empty where it has none."""
        return self._members.get(PROBES, b"").decode("utf-8", "replace")

    def revision(self, name: str) -> Revision:
        """A revision by its name; UsageError where the plan has none of that name."""
        for revision in self.plan.revisions:
            if revision.name == name:
                return revision
        raise UsageError(f"the bundle has no revision {name!r}")

    def source(self, revision: str, path: str) -> bytes | None:
        """One file of a revision, None where it is not in the bundle."""
        sha = self.revision(revision).files.get(path)
        return self._members[f"blobs/{sha}"] if sha else None

    def extract(self, revision: str, folder: Path) -> None:
        """Write a revision's files below `folder`, which must be empty or absent."""
        folder.mkdir(parents=True, exist_ok=True)
        for path, sha in sorted(self.revision(revision).files.items()):
            target = folder / path
            try:
                target.parent.mkdir(parents=True, exist_ok=True)
                with target.open("xb") as file:
                    file.write(self._members[f"blobs/{sha}"])
            except OSError as error:
                raise UsageError(f"{path} of the bundle cannot be written: {error.strerror}") from None


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _digest(members: Mapping[str, bytes]) -> str:
    """sha256 over the members' names and hashes in sorted order."""
    lines = sorted(f"{name} {sha256(content)}" for name, content in members.items())
    return sha256("\n".join(lines).encode())


def _members(file: IO[bytes], source: str) -> dict[str, bytes]:
    """Every member of an archive, read once from front to back; raises before it holds more than the limits."""
    members: dict[str, bytes] = {}
    try:
        with gzip.GzipFile(fileobj=file) as unpacked:
            limited = _Limited(unpacked, source)
            with tarfile.open(fileobj=limited, mode="r|") as archive:  # type: ignore[call-overload]
                for about in archive:
                    name = _accepted(about, members, source)
                    members[name] = archive.extractfile(about).read()  # type: ignore[union-attr]
            while limited.read(1 << 16):  # to the end, where gzip keeps its checksum
                pass
    except (tarfile.TarError, zlib.error, EOFError, OSError, ValueError, IndexError, RecursionError) as error:
        raise UsageError(f"{source}: not a whole bundle ({error})") from None
    return members


def _accepted(about: tarfile.TarInfo, before: Mapping[str, bytes], source: str) -> str:
    """The name of a member that a bundle may have; a UsageError for any other."""
    name = about.name
    if about.type != tarfile.REGTYPE or about.sparse is not None:
        raise UsageError(f"{source}: member {name!r} is not a regular file; a bundle has no others")
    if not _MEMBER.fullmatch(name):
        raise UsageError(f"{source}: member {name!r} does not belong in a bundle")
    if name in before:
        raise UsageError(f"{source}: member {name!r} is there twice")
    if about.size > _MEMBER_BYTES or len(before) >= _MEMBERS:
        raise UsageError(f"{source}: more than a bundle may hold")
    return name


class _Limited:
    """A reader that ends in a UsageError once more was unpacked than a bundle may hold."""

    def __init__(self, file: IO[bytes], source: str) -> None:
        self._file, self._source, self._left = file, source, _TOTAL_BYTES

    def read(self, size: int) -> bytes:
        data = self._file.read(size)
        self._left -= len(data)
        if self._left < 0:
            raise UsageError(f"{self._source}: more than a bundle may hold")
        return data


def _verify(plan: Plan, members: Mapping[str, bytes], source: str) -> None:
    """Blobs are what they are called, all that the plan names are there, no others, and every path stays inside."""
    blobs = {name[6:]: content for name, content in members.items() if name.startswith("blobs/")}
    for name, content in blobs.items():
        if sha256(content) != name:
            raise UsageError(f"{source}: blobs/{name} holds something else than its name says")
    named = {sha for revision in plan.revisions for sha in revision.files.values()}
    if missing := named - blobs.keys():
        raise UsageError(f"{source}: {len(missing)} of the plan's files are not in it, the first blobs/{min(missing)}")
    if extra := blobs.keys() - named:
        raise UsageError(f"{source}: blobs/{min(extra)} belongs to no file of the plan")
    for revision in plan.revisions:
        folders = {str(parent) for path in revision.files for parent in PurePosixPath(path).parents}
        for path in revision.files:
            if not safe_path(path) or path in folders:
                raise UsageError(f"{source}: {path!r} cannot be a file of a revision")


def safe_path(path: str) -> bool:
    """Whether a path is relative, normal, and stays below the folder it is put in, on every platform."""
    parts = path.split("/")
    return bool(path) and not re.search(r"[\0\\:]", path) and all(part not in ("", ".", "..") for part in parts)
