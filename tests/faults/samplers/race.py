"""Sampling by an exponential race: the token whose clock rings first."""

import torch


def sample_race(logits: torch.Tensor, uniforms: torch.Tensor) -> torch.Tensor:
    """Draw one token a row from the softmax of the logits with the noise that is given.

    logits: [rows, vocab], bf16, fp16 or fp32; rows may be apart by any stride. Never written.
    uniforms: [rows, vocab], fp32, from 0 to 1, both of which occur. Never written. Token i rings at
    -log(1 - uniform) / probability; the first that rings is drawn.
    Returns [rows], int64. A token of -inf is never drawn where the row has a finite logit; a row without one gives 0.
    Probabilities and noise are fp32. NaN is not allowed.
    """
    probs = logits.softmax(dim=-1, dtype=torch.float32)
    waits = -torch.log1p(-uniforms.clamp(min=2.0**-33, max=1 - 2.0**-24))
    return (probs / waits).argmax(dim=-1)
