"""A Git repository, read without checking anything out.

Works on bare, blobless, shallow and partial clones: what is missing is said, never fetched.
"""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from fnmatch import fnmatchcase
from pathlib import Path

from analyzer.change.revisions import diffs
from analyzer.change.revisions.diffs import ZEROS, Entry
from analyzer.change.revisions.git import Git, GitFailed, fields, printable
from analyzer.errors import NothingToAnalyze, UsageError
from analyzer.model.base import Text

#: Words of one search: Git's time grows with their square.
_PATTERNS = 300


@dataclass(frozen=True)
class Commit:
    """A commit's record. `date` is the committer's (ISO 8601): of a squash merge, the moment it was merged."""

    sha: str
    parents: tuple[str, ...]
    author: str
    date: str
    message: str

    @property
    def subject(self) -> str:
        return self.message.split("\n", 1)[0]


@dataclass(frozen=True)
class Pair:
    """An exact base and head. `adjacent`: base is head's first parent, or where its branch left the default branch."""

    base: str
    head: str
    adjacent: bool
    notes: tuple[Text, ...] = ()


@dataclass
class Repository:
    """`with Repository.open(path) as repository`. `name`: owner/name, or the folder's; `url`: its web page or empty."""

    name: str
    url: str
    _names: Git
    _objects: Git
    _bare: bool
    _shallow: frozenset[str]
    _default: list[str | None] = field(default_factory=list)

    @classmethod
    @contextmanager
    def open(cls, path: str | Path) -> Iterator[Repository]:
        """The repository that holds `path`; NothingToAnalyze where there is none."""
        with tempfile.TemporaryDirectory(prefix="analyzer-git-") as scratch:
            yield cls._open(Path(path).absolute(), Path(scratch))

    @classmethod
    def _open(cls, folder: Path, scratch: Path) -> Repository:
        import git as gitpython  # only here: it fails to import where there is no Git, and `check` needs none

        if not folder.is_dir():
            raise NothingToAnalyze(f"no repository at {folder}: no such folder")
        title = folder.name
        if (folder / "objects").is_dir() and (folder / "HEAD").exists() and not (folder / "config").exists():
            folder = _complete_mirror(folder, scratch / "mirror.git")
        try:
            opened = gitpython.Repo(folder, search_parent_directories=True)
        except (gitpython.InvalidGitRepositoryError, gitpython.NoSuchPathError):
            raise NothingToAnalyze(f"no repository at {folder}: no .git there or above") from None
        with opened:
            top = Path(opened.working_tree_dir or opened.git_dir)
            common, bare = Path(opened.common_dir), opened.bare
        names = Git.in_repository(top)
        if (kind := names.text("rev-parse", "--show-object-format")) not in (None, "sha1"):
            raise UsageError(f"{top} is a {kind} repository; only sha1 repositories can be read")
        names.run("rev-parse", "--git-dir")  # says where the repository is another user's
        view = Git.in_view(common / "objects", common / "shallow", scratch / "view.git")
        origin = names.text("config", "--get", "remote.origin.url") or ""
        owner_name, url = _origin(origin)
        shallow = common / "shallow"
        return cls(
            name=owner_name or (title if title == top.name or bare else top.name).removesuffix(".git"),
            url=url,
            _names=names,
            _objects=view,
            _bare=bare,
            _shallow=frozenset(shallow.read_text().split() if shallow.exists() else ()),
        )

    # Revisions

    def resolve(self, revision: str) -> str:
        """The 40 hex digits of a commit; NothingToAnalyze for an unknown revision."""
        if revision.startswith("-") or not revision.isprintable() or not revision:
            raise UsageError(f"not a revision: {revision!r}")
        found = self._names.text("rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")
        if not found or not re.fullmatch(r"[0-9a-f]{40}", found):
            raise NothingToAnalyze(f"unknown revision {revision!r} in {self.name}")
        return found

    def commit(self, sha: str) -> Commit:
        return self.commits([sha])[0]

    def commits(self, shas: list[str]) -> list[Commit]:
        found = []
        for sha, answer in zip(shas, self._objects.objects(shas), strict=True):
            if answer is None or answer[1] != "commit":
                raise NothingToAnalyze(f"commit {sha[:10]} is not in this clone of {self.name}: fetch it first")
            found.append(_parse_commit(sha, answer[2]))
        return found

    def pair(self, head: str, base: str | None = None) -> Pair:
        """The exact endpoints. Without `base`: head's first parent, the empty tree (40 zeros) for a root commit."""
        head = self.resolve(head)
        parents = self.commit(head).parents
        if base is not None:
            base = self.resolve(base)
            return Pair(base, head, base in parents[:1] or base == self.merge_base(head))
        if not parents:
            note = Text(en="A root commit: compared with the empty tree.", zh="根提交：与空树比较。")
            return Pair(ZEROS, head, True, (note,))
        if not self.has(parents[0]):
            deepen = " (git fetch --deepen 1)" if head in self._shallow else ""
            raise NothingToAnalyze(
                f"the parent {parents[0][:10]} of {head[:10]} is not in this clone: fetch it{deepen}"
            )
        notes: tuple[Text, ...] = ()
        if len(parents) > 1:
            others = ", ".join(parent[:10] for parent in parents[1:])
            notes = (
                Text(
                    en=f"A merge commit: compared with its first parent {parents[0][:10]}; it merges {others}.",
                    zh=f"合并提交：与其第一父提交 {parents[0][:10]} 比较；合入的是 {others}。",
                ),
            )
        return Pair(parents[0], head, True, notes)

    def default_branch(self) -> str | None:
        """The commit at the tip of the default branch, None where it cannot be told."""
        if not self._default:
            symbolic = self._names.text("symbolic-ref", "--quiet", "refs/remotes/origin/HEAD")
            own = self._names.text("symbolic-ref", "--quiet", "HEAD")
            usual = [f"refs/{kind}/{name}" for kind in ("remotes/origin", "heads") for name in ("main", "master")]
            candidates = [symbolic, own if self._bare else None, *usual, own]
            self._default.append(next((tip for name in candidates if name and (tip := self._tip(name))), None))
        return self._default[0]

    def _tip(self, reference: str) -> str | None:
        return self._names.text("rev-parse", "--verify", "--quiet", f"{reference}^{{commit}}")

    def merge_base(self, head: str) -> str | None:
        """Where head's branch left the default branch."""
        branch = self.default_branch()
        return branch and self._objects.text("merge-base", branch, head)

    def is_ancestor(self, ancestor: str, descendant: str) -> bool:
        return self._objects.text("merge-base", ancestor, descendant) == ancestor

    def log(self, *arguments: str) -> list[str]:
        """The NUL-separated fields of a `git log`; what could be read where missing objects end it early."""
        try:
            return fields(self._objects.run("log", "-z", "--no-color", "--no-show-signature", *arguments))
        except GitFailed as failure:
            return fields(failure.output)

    # Differences

    def diff(self, base: str, head: str) -> tuple[Entry, ...]:
        """The files that differ, in path order; renames found; an empty diff is NothingToAnalyze."""
        entries = diffs.diff(self._objects, self._tree(base), head)
        if not entries:
            raise NothingToAnalyze(f"empty diff: {base[:10]} and {head[:10]} have the same files")
        return entries

    def diffs(self, pairs: Iterable[tuple[str, str]]) -> Iterator[tuple[Entry, ...] | None]:
        """The files that differ between each base and head in turn, possibly none; None where a tree is missing."""
        return diffs.diffs(self._objects, [(self._tree(base), head) for base, head in pairs])

    def patch(self, base: str, head: str) -> str | None:
        """The diff as text, without context lines and renames; None where content is missing."""
        flags = ("-r", "-p", "-U0", "--no-color", "--no-renames", "--no-textconv", "--no-ext-diff", "--text")
        try:
            told = self._objects.run("diff-tree", *flags, self._tree(base), self._tree(head))
        except GitFailed:
            return None
        return told.decode("utf-8", "surrogateescape")

    def _tree(self, revision: str) -> str:
        """A name that Git takes for a tree; the empty one is written to the view first."""
        if revision != ZEROS:
            return revision
        return self._objects.run("hash-object", "-t", "tree", "-w", "--stdin").decode().strip()

    # Files

    def has(self, name: str) -> bool:
        return self._objects.text("cat-file", "-t", name) is not None

    def read_many(self, blobs: Iterable[str]) -> dict[str, bytes | None]:
        """The content of each blob by its id, None for one that is not in this clone. One process for all."""
        wanted = sorted(set(blobs))
        answers = self._objects.objects(wanted)
        return {name: answer[2] if answer else None for name, answer in zip(wanted, answers, strict=True)}

    def read(self, revision: str, path: str) -> bytes | None:
        """One regular file of a revision, None where the revision has it not."""
        blob = self.blobs(revision).get(path)
        return self.read_many([blob])[blob] if blob else None

    def blobs(self, revision: str, globs: Iterable[str] = ("*",)) -> dict[str, str]:
        """path -> blob id of the regular files (no links, no submodules) that match a glob; ``*`` matches slashes."""
        if revision == ZEROS:
            return {}
        patterns = tuple(globs)
        found = {}
        for line in fields(self._objects.run("ls-tree", "-r", "-z", "--full-tree", revision)):
            about, path = line.split("\t", 1)
            mode, _, blob = about.split()
            if mode.startswith("100") and any(fnmatchcase(path, pattern) for pattern in patterns):
                found[printable(path)] = blob
        return found

    def grep(self, revision: str, *patterns: str, glob: str = "**/*.py") -> list[tuple[str, str]]:
        """(path, line of text) of each line of a revision's files that holds one of the texts, as a whole word."""
        found: Counter[tuple[str, str]] = Counter()
        for start in range(0, len(patterns), _PATTERNS):
            words = [part for pattern in patterns[start : start + _PATTERNS] for part in ("-e", pattern)]
            lines: Counter[tuple[str, str]] = Counter()
            for line in self._grep(revision, "-w", *words, "--", f":(glob){glob}").split(b"\n"):
                path, separator, text = line.partition(b"\0")
                if separator:
                    lines[_grepped(path), text.decode("utf-8", "replace")] += 1
            found |= lines  # a line that several searches find counts once
        return list(found.elements())

    def _grep(self, revision: str, *arguments: str) -> bytes:
        """Matches as ``revision:path NUL line``; files that are not in this clone are passed over."""
        at = [name for name in (revision,) if name != ZEROS]
        where = arguments.index("--")
        command = ("grep", "-I", "-F", "-z", *arguments[:where], *at, *arguments[where:])
        try:
            return self._objects.run(*command, codes=(0, 1)) if at else b""
        except GitFailed as failure:
            return failure.output


