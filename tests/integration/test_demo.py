"""The demo's repository: the same everywhere, correct code, and the change facts that it is there to show."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from analyzer import demo, plan
from analyzer.change.revisions.repository import Repository
from analyzer.model.plan import Plan
from analyzer.plan import Request


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    folder = tmp_path_factory.mktemp("demo")
    return folder, demo.build(folder, demo.steps())


@pytest.fixture(scope="module")
def plans(built) -> list[Plan]:
    """The plan of each of the three changes."""
    folder, commits = built
    with Repository.open(folder) as opened:
        return [plan.make(opened, Request(commit), lambda _: None)[0].plan for commit in commits[1:]]


def test_same_commits_everywhere(built, tmp_path):
    """Building again, here or elsewhere, gives the same commits."""
    folder, commits = built
    assert demo.build(tmp_path, demo.steps()) == commits
    assert demo.build(folder, demo.steps()) == commits
    assert len(set(commits)) == 4


def test_its_own_tests_pass(tmp_path):
    """The miniature sampler is correct before the changes, by its own tests."""
    demo.build(tmp_path, demo.steps()[:1])
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "ignore", "tests"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout


def test_copy_becomes_in_place_chain(plans):
    """The first change: the copy goes, the caller's tensor is written, and a stage rounds to bf16."""
    kinds = {(edit.kind, edit.symbol) for edit in plans[0].change.edits}
    assert {
        ("copy-removed", "Sampler.apply_params"),
        ("in-place-introduced", "Sampler.apply_params"),
        ("low-precision-round-trip-introduced", "Sampler.apply_params"),
        ("cast-added", "_temperature_kernel"),
        ("guard-widened", "divide_rows"),
        ("test-removed", "test_leaves_the_callers_logits_alone"),
    } <= kinds
    assert {finding.family for finding in plans[0].findings if finding.severity == "high"} == {"numerics", "aliasing"}
    assert (plans[0].subject.pr, plans[0].subject.state) == (1, "reverted")
    assert ("exact-inverse-of", 2) in {(one.relation, one.pr) for one in plans[0].related}


def test_it_is_reverted(plans):
    """The second change takes the first one back exactly, and nothing in it is an alarm."""
    assert plans[1].is_revert
    assert {("reverts", 1), ("exact-inverse-of", 1)} <= {(one.relation, one.pr) for one in plans[1].related}
    assert not [finding for finding in plans[1].findings if finding.severity in ("high", "critical")]
    assert {edit.kind for edit in plans[1].change.edits if edit.symbol == "_temperature_kernel"} == {"cast-removed"}


def test_stride_becomes_size(plans):
    """The third change assumes that rows lie one after another."""
    assert [(edit.kind, edit.symbol) for edit in plans[2].change.edits if edit.kind.startswith("stride")] == [
        ("stride-assumed", "_cutoff_kernel")
    ]
    assert (plans[2].findings[0].family, plans[2].findings[0].severity) == ("layout", "high")


#: Other words for every name of the miniature sampler, its files and its parameters.
NAMES = {
    "minisample": "chooser", "Sampler": "Picker", "sampler": "picker", "apply_params": "prepare", "ops": "stages",
    "apply_temperature": "soften", "apply_top_k_top_p": "narrow", "smallest_kept": "edge", "kernels": "programs",
    "divide_rows": "shrink", "drop_below": "cut", "_temperature_kernel": "_shrink_program", "logits": "scores",
    "_cutoff_kernel": "_cut_program", "logits_ptr": "scores_address", "temperature": "softness", "cutoff": "floor",
    "temperature_ptr": "softness_address", "cutoff_ptr": "floor_address", "row_stride": "pitch", "vocab_size": "width",
    "row": "line", "offsets": "columns", "inside": "valid", "pointers": "places", "rows": "lines", "kept": "left",
    "largest": "top", "mass": "weight", "before": "ahead", "masked": "chosen", "BLOCK": "CHUNK", "grid": "shape",
}  # fmt: skip


def renamed(text: str) -> str:
    return re.sub(r"(?<!operation: )\b\w+\b", lambda word: NAMES.get(word[0], word[0]), text)


def test_names_play_no_part(plans, tmp_path):
    """The same changes under other names give the same edits and the same findings."""
    steps = [
        replace(step, tree={renamed(path): renamed(text) for path, text in step.tree.items()}) for step in demo.steps()
    ]
    commits = demo.build(tmp_path, steps)
    with Repository.open(tmp_path) as opened:
        for commit, original in zip(commits[1:], plans, strict=True):
            other = plan.make(opened, Request(commit), lambda _: None)[0].plan
            assert sorted((edit.kind, edit.symbol, edit.count) for edit in other.change.edits) == sorted(
                (edit.kind, renamed(edit.symbol), edit.count) for edit in original.change.edits
            )
            assert {(one.rule, one.severity, one.symbol) for one in other.findings} == {
                (one.rule, one.severity, renamed(one.symbol)) for one in original.findings
            }


def test_bundle_is_the_same_in_every_process(tmp_path):
    """A bundle of the demo has one digest, whatever order a process keeps its sets in."""
    folder = tmp_path / demo.NAME
    commits = demo.build(folder, demo.steps())
    told = set()
    for seed in ("1", "2"):
        command = [sys.executable, "-c", "from analyzer.cli import main; main()", "plan", commits[1], "-o", "bundle"]
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        told.add(
            subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True).stdout
        )
    assert len(told) == 1 and "digest" in told.pop()


def test_every_change_is_checked(plans):
    """Each change calls for checks, of a probe that the repository itself declares."""
    for made in plans:
        assert {item.check for item in made.checks} >= {"identity"}
        assert {revision.name for revision in made.revisions} == {"base", "head"}
    assert {"kept-set", "mutation", "peak-memory"} <= {item.check for item in plans[0].checks}
