"""Whether drawn tokens follow a distribution: χ² over three binnings, and exact support."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import chi2, ncx2

#: Cells of each binning before those that expect too little are merged.
CELLS = 64
#: A cell expects at least this many draws. From 5 on χ² is usable (Cochran 1952), but p-values under 0.01 come to 1.2%.
LEAST = 20.0
BINNINGS = ("rank", "tile", "hash")


@dataclass(frozen=True)
class Fit:
    """`p_values`: by binning. `outside`: draws of tokens that have no mass."""

    p_values: dict[str, float]
    outside: int
    draws: int


def cells(probabilities: np.ndarray, binning: str, seed: int = 0) -> np.ndarray:
    """The cell of each token, int [vocab]. rank: equal mass in falling order of probability; tile: equal stretches of
    the vocabulary; hash: at random. A fault that one of them cannot see shows in another (docs/checks.md)."""
    vocab = len(probabilities)
    if binning == "tile":
        return np.arange(vocab) * CELLS // vocab
    if binning == "hash":
        return np.random.default_rng(seed).integers(0, CELLS, vocab)
    order = np.argsort(-probabilities, kind="stable")
    before = np.cumsum(probabilities[order]) - probabilities[order]
    made = np.empty(vocab, dtype=np.int64)
    made[order] = np.minimum((before / probabilities.sum() * CELLS).astype(np.int64), CELLS - 1)
    return made


def fit(tokens: np.ndarray, probabilities: np.ndarray, seed: int = 0) -> Fit:
    """`tokens` (int [draws]) against `probabilities` (fp64 [vocab], of sum 1). An id outside the vocabulary is outside.

    A binning with one cell left says nothing: its p-value is 1.
    """
    vocab, draws = len(probabilities), len(tokens)
    inside = (tokens >= 0) & (tokens < vocab)
    counts = np.bincount(tokens[inside], minlength=vocab)
    outside = int((~inside).sum() + counts[probabilities <= 0].sum())
    found = {}
    for binning in BINNINGS:
        cell = cells(probabilities, binning, seed)
        expected = np.bincount(cell, weights=probabilities, minlength=CELLS) * draws
        observed = np.bincount(cell, weights=counts * (probabilities > 0), minlength=CELLS)
        found[binning] = _p_value(*_merged(expected, observed))
    return Fit(found, outside, draws)


def _merged(expected: np.ndarray, observed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Cells that expect under LEAST together, with the next smallest where that is still too little."""
    order = np.argsort(expected, kind="stable")
    expected, observed = expected[order], observed[order]
    small = int(np.searchsorted(np.cumsum(expected), LEAST)) + 1
    if expected[0] >= LEAST or small >= len(expected):
        small = 1 if expected[0] >= LEAST else len(expected)
    while small < len(expected) and expected[small] < LEAST:
        small += 1
    starts = np.r_[0, np.arange(small, len(expected))]
    return np.add.reduceat(expected, starts), np.add.reduceat(observed, starts)


def _p_value(expected: np.ndarray, observed: np.ndarray) -> float:
    if len(expected) < 2 or observed.sum() == 0:
        return 1.0
    expected = expected * (observed.sum() / expected.sum())
    return float(chi2.sf(((observed - expected) ** 2 / expected).sum(), len(expected) - 1))


def holm(p_values: list[float]) -> float:
    """The smallest p-value by Holm's correction over all: min(1, m · min p)."""
    return min(1.0, len(p_values) * min(p_values)) if p_values else 1.0


def smallest_effect(draws: int, alpha: float, tests: int, power: float = 0.9) -> float:
    """The total variation over CELLS cells of equal mass that is found with `power` at `alpha` over `tests`.

    χ² is non-central with λ = draws · w²; a shift of ±w in every cell is a total variation of w / 2 (Cohen's w).
    """
    freedom = CELLS - 1
    threshold = chi2.isf(alpha / tests, freedom)
    low, high = 0.0, 1e6
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if ncx2.sf(threshold, freedom, middle) >= power else (middle, high)
    return float(np.sqrt(high / draws) / 2)
