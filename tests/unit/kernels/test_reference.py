"""Chains of operations in fp64, against the same chain written out."""

import pytest

torch = pytest.importorskip("torch", reason="needs the checks extra")

from analyzer.kernels.reference import of_rows, reference  # noqa: E402

INF = float("inf")


def logits(rows: int = 6, vocab: int = 12) -> "torch.Tensor":
    return torch.randn(rows, vocab, generator=torch.Generator().manual_seed(5))


def test_a_temperature_then_top_k():
    """Values are divided by a temperature a row; the k largest stay, and nothing is masked in the values."""
    given, temperature = logits(), torch.tensor([0.5, 1.0, 2.0, 1.0, 1.0, 0.7])
    found = reference(given, [("temperature", {"by": temperature}), ("top-k", {"k": 3})])
    assert torch.equal(found.values, given.double() / temperature.double().unsqueeze(1))
    assert torch.equal(found.kept.must_keep.sum(-1), torch.full((6,), 3))
    assert torch.allclose(found.distribution.sum(-1), torch.ones(6, dtype=torch.float64))


def test_temperature_zero_is_a_row_as_it_is():
    """Greedy requests have temperature 0; their row is left alone."""
    given = logits(2)
    found = reference(given, [("temperature", {"by": torch.tensor([0.0, 2.0])})])
    assert torch.equal(found.values[0], given[0].double())
    assert torch.equal(found.values[1], given[1].double() / 2)


def test_the_mask_comes_before_what_follows():
    """Log-probabilities after top-k are of the k tokens: they sum to 1, the others are −inf."""
    found = reference(logits(), [("top-k", {"k": 4}), ("log-softmax", {})])
    assert torch.allclose(found.values.exp().sum(-1), torch.ones(6, dtype=torch.float64))
    assert torch.equal((found.values > -INF).sum(-1), torch.full((6,), 4))


def test_the_scale_remembers_what_cancels():
    """A bias that takes a logit to nearly 0 leaves the scale of the logit: its rounding is of that size."""
    given = torch.tensor([[8.0, 1.0]])
    steps = [("bias", {"ids": torch.tensor([[0]]), "values": torch.tensor([[-7.9990234375]])})]
    found = reference(given, steps)
    assert found.values[0, 0] == 8.0 - 7.9990234375
    assert found.scale.tolist() == [[8.0, 1.0]]


def test_winners_under_given_noise():
    """argmax of logits + noise; a race by exponential noise picks the largest p / e."""
    given = logits()
    noise = -torch.empty(6, 12).exponential_(generator=torch.Generator().manual_seed(6)).log()
    found = reference(given, [("argmax", {"noise": noise})])
    assert torch.equal(found.winners.best, (given.double() + noise.double()).argmax(-1))
    race = reference(given, [("race", {"noise": (-noise).exp()})])
    assert torch.equal(race.winners.best, found.winners.best)


def test_the_first_token_of_a_draft_is_drawn_from_the_target():
    """Over drafts from q, accept-or-recover is a draw from p: the mixture over all drafts is p itself."""
    p = torch.softmax(logits(1, 8).double(), -1)
    q = torch.softmax(logits(2, 8)[1:].double() * 2, -1)
    mixed = torch.zeros(8, dtype=torch.float64)
    for draft in range(8):
        step = ("speculate", {"drafts": torch.tensor([draft]), "draft": q})
        mixed += q[0, draft] * reference(p.log(), [step, ("sample", {})]).distribution[0]
    assert torch.allclose(mixed, p[0], atol=1e-12)


def test_a_step_that_changes_masked_logits_is_refused():
    """What a bias after top-k would mean for the kept set is not defined."""
    with pytest.raises(ValueError, match="bias after a step that masks"):
        reference(logits(), [("top-k", {"k": 2}), ("bias", {})])


def test_rows_of_steps():
    """Parameters that are tensors are cut to the rows, numbers stay."""
    ((name, given),) = of_rows([("top-k", {"k": torch.arange(4), "ties": "all"})], slice(1, 3), "cpu")
    assert name == "top-k"
    assert given["k"].tolist() == [1, 2]
    assert given["ties"] == "all"
