"""Reverts that undo a commit by content: their edits are the reversed edits of the commit, files moved and all."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from edit_pairs import in_order

from analyzer.change.facts import NoTree, SourcePair, change_edits
from analyzer.change.reversal import reverse
from analyzer.change.revisions.repository import Repository

BEFORE = {
    "ops/scale.py": '''import torch
from ops.tools import rows


class Scale:
    """One stage."""

    def __init__(self, heat):
        self.heat = heat

    def run(self, logits: torch.Tensor, k):
        logits = logits.float()
        raw = logits.clone()
        logits.div_(self.heat)
        order = torch.sort(logits, dim=-1)
        return rows(order, k), raw
''',
    "ops/limits.py": """def limits(n):
    assert n <= 1024
    return n * 2
""",
    "ops/tools.py": """def rows(order, k):
    if k is None:
        return order
    first = order[:k]
    return first + 1


def unused(x):
    return x
""",
}
AFTER = {
    "ops/scale.py": '''import torch
from ops.helpers import rows


class Scale:
    """One stage."""

    def __init__(self, heat):
        self.heat = heat
        self.seen = 0

    @torch.inference_mode()
    def run(self, logits: torch.Tensor, k):
        logits.div_(self.heat)
        raw = logits.clone()
        if k is not None:
            order = torch.sort(logits, dim=-1, stable=True)
        else:
            order = logits
        return rows(order, k)
''',
    "ops/limits.py": """def limits(n):
    assert n <= 2048
    return n * 4
""",
    "ops/helpers.py": """def rows(order, k):
    if k is None or k == 0:
        return order
    first = order[:k]
    return first + 1


def unused(x):
    return x


class Table:
    def width(self):
        return 1
""",
}


def git(folder: Path, *arguments: str) -> None:
    who = ["-c", "user.name=n", "-c", "user.email=e@x"]
    subprocess.run(["git", "-C", folder, *who, *arguments], check=True, capture_output=True)


def commit(folder: Path, files: dict[str, str], message: str) -> None:
    git(folder, "rm", "-rq", "--ignore-unmatch", ".")
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", message)


def edits(repository: Repository, base: str, head: str) -> list:
    entries = repository.diff(repository.resolve(base), repository.resolve(head))

    def text(revision: str, path: str | None) -> str | None:
        content = repository.read(repository.resolve(revision), path) if path else None
        return content.decode() if content is not None else None

    pairs = []
    for entry in entries:
        before = text(base, entry.previous_path or entry.path)
        pairs.append(SourcePair(entry.path, entry.previous_path, before, text(head, entry.path)))
    return in_order(edit for facts in change_edits(pairs, NoTree()).values() for edit in facts.edits)


@pytest.fixture
def history(tmp_path) -> Path:
    git(tmp_path, "init", "-qb", "main")
    commit(tmp_path, BEFORE, "first")
    commit(tmp_path, AFTER, "change")
    git(tmp_path, "tag", "changed")
    commit(tmp_path, BEFORE, 'Revert "change"')
    return tmp_path


def test_a_revert_has_the_reversed_edits(history):
    """The commit and its revert, read from Git with their renamed file, say the same from both ends."""
    with Repository.open(history) as repository:
        original = edits(repository, "changed~1", "changed")
        undone = edits(repository, "changed", "main")
    assert in_order(map(reverse, original)) == undone
    kinds = {edit.kind for edit in original}
    assert {"guard-widened", "order-changed", "decorator-added", "argument-added", "result-changed"} <= kinds


def test_a_revert_of_part_has_the_reversed_edits_of_that_part(history):
    """Where only one file is taken back, its edits are the reversed ones of that file."""
    git(history, "checkout", "-qB", "part", "changed")
    git(history, "checkout", "-q", "changed~1", "--", "ops/limits.py")
    git(history, "commit", "-qm", "take one file back")
    with Repository.open(history) as repository:
        original = [e for e in edits(repository, "changed~1", "changed") if e.path == "ops/limits.py"]
        undone = edits(repository, "changed", "part")
    assert in_order(map(reverse, original)) == undone
    assert [e.kind for e in undone] == ["guard-narrowed", "constant-changed"]
