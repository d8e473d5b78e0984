"""Rules that a repository adds, waives and silences in .analyzer.yml: from the base revision to the written report."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

import pytest
import yaml

from analyzer import pipeline
from analyzer.errors import UsageError
from analyzer.model.report import Report
from analyzer.plan import Request

OPS = """import torch


def draw(probs, generator):
    return torch.multinomial(probs, 1, generator=generator)


class Sampler:
    def keep(self, logits, k=50):
        return logits.topk(k)
"""
CHANGED = OPS.replace(", generator=generator)", ")").replace("k=50", "k=20")
TOMORROW, YESTERDAY = date.today() + timedelta(days=2), date.today() - timedelta(days=2)
OWN = {
    "id": "small-k",
    "title": {"en": "The default of k changed", "zh": "k 的默认值改变"},
    "family": "sampling",
    "severity": "critical",
    "refines": "default-changed",
    "why": {"en": "Evaluations assume 50.", "zh": "评测假定为 50。"},
    "instead": {"en": "Run the evaluations again.", "zh": "重新运行评测。"},
    "match": {"kinds": ["default-changed"], "detail": {"parameter": ["k"]}},
}


def report(repository, tmp_path: Path, **settings: object) -> tuple[Report, str, str]:
    """The report of a change whose base revision has these settings, and its two texts."""
    repository.commit({"package/ops.py": OPS, ".analyzer.yml": yaml.safe_dump(settings)})
    repository.commit({"package/ops.py": CHANGED})
    request = Request("main", None, {"device": "none"}, None)
    outcome = pipeline.run(repository.folder, request, tmp_path / "out", lambda _: None)
    texts = [(tmp_path / "out" / f"report.{lang}.md").read_text(encoding="utf-8") for lang in ("en", "zh")]
    return outcome.report, *texts


def found(report: Report) -> dict[str, str | None]:
    return {finding.rule: finding.waived_by for finding in report.risk.findings}


def test_without_settings(repository, tmp_path):
    """What the shipped rules say of the change, for comparison with the tests below."""
    told, _, _ = report(repository, tmp_path)
    assert found(told) == {"generator-dropped": None, "default-changed": None}
    assert told.risk.level == "high"


def test_a_rule_of_its_own(repository, tmp_path):
    """A repository's rule finds, takes over what it refines, raises the level and is told in both languages."""
    told, english, chinese = report(repository, tmp_path, rules=[OWN])
    assert found(told) == {"small-k": None, "generator-dropped": None}
    assert told.risk.level == "critical"
    assert "Evaluations assume 50." in english and "评测假定为 50。" in chinese


@pytest.mark.parametrize("place", [{"path": "package/*.py"}, {"symbol": "dr*"}])
def test_a_waiver_is_shown_with_its_reason(repository, tmp_path, place):
    """A waived finding stays in the report with the reason and the day; the level is that of the others."""
    waiver = {"rule": "generator-dropped", **place, "reason": "draws are seeded above", "until": TOMORROW}
    told, english, chinese = report(repository, tmp_path, waivers=[waiver])
    reason = f"draws are seeded above (until {TOMORROW})"
    assert found(told) == {"generator-dropped": reason, "default-changed": None}
    assert told.risk.level == "low"
    assert reason in english and reason in chinese


def test_a_waiver_that_is_over(repository, tmp_path):
    """The finding counts again, and a note says why."""
    waiver = {"rule": "generator-dropped", "path": "*", "reason": "for now", "until": YESTERDAY}
    told, english, chinese = report(repository, tmp_path, waivers=[waiver])
    assert found(told)["generator-dropped"] is None and told.risk.level == "high"
    assert f"The waiver of `generator-dropped` for `*` ended on {YESTERDAY}" in english
    assert f"{YESTERDAY} 到期" in chinese


def test_silence(repository, tmp_path):
    """A silenced rule finds nothing, a shipped one as one of the repository's own."""
    told, _, _ = report(repository, tmp_path, rules=[OWN], silence=["generator-dropped", "small-k"])
    assert found(told) == {}
    assert told.risk.level == "none"


def test_a_rule_that_there_is_not(repository, tmp_path):
    """A misspelt rule silences nothing unseen: one line with the place and the nearest id."""
    with pytest.raises(UsageError, match=r":2: silence\.0: no rule 'generator-droped'; did you mean"):
        report(repository, tmp_path, silence=["generator-droped"])
