"""The stages apart, on a CPU: a bundle is checked where there is no repository, and its evidence makes the report."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from analyzer import cli, demo

pytest.importorskip("torch")


def test_bundle_checked_without_its_repository(tmp_path, monkeypatch, capsys):
    """plan, then the repository goes, then check and report: the demo's first change fails the mutation check."""
    monkeypatch.chdir(tmp_path)
    commits = demo.build(tmp_path / "repository", demo.steps())
    assert cli.invoke(["plan", commits[1], "--repo", "repository", "-o", "bundle.tar.gz"]) == 0
    shutil.rmtree(tmp_path / "repository")
    assert cli.invoke(["check", "bundle.tar.gz", "-o", "evidence.json", "--device", "cpu", "--only", "mutation"]) == 0
    evidence = json.loads(Path("evidence.json").read_text())
    (mutation,) = evidence["checks"]
    assert (mutation["outcome"], mutation["head"]["inputs_written"], mutation["base"]["inputs_written"]) == (
        "fail",
        ["logits"],
        [],
    )
    capsys.readouterr()
    assert cli.invoke(["report", "bundle.tar.gz", "evidence.json", "--out", "out", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["evidence"] == evidence
    assert report["subject"]["state"] == "reverted"
    assert report["summary"]["recommendation"]["action"] == "already-reverted"
    for lang in ("en", "zh"):
        assert "mutation" in Path(f"out/report.{lang}.md").read_text(encoding="utf-8")
