"""Rejection sampling of speculative decoding: together with its recovered token it is a draw from the target."""

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch", reason="needs the checks extra")

from analyzer.kernels.speculative import (  # noqa: E402
    Acceptance,
    acceptance,
    acceptance_probability,
    greedy_acceptance,
    last_token,
    one_hot,
    recovered,
)

VOCAB = 5
WEIGHTS = st.lists(st.integers(0, 9), min_size=VOCAB, max_size=VOCAB).filter(any)


def shares(*rows: list[int]) -> "torch.Tensor":
    """Distributions that stand as these integers."""
    weights = torch.tensor(rows, dtype=torch.float64)
    return weights / weights.sum(-1, keepdim=True)


@settings(deadline=None, max_examples=150)
@given(WEIGHTS, WEIGHTS)
def test_acceptance_and_recovery_in_fractions(target, draft):
    """min(1, p/q) and the normalised rest, token by token in exact fractions."""
    p = [Fraction(weight, sum(target)) for weight in target]
    q = [Fraction(weight, sum(draft)) for weight in draft]
    every = torch.arange(VOCAB)
    p64, q64 = shares(target).expand(VOCAB, VOCAB), shares(draft).expand(VOCAB, VOCAB)
    accepts = acceptance_probability(p64, q64, every).tolist()
    assert accepts == pytest.approx(
        [0.0 if not a else 1.0 if not b else float(min(Fraction(1), a / b)) for a, b in zip(p, q, strict=True)],
        abs=1e-14,
    )
    rest = [max(a - b, Fraction(0)) for a, b in zip(p, q, strict=True)]
    found = recovered(p64[:1], q64[:1])
    assert found.mass.item() == pytest.approx(float(sum(rest)), abs=1e-14)
    if sum(rest):
        assert found.probabilities[0].tolist() == pytest.approx([float(one / sum(rest)) for one in rest], abs=1e-12)


@settings(deadline=None, max_examples=150)
@given(WEIGHTS, WEIGHTS)
def test_the_output_is_a_draw_from_the_target(target, draft):
    """Over all drafts: q(d) accepted to d, the rest to the recovered token; the sum is p to 1e-12."""
    p, q = shares(target)[0], shares(draft)[0]
    every = torch.arange(VOCAB)
    accepted = q * acceptance_probability(p.expand(VOCAB, -1), q.expand(VOCAB, -1), every)
    found = recovered(p, q)
    total = accepted + (1 - accepted.sum()) * found.probabilities
    assert (total - p).abs().max() < 1e-12
    assert found.mass.item() == pytest.approx(1 - accepted.sum().item(), abs=1e-12)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(WEIGHTS, WEIGHTS), min_size=1, max_size=3), WEIGHTS)
def test_a_chain_of_drafts_follows_the_target(places, bonus):
    """Independent places: whatever number is accepted, the token at each place has that place's p, the bonus too."""
    longest = len(places)
    p, q = shares(*(one for one, _ in places), bonus)[None], shares(*(one for _, one in places))[None]
    lengths, reached = torch.tensor([longest]), 1.0
    for accepted in range(longest + 1):
        last = last_token(p, q, torch.tensor([accepted]), lengths)[0]
        if accepted == longest:
            assert torch.equal(last, p[0, longest])
            break
        every = torch.arange(VOCAB)
        kept = q[0, accepted] * acceptance_probability(
            p[0, accepted].expand(VOCAB, -1), q[0, accepted].expand(VOCAB, -1), every
        )
        assert (kept + (1 - kept.sum()) * last - p[0, accepted]).abs().max() < 1e-12
        reached *= kept.sum().item()
    assert 0 <= reached <= 1 + 1e-12


def test_a_draft_without_probabilities():
    """An n-gram draft of token 1 stands with p(1) = 0.3; the token in its place is any other, as 5 : 2."""
    target, drafts = shares([5, 3, 2]), torch.tensor([1])
    draft = one_hot(drafts, 3)
    assert draft.tolist() == [[0.0, 1.0, 0.0]]
    assert acceptance_probability(target, draft, drafts).tolist() == pytest.approx([0.3])
    found = recovered(target, draft)
    assert found.mass.tolist() == pytest.approx([0.7])
    assert found.probabilities[0].tolist() == pytest.approx([5 / 7, 0.0, 2 / 7])


