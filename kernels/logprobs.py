"""Log-probabilities and ranks in fp64."""

from __future__ import annotations

from typing import NamedTuple

import torch

from analyzer.kernels.rows import ROUNDOFF

#: Roundings between two fp32 log-probabilities, see `ranks`.
ROUNDINGS = 4


class Ranks(NamedTuple):
    """Ranks from 1, int64 [rows, n] each: among ties any rank in [least, most] is right."""

    least: torch.Tensor
    most: torch.Tensor


def log_probabilities(logits: torch.Tensor) -> torch.Tensor:
    """log softmax of `logits` [rows, vocab] in fp64: x − ln Σ exp x.

    −inf for a masked token. NaN, the mark of a row without a distribution, where all are masked or one is NaN or +inf.
    """
    return torch.log_softmax(logits.double(), dim=-1)


def ranks(logprobs: torch.Tensor, ids: torch.Tensor, roundings: float = ROUNDINGS) -> Ranks:
    """The ranks of the tokens `ids` (int [rows, n]) in fp64 `logprobs` [rows, vocab]; logits may be given too.

    least = 1 + how many are larger, most = how many are at least as large; engines report the one or the other.
    Rounding never swaps two tokens, but makes neighbours equal: x − max and the difference to the logarithm of the sum
    are rounded, for both tokens, all of at most |log p|. So what differs by at most `roundings` (4) × 2^-24 × |log p|
    counts as equal. Give 0 where logits are ranked as they are.

    A row with a NaN is out of contract: any rank from 1 to vocab.
    """
    vocab = logprobs.shape[1]
    undefined = logprobs.isnan().any(-1, keepdim=True)
    rising = logprobs.masked_fill(undefined, 0.0).sort(dim=-1).values
    own = logprobs.gather(1, ids.long()).masked_fill(undefined, 0.0)
    width = (roundings * ROUNDOFF * own.abs()).masked_fill(own.isinf(), 0.0)
    least = vocab - torch.searchsorted(rising, own + width, right=True) + 1
    most = vocab - torch.searchsorted(rising, own - width)
    return Ranks(least.masked_fill(undefined, 1), most.masked_fill(undefined, vocab))
