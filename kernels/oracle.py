"""What sampling operations should give, in fp64, aware of ties.

A token's fate can be ambiguous: equal logits at the k-th place, or an exclusive cumulative mass within `TOLERANCE` of
p. The oracle says which tokens must be kept and which must be dropped; what lies between is the implementation's.
"""

from __future__ import annotations

from typing import NamedTuple

import torch

#: Half-width of the band around p in which fp32 implementations may decide either way. An fp32 sum over 152k
#: probabilities carries a relative error of some 1e-6; the band is an order wider and still far below one token's mass.
TOLERANCE = 1e-5


class KeptSet(NamedTuple):
    """Boolean [rows, vocab] each; a token in neither is the implementation's choice."""

    must_keep: torch.Tensor
    must_drop: torch.Tensor


def temperature(logits: torch.Tensor, value: float) -> torch.Tensor:
    """`logits` [rows, vocab] of any float dtype divided by a temperature > 0, in fp64."""
    return logits.double() / value


def top_k_top_p(logits: torch.Tensor, top_k: int | None = None, top_p: float | None = None) -> KeptSet:
    """Tokens that survive top-k, then top-p on what is left (`logits` fp64 [rows, vocab], no NaN).

    Top-k keeps at least the tokens above the k-th largest logit; of those equal to it, any choice of the right number,
    or all, is accepted. Top-p keeps the smallest set whose mass reaches p: a token stays while the mass before it is
    below p. Mass is taken over exactly k tokens and over k with all ties; only what both say is required.
    """
    rows, vocab = logits.shape
    values, order = logits.sort(dim=-1, descending=True)
    rank = torch.arange(vocab, device=logits.device).expand(rows, vocab)
    ascending = -values
    first = torch.searchsorted(ascending, ascending, right=False)
    last = torch.searchsorted(ascending, ascending, right=True) - 1
    k = vocab if top_k is None or top_k <= 0 else min(top_k, vocab)
    kth = values[:, k - 1 : k]
    keep = (values > kth) | ((values == kth) & (last < k))
    drop = values < kth
    if top_p is not None and top_p < 1.0:
        mass = torch.exp(values - values[:, :1])
        dropped = torch.ones_like(drop)
        for survivors in (rank < k, values >= kth):
            cumulative = torch.where(survivors, mass, 0.0).cumsum(-1)
            before = (cumulative - torch.where(survivors, mass, 0.0)) / cumulative[:, -1:]
            keep &= before.gather(1, last) < top_p - TOLERANCE
            dropped &= before.gather(1, first) >= top_p + TOLERANCE
        drop |= dropped
        keep[:, 0] |= last[:, 0] == 0  # the most likely token always stays
    drop |= values == float("-inf")
    keep &= ~drop
    return KeptSet(_unsort(keep, order), _unsort(drop, order))


def _unsort(sorted_mask: torch.Tensor, order: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(sorted_mask).scatter_(1, order, sorted_mask)


def distribution(logits: torch.Tensor, kept: torch.Tensor) -> torch.Tensor:
    """Softmax of fp64 `logits` over the tokens in `kept`; a row that keeps nothing is all zero."""
    return torch.nan_to_num(torch.softmax(logits.masked_fill(~kept, float("-inf")), dim=-1), nan=0.0)


def total_variation(p: torch.Tensor, q: torch.Tensor) -> torch.Tensor:
    """Half the L1 distance of two distributions, a value a row, in [0, 1]."""
    return (p - q).abs().sum(-1) / 2
