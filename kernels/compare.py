"""Comparisons of masked logits, chunked by rows so that fp64 copies stay small."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch

from analyzer.kernels.distribution import distribution, total_variation
from analyzer.kernels.kept_set import KeptSet, kept_set
from analyzer.kernels.reference import Step, of_rows, reference

#: Rows compared at once; an fp64 copy of 64 × 152k logits is 78 MB.
CHUNK_ROWS = 64


@dataclass
class Side:
    """One revision against the oracle, summed over rows.

    `violating_rows`: rows with a token kept that must be dropped, or dropped that must be kept; `violating_tokens`:
    those tokens. How many of a tie stay is not judged here: kernels differ in it by contract. `nan_rows`: rows with a
    NaN. `tv`: total variation to the oracle's distribution on the tokens that the revision may keep, a value a row.
    `lost_rows`: rows in which a token that must be kept has no mass.
    """

    violating_rows: int = 0
    violating_tokens: int = 0
    nan_rows: int = 0
    lost_rows: int = 0
    tv: list[float] = field(default_factory=list)


@dataclass
class MaskedLogits:
    """Base against head, and both against the oracle.

    `rows_differing`: rows whose kept sets differ; `tokens`: size of the symmetric difference over all rows;
    `mass_moved`: the oracle's mass of those tokens, mean over all rows; `tv`, `kl`: between the two distributions, a
    value a row (KL of head from base over their common support).
    """

    rows: int = 0
    rows_differing: int = 0
    tokens: int = 0
    mass_moved: float = 0.0
    tv: list[float] = field(default_factory=list)
    kl: list[float] = field(default_factory=list)
    base: Side = field(default_factory=Side)
    head: Side = field(default_factory=Side)


def masked_logits(
    logits: torch.Tensor, base: torch.Tensor, head: torch.Tensor, device: str, steps: Sequence[Step] = ()
) -> MaskedLogits:
    """Compare the masked logits [rows, vocab] of both revisions, given the logits that they were made from.

    `steps`: the oracle's (reference.py), with tensors of all rows. A token is kept where its masked logit is neither
    −inf nor NaN. Raises ValueError where the shapes differ.
    """
    if base.shape != logits.shape or head.shape != logits.shape:
        raise ValueError(f"shapes differ: logits {tuple(logits.shape)}, {tuple(base.shape)}, {tuple(head.shape)}")
    total = MaskedLogits(rows=len(logits))
    for start in range(0, len(logits), CHUNK_ROWS):
        rows = slice(start, start + CHUNK_ROWS)
        made = reference(logits[rows].to(device), of_rows(steps, rows, device))
        given, allowed = made.values, made.kept or kept_set(made.values)
        kept, distributions = [], []
        for output, side in ((base, total.base), (head, total.head)):
            values = output[rows].to(device).double()
            own = values > float("-inf")
            kept.append(own)
            distributions.append(distribution(values.nan_to_num(nan=float("-inf"), posinf=1e308), own))
            _against_oracle(side, given, allowed, values, own, distributions[-1])
        _between(total, given, kept[0], kept[1], distributions[0], distributions[1])
    return total


def _against_oracle(
    side: Side, given: torch.Tensor, allowed: KeptSet, values: torch.Tensor, own: torch.Tensor, p: torch.Tensor
) -> None:
    wrong = (own & allowed.must_drop) | (~own & allowed.must_keep)
    side.violating_rows += int(wrong.any(-1).sum())
    side.violating_tokens += int(wrong.sum())
    side.nan_rows += int(values.isnan().any(-1).sum())
    side.lost_rows += int(((p == 0) & allowed.must_keep).any(-1).sum())
    reference = distribution(given, allowed.must_keep | (own & ~allowed.must_drop))
    side.tv += total_variation(p, reference).tolist()


def _between(
    total: MaskedLogits, given: torch.Tensor, base: torch.Tensor, head: torch.Tensor, p: torch.Tensor, q: torch.Tensor
) -> None:
    differing = base ^ head
    total.rows_differing += int(differing.any(-1).sum())
    total.tokens += int(differing.sum())
    either = distribution(given, base | head)
    total.mass_moved += float((either * differing).sum()) / total.rows
    total.tv += total_variation(p, q).tolist()
    common = (p > 0) & (q > 0)
    ratio = torch.where(common, q / torch.where(common, p, 1.0), 1.0)
    total.kl += (q * ratio.log()).sum(-1).clamp_min(0).tolist()
