"""Top-k, then top-p, by sorting each row."""

import torch


def mask_top_k_top_p(logits: torch.Tensor, k: torch.Tensor, p: torch.Tensor) -> torch.Tensor:
    """Set to -inf what neither the k largest logits of a row nor, of those, the fewest with mass p hold.

    logits: [rows, vocab], bf16, fp16 or fp32; rows may be apart by any stride. Never written, never returned.
    k: [rows], int32. Not in 1..vocab-1: no limit. Tokens that equal the k-th largest are all kept.
    p: [rows], fp32. 1 or more: no limit. Of equal tokens the lower id comes first; a token is kept while the mass of
    those before it is below p, so the one that reaches p is in, and at least one token is kept, for p = 0 too.
    The mass is that of the softmax over what top-k left, in fp32; within 1e-5 of p either decision is right.
    Returns a new tensor of the logits' dtype. A row of -inf alone comes back as it is. NaN is not allowed.
    """
    vocab = logits.shape[-1]
    values, ids = logits.sort(dim=-1, descending=True, stable=True)
    limit = torch.where((k > 0) & (k < vocab), k, vocab).long()
    smallest = values.gather(1, limit.unsqueeze(1) - 1)
    values = values.masked_fill(values < smallest, float("-inf"))
    probs = values.softmax(dim=-1, dtype=torch.float32)
    before = probs.cumsum(dim=-1) - probs
    dropped = (before >= p.unsqueeze(1)) & (p < 1).unsqueeze(1)
    dropped[:, 0] = False
    values = values.masked_fill(dropped, float("-inf"))
    return torch.empty_like(logits).scatter_(1, ids, values)
