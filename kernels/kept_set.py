"""Which tokens top-k, top-p and min-p must keep, must drop, or may treat either way.

Each of these keeps the tokens of the highest logits: a prefix of the row sorted downwards, whose length alone is in
question. Every step maps a longer prefix to one that is no shorter, so an interval of lengths goes through the steps by
its two ends, and nothing that an admitted implementation could do is lost or invented between them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import torch

from analyzer.kernels.rows import TOLERANCE, per_row

#: What becomes of logits equal to the last one kept: all stay, as many as the number allows (exact: any of them, first:
#: the lowest ids), or either.
Ties = Literal["either", "all", "exact", "first"]


@dataclass(frozen=True)
class TopK:
    """The k largest logits (Fan et al., arXiv 1805.04833). `k`: a number or [rows]; k <= 0 or k >= vocab is off."""

    k: int | torch.Tensor
    ties: Ties = "either"


@dataclass(frozen=True)
class TopP:
    """The fewest tokens whose mass reaches p (Holtzman et al., arXiv 1904.09751). `p`: a number or [rows]; 1 is off.

    `boundary`: the token with which the mass reaches p. In: a token stays while the mass before it is below p. Out: it
    stays while the mass with it is at most p. The most likely token always stays.
    """

    p: float | torch.Tensor
    boundary: Literal["in", "out", "either"] = "in"
    ties: Ties = "either"


@dataclass(frozen=True)
class MinP:
    """Tokens of at least `value` times the largest probability (arXiv 2407.01082): a number or [rows] in [0, 1]; 0 is
    off. Equal logits have one fate."""

    value: float | torch.Tensor


class KeptSet(NamedTuple):
    """The kept sets that a contract admits.

    `must_keep`, `must_drop`: bool [rows, vocab]; a token in neither is the implementation's choice. `least`, `most`:
    int64 [rows], how many tokens may be kept: among ties the number may be fixed where the tokens are not.
    """

    must_keep: torch.Tensor
    must_drop: torch.Tensor
    least: torch.Tensor
    most: torch.Tensor

    def admits(self, kept: torch.Tensor) -> torch.Tensor:
        """Whether each row of `kept` (bool [rows, vocab]) is a set that the contract admits: bool [rows]."""
        wrong = (kept & self.must_drop) | (~kept & self.must_keep)
        count = kept.sum(-1)
        return ~wrong.any(-1) & (self.least <= count) & (count <= self.most)

    def either(self, other: KeptSet) -> KeptSet:
        """What this contract or the other admits, say top-k before top-p or after."""
        return KeptSet(
            self.must_keep & other.must_keep,
            self.must_drop & other.must_drop,
            torch.minimum(self.least, other.least),
            torch.maximum(self.most, other.most),
        )


def kept_set(
    logits: torch.Tensor, *steps: TopK | TopP | MinP, ties_within: float = 0.0, tolerance: float = TOLERANCE
) -> KeptSet:
    """The tokens of `logits` (fp64 [rows, vocab]) that survive the steps, taken in their order.

    Top-p's mass is a share of what the steps before it left. `tolerance`: half-width of the band around p (in mass)
    and around min-p's threshold (relative in probability, which is absolute in the logit), see `rows.TOLERANCE`.
    `ties_within`: logits whose relative difference is at most this count as ties, as rounding may have made them
    equal: 2 × 2^-24 after an fp32 division by a temperature, 0 where logits are taken as they are.

    Special rows: a masked token (−inf) is dropped, all of them too. A row with a NaN is out of contract: all is open.
    +inf has no softmax: top-k decides by order, top-p and min-p require nothing.
    """
    row = _Sorted(logits, ties_within)
    least = (row.values > float("-inf")).sum(-1, keepdim=True)
    most = least.clone()
    for step in steps:
        if isinstance(step, TopK):
            least, most = _top_k(row, step, least, most)
        elif isinstance(step, TopP):
            least, most = _top_p(row, step, least, most, tolerance)
        else:
            least, most = _min_p(row, step, least, most, tolerance)
    ordered = ties_within == 0 and bool(steps) and all(getattr(step, "ties", "") == "first" for step in steps)
    end, first = (row.place + 1, row.place) if ordered else (row.near_end, row.near_first)
    least = least.masked_fill(row.undefined, 0)
    most = most.masked_fill(row.undefined, logits.shape[1])
    return KeptSet(row.unsort(end <= least), row.unsort(first >= most), least.squeeze(1), most.squeeze(1))


class _Sorted:
    """A batch of rows sorted downwards.

    `end`: for each place, the place after its last equal; `near_first`, `near_end`: the same with near ties.
    `cumulative`, `mass`: exp(logit − maximum), of each token and up to and with it.
    """

    def __init__(self, logits: torch.Tensor, ties_within: float) -> None:
        self.undefined = logits.isnan().any(-1, keepdim=True)
        self.values, self.order = logits.masked_fill(self.undefined, 0.0).sort(dim=-1, descending=True, stable=True)
        vocab = logits.shape[1]
        self.place = torch.arange(vocab, device=logits.device)
        changes = self.values[:, 1:] != self.values[:, :-1]
        edge = torch.ones_like(self.undefined)
        starts = torch.where(torch.cat((edge, changes), 1), self.place, 0)
        ends = torch.where(torch.cat((changes, edge), 1), self.place + 1, vocab)
        self.end = ends.flip(1).cummin(1).values.flip(1)
        self.near_first, self.near_end = starts.cummax(1).values, self.end
        if ties_within > 0:
            rising = -self.values
            width = (rising.abs() * ties_within).masked_fill(rising.isinf(), 0.0)
            self.near_first = torch.searchsorted(rising, rising - width)
            self.near_end = torch.searchsorted(rising, rising + width, right=True)
        self.infinite = self.values[:, :1] == float("inf")
        self.below = (self.values - self.values[:, :1]).nan_to_num(nan=float("-inf"), neginf=float("-inf"))
        self.mass = self.below.exp()
        self.cumulative = self.mass.cumsum(-1)

    def unsort(self, mask: torch.Tensor) -> torch.Tensor:
        mask = mask & ~self.undefined
        return torch.empty_like(mask).scatter_(1, self.order, mask)


def _stretch(end: torch.Tensor, count: torch.Tensor, limit: torch.Tensor) -> torch.Tensor:
    """`count` [rows, 1] up to the end of its last token's ties, and at most `limit`."""
    return torch.minimum(end.gather(1, (count - 1).clamp_min(0)), limit)


