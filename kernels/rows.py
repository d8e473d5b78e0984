"""What every oracle says in the same way: numbers a row, and the roundings of fp32."""

from __future__ import annotations

import torch

#: Unit roundoff of fp32 (round to nearest): one operation is off by at most this, relative to its result.
ROUNDOFF = 2.0**-24

#: Half-width within which a probability, a cumulative mass or a ratio of probabilities may be decided either way.
#: An fp32 softmax over 152k tokens is off by some 1e-6, relatively (the logit's difference to the maximum, a few
#: units of it, times the roundoff; the exponential; the sum in blocks). The band is an order wider.
TOLERANCE = 1e-5


def per_row(value: float | torch.Tensor, logits: torch.Tensor, name: str) -> torch.Tensor:
    """A number, or one for each row (a tensor [rows]), as fp64 [rows, 1] beside `logits` [rows, vocab].

    Raises ValueError where the tensor has another shape, or holds a NaN.
    """
    made = torch.as_tensor(value, dtype=torch.float64, device=logits.device)
    if made.shape not in ((), (len(logits),)):
        raise ValueError(f"{name}: expected a number or a tensor [{len(logits)}], got {tuple(made.shape)}")
    if bool(made.isnan().any()):
        raise ValueError(f"{name}: a NaN")
    return made.expand(len(logits)).unsqueeze(1)