def test_a_draft_equal_to_the_target_leaves_nothing():
    """p = q is never rejected; the recovered token has no distribution, and the row is zero rather than NaN."""
    p = shares([1, 2, 3])
    found = recovered(p, p)
    assert found.mass.tolist() == [0.0] and found.probabilities.tolist() == [[0.0] * 3]


@pytest.mark.parametrize(
    ("target", "draft", "uniform", "accept", "reject"),
    [
        ([1, 3], [2, 2], 0.49, True, False),
        ([1, 3], [2, 2], 0.51, False, True),
        ([1, 3], [2, 2], 0.5, False, False),  # u on the ratio: < or <=
        ([1, 3], [2, 2], 0.5 * (1 + 0.9e-5), False, False),
        ([1, 3], [2, 2], 0.5 * (1 + 1.1e-5), False, True),
        ([1, 3], [2, 2], 0.5 * (1 - 1.1e-5), True, False),
        ([3, 1], [2, 2], 1 - 2.0**-24, True, False),
        ([2, 2], [2, 2], 1 - 2.0**-24, False, False),  # the ratio is 1 within rounding
        ([0, 4], [2, 2], 0.0, False, True),  # never a token that the target cannot give
        ([0, 4], [0, 4], 0.0, False, True),
        ([1, 3], [0, 4], 0.5, False, False),  # no draw from q
    ],
)
def test_acceptance_given_the_uniform(target, draft, uniform, accept, reject):
    """Draft 0 is accepted where u < p/q, rejected where not, open within rounding of it."""
    number = torch.tensor([uniform], dtype=torch.float64)
    found = acceptance(shares(target), shares(draft), torch.tensor([0]), number)
    assert (found.must_accept.tolist(), found.must_reject.tolist()) == ([accept], [reject])


def test_a_nan_leaves_acceptance_open():
    """In p or q, in its own row alone."""
    p, q = shares([1, 3], [1, 3], [1, 3]), shares([2, 2], [2, 2], [2, 2])
    p[0, 1], q[1, 0] = math.nan, math.nan
    found = acceptance(p, q, torch.zeros(3, dtype=torch.int64), torch.full((3,), 0.1, dtype=torch.float64))
    assert found.must_accept.tolist() == [False, False, True] and found.must_reject.tolist() == [False] * 3


def test_greedy_targets():
    """The largest alone must be accepted, one of two largest may, a smaller one must not, a NaN opens its row."""
    logits = torch.tensor([[2.0, 1.0], [2.0, 2.0], [1.0, 2.0], [math.nan, 2.0]], dtype=torch.float64)
    found = greedy_acceptance(logits, torch.zeros(4, dtype=torch.int64))
    assert found.must_accept.tolist() == [True, False, False, False]
    assert found.must_reject.tolist() == [False, False, True, False]


def test_drafts_accepted_in_a_row():
    """Up to the first rejection, open drafts either way, and never beyond a request's own drafts."""
    must_accept = torch.tensor([[1, 0, 1], [1, 1, 1], [0, 1, 1], [1, 1, 1]]).bool()
    must_reject = torch.tensor([[0, 0, 1], [0, 0, 0], [1, 0, 0], [0, 0, 0]]).bool()
    least, most = Acceptance(must_accept, must_reject).accepted(torch.tensor([3, 2, 3, 0]))
    assert least.tolist() == [1, 2, 0, 0] and most.tolist() == [2, 2, 0, 0]


def test_the_last_token():
    """After one of two drafts the recovered token; after both, and after none of none, the bonus token."""
    p = shares([5, 3, 2], [1, 1, 2], [4, 4, 2]).expand(3, 3, 3)
    q = one_hot(torch.tensor([[0, 2], [0, 2], [0, 0]]), 3)
    found = last_token(p, q, torch.tensor([1, 2, 0]), torch.tensor([2, 2, 0]))
    assert found[0].tolist() == pytest.approx([0.5, 0.5, 0.0])
    assert found[1].tolist() == pytest.approx([0.4, 0.4, 0.2])
    assert found[2].tolist() == pytest.approx([0.5, 0.3, 0.2])
