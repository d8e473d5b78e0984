"""Top-p on probabilities, which are made to sum to one again."""

import torch


def renorm_top_p(probs: torch.Tensor, p: torch.Tensor) -> torch.Tensor:
    """Keep the largest probabilities that hold mass p, and divide by what they sum to.

    probs: [rows, vocab], fp32, 0 or more, each row sums to 1 within 1e-5; rows may be apart by any stride. Never
    written, never returned.
    p: [rows], fp32, each row's own. 1 or more: nothing is dropped. The token that reaches p is kept, and all that equal
    it; at least the largest is kept, for p = 0 too, and all of them where rounding lets the sum stay below p.
    Within 1e-5 of p either decision is right. Returns a new fp32 tensor whose rows sum to 1 within 1e-5.
    """
    ordered = probs.sort(dim=-1, descending=True).values
    before = ordered.cumsum(dim=-1) - ordered
    kept = (before < p.unsqueeze(1)).sum(dim=-1, keepdim=True).clamp(min=1)
    smallest = ordered.gather(1, kept - 1)
    smallest = torch.where((p < 1).unsqueeze(1), smallest, 0.0)
    held = torch.where(probs >= smallest, probs, 0.0)
    return held / held.sum(dim=-1, keepdim=True)
