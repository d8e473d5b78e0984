"""The fp64 oracle of top-k / top-p: tie-aware, against a token-by-token definition."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch", reason="needs the checks extra")

from analyzer.kernels import oracle  # noqa: E402


def definition(row: list[float], k: int | None, p: float | None) -> list[set[int]]:
    """The kept sets of every order in which equal logits can be ranked: here the first- and the last-index orders."""
    sets = []
    for sign in (1, -1):
        order = sorted(range(len(row)), key=lambda index: (-row[index], sign * index))
        order = [index for index in order[: k or len(row)] if row[index] > -math.inf]
        kept, mass = set(), 0.0
        total = sum(math.exp(row[index] - row[order[0]]) for index in order) if order else 1.0
        for index in order:
            if p is not None and mass / total >= p:
                break
            kept.add(index)
            mass += math.exp(row[index] - row[order[0]])
        sets.append(kept)
    return sets


@settings(deadline=None, max_examples=150)
@given(
    st.lists(st.sampled_from([-math.inf, -2.0, -1.0, 0.0, 0.5, 1.0, 3.0]), min_size=2, max_size=12).filter(
        lambda row: max(row) > -math.inf
    ),
    st.one_of(st.none(), st.integers(1, 12)),
    st.one_of(st.none(), st.sampled_from([0.1, 0.51, 0.9, 0.999])),
)
def test_every_correct_choice_among_ties_is_admitted(row, k, p):
    """Whatever order ties are ranked in, the kept set holds all that must be kept and none that must be dropped."""
    allowed = oracle.top_k_top_p(torch.tensor([row], dtype=torch.float64), k, p)
    must_keep = set(allowed.must_keep[0].nonzero().flatten().tolist())
    must_drop = set(allowed.must_drop[0].nonzero().flatten().tolist())
    for kept in definition(row, k, p):
        assert must_keep <= kept
        assert not (must_drop & kept)


def test_without_ties_nothing_is_left_open():
    """Distinct logits away from p's band: every token is either required or excluded."""
    logits = torch.tensor([[3.0, 1.0, 2.0, -1.0, 0.0]], dtype=torch.float64)
    allowed = oracle.top_k_top_p(logits, 3, 0.9)
    assert (allowed.must_keep ^ allowed.must_drop).all()
    assert allowed.must_keep[0].tolist() == [True, False, True, False, False]


def test_ties_at_the_kth_place_are_open():
    """Two tokens share the k-th place: neither is required, neither excluded."""
    allowed = oracle.top_k_top_p(torch.tensor([[2.0, 1.0, 1.0, 0.0]], dtype=torch.float64), 2)
    assert allowed.must_keep[0].tolist() == [True, False, False, False]
    assert allowed.must_drop[0].tolist() == [False, False, False, True]


def test_masked_tokens_are_excluded():
    """A token at −inf may never be kept, however large k is."""
    allowed = oracle.top_k_top_p(torch.tensor([[0.0, float("-inf"), 1.0]], dtype=torch.float64), 3)
    assert allowed.must_drop[0].tolist() == [False, True, False]


def test_total_variation_is_half_the_l1_distance():
    """[1, 0] against [0.5, 0.5] is 0.5 apart."""
    p, q = torch.tensor([[1.0, 0.0]]), torch.tensor([[0.5, 0.5]])
    assert oracle.total_variation(p, q).tolist() == [0.5]
