"""Steps in the forms that engines keep their state in: packed prompts, counts, lists with a length, given draws."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from analyzer.kernels.penalties import unpacked  # noqa: E402
from analyzer.kernels.reference import reference  # noqa: E402

INF = float("inf")


def test_bits_are_read_from_the_lowest():
    """Token 0 is bit 0 of the first word, token 33 bit 1 of the second; the sign bit is token 31."""
    bits = torch.tensor([[1 | -(1 << 31), 2]], dtype=torch.int32)
    assert unpacked(bits, 40).nonzero()[:, 1].tolist() == [0, 31, 33]


def test_packed_penalties_are_those_of_the_tokens():
    """A prompt as bits and an output as counts give what lists of tokens give."""
    logits = torch.randn(1, 40)
    numbers = {"repetition": 1.5, "frequency": 0.25, "presence": 0.5}
    tokens = {"prompt": torch.tensor([[0, 33]]), "output": torch.tensor([[5, 5, 7]])}
    counts = torch.zeros(1, 40, dtype=torch.int32)
    counts[0, 5], counts[0, 7] = 2, 1
    packed = {"prompt_bits": torch.tensor([[1, 2]], dtype=torch.int32), "output_counts": counts}
    one, two = (reference(logits, [("penalties", {**given, **numbers})]).values for given in (tokens, packed))
    assert torch.equal(one, two)


def test_lists_end_at_their_count():
    """Ids after the count are none; a count of 0 allows all."""
    logits = torch.zeros(2, 4)
    ids, count = torch.tensor([[1, 2], [1, 2]]), torch.tensor([1, 0])
    assert reference(logits, [("allow", {"ids": ids, "count": count})]).values.tolist() == [
        [-INF, 0, -INF, -INF], [0, 0, 0, 0],
    ]  # fmt: skip
    values = torch.ones(2, 2)
    biased = reference(logits, [("bias", {"ids": ids, "values": values, "count": count})])
    assert biased.values.tolist() == [[0, 1, 0, 0], [0, 0, 0, 0]]
    words = torch.tensor([[[1], [2]], [[1], [2]]])
    banned = reference(logits, [("bad-words", {"history": ids, "words": words, "count": count})])
    assert banned.values.tolist() == [[0, -INF, 0, 0], [0, 0, 0, 0]]


def test_a_ban_ends_with_the_position():
    """Stop tokens are banned until the least length is reached: at position 3 the length is 4."""
    given = {"ids": torch.tensor([[2], [2]]), "pos": torch.tensor([3, 4]), "until": torch.tensor([5, 5])}
    found = reference(torch.zeros(2, 3), [("ban", given)]).values
    assert found.tolist() == [[0, 0, -INF], [0, 0, 0]]


def test_scores_of_the_sampled_token_and_of_the_best():
    """The sampled token's log-probability first, then the largest ones."""
    logits = torch.tensor([[0.0, 2.0, 1.0]])
    found = reference(logits, [("log-softmax", {}), ("top", {"ids": torch.tensor([0]), "n": 2})])
    logprobs = logits.double().log_softmax(-1)[0]
    assert torch.allclose(found.values[0], logprobs[[0, 1, 2]])


def test_a_draft_with_given_draws_has_one_answer():
    """Accepted where u is below p(d) / q(d), else the recovered token."""
    logits = torch.tensor([[0.0, 0.0], [0.0, 0.0]])
    given = {
        "drafts": torch.tensor([0, 0]), "draft_logits": torch.tensor([[3.0, 0.0], [3.0, 0.0]]),
        "uniform": torch.tensor([0.1, 0.9]), "recovered": torch.tensor([1, 1]),
    }  # fmt: skip
    winners = reference(logits, [("speculate", given)]).winners
    assert winners.may_win.tolist() == [[True, False], [False, True]] and winners.best.tolist() == [0, 1]
