"""The kept sets of top-k, top-p and min-p against a definition in fractions, over every order of ties."""

import math
from fractions import Fraction
from itertools import chain, groupby, permutations, product

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch", reason="needs the checks extra")

from analyzer.kernels.kept_set import MinP, TopK, TopP, kept_set  # noqa: E402

INF = math.inf
NEAR = Fraction(1, 1000)


def logits_of(*rows: list[int]) -> "torch.Tensor":
    """Logits whose probabilities stand as these integers; 0 is a masked token."""
    return torch.tensor([[math.log(weight) if weight else -INF for weight in row] for row in rows], dtype=torch.float64)


def orders(weights: list[int]) -> list[list[int]]:
    """Every order of the unmasked tokens, largest first, that breaks ties in some way."""
    ids = sorted((token for token in range(len(weights)) if weights[token]), key=lambda token: -weights[token])
    groups = [list(group) for _, group in groupby(ids, key=lambda token: weights[token])]
    return [list(chain(*parts)) for parts in product(*(permutations(group) for group in groups))]


def with_ties(weights: list[int], given: list[int], count: int, ties: str) -> list[list[int]]:
    exact = given[:count]
    every = [token for token in given if exact and weights[token] >= weights[exact[-1]]]
    return {"exact": [exact], "all": [every], "either": [exact, every]}[ties]


def after(weights: list[int], given: list[int], step) -> list[list[int]]:
    """What one order of tokens may become in one step. Skips the example where a decision is within the band."""
    if not given:
        return [given]
    if isinstance(step, TopK):
        count = step.k if 0 < step.k < len(weights) else len(weights)
        return with_ties(weights, given, count, step.ties)
    if isinstance(step, MinP):
        ratios = [Fraction(weights[token], weights[given[0]]) for token in given]
        limit = Fraction(step.value)
        assume(all(ratio == 1 or abs(ratio - limit) > NEAR for ratio in ratios))
        return [[token for token, ratio in zip(given, ratios, strict=True) if ratio >= limit]]
    limit, total = Fraction(step.p), sum(weights[token] for token in given)
    if limit >= 1:
        return [given]
    found = []
    for boundary in ("in", "out") if step.boundary == "either" else (step.boundary,):
        count = 0
        for token in given:
            before = Fraction(sum(weights[one] for one in given[:count]), total)
            mass = before if boundary == "in" else before + Fraction(weights[token], total)
            assume(abs(mass - limit) > NEAR or mass == 1)
            if count and (mass >= limit if boundary == "in" else mass > limit):
                break
            count += 1
        found += with_ties(weights, given, count, step.ties)
    return found


def possible(weights: list[int], steps) -> list[set[int]]:
    found = orders(weights)
    for step in steps:
        found = [kept for given in found for kept in after(weights, given, step)]
    return [set(kept) for kept in found]


TIES = st.sampled_from(["either", "all", "exact"])
STEPS = st.lists(
    st.one_of(
        st.builds(TopK, st.integers(-1, 7), TIES),
        st.builds(
            TopP,
            st.sampled_from([0.0, 0.11, 0.37, 0.51, 0.77, 0.93, 1.0]),
            st.sampled_from(["in", "out", "either"]),
            TIES,
        ),
        st.builds(MinP, st.sampled_from([0.0, 0.09, 0.27, 0.55, 1.0])),
    ),
    max_size=3,
)
WEIGHTS = st.lists(st.sampled_from([0, 1, 1, 2, 3, 8]), min_size=1, max_size=6)


def tokens(mask: "torch.Tensor") -> set[int]:
    return set(mask.nonzero().flatten().tolist())


@settings(deadline=None, max_examples=300)
@given(WEIGHTS, STEPS)
def test_the_bounds_are_those_of_all_possible_sets(weights, steps):
    """Required is what every possible set has, excluded what none has, and the counts are the least and the most."""
    sets = possible(weights, steps)
    found = kept_set(logits_of(weights), *steps)
    assert tokens(found.must_keep[0]) == set.intersection(*sets)
    assert tokens(found.must_drop[0]) == set(range(len(weights))) - set.union(*sets)
    assert (int(found.least), int(found.most)) == (min(map(len, sets)), max(map(len, sets)))
    masks = torch.tensor([[token in kept for token in range(len(weights))] for kept in sets])
    assert all(found.admits(mask[None]).item() for mask in masks)


