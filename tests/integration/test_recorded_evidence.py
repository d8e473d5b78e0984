"""The demo's evidence as an H200 measured it, and the reports that it makes.

The evidence belongs to code and calls that are rebuilt here: where the demo or its probes call otherwise, it has to be
recorded again (tests/demo_bundles.py).
"""

from __future__ import annotations

import json

import demo_bundles
import pytest

from analyzer import pipeline
from analyzer.report.build import build
from analyzer.report.write import markdown


@pytest.fixture(scope="module")
def recorded():
    """Each change's bundle with the evidence that was recorded for it."""
    return [
        (bundle, pipeline.read_evidence(demo_bundles.EVIDENCE / f"{number}.json"))
        for number, bundle in enumerate(demo_bundles.bundles(), start=1)
    ]


def test_the_evidence_is_of_this_code_and_these_calls(recorded):
    """Both revisions' code, the inputs and sizes of each probe and the seed are those that were measured."""
    then = json.loads((demo_bundles.EVIDENCE / demo_bundles.MEASURED).read_text(encoding="utf-8"))
    assert then == {str(n): demo_bundles.measured(bundle) for n, (bundle, _) in enumerate(recorded, start=1)}


def test_it_was_measured_on_a_gpu(recorded):
    """A GPU, and both revisions apart from each other and from us."""
    for _, evidence in recorded:
        assert evidence.environment.gpu == "NVIDIA H200"
        assert evidence.isolation.pid_namespace and evidence.isolation.network_namespace


def test_the_copy_that_goes_is_held_against_the_change(recorded):
    """The first change: the caller's logits are written, kept sets move, 4 bytes a logit are saved, measured."""
    bundle, evidence = recorded[0]
    found = {(c.probe, c.check, c.specialization.dtype): c for c in evidence.checks}
    assert found["apply_params", "mutation", "bf16"].outcome == "fail"
    assert found["apply_params", "kept-set", "bf16"].outcome == "fail"
    assert found["apply_params", "peak-memory", "bf16"].delta["bytes_per_logit"] == pytest.approx(-4.0, abs=0.05)
    report = build(bundle.plan, evidence)
    assert report.risk.level == "high"
    assert report.summary.recommendation.action == "already-reverted"
    open_plan = bundle.plan.model_copy(
        update={"subject": bundle.plan.subject.model_copy(update={"state": "open"}), "related": ()}
    )
    text = markdown(build(open_plan, evidence), "en")
    assert text.startswith("> **Hold.** Lowers peak memory by 0.48")
    assert "`mutation` fails (new in head)" in text.splitlines()[0]


def test_the_revert_is_kept_with_its_price(recorded):
    """The second change: keep, with the memory that it costs."""
    bundle, evidence = recorded[1]
    lines = markdown(build(bundle.plan, evidence), "en").splitlines()
    assert lines[0].startswith("> **Keep.** Takes back PR 1 exactly, at a price: 4 bytes a logit more memory, 0.48")
    zh = markdown(build(bundle.plan, evidence), "zh").splitlines()
    assert zh[0].startswith("> **保留。** 完整回退了 PR 1，代价是 4,096 行时每个 logit 多占 4 字节显存")


def test_the_assumed_stride_is_not_cleared_by_contiguous_rows(recorded):
    """The third change: no check fails on contiguous rows, the finding stands, and the report says so."""
    bundle, evidence = recorded[2]
    report = build(bundle.plan, evidence)
    assert not [check for check in evidence.checks if check.outcome in ("fail", "crash", "hang")]
    assert report.summary.recommendation.action == "unsure"
    assert [f.rule for f in report.risk.findings if f.severity == "high"] == ["stride-assumed"]
