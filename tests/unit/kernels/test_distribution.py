"""Temperature, distribution and total variation in fp64."""

import math

import pytest

torch = pytest.importorskip("torch", reason="needs the checks extra")

from analyzer.kernels.distribution import at_temperature, distribution, total_variation  # noqa: E402

INF = math.inf


def test_temperature_divides_in_fp64():
    """One temperature or one a row; bf16 logits are widened first, and masked tokens stay masked."""
    logits = torch.tensor([[1.0, -INF], [3.0, -2.0]], dtype=torch.bfloat16)
    assert at_temperature(logits, 0.5).tolist() == [[2.0, -INF], [6.0, -4.0]]
    assert at_temperature(logits, torch.tensor([1.0, 4.0])).tolist() == [[1.0, -INF], [0.75, -0.5]]
    assert at_temperature(logits, 3.0).dtype == torch.float64


@pytest.mark.parametrize("value", [0.0, -1.0, float("nan"), torch.tensor([1.0, 0.0]), torch.ones(3)])
def test_temperatures_that_are_refused(value):
    """Zero (greedy), a negative one, a NaN, and another number of them than rows."""
    with pytest.raises(ValueError, match="temperature"):
        at_temperature(torch.zeros(2, 2), value)


def test_distribution_over_a_kept_set():
    """Logits ln 1, ln 2, ln 5 over the first two are 1/3 and 2/3; a row that keeps nothing is all zero."""
    logits = torch.tensor([[1.0, 2.0, 5.0]], dtype=torch.float64).log().expand(2, 3)
    kept = torch.tensor([[True, True, False], [False] * 3])
    p = distribution(logits, kept)
    assert p[0].tolist() == pytest.approx([1 / 3, 2 / 3, 0.0], abs=1e-15)
    assert p[1].tolist() == [0.0] * 3


def test_total_variation_is_half_the_l1_distance():
    """[1, 0] against [0.5, 0.5] is 0.5 apart."""
    p, q = torch.tensor([[1.0, 0.0]]), torch.tensor([[0.5, 0.5]])
    assert total_variation(p, q).tolist() == [0.5]