@settings(deadline=None, max_examples=60)
@given(WEIGHTS, STEPS, st.randoms(use_true_random=False), st.sampled_from([-30.0, 0.5, 100.0]))
def test_permuting_and_shifting(weights, steps, random, shift):
    """A permuted vocabulary has the permuted answer, and adding a constant to the logits changes nothing."""
    order = list(range(len(weights)))
    random.shuffle(order)
    logits = torch.tensor([[[-INF, -2.0, -1.0, 0.5, 2.0, 3.0, 0.0, 1.0, 4.0][weight] for weight in weights]]).double()
    plain, permuted, shifted = (kept_set(one, *steps) for one in (logits, logits[:, order], logits + shift))
    assert torch.equal(plain.must_keep[:, order], permuted.must_keep)
    assert torch.equal(plain.must_drop[:, order], permuted.must_drop)
    assert all(map(torch.equal, plain, shifted))


@pytest.mark.parametrize("step", [TopK(6), TopK(0), TopK(-1), TopK(2**30), TopP(1.0), TopP(1.5), MinP(0.0)])
def test_off(step):
    """k of the vocabulary or none, p of 1 and min-p of 0 keep what is not masked, far tails too."""
    logits = torch.tensor([[0.0, -90.0, -INF, 3.0, -700.0, 3.0]], dtype=torch.float64)
    found = kept_set(logits, step)
    assert tokens(found.must_keep[0]) == {0, 1, 3, 4, 5}
    assert tokens(found.must_drop[0]) == {2}


def test_each_row_has_its_own_numbers():
    """A batch with tensors of k, p and min-p is the rows one by one, rows that are off among them."""
    rows = torch.randn(5, 50, generator=torch.Generator().manual_seed(1), dtype=torch.float64) * 3
    k, p, m = [0, 3, 50, 7, 1], [0.9, 1.0, 0.5, 0.99, 0.1], [0.0, 0.1, 0.02, 0.0, 1.0]
    whole = kept_set(rows, MinP(torch.tensor(m)), TopK(torch.tensor(k)), TopP(torch.tensor(p)))
    for row in range(5):
        single = kept_set(
            rows[row : row + 1], MinP(float(torch.tensor(m)[row])), TopK(k[row]), TopP(float(torch.tensor(p)[row]))
        )
        assert all(torch.equal(mine[row : row + 1], own) for mine, own in zip(whole, single, strict=True))


def test_ties_at_the_kth_place():
    """Of two tokens that share the second place one alone, both, or either may stay, as the contract has it."""
    logits = torch.tensor([[2.0, 1.0, 1.0, 0.0]], dtype=torch.float64)
    sets = torch.tensor([[1, 0, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 1, 0], [1, 1, 0, 1]]).bool()
    admitted = {ties: kept_set(logits, TopK(2, ties)).admits(sets).tolist() for ties in ("exact", "all", "either")}
    assert admitted == {
        "exact": [False, True, True, False, False],
        "all": [False, False, False, True, False],
        "either": [False, True, True, True, False],
    }


def test_the_boundary_token():
    """Of 50%, 30% and 20% the mass reaches 0.6 with the second: it belongs to the set, or does not."""
    logits = logits_of([5, 3, 2])
    assert kept_set(logits, TopP(0.6)).must_keep.tolist() == [[True, True, False]]
    assert kept_set(logits, TopP(0.6, "out")).must_drop.tolist() == [[False, True, True]]
    both = kept_set(logits, TopP(0.6, "either"))
    assert both.must_keep.tolist() == [[True, False, False]] and both.must_drop.tolist() == [[False, False, True]]


def test_the_band_around_p_is_open():
    """A mass of exactly p before a token leaves it open, one 2e-5 from p does not."""
    logits = logits_of([5, 3, 2])
    assert not (kept_set(logits, TopP(0.5)).must_keep | kept_set(logits, TopP(0.5)).must_drop)[0, 1]
    assert kept_set(logits, TopP(0.5 + 2e-5)).must_keep[0, 1]
    assert kept_set(logits, TopP(0.5 - 2e-5)).must_drop[0, 1]


def test_the_band_of_min_p_is_open():
    """A ratio of exactly min-p is open, one 2e-5 from it, relatively, is not; the maximum's equals always stay."""
    logits = logits_of([4, 2, 1])
    assert not (kept_set(logits, MinP(0.5)).must_keep | kept_set(logits, MinP(0.5)).must_drop)[0, 1]
    assert kept_set(logits, MinP(0.5 * (1 - 2e-5))).must_keep[0, 1]
    assert kept_set(logits, MinP(0.5 * (1 + 2e-5))).must_drop[0, 1]
    assert kept_set(logits_of([4, 4, 1]), MinP(1.0)).must_keep.tolist() == [[True, True, False]]


