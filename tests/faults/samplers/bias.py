"""Logit bias and allowed tokens."""

import torch


def apply_bias(
    logits: torch.Tensor, allowed: torch.Tensor, bias_ids: torch.Tensor, biases: torch.Tensor
) -> torch.Tensor:
    """Add the biases of each request, and leave it no token that it is not allowed.

    logits: [rows, vocab], bf16, fp16 or fp32; rows may be apart by any stride. Never written, never returned.
    allowed: [rows, vocab], bool. A row without any True has no limit.
    bias_ids: [rows, slots], int64, -1 for a slot that is not used; the used ids of a row are distinct.
    biases: [rows, slots], fp32; in a slot that is not used it may be anything finite.
    Returns a new fp32 tensor: logit + bias in fp32, -inf where a token is not allowed, biased or not. -inf stays -inf.
    """
    used = bias_ids >= 0
    allowed = allowed | ~allowed.any(dim=-1, keepdim=True)
    values = torch.where(allowed, logits.to(torch.float32), float("-inf"))
    added = torch.where(used, biases, 0.0)
    return values.scatter_add_(1, bias_ids.clamp(min=0), added)
