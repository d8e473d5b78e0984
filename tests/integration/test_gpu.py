"""The check stage on a GPU: the demo's first change, measured for real."""

from __future__ import annotations

import pytest

from analyzer import demo, pipeline
from analyzer.plan import Request

pytestmark = pytest.mark.gpu


@pytest.fixture(scope="module")
def checks(tmp_path_factory):
    """The records of the change that takes the fp32 copy away, by probe, check and dtype."""
    folder = tmp_path_factory.mktemp("demo")
    commits = demo.build(folder / demo.NAME, demo.steps())
    request = Request(revision=commits[1], flags={"device": "cuda"})
    outcome = pipeline.run(folder / demo.NAME, request, folder / "out", lambda _: None)
    return {(c.probe, c.check, c.specialization.dtype): c for c in outcome.report.evidence.checks}


def test_memory_comes_from_the_allocator(checks):
    """The fp32 copy of 4,096 × 32,000 logits is 4 bytes a logit, and not a prediction."""
    peak = checks["apply_params", "peak-memory", "bf16"]
    assert peak.outcome == "changed"
    assert peak.parameters["predicted"] is False
    assert peak.delta["bytes_per_logit"] == pytest.approx(-4.0, abs=0.05)
    assert peak.base["source"].startswith("minisample/sampler.py:")


def test_the_numbers_and_the_mutation_fail(checks):
    """In place and in bf16: the caller's logits are written, and the kept set moves where the oracle does not."""
    assert checks["apply_params", "mutation", "bf16"].outcome == "fail"
    assert checks["apply_params", "kept-set", "bf16"].outcome == "fail"
    assert checks["apply_params", "distribution-distance", "bf16"].outcome == "fail"


def test_it_is_timed_and_ends(checks):
    """Nothing ends in a crash, and the latency has an interval around its ratio."""
    latency = checks["apply_params", "latency", "bf16"]
    assert latency.delta["low"] <= latency.delta["ratio"] <= latency.delta["high"]
    assert not [check for check in checks.values() if check.outcome in ("crash", "hang", "out-of-memory")]
