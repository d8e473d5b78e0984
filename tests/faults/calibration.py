"""How often the sampling check is wrong on right samplers (`make calibration`).

First-stage p-values have to be uniform for each binning; what the check confirms has to be nothing.
"""

from __future__ import annotations

import argparse

import numpy as np

from analyzer.checks.sampling import CONFIRMED, DISTRIBUTIONS, DRAWS_CPU, FIRST, MORE
from analyzer.kernels.goodness import BINNINGS, Fit, fit, holm

#: Vocabularies, and the spread of the logits over them.
KINDS = ((32, 2.5), (100, 0.1), (257, 2.5), (1000, 1.0), (1000, 5.0))


def shares(tests: int, draws: int, seed: int) -> dict[str, float]:
    """The share of p-values under 0.01, by binning, over `tests` tests of right samplers."""
    generator = np.random.default_rng(seed)
    under = dict.fromkeys(BINNINGS, 0)
    for number in range(tests):
        for name, value in one(generator, number, draws, seed + number).p_values.items():
            under[name] += value < 0.01
    return {name: count / tests for name, count in under.items()}


def false_alarms(checks: int, draws: int, seed: int) -> tuple[int, int]:
    """Of whole checks on right samplers: how many drew again, and how many would have failed."""
    generator = np.random.default_rng(seed)
    again = failed = 0
    for number in range(checks):
        if _wrong(generator, number, draws, seed, FIRST):
            again += 1
            failed += _wrong(generator, number, MORE * draws, seed + 1, CONFIRMED)
    return again, failed


def _wrong(generator: np.random.Generator, number: int, draws: int, seed: int, level: float) -> bool:
    fits = [one(generator, number + place, draws, seed + place) for place in range(DISTRIBUTIONS)]
    return holm([p for its in fits for p in its.p_values.values()]) < level or any(its.outside for its in fits)


def one(generator: np.random.Generator, number: int, draws: int, seed: int) -> Fit:
    """A fit of draws from a distribution to that distribution."""
    vocab, spread = KINDS[number % len(KINDS)]
    logits = generator.normal(0.0, spread, vocab)
    weights = np.exp(logits - logits.max())
    probabilities = weights / weights.sum()
    return fit(generator.choice(vocab, draws, p=probabilities), probabilities, seed)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tests", type=int, default=40_000)
    parser.add_argument("--checks", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    for name, share in shares(options.tests, DRAWS_CPU, options.seed).items():
        print(f"{name:6} {share:.3%} of {options.tests:,} first-stage p-values under 0.01")
    again, failed = false_alarms(options.checks, DRAWS_CPU, options.seed)
    print(f"{options.checks:,} checks: {again} drew again, {failed} would have failed")


if __name__ == "__main__":
    main()
