"""Masked logits of two revisions against each other and the oracle."""

import pytest

torch = pytest.importorskip("torch", reason="needs the checks extra")

from analyzer.kernels.compare import CHUNK_ROWS, masked_logits  # noqa: E402

INF = float("inf")


def rows(count: int = CHUNK_ROWS + 3, vocab: int = 40) -> "torch.Tensor":
    return torch.randn(count, vocab, generator=torch.Generator().manual_seed(3))


def keep(logits: "torch.Tensor", k: int) -> "torch.Tensor":
    kth = logits.topk(k, dim=1).values[:, -1:]
    return logits.masked_fill(logits < kth, -INF)


def test_equal_outputs_differ_nowhere():
    """The same correct masks: no row differs, none violates, no distance."""
    logits = rows()
    found = masked_logits(logits, keep(logits, 5), keep(logits, 5), "cpu", [("top-k", {"k": 5})])
    assert (found.rows, found.rows_differing, found.tokens) == (len(logits), 0, 0)
    assert found.head.violating_rows == found.base.violating_rows == 0
    assert max(found.tv) == max(found.kl) == 0.0
    assert max(found.head.tv) < 1e-6


def test_a_wrong_set_of_the_right_size_is_seen():
    """Head drops the best token and keeps the sixth: five tokens as before, every row wrong, mass lost."""
    logits = rows()
    sixth = logits.topk(6, dim=1).indices
    wrong = keep(logits, 6)
    wrong.scatter_(1, sixth[:, :1], -INF)
    found = masked_logits(logits, keep(logits, 5), wrong, "cpu", [("top-k", {"k": 5})])
    assert found.rows_differing == found.head.violating_rows == found.head.lost_rows == len(logits)
    assert found.tokens == 2 * len(logits)
    assert found.base.violating_rows == 0
    assert found.mass_moved > 0.1


def test_a_nan_row_is_counted_and_keeps_nothing():
    """A NaN row is no kept set: it is counted apart, and its distance to the oracle is one half of all mass or more."""
    logits = rows(4)
    head = keep(logits, 5)
    head[1] = float("nan")
    found = masked_logits(logits, keep(logits, 5), head, "cpu", [("top-k", {"k": 5})])
    assert found.head.nan_rows == 1
    assert found.rows_differing == 1
    assert found.head.violating_rows == 1


def test_temperature_belongs_to_the_oracle():
    """Logits divided by 0.5 agree with an oracle that divides too, and not with one that does not."""
    logits = rows(8)
    output = keep(logits / 0.5, 5)
    warm = masked_logits(logits, output, output, "cpu", [("temperature", {"by": 0.5}), ("top-k", {"k": 5})])
    cold = masked_logits(logits, output, output, "cpu", [("top-k", {"k": 5})])
    assert max(warm.head.tv) < 1e-6 < 0.01 < max(cold.head.tv)


def test_other_shapes_are_refused():
    """A revision that returns another shape is an error with both shapes in it."""
    with pytest.raises(ValueError, match="shapes differ"):
        masked_logits(rows(4), rows(4), rows(5), "cpu")
