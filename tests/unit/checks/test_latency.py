"""The bootstrap interval of a latency ratio."""

import pytest

np = pytest.importorskip("numpy", reason="needs the checks extra")

from analyzer.checks.latency import interval  # noqa: E402


def test_a_doubled_time_has_an_interval_around_two():
    """Head takes twice as long, with 1% noise: the interval holds 2 and is narrow."""
    noise = np.random.default_rng(1).normal(1, 0.01, (2, 20))
    ratio, low, high = interval(10 * noise[0], 20 * noise[1], seed=0)
    assert low < 2.0 < high
    assert ratio == pytest.approx(2.0, rel=0.02)
    assert high - low < 0.05


def test_equal_times_hold_one():
    """Samples of one distribution give an interval around 1."""
    noise = np.random.default_rng(2).normal(1, 0.05, (2, 20))
    _, low, high = interval(noise[0], noise[1], seed=0)
    assert low < 1.0 < high
