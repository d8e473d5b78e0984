"""Both revisions compiled and traced without a GPU: the demo's first change."""

from __future__ import annotations

import pytest

from analyzer import demo, pipeline
from analyzer.plan import Request

pytest.importorskip("torch")


@pytest.fixture(scope="module")
def evidence(tmp_path_factory):
    """Identity, resources and predicted memory of the change that takes the fp32 copy away; a cache of its own."""
    folder = tmp_path_factory.mktemp("compiled")
    commits = demo.build(folder / demo.NAME, demo.steps())
    flags = {"device": "cpu", "only": "identity,resources,peak-memory", "architectures": "sm_90,sm_80"}
    request = Request(revision=commits[1], flags=flags)
    first = pipeline.run(folder / demo.NAME, request, folder / "out", lambda _: None).report.evidence
    again = pipeline.run(folder / demo.NAME, request, folder / "out", lambda _: None).report.evidence
    return first, again


def find(evidence, check, symbol, dtype, arch="sm_90"):
    of = (check, symbol, dtype, arch if check in ("identity", "resources") else "")
    (found,) = [c for c in evidence.checks if (c.check, c.symbol, c.specialization.dtype, c.specialization.arch) == of]
    return found


def test_fp32_is_the_same_kernel(evidence):
    """An upcast of fp32 is nothing: the same PTX, the same resources."""
    assert find(evidence[0], "identity", "_temperature_kernel", "fp32").delta == {"same": True}
    assert find(evidence[0], "resources", "_temperature_kernel", "fp32").outcome == "pass"


def test_bf16_differs_and_base_was_forced(evidence):
    """Base refuses bf16: its kernel is compiled with head's launch, said to be forced, and differs."""
    record = find(evidence[0], "identity", "_temperature_kernel", "bf16")
    assert (record.outcome, record.delta, record.base["forced"], record.head["forced"]) == (
        "changed",
        {"same": False},
        True,
        False,
    )
    assert "AssertionError" in find(evidence[0], "resources", "_temperature_kernel", "bf16").reason.en


def test_the_launch_is_the_wrappers_own(evidence):
    """Grid and pointer types of the build are those of 1,024 rows of 32,000 bf16 logits."""
    wanted = ("head", "_temperature_kernel", "bf16", "sm_90")
    (build,) = [b for b in evidence[0].builds if (b.revision, b.symbol, b.dtype, b.architecture) == wanted]
    assert build.launch.grid == (1024, 32)
    assert build.launch.signature["logits_ptr"] == "*bf16"
    assert build.launch.signature["BLOCK"] == "constexpr"
    assert build.resources.registers > 0 and build.resources.code_bytes > 0


def test_every_architecture_that_is_asked_for_is_built(evidence):
    """The same launch for an older architecture: a record of its own, another binary."""
    other = find(evidence[0], "identity", "_temperature_kernel", "fp32", "sm_80")
    assert other.delta == {"same": True}
    assert other.base["ptx_sha256"] != find(evidence[0], "identity", "_temperature_kernel", "fp32").base["ptx_sha256"]


def test_memory_is_predicted(evidence):
    """The copy of 4,096 × 32,000 logits in fp32 is 4 bytes a logit, and the line that makes it is named."""
    peak = find(evidence[0], "peak-memory", "Sampler.apply_params", "bf16")
    assert peak.parameters["predicted"] is True
    assert peak.delta["bytes_per_logit"] == pytest.approx(-4.0, abs=0.01)
    assert peak.base["source"].startswith("minisample/sampler.py:")


def test_the_second_run_takes_every_build_from_the_cache(evidence):
    """The same bundle again: nothing is compiled, and the records are the same."""
    assert all(build.cached for build in evidence[1].builds)
    assert [c.delta for c in evidence[0].checks] == [c.delta for c in evidence[1].checks]
