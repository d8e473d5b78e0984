"""Winners of Gumbel-max and the exponential race, given the noise."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch", reason="needs the checks extra")

from analyzer.kernels.noise import exponential_race, gumbel_max  # noqa: E402

INF, NAN = math.inf, math.nan
QUARTERS = st.one_of(st.just(-INF), st.integers(-8, 8).map(lambda number: number / 4))
ROWS = st.lists(st.tuples(QUARTERS, st.integers(-8, 8).map(lambda number: number / 4)), min_size=1, max_size=8)


def fp64(*rows: list[float]) -> "torch.Tensor":
    return torch.tensor(rows, dtype=torch.float64)


def tokens(mask: "torch.Tensor") -> list[int]:
    return mask[0].nonzero().flatten().tolist()


@settings(deadline=None, max_examples=150)
@given(ROWS, st.sampled_from([0, 8]))
def test_the_winner_is_the_largest_sum(row, roundings):
    """On sums exact in quarters: the best is the first largest, all its equals may win, no other, no masked one."""
    sums = [x + g for x, g in row]
    best = [token for token, value in enumerate(sums) if value == max(sums) and value > -INF]
    found = gumbel_max(fp64([x for x, _ in row]), fp64([g for _, g in row]), roundings)
    assert tokens(found.may_win) == best
    assert found.best.tolist() == [best[0] if best else -1]


@settings(deadline=None, max_examples=150)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 9)), min_size=1, max_size=8))
def test_the_race_is_won_by_the_largest_quotient(row):
    """Weights and times that are integers: the winners are those of the largest exact quotient."""
    quotients = [weight / time for weight, time in row]
    best = [token for token, value in enumerate(quotients) if value == max(quotients) and value > 0]
    logits = fp64([math.log(weight) if weight else -INF for weight, _ in row])
    found = exponential_race(logits, fp64([float(time) for _, time in row]))
    assert tokens(found.may_win) == best
    assert found.best.tolist()[0] in (best or [-1])


def test_the_race_is_gumbel_max_of_minus_its_logarithm():
    """−ln of an exponential is Gumbel noise: on random rows both have the same best token."""
    generator = torch.Generator().manual_seed(4)
    logits = torch.randn(50, 100, generator=generator, dtype=torch.float64)
    times = torch.empty(50, 100, dtype=torch.float64).exponential_(generator=generator)
    assert torch.equal(exponential_race(logits, times).best, gumbel_max(logits, -times.log()).best)


@pytest.mark.parametrize("scale", [0.1, 1.0, 30.0])
def test_fp32_never_wins_outside_the_grant(scale):
    """fp32 with its own division, noise and softmax: its winner is always among those granted.

    In two thirds of the rows the noise makes all scores nearly equal, so that fp32 and fp64 do differ.
    """
    generator = torch.Generator().manual_seed(5)
    rows, vocab, temperature = 3000, 64, 0.7
    logits = torch.randn(rows, vocab, generator=generator) * scale + 20
    scaled = logits / temperature
    times = torch.empty(rows, vocab).exponential_(generator=generator)
    times[1000:] = (scaled - scaled.max(-1, keepdim=True).values).exp().clamp_min(1e-30)[1000:]
    u = (-times).exp().clamp(1e-10, 1 - 2.0**-24)
    of_gumbel = (scaled - (-u.log()).log()).argmax(-1)
    of_race = (scaled.softmax(-1) / times).argmax(-1)
    exact = logits.double() / temperature
    by_gumbel = gumbel_max(exact, -(-u.double().log()).log())
    by_race = exponential_race(exact, times.double())
    assert by_gumbel.may_win[torch.arange(rows), of_gumbel].all()
    assert by_race.may_win[torch.arange(rows), of_race].all()
    assert (of_gumbel != by_gumbel.best).any() and (of_race != by_race.best).any()
    assert (by_race.may_win[:1000].sum(-1) == 1).float().mean() > 0.99


def test_greedy():
    """Without noise and roundings the largest logit wins; its equals may, a neighbour one ULP below may not."""
    logits = fp64([1.0, math.nextafter(1.0, 0.0), 1.0, -INF])
    found = gumbel_max(logits, torch.zeros_like(logits), 0)
    assert tokens(found.may_win) == [0, 2] and found.best.tolist() == [0]


def test_masked_and_undefined_rows():
    """All masked: none can win. A NaN in either: all may. The row beside them is decided as ever."""
    logits = fp64([-INF, -INF], [NAN, 0.0], [0.0, 0.0], [0.0, -INF])
    for function, noise in ((gumbel_max, 1.0), (exponential_race, 1.0)):
        given_noise = torch.full_like(logits, noise)
        given_noise[2, 1] = NAN
        found = function(logits, given_noise)
        assert found.may_win.tolist() == [[False, False], [True, True], [True, True], [True, False]]
        assert found.best.tolist() == [-1, -1, -1, 0]


def test_infinite_scores():
    """Gumbel: +inf wins. Race: with +inf all that is not masked may win; e = 0 wins; a flushed p with it need not."""
    infinite = fp64([INF, 3.0, -INF])
    assert tokens(gumbel_max(infinite, torch.zeros_like(infinite)).may_win) == [0]
    assert tokens(exponential_race(infinite, torch.ones_like(infinite)).may_win) == [0, 1]
    assert tokens(exponential_race(fp64([1.0, 2.0, -INF]), fp64([0.0, 1.0, 0.0])).may_win) == [0]
    assert tokens(exponential_race(fp64([0.0, -90.0, -1.0]), fp64([1.0, 0.0, 1.0])).may_win) == [0, 1]


@pytest.mark.gpu
def test_on_a_gpu():
    """The same answer on CUDA tensors, undefined rows among them."""
    generator = torch.Generator().manual_seed(6)
    logits = torch.randn(6, 200, generator=generator).double()
    logits[0], logits[1, 3], logits[2, 5] = -INF, NAN, INF
    times = torch.empty(6, 200).exponential_(generator=generator).double()
    for function, noise in ((gumbel_max, -times.log()), (exponential_race, times)):
        here, there = function(logits, noise), function(logits.cuda(), noise.cuda())
        assert all(torch.equal(mine, its.cpu()) for mine, its in zip(here, there, strict=True))