def _settle(
    row: _Sorted, ties: Ties, least: torch.Tensor, most: torch.Tensor, before: tuple[torch.Tensor, torch.Tensor]
) -> tuple[torch.Tensor, torch.Tensor]:
    """The interval of lengths once the last token's ties are dealt with; `before`: the interval the step was given."""
    if ties == "all":
        least = _stretch(row.end, least, before[0])
    if ties not in ("exact", "first"):
        most = _stretch(row.near_end, most, before[1])
    return least, most


def _top_k(row: _Sorted, step: TopK, least: torch.Tensor, most: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    vocab = row.values.shape[1]
    k = per_row(step.k, row.values, "top_k")
    k = torch.where(k <= 0, vocab, k).clamp_max(vocab).long()
    return _settle(row, step.ties, torch.minimum(least, k), torch.minimum(most, k), (least, most))


def _top_p(
    row: _Sorted, step: TopP, least: torch.Tensor, most: torch.Tensor, tolerance: float
) -> tuple[torch.Tensor, torch.Tensor]:
    p = per_row(step.p, row.values, "top_p")

    def count(given: torch.Tensor, share: torch.Tensor, boundary_in: bool) -> torch.Tensor:
        reach = share * row.cumulative.gather(1, (given - 1).clamp_min(0))
        stays = row.cumulative - row.mass < reach if boundary_in else row.cumulative <= reach
        number = (stays & (row.place < given)).sum(-1, keepdim=True)
        return torch.minimum(number.clamp_min(1), given)

    fewest = count(least, p - tolerance, step.boundary == "in").masked_fill(row.infinite, 0)
    largest = torch.where(row.infinite, most, count(most, p + tolerance, step.boundary != "out"))
    fewest, largest = _settle(row, step.ties, fewest, largest, (least, most))
    fewest = fewest.masked_fill(row.infinite, 0)
    return torch.where(p >= 1, least, fewest), torch.where(p >= 1, most, largest)


def _min_p(
    row: _Sorted, step: MinP, least: torch.Tensor, most: torch.Tensor, tolerance: float
) -> tuple[torch.Tensor, torch.Tensor]:
    value = per_row(step.value, row.values, "min_p")
    if bool(((value < 0) | (value > 1)).any()):
        raise ValueError("min_p: not in [0, 1]")
    threshold = value.log()
    fewest = (row.below >= threshold + tolerance).sum(-1, keepdim=True)
    fewest = torch.minimum(torch.maximum(fewest, row.end[:, :1]), least)  # the maximum and its equals have ratio 1
    largest = torch.minimum((row.below >= threshold - tolerance).sum(-1, keepdim=True), most)
    off = value == 0
    fewest = fewest.masked_fill(row.infinite, 0)
    largest = torch.where(row.infinite, most, largest)
    return torch.where(off, least, fewest), torch.where(off, most, largest)
