"""Runs Git. The one place that starts a Git process.

Two ways, because they trust differently: `in_repository` obeys the user's own configuration (that is where
`safe.directory` is) and only looks names up; `in_view` reads objects through an empty repository of ours that borrows
the other's object store: no configuration, hook, filter, textconv or promisor remote of that repository plays a part.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

from analyzer.errors import AnalyzerError, UsageError

#: Never ask, never fetch, never lock, one language for messages.
_QUIET = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "true",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_PAGER": "cat",
    "LC_ALL": "C",
}
_ISOLATED = {
    **_QUIET,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_ALLOW_PROTOCOL": "none",
}


class GitFailed(AnalyzerError):
    """Git ended with an error; `message` is its last line, `output` what it had written before."""

    def __init__(self, message: str, output: bytes) -> None:
        super().__init__(f"git: {message}")
        self.message = message
        self.output = output


class Git:
    """Git commands in one place with one environment."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self._folder = folder
        # An inherited GIT_DIR (we may run inside a hook) would send every command elsewhere.
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        self._environment = {**inherited, **environment}

    @classmethod
    def in_repository(cls, folder: Path) -> Git:
        return cls(folder, _QUIET)

    @classmethod
    def in_view(cls, objects: Path, shallow: Path, scratch: Path) -> Git:
        """An empty repository in `scratch` that reads from the object store `objects`."""
        scratch.mkdir()
        git = cls(scratch, _ISOLATED)
        git.run("init", "--quiet", "--bare", "--template=", str(scratch))
        (scratch / "objects" / "info").mkdir(exist_ok=True)
        (scratch / "objects" / "info" / "alternates").write_bytes(os.fsencode(objects) + b"\n")
        if shallow.exists():
            shutil.copyfile(shallow, scratch / "shallow")
        git._environment["GIT_DIR"] = str(scratch)
        return git

    def run(self, *arguments: str, stdin: bytes = b"", codes: Iterable[int] = (0,)) -> bytes:
        """The output of a command; a GitFailed for any exit code that is not in `codes`."""
        try:
            ended = subprocess.run(
                ["git", *arguments],
                cwd=self._folder,
                env=self._environment,
                input=stdin,
                capture_output=True,
                check=False,
            )
        except FileNotFoundError:
            raise AnalyzerError("git is not installed: install Git 2.30 or newer") from None
        if ended.returncode in codes:
            return ended.stdout
        said = ended.stderr.decode("utf-8", "replace").strip()
        if "dubious ownership" in said:
            raise UsageError(
                f"{self._folder} belongs to another user, so Git refuses it; if you trust it: "
                f"git config --global --add safe.directory {self._folder}"
            )
        raise GitFailed(said.splitlines()[-1] if said else f"exit code {ended.returncode}", ended.stdout)

    def text(self, *arguments: str) -> str | None:
        """The one-line output of a look-up, None where it finds nothing."""
        try:
            return self.run(*arguments).decode("utf-8", "surrogateescape").strip() or None
        except GitFailed:
            return None

    def objects(self, names: list[str]) -> Iterator[tuple[str, str, bytes] | None]:
        """(id, type, content) of each named object in turn, None for one that is missing; one process for all."""
        answer = self.run("cat-file", "--batch", stdin="\n".join([*names, ""]).encode()) if names else b""
        at = 0
        for _ in names:
            end = answer.index(b"\n", at)
            words = answer[at:end].split()
            at = end + 1
            if len(words) != 3 or not words[2].isdigit():
                yield None
                continue
            size = int(words[2])
            yield words[0].decode(), words[1].decode(), answer[at : at + size]
            at += size + 1


def fields(output: bytes) -> list[str]:
    """The NUL-separated fields of a command's output; bytes that are no UTF-8 are kept as surrogates."""
    return output.decode("utf-8", "surrogateescape").split("\0")[:-1] if output else []


def printable(path: str) -> str:
    """A path as reports may hold it: bytes that are no UTF-8 become ``\\xNN``."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
