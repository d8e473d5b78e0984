"""The checks over the zoo's PyTorch samplers, on a CPU: faults are found by a check of their kind, rewrites are not."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="needs the checks extra")

from faults import zoo  # noqa: E402
from faults.measure import NAMED_BY, measure  # noqa: E402

from analyzer.checks.session import CHECKS  # noqa: E402

#: Kinds that take a GPU to see: memory of an allocator, time, and offsets past 2^31.
OF_A_GPU = ("memory", "latency")
#: Faults that the small inputs of a CPU do not reach, and why.
UNSEEN = {
    "noise-capped": "one draw in 10^9 has such noise",
    "race-in-logits-dtype": "about one race in 500 ends in a tie",
    "few-rows-keep-exactly-k": "ties at the k-th place are rare in so small a vocabulary",
    "flat-index-of-32-bits": "needs rows * vocab past 2^31",
}
#: What a harmless rewrite is asked here; `make fault-report` asks all, over many seeds.
QUICK = set(CHECKS) - {"sampling", "determinism"}


def torch_cases(cases):
    return [pytest.param(case, id=case.name) for case in cases if case.sampler.kind == "torch"]


@pytest.mark.parametrize("case", torch_cases(zoo.faults()))
def test_a_fault_is_found_by_a_check_of_its_kind(case):
    if case.kind in OF_A_GPU:
        pytest.skip(f"{case.kind} is measured on a GPU")
    torch.set_num_threads(1)
    found = measure(case, "cpu", only=NAMED_BY[case.kind])
    assert not found.error
    assert found.named == (case.name not in UNSEEN), found.by


@pytest.mark.parametrize("case", torch_cases(zoo.equivalents()))
def test_a_harmless_rewrite_is_not_accused(case):
    torch.set_num_threads(1)
    found = measure(case, "cpu", seeds=(1,), only=QUICK)
    assert not found.error
    assert not found.found, found.by
