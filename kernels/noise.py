"""Which token wins when the noise is given: Gumbel-max and the exponential race."""

from __future__ import annotations

from typing import NamedTuple

import torch

from analyzer.kernels.rows import ROUNDOFF

#: Roundings of fp32 that a score is granted: twice the most that `gumbel_max` and `exponential_race` count.
ROUNDINGS = 8

#: Below this logit, relative to the maximum, an fp32 probability may have been flushed to 0 (ln 2^-126 = −87.3).
FLUSHED = -87.0


class Winners(NamedTuple):
    """`best` (int64 [rows]): the token of the highest fp64 score, the lowest id among equals, −1 where none is defined.

    `may_win` (bool [rows, vocab]): the tokens that rounding may let win. One alone must win; with several the choice
    is the implementation's.
    """

    best: torch.Tensor
    may_win: torch.Tensor


def gumbel_max(logits: torch.Tensor, noise: torch.Tensor, roundings: float = ROUNDINGS) -> Winners:
    """argmax of logits + noise, noise being Gumbel(0, 1) (Maddison et al., arXiv 1411.0030); both fp64 [rows, vocab].

    With noise 0 this is greedy sampling; give it `roundings` 0, as comparing rounds nothing.

    A score x + g is granted `roundings` × 2^-24 × (|x| + |g| + 1): x may be a rounded quotient by the temperature (1 of
    |x|); g = −ln(−ln u) is a rounded logarithm (2 of |g|) of another, whose relative error is absolute in g (2 of 1);
    the sum is rounded (1 of |x| + |g|). That is 3 at most, and 4 for an exponential race. A token may win where its
    score plus its grant reaches every score minus that one's grant.

    Special rows: a masked token (−inf) never wins; where all are masked none can. A row with a NaN, in the logits or
    the noise, is out of contract: all may win. Of tokens whose score is +inf each may win, and no other.
    """
    scores = torch.where(logits == float("-inf"), logits, logits + noise)
    grant = roundings * ROUNDOFF * (logits.abs() + noise.abs() + 1)
    return _winners(scores, grant, logits.isnan() | noise.isnan())


def exponential_race(logits: torch.Tensor, exponential: torch.Tensor, roundings: float = ROUNDINGS) -> Winners:
    """argmax of softmax(logits) / e, e being Exp(1): the first arrival of a race with rates p; both fp64 [rows, vocab].

    ln(p / e) is the logit less ln e less a constant of the row, and −ln e is Gumbel(0, 1). p's relative error is
    absolute in that score x − max − ln e, which is granted `roundings` × 2^-24 × (|x| + |max| + 1): both may be rounded
    quotients by the temperature and their difference is rounded (2 of |x| + |max|); the exponential and the divisions
    by the sum and by e are rounded (4 of 1); the sum is the same for all. e is given, so it has no error.

    Special rows as in `gumbel_max`, but with +inf there is no softmax: all that is not masked may win. Of tokens with
    e = 0 each may win. A token whose p fp32 may flush to 0 may win, but need not.
    """
    top = logits.max(-1, keepdim=True).values
    infinite = (top == float("inf")) & (logits > float("-inf"))
    below = torch.where(top.isinf(), logits, logits - top)
    scores = torch.where(below == float("-inf"), below, below - exponential.log())
    grant = roundings * ROUNDOFF * (logits.abs() + top.abs() + 1)
    found = _winners(scores, grant, logits.isnan() | exponential.isnan(), below < FLUSHED)
    return Winners(found.best.masked_fill(infinite.any(-1), -1), found.may_win | infinite)


def _winners(
    scores: torch.Tensor, grant: torch.Tensor, undefined: torch.Tensor, unsure: torch.Tensor | None = None
) -> Winners:
    """The winners of fp64 `scores`, each known within `grant`; tokens in `unsure` may be out of the race altogether."""
    undefined = (undefined | scores.isnan()).any(-1, keepdim=True)
    grant = torch.where(scores.isinf(), 0.0, grant)
    low = scores - grant
    if unsure is not None:
        low = low.masked_fill(unsure, float("-inf"))
    possible = scores > float("-inf")
    may_win = undefined | (possible & (scores + grant >= low.max(-1, keepdim=True).values))
    wins = possible & (scores == scores.max(-1, keepdim=True).values)
    vocab = scores.shape[1]
    first = torch.where(wins, torch.arange(vocab, device=scores.device), vocab).min(-1).values  # argmax may take any
    best = torch.where(first < vocab, first, -1)
    return Winners(best.masked_fill(undefined.squeeze(1), -1), may_win)
