"""Log-probabilities of the chosen tokens and of the most probable ones."""

import torch


def gather_logprobs(
    logits: torch.Tensor, chosen: torch.Tensor, count: int
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The log-probabilities of each row's chosen token and of its `count` most probable ones, and the chosen's rank.

    logits: [rows, vocab], bf16, fp16 or fp32; rows may be apart by any stride. Never written.
    chosen: [rows], int64. count: 0 to vocab.
    Returns (logprobs, ids, ranks): logprobs [rows, 1 + count], fp32, the chosen token first, then the largest,
    falling; ids [rows, 1 + count], int64, of the same tokens; which of equal tokens are named is free.
    ranks [rows], int64: 1 + the number of tokens whose logit is larger; equals do not count.
    Log-probabilities are computed in fp32, within 1e-5 plus a relative 1e-6. A row of -inf alone has -inf for all, and
    rank 1. NaN is not allowed.
    """
    values = logits.to(torch.float32)
    normalizer = values.logsumexp(dim=-1, keepdim=True)
    normalizer = torch.where(normalizer.isneginf(), 0.0, normalizer)
    ids = torch.cat([chosen.unsqueeze(1), values.topk(count, dim=-1).indices], dim=1)
    named = values.gather(1, ids)
    ranks = (values > named[:, :1]).sum(dim=-1) + 1
    return named - normalizer, ids, ranks
