"""Penalties against the same formulas on exact fractions, token by token."""

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch", reason="needs the checks extra")

from analyzer.kernels.penalties import penalise, token_counts  # noqa: E402

EIGHTHS = st.integers(-40, 40).map(lambda number: number / 8)
TOKENS = st.lists(st.integers(0, 4), max_size=6)
ROW = st.tuples(
    st.lists(EIGHTHS, min_size=5, max_size=5), TOKENS, TOKENS, st.sampled_from([0.5, 1.0, 1.5, 2.0]), EIGHTHS, EIGHTHS
)


def padded(lists: list[list[int]], padding: int) -> "torch.Tensor":
    longest = max(map(len, lists))
    return torch.tensor([row + [padding] * (longest - len(row)) for row in lists], dtype=torch.int32).reshape(
        len(lists), longest
    )


@settings(deadline=None, max_examples=150)
@given(st.lists(ROW, min_size=1, max_size=3), st.sampled_from([-1, 5]))
def test_the_formulas_token_by_token(rows, padding):
    """Every token of every row has what the formulas give it, whatever fills the short lists."""
    logits, prompt, output, theta, frequency, presence = zip(*rows, strict=True)
    found = penalise(
        torch.tensor(logits),
        token_counts(padded(list(prompt), padding), 5),
        token_counts(padded(list(output), padding), 5),
        *(torch.tensor(numbers) for numbers in (theta, frequency, presence)),
    )
    for row in range(len(rows)):
        for token in range(5):
            value = Fraction(logits[row][token])
            if token in prompt[row] + output[row]:
                value = value / Fraction(theta[row]) if value > 0 else value * Fraction(theta[row])
            value -= output[row].count(token) * Fraction(frequency[row])
            if token in output[row]:
                value -= Fraction(presence[row])
            assert found[row, token].item() == pytest.approx(float(value), rel=1e-14, abs=1e-14)


def test_by_hand():
    """θ = 2, frequency 0.5, presence 0.25; token 0 in the prompt, 1 twice and 2 once in the output, 3 nowhere."""
    prompt, output = torch.tensor([[1, 0, 0, 0]]), torch.tensor([[0, 2, 1, 0]])
    found = penalise(torch.tensor([[4.0, 4.0, -4.0, 4.0]]), prompt, output, 2.0, 0.5, 0.25)
    assert found.tolist() == [[2.0, 0.75, -8.75, 4.0]]


def test_nothing_asked_changes_nothing():
    """The defaults are the identity; masked tokens stay masked under every penalty; the input is not written."""
    logits = torch.tensor([[1.0, -math.inf, -2.0]])
    seen = torch.ones(1, 3, dtype=torch.int64)
    assert penalise(logits, seen, seen).tolist() == logits.tolist()
    assert penalise(logits, seen, seen, 1.5, 1.0, 1.0)[0, 1] == -math.inf
    assert logits.tolist() == [[1.0, -math.inf, -2.0]]


def test_a_theta_of_zero_is_refused():
    """θ divides."""
    seen = torch.ones(1, 2, dtype=torch.int64)
    with pytest.raises(ValueError, match="repetition penalty: not above 0"):
        penalise(torch.zeros(1, 2), seen, seen, 0.0)
