"""Repetition, frequency and presence penalties in fp64."""

from __future__ import annotations

import torch

from analyzer.kernels.rows import per_row


def token_counts(tokens: torch.Tensor, vocab: int) -> torch.Tensor:
    """How often each token is in a row of `tokens` (int [rows, length]): int64 [rows, vocab].

    An id outside [0, vocab) is padding and counts for nothing; padding with −1 and with vocab are both in use.
    """
    tokens = tokens.long()
    tokens = torch.where((tokens >= 0) & (tokens < vocab), tokens, vocab)
    counts = torch.zeros(len(tokens), vocab + 1, dtype=torch.int64, device=tokens.device)
    return counts.scatter_add_(1, tokens, torch.ones_like(tokens))[:, :vocab]


def unpacked(bits: torch.Tensor, vocab: int) -> torch.Tensor:
    """The tokens whose bit is set in `bits` (int32 [rows, ⌈vocab / 32⌉], the lowest bit first): bool [rows, vocab]."""
    place = torch.arange(32, device=bits.device)
    return ((bits.unsqueeze(-1) >> place) & 1).flatten(1)[:, :vocab].bool()


def penalise(
    logits: torch.Tensor,
    prompt: torch.Tensor,
    output: torch.Tensor,
    repetition: float | torch.Tensor = 1.0,
    frequency: float | torch.Tensor = 0.0,
    presence: float | torch.Tensor = 0.0,
) -> torch.Tensor:
    """`logits` [rows, vocab] with the three penalties, fp64 [rows, vocab]; each a number or [rows].

    `prompt`, `output`: int64 [rows, vocab], how often each token occurs (`token_counts`). A token is repeated where it
    is in either; frequency and presence look at the output alone.

        repetition (Keskar et al., arXiv 1909.05858, and for negative logits the library transformers):
            l / θ where l > 0, else l · θ, for repeated tokens
        then frequency and presence (the OpenAI API's reference): l − count · α_frequency − (count > 0) · α_presence

    A masked token (−inf) stays masked. Raises ValueError where θ is not above 0.
    """
    theta = per_row(repetition, logits, "repetition penalty")
    if bool((theta <= 0).any()):
        raise ValueError("repetition penalty: not above 0")
    made = logits.double()
    repeated = (prompt > 0) | (output > 0)
    made = torch.where(repeated, torch.where(made > 0, made / theta, made * theta), made)
    made = made - output * per_row(frequency, logits, "frequency penalty")
    return made - (output > 0) * per_row(presence, logits, "presence penalty")
