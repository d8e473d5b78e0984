"""The demo: builds a small Git repository of our own and analyzes three changes of it.

Dates, authors and contents are fixed, so that the commits, and with them a bundle's digest, are the same everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml

from analyzer import pipeline
from analyzer.change.revisions.git import Git
from analyzer.pipeline import Outcome, Progress
from analyzer.plan import Request

_DATA = files("analyzer.demo_repository")
#: The repository's folder, and so its name in reports and in digests.
NAME = "minisample"
_IDENTITY = "Demo <demo@example.invalid>"
#: 2026-01-05 09:00 UTC, and a day between two commits.
_START, _DAY = 1767603600, 86400


@dataclass(frozen=True)
class Step:
    """A commit of the demo: what a reader calls it, its message, and its whole tree as path -> text."""

    title: str
    message: str
    tree: Mapping[str, str]


def changes(out: Path, flags: Mapping[str, object]) -> Iterator[tuple[str, Callable[[Progress], Outcome]]]:
    """Each change's title and the run that analyzes it; reports go to out/1 …, the repository to out/minisample."""
    folder = out / NAME
    commits = build(folder, steps())
    for number, (step, commit) in enumerate(zip(steps()[1:], commits[1:], strict=True), start=1):
        request = Request(revision=commit, flags=flags)
        yield f"{number}. {step.title}", partial(pipeline.run, folder, request, out / str(number))


def steps() -> list[Step]:
    """The commits that changes.yml declares, oldest first."""
    declared = yaml.safe_load((_DATA / "changes.yml").read_text(encoding="utf-8"))
    places: dict[str, str] = declared["files"]
    sources = {name: (_DATA / name).read_text(encoding="utf-8") for name in places}
    found: list[Step] = []
    trees = [sources]
    for commit in declared["commits"]:
        if commit.get("revert"):
            sources = trees[-2]
        for change in commit.get("replace", ()):
            sources = sources | {change["file"]: _replaced(sources[change["file"]], change)}
        trees.append(sources)
        tree = {places[name]: text for name, text in sources.items()}
        found.append(Step(commit["title"], commit["message"], tree))
    return found


def _replaced(text: str, change: Mapping[str, Any]) -> str:
    """`old` becomes `new` everywhere behind the text `behind`; an `old` that is not there is our own mistake."""
    start = text.index(change["behind"]) if "behind" in change else 0
    if change["old"] not in text[start:]:
        raise ValueError(f"the demo's {change['file']} has no {change['old']!r}")
    return text[:start] + text[start:].replace(change["old"], change["new"])


def build(folder: Path, commits: list[Step]) -> list[str]:
    """Write the commits as the branch main of the repository in `folder`; their ids, oldest first."""
    folder.mkdir(parents=True, exist_ok=True)
    git = Git.in_repository(folder)
    git.run("init", "--quiet", "--initial-branch=main", "--template=", ".")
    stream = b"".join(_stream(number, step) for number, step in enumerate(commits))
    git.run("fast-import", "--quiet", "--force", stdin=b"reset refs/heads/main\n" + stream)
    git.run("reset", "--quiet", "--hard", "main")
    return git.run("rev-list", "--reverse", "main").decode().split()


def _stream(number: int, step: Step) -> bytes:
    """One commit as `git fast-import` reads it."""
    when = f"{_IDENTITY} {_START + number * _DAY} +0000"
    head = f"commit refs/heads/main\nauthor {when}\ncommitter {when}\n{_data(step.message)}deleteall\n"
    return (head + "".join(f"M 100644 inline {path}\n{_data(text)}" for path, text in step.tree.items())).encode()


def _data(text: str) -> str:
    return f"data {len(text.encode())}\n{text}\n"
