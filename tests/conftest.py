"""Fixtures that every test may use."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from analyzer.change.revisions.repository import Repository


class SmallRepository:
    """A Git repository made by a test, with fixed authors and dates. `folder` is its work tree."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._commits = 0
        self.git("init", "--quiet", "--initial-branch=main", "--template=")

    def git(self, *arguments: str, stdin: str | None = None) -> str:
        identity = {
            f"GIT_{who}_{what}": value
            for who in ("AUTHOR", "COMMITTER")
            for what, value in (
                ("NAME", "Ada"),
                ("EMAIL", "ada@example.invalid"),
                ("DATE", f"{1767603600 + self._commits} +0000"),
            )
        }
        clean = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        environment = {**clean, **identity, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        return subprocess.run(
            ["git", *arguments],
            cwd=self.folder,
            env=environment,
            input=stdin,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()

    def commit(self, files: dict[str, str | bytes | None], message: str = "A change") -> str:
        """Write files (None: delete), commit everything, and give the commit's id."""
        for path, content in files.items():
            target = self.folder / path
            if content is None:
                target.unlink()
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content.encode() if isinstance(content, str) else content)
        self._commits += 1
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--cleanup=verbatim", "--message", message)
        return self.git("rev-parse", "HEAD")

    def open(self) -> AbstractContextManager[Repository]:
        return Repository.open(self.folder)


@pytest.fixture
def repository(tmp_path: Path) -> SmallRepository:
    """An empty repository."""
    return SmallRepository(tmp_path / "repository")


@pytest.fixture
def silent() -> Callable[[str], None]:
    """A progress callback that says nothing."""
    return lambda _: None


@pytest.fixture(autouse=True)
def no_settings_from_outside(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    """Settings and caches of whoever runs the tests play no part; tests of one run share their builds."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "cache"))
    for name in [name for name in os.environ if name.startswith("ANALYZER_")]:
        monkeypatch.delenv(name)
    yield


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests marked gpu are skipped, with the reason, where torch finds no GPU."""
    marked = [item for item in items if item.get_closest_marker("gpu")]
    if marked and (reason := _no_gpu()):
        for item in marked:
            item.add_marker(pytest.mark.skip(reason=reason))


def _no_gpu() -> str | None:
    try:
        import torch
    except ImportError:
        return "torch is not installed"
    return None if torch.cuda.is_available() else "torch finds no CUDA GPU"
