"""Repetition, frequency and presence penalties from token ids."""

import torch


def _count(ids: torch.Tensor, vocab: int) -> torch.Tensor:
    """How often each token is in a row of ids. One column more takes the padding."""
    counts = torch.zeros(ids.shape[0], vocab + 1, dtype=torch.int32, device=ids.device)
    counts.scatter_add_(1, ids, torch.ones_like(ids, dtype=torch.int32))
    return counts[:, :vocab]


def _subtract(values: torch.Tensor, counts: torch.Tensor, frequency: torch.Tensor, presence: torch.Tensor) -> None:
    values -= frequency.unsqueeze(1) * counts
    values -= presence.unsqueeze(1) * (counts > 0)


def apply_penalties(
    logits: torch.Tensor,
    prompt_ids: torch.Tensor,
    output_ids: torch.Tensor,
    repetition: torch.Tensor,
    frequency: torch.Tensor,
    presence: torch.Tensor,
) -> torch.Tensor:
    """Make tokens that a request has seen less probable, in place.

    logits: [rows, vocab], bf16, fp16 or fp32; rows may be apart by any stride. Written, and returned.
    prompt_ids, output_ids: [rows, any number], int64, 0 to vocab; the id vocab is padding. Never written.
    repetition: [rows], fp32, above 0. What is in the prompt or the output: a positive logit is divided by it, any other
    is multiplied. Then frequency times the count in the output, and presence once for what is in the output, are
    subtracted; both [rows], fp32. All in fp32, rounded once to the logits' dtype (fp32: within two roundings).
    A token that was not seen keeps its value. -inf stays -inf. Rows do not depend on each other.
    """
    vocab = logits.shape[-1]
    counts = _count(output_ids, vocab)
    seen = (_count(prompt_ids, vocab) > 0) | (counts > 0)
    scale = torch.where(seen, repetition.unsqueeze(1), 1.0)
    values = logits.to(torch.float32)
    values = torch.where(values > 0, values / scale, values * scale)
    _subtract(values, counts, frequency, presence)
    return logits.copy_(values)