def test_k_before_p_or_after():
    """50%, 30%, 20%: the best two alone are 5 : 3, so p = 0.6 takes one of them; of all three it takes two."""
    logits = logits_of([5, 3, 2])
    first, last = kept_set(logits, TopK(2), TopP(0.6)), kept_set(logits, TopP(0.6), TopK(2))
    assert first.must_keep.tolist() == [[True, False, False]] and first.must_drop.tolist() == [[False, True, True]]
    assert last.must_keep.tolist() == [[True, True, False]] and last.must_drop.tolist() == [[False, False, True]]
    open_ = first.either(last)
    assert open_.must_keep.tolist() == [[True, False, False]] and open_.must_drop.tolist() == [[False, False, True]]
    assert (int(open_.least), int(open_.most)) == (1, 2)


def test_near_ties():
    """Logits that an fp32 division may have made equal are ties where the caller says so, and masked ones never are."""
    near = 1.0 - 2.0**-25
    logits = torch.tensor([[1.0, near, 0.5, -INF]], dtype=torch.float64)
    assert kept_set(logits, TopK(1)).must_drop.tolist() == [[False, True, True, True]]
    found = kept_set(logits, TopK(1), ties_within=2.0**-23)
    assert found.must_keep.tolist() == [[False] * 4] and found.must_drop.tolist() == [[False, False, True, True]]
    assert (int(found.least), int(found.most)) == (1, 2)
    exact = kept_set(logits, TopK(1, "exact"), ties_within=2.0**-23)
    assert (int(exact.least), int(exact.most)) == (1, 1)


@pytest.mark.parametrize("steps", [[], [TopK(2)], [TopP(0.5)], [MinP(0.5)], [TopK(2), TopP(0.5), MinP(0.2)]])
def test_special_rows(steps):
    """All masked: all dropped. One left: it stays. A NaN opens its own row alone."""
    rows = torch.tensor([[-INF] * 3, [-INF, 5.0, -INF], [float("nan"), 1.0, -INF], [3.0, -INF, -INF]]).double()
    found = kept_set(rows, *steps)
    assert found.must_keep.tolist() == [[False] * 3, [False, True, False], [False] * 3, [True, False, False]]
    assert found.must_drop.tolist() == [[True] * 3, [True, False, True], [False] * 3, [False, True, True]]
    assert found.least.tolist() == [0, 1, 0, 1] and found.most.tolist() == [0, 1, 3, 1]


def test_infinite_logits():
    """+inf is the largest to top-k; to top-p and min-p it is no distribution, so they require nothing."""
    row = torch.tensor([[INF, 1.0, 0.0, -INF]], dtype=torch.float64)
    assert kept_set(row, TopK(1)).must_keep.tolist() == [[True, False, False, False]]
    for step in (TopP(0.5), MinP(0.5)):
        found = kept_set(row, TopK(2), step)
        assert found.must_keep.tolist() == [[False] * 4]
        assert found.must_drop.tolist() == [[False, False, True, True]]


def test_refused():
    """A number a row of the wrong length, a NaN and a min-p over 1 are errors that name the parameter."""
    rows = torch.zeros(2, 3, dtype=torch.float64)
    for step, message in (
        (TopK(torch.tensor([1, 2, 3])), "top_k: expected"),
        (TopP(float("nan")), "top_p: a NaN"),
        (MinP(1.5), "min_p: not in"),
    ):
        with pytest.raises(ValueError, match=message):
            kept_set(rows, step)


@pytest.mark.gpu
def test_on_a_gpu():
    """The same answer on CUDA tensors, special rows and near ties among them."""
    rows = torch.randn(7, 300, generator=torch.Generator().manual_seed(2)).double()
    rows[0], rows[1, 3], rows[2, 1], rows[3, :290] = -INF, float("nan"), INF, -INF
    rows[4] = rows[4].bfloat16().double()
    steps = MinP(0.01), TopK(torch.tensor([5, 0, 9, 4, 20, 300, 1])), TopP(0.9)
    here, there = (kept_set(one, *steps, ties_within=2.0**-23) for one in (rows, rows.cuda()))
    assert all(torch.equal(mine, its.cpu()) for mine, its in zip(here, there, strict=True))
