"""Rejection sampling of speculative decoding in fp64 (Leviathan et al., arXiv 2211.17192; Chen et al., 2302.01318).

A draft token d, drawn from q, is accepted with probability min(1, p(d) / q(d)). At the first rejection one token is
drawn from normalise(max(p − q, 0)) in its place; where all are accepted, one more, the bonus token, from the target.
Together that is a draw from the target p. A draft without probabilities (n-gram, greedy) has a q of 1 at its token.
"""

from __future__ import annotations

from typing import NamedTuple

import torch

from analyzer.kernels.rows import TOLERANCE


class Acceptance(NamedTuple):
    """Bool, of the drafts' shape: what must be accepted, what must be rejected; neither is either."""

    must_accept: torch.Tensor
    must_reject: torch.Tensor

    def accepted(self, lengths: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The least and the most drafts that are accepted before the first rejection, int64 [requests] each.

        For drafts [requests, longest], of which request r has `lengths`[r] (int [requests]).
        """
        place = torch.arange(self.must_accept.shape[1], device=lengths.device)
        real = place < lengths.unsqueeze(1)
        runs = ((flags & real).long().cumprod(1).sum(1) for flags in (self.must_accept, ~self.must_reject))
        least, most = runs
        return least, most


class Recovered(NamedTuple):
    """`probabilities` [..., vocab] of the token after a rejection, all zero where nothing is left; and `mass` [...].

    The mass, 1 − Σ min(p, q), is a rejection's probability. Where it is of the size of fp32's roundings (1e-6), the
    probabilities are differences of roundings, and no implementation is to be held to them.
    """

    probabilities: torch.Tensor
    mass: torch.Tensor


def one_hot(drafts: torch.Tensor, vocab: int) -> torch.Tensor:
    """The q of drafts without probabilities: fp64 [..., vocab], 1 at each of `drafts` (int [...])."""
    made = torch.zeros(*drafts.shape, vocab, dtype=torch.float64, device=drafts.device)
    return made.scatter_(-1, drafts.long().unsqueeze(-1), 1.0)


def acceptance_probability(target: torch.Tensor, draft: torch.Tensor, drafts: torch.Tensor) -> torch.Tensor:
    """min(1, p(d) / q(d)) for p `target` and q `draft` (fp64 [..., vocab]) and the tokens `drafts` (int [...]): [...].

    0 where p(d) is 0. Where q(d) alone is 0, which no draw from q gives, 1: the limit of the formula.
    """
    return _ratio(target, draft, drafts).clamp_max(1.0)


def _ratio(target: torch.Tensor, draft: torch.Tensor, drafts: torch.Tensor) -> torch.Tensor:
    ids = drafts.long().unsqueeze(-1)
    p, q = target.gather(-1, ids).squeeze(-1), draft.gather(-1, ids).squeeze(-1)
    return torch.where(p == 0, 0.0, p / q)


def acceptance(
    target: torch.Tensor,
    draft: torch.Tensor,
    drafts: torch.Tensor,
    uniform: torch.Tensor,
    tolerance: float = TOLERANCE,
) -> Acceptance:
    """What becomes of `drafts`, given the numbers `uniform` in [0, 1) (fp64 [...]): accepted where u < p(d) / q(d).

    Shapes as in `acceptance_probability`. The ratio of two fp32 probabilities is off by some 1e-6, so u within
    `tolerance`, relatively, of the ratio is open; that has u equal to it, where < and <= are both in use. p(d) = 0 must
    be rejected whatever u is. Where q(d) alone is 0, and where p or q holds a NaN, all is open.
    """
    ratio = _ratio(target, draft, drafts)
    never = ratio == 0
    open_ = ratio.isinf() | target.isnan().any(-1) | draft.isnan().any(-1)
    must_accept = (uniform < ratio * (1 - tolerance)) & ~open_
    must_reject = (never | (uniform > ratio * (1 + tolerance))) & ~open_
    return Acceptance(must_accept, must_reject)


def greedy_acceptance(logits: torch.Tensor, drafts: torch.Tensor) -> Acceptance:
    """Acceptance at temperature 0: a draft is right where it has the largest of the target's logits.

    `logits`: fp64 [..., vocab]; `drafts`: int [...]. Among equals the argmax is the implementation's choice, so a tied
    draft is open; a row with a NaN is open too.
    """
    own = logits.gather(-1, drafts.long().unsqueeze(-1))
    undefined = logits.isnan().any(-1)
    only = (logits >= own).sum(-1) == 1
    return Acceptance(only & ~undefined, (logits > own).any(-1) & ~undefined)


def recovered(target: torch.Tensor, draft: torch.Tensor) -> Recovered:
    """normalise(max(p − q, 0)) of p `target` and q `draft`, fp64 [..., vocab] each."""
    left = (target - draft).clamp_min(0.0)
    mass = left.sum(-1)
    return Recovered(torch.where(mass.unsqueeze(-1) > 0, left / mass.unsqueeze(-1), 0.0), mass)


def first_token(target: torch.Tensor, draft: torch.Tensor, drafts: torch.Tensor) -> torch.Tensor:
    """The distribution of the token at a draft's place, given the draft: the draft where it is accepted, else the
    recovered token. fp64 [..., vocab]; shapes as in `acceptance_probability`. Over drafts from q it is the target."""
    chance = acceptance_probability(target, draft, drafts).unsqueeze(-1)
    return chance * one_hot(drafts, target.shape[-1]) + (1 - chance) * recovered(target, draft).probabilities


def last_token(
    target: torch.Tensor, draft: torch.Tensor, accepted: torch.Tensor, lengths: torch.Tensor
) -> torch.Tensor:
    """The distribution of the token after `accepted` drafts, fp64 [requests, vocab].

    `target` [requests, longest + 1, vocab]: p at each draft and, at place `lengths`[r], after the last one. `draft`
    [requests, longest, vocab]. `accepted`, `lengths`: int [requests]. The recovered token's where a draft was rejected,
    the target's own (the bonus token's) where all were accepted.
    """
    requests, _, vocab = draft.shape
    row = torch.arange(requests, device=target.device)
    accepted = accepted.long()
    p = target[row, accepted]
    padded = torch.cat((draft, draft.new_zeros(requests, 1, vocab)), 1)
    return torch.where((accepted == lengths).unsqueeze(1), p, recovered(p, padded[row, accepted]).probabilities)
