"""Exactly k tokens a row, for engines whose later stages have k slots."""

import torch

_RANKS: dict[torch.device, torch.Tensor] = {}


def _ranks(vocab: int, device: torch.device) -> torch.Tensor:
    """0, 1, 2 ... on the device: the same for every call, so it is held."""
    held = _RANKS.get(device)
    if held is None or held.numel() < vocab:
        held = torch.arange(vocab, device=device)
        _RANKS[device] = held
    return held[:vocab]


def keep_top_k(logits: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
    """Set to -inf all but k tokens of each row.

    logits: [rows, vocab], bf16, fp16 or fp32; rows may be apart by any stride. Never written, never returned.
    k: [rows], int32. Not in 1..vocab-1: the row is kept whole.
    Exactly k tokens are kept, whatever the number of rows; of equal tokens the lower id wins, so that k = 1 is argmax.
    Returns a new tensor of the logits' dtype. -inf stays -inf. NaN is not allowed. Calls may differ in rows and vocab.
    """
    vocab = logits.shape[-1]
    limit = torch.where((k > 0) & (k < vocab), k, vocab)
    values, ids = logits.sort(dim=-1, descending=True, stable=True)
    values = values.masked_fill(_ranks(vocab, logits.device) >= limit.unsqueeze(1), float("-inf"))
    return torch.empty_like(logits).scatter_(1, ids, values)
