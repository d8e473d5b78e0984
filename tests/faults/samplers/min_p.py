"""Min-p: drop what is far less probable than a row's most probable token."""

import torch


def mask_min_p(logits: torch.Tensor, min_p: torch.Tensor) -> torch.Tensor:
    """Set to -inf the tokens whose probability is below min_p times the largest one of their row, in place.

    logits: [rows, vocab], bf16, fp16 or fp32; rows may be apart by any stride. Written, and returned.
    min_p: [rows], fp32, 0 to 1, each row's own. 0 drops nothing; 1 keeps the largest logit and its equals.
    Probabilities are fp32, and a token just on the limit is kept; within a relative 1e-5 of it either decision
    is right. A row of -inf alone stays as it is. NaN is not allowed.
    """
    probs = logits.softmax(dim=-1, dtype=torch.float32)
    limit = probs.amax(dim=-1, keepdim=True) * min_p.unsqueeze(1)
    return logits.masked_fill_(probs < limit, float("-inf"))
