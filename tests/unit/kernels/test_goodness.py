"""χ² over three binnings: what each sees, and how often it is wrong."""

import pytest

np = pytest.importorskip("numpy", reason="needs the checks extra")
pytest.importorskip("scipy", reason="needs the checks extra")

from analyzer.kernels.goodness import BINNINGS, CELLS, cells, fit, holm, smallest_effect  # noqa: E402


def zipf(vocab: int = 4096) -> "np.ndarray":
    weights = 1.0 / np.arange(1, vocab + 1)
    return np.random.default_rng(1).permutation(weights / weights.sum())


def test_cells_cover_the_vocabulary():
    """Every token has a cell; the tiles are equal stretches; rank cells hold about equal mass."""
    p = np.full(640, 1 / 640)
    for binning in BINNINGS:
        assert set(cells(p, binning)) <= set(range(CELLS))
    assert np.bincount(cells(p, "tile")).tolist() == [10] * CELLS
    assert np.allclose(np.bincount(cells(p, "rank"), weights=p), 1 / CELLS, atol=1 / 640)  # to a token


def test_right_draws_fit():
    """Draws from the distribution itself are no surprise in any binning."""
    p = zipf()
    tokens = np.random.default_rng(2).choice(len(p), 20_000, p=p)
    found = fit(tokens, p)
    assert found.outside == 0
    assert holm(list(found.p_values.values())) > 1e-3


def test_each_binning_sees_its_fault():
    """A missing tile shows by tile, a sharper distribution by rank, though the others may see little."""
    p = zipf()
    generator = np.random.default_rng(3)
    short = p.copy()
    short[-64:] = 0
    tile = fit(generator.choice(len(p), 60_000, p=short / short.sum()), p)
    assert tile.p_values["tile"] < 1e-6
    sharp = p**1.1
    assert fit(generator.choice(len(p), 60_000, p=sharp / sharp.sum()), p).p_values["rank"] < 1e-6


def test_tokens_without_mass_are_outside():
    """So are ids that are no tokens, as a sampler gives that ran past its row."""
    p = np.array([0.5, 0.5, 0.0])
    assert fit(np.array([0, 1, 2, 3, -1]), p).outside == 3


def test_a_distribution_of_one_token_says_nothing():
    """With one cell there is no test."""
    assert set(fit(np.zeros(100, dtype=int), np.array([1.0, 0.0])).p_values.values()) == {1.0}


def test_holm_and_the_smallest_effect():
    """The smallest p-value times the number of tests; four times the draws see half the effect."""
    assert holm([0.01, 0.5, 0.2]) == pytest.approx(0.03)
    assert holm([0.9, 0.8]) == 1.0
    few, many = (smallest_effect(draws, 1e-4, 12) for draws in (4_000, 16_000))
    assert few == pytest.approx(2 * many, rel=0.01)
