"""Log-probabilities against math.fsum, ranks against counting."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch", reason="needs the checks extra")

from analyzer.kernels.logprobs import log_probabilities, ranks  # noqa: E402

INF = math.inf
ROW = st.lists(st.sampled_from([-INF, -50.0, -1.0, 0.0, 0.5, 3.0, 700.0]), min_size=2, max_size=8)


@settings(deadline=None, max_examples=100)
@given(ROW.filter(lambda row: max(row) > -INF))
def test_log_probabilities(row):
    """x − ln Σ exp x, summed exactly."""
    top = max(row)
    total = top + math.log(math.fsum(math.exp(value - top) for value in row))
    found = log_probabilities(torch.tensor([row]))[0].tolist()
    assert found == pytest.approx([value - total for value in row], rel=1e-13, abs=1e-13)


@settings(deadline=None, max_examples=100)
@given(ROW)
def test_ranks_are_those_of_every_order_of_ties(row):
    """From one more than what is larger, to all that is not smaller."""
    found = ranks(torch.tensor([row]).double(), torch.arange(len(row))[None])
    for token, value in enumerate(row):
        assert found.least[0, token] == 1 + sum(other > value for other in row)
        assert found.most[0, token] == sum(other >= value for other in row)


def test_ranks_within_rounding():
    """Two log-probabilities of −1 that are 2^-25 apart may be equal in fp32; as raw numbers they are not."""
    logprobs = torch.tensor([[-1.0, -1.0 - 2.0**-25, -1.1]], dtype=torch.float64)
    ids = torch.tensor([[0, 1, 2]])
    rounded, raw = ranks(logprobs, ids), ranks(logprobs, ids, roundings=0)
    assert rounded.least.tolist() == [[1, 1, 3]] and rounded.most.tolist() == [[2, 2, 3]]
    assert raw.least.tolist() == raw.most.tolist() == [[1, 2, 3]]


def test_rows_without_a_distribution():
    """All masked, a NaN or +inf: NaN marks it, and any rank is right. The row beside it is as it was."""
    rows = torch.tensor([[-INF, -INF], [float("nan"), 0.0], [INF, 0.0], [0.0, -INF]])
    logprobs = log_probabilities(rows)
    assert logprobs[:3].isnan().any(1).all()
    assert logprobs[3].tolist() == [0.0, -INF]
    found = ranks(logprobs, torch.tensor([[0], [1], [0], [1]]))
    assert found.least.flatten().tolist() == [1, 1, 1, 2] and found.most.flatten().tolist() == [2, 2, 2, 2]