def _complete_mirror(folder: Path, target: Path) -> Path:
    """A mirror without a configuration file is taken for a work tree: read it through a shared clone."""
    try:
        Git.in_repository(folder).run("clone", "--quiet", "--bare", "--shared", str(folder), str(target))
    except GitFailed as failure:
        raise NothingToAnalyze(f"no repository at {folder}: {failure.message}") from None
    return target


def _grepped(name: bytes) -> str:
    """The path of ``revision:path``."""
    return printable(name.partition(b":")[2].decode("utf-8", "surrogateescape"))


def _origin(url: str) -> tuple[str, str]:
    """(owner/name, web address) of a hosted origin; empty for none and for one that is a folder."""
    match = re.fullmatch(
        r"(?:https?://|ssh://|git://)?(?:[^@/]*@)?([\w.-]+\.[\w-]+)(?::\d+)?[:/]([\w.-]+)/([\w.-]+?)(?:\.git)?/?", url
    )
    if not match:
        return "", ""
    host, owner, name = match.groups()
    return f"{owner}/{name}", f"https://{host}/{owner}/{name}"


def _parse_commit(sha: str, content: bytes) -> Commit:
    header, _, message = content.decode("utf-8", "replace").partition("\n\n")
    parents, author, date = [], "", ""
    for line in header.split("\n"):
        key, _, value = line.partition(" ")
        if key == "parent":
            parents.append(value)
        elif key == "author":
            author = value.split(" <")[0]
        elif key == "committer":
            date = _iso(value)
    return Commit(sha, tuple(parents), author, date, message.strip())


def _iso(identity: str) -> str:
    """The time of ``Name <mail> 1700000000 +0200`` in ISO 8601, empty where it is malformed."""
    match = re.search(r"(\d+) ([+-])(\d\d)(\d\d)$", identity)
    if not match:
        return ""
    offset = timedelta(hours=int(match[3]), minutes=int(match[4])) * (-1 if match[2] == "-" else 1)
    try:
        return datetime.fromtimestamp(int(match[1]), timezone(offset)).isoformat()
    except (OverflowError, ValueError):
        return ""
