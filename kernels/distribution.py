"""Temperature, the distribution over a kept set and the distance of two distributions, in fp64."""

from __future__ import annotations

import torch

from analyzer.kernels.rows import per_row


def at_temperature(logits: torch.Tensor, temperature: float | torch.Tensor) -> torch.Tensor:
    """`logits` [rows, vocab] of any float dtype divided by a temperature, a number or [rows], in fp64.

    Raises ValueError where a temperature is not above 0: an engine takes such a row's largest logit instead
    (`noise.gumbel_max` without noise).
    """
    divisor = per_row(temperature, logits, "temperature")
    if bool((divisor <= 0).any()):
        raise ValueError("temperature: not above 0")
    return logits.double() / divisor


def distribution(logits: torch.Tensor, kept: torch.Tensor) -> torch.Tensor:
    """Softmax of fp64 `logits` over the tokens in `kept`, both [rows, vocab]; a row that keeps nothing is all zero."""
    return torch.nan_to_num(torch.softmax(logits.masked_fill(~kept, float("-inf")), dim=-1), nan=0.0)


def total_variation(p: torch.Tensor, q: torch.Tensor) -> torch.Tensor:
    """Half the L1 distance of two distributions [rows, vocab], a value a row, in [0, 1]."""
    return (p - q).abs().sum(-1) / 2
