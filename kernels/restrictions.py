"""Logit bias, allowed token ids and bad words in fp64."""

from __future__ import annotations

import torch

#: Fills the ends of rows that are shorter than the longest; no token has it.
PADDING = -1


def first_of(ids: torch.Tensor, count: torch.Tensor | None) -> torch.Tensor:
    """`ids` [rows, n, …] with PADDING after the first `count` (int [rows]) of each row; as they are without a count."""
    if count is None:
        return ids
    beyond = torch.arange(ids.shape[1], device=ids.device) >= count.unsqueeze(1)
    return ids.masked_fill(beyond.reshape(*beyond.shape, *[1] * (ids.dim() - 2)), PADDING)


def add_bias(logits: torch.Tensor, ids: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """`logits` [rows, vocab] plus `bias` [rows, n] at the tokens `ids` (int [rows, n]), fp64 [rows, vocab].

    PADDING in `ids` adds nothing; an id given twice gets both. A masked token (−inf) stays masked. Raises ValueError
    where an id is neither PADDING nor in the vocabulary.
    """
    ids = ids.long()
    vocab = logits.shape[1]
    if bool(((ids < PADDING) | (ids >= vocab)).any()):
        raise ValueError(f"an id outside the vocabulary of {vocab}")
    added = torch.zeros(len(logits), vocab + 1, dtype=torch.float64, device=logits.device)
    added.scatter_add_(1, torch.where(ids == PADDING, vocab, ids), bias.double())
    return logits.double() + added[:, :vocab]


def allow_only(logits: torch.Tensor, allowed: torch.Tensor) -> torch.Tensor:
    """`logits` with −inf where `allowed` (bool) is false, both [rows, vocab], in fp64.

    Ids become a mask by `token_counts(ids, vocab) > 0`; a request without a list has a row of true.
    """
    return logits.double().masked_fill(~allowed, float("-inf"))


def ban_words(logits: torch.Tensor, history: torch.Tensor, words: torch.Tensor) -> torch.Tensor:
    """`logits` [rows, vocab] with −inf at each token that would complete a bad word, in fp64.

    `history` (int [rows, length]): the tokens before this one; whether the prompt is among them is the contract's
    choice. `words` (int [rows, n, longest]). Both are padded with PADDING on the left; a word of PADDING alone is none.
    A word's last token is banned where the history ends in the tokens before it: always, for a word of one token.
    """
    rows, _, longest = words.shape
    vocab = logits.shape[1]
    words, history = words.long(), history.long()
    short = history.new_full((rows, longest), PADDING)
    tail = torch.cat((short, history), 1)[:, -longest:][:, 1:]
    start, last = words[..., :-1], words[..., -1]
    met = ((start == PADDING) | (start == tail.unsqueeze(1))).all(-1) & (last != PADDING)
    banned = torch.zeros(rows, vocab + 1, dtype=torch.bool, device=logits.device)
    banned.scatter_(1, torch.where(met, last, vocab), True)
    return logits.double().masked_fill(banned[:, :vocab], float("-inf"))


def left_padded(values: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    """`values` (int [..., width]), of which the first `lengths` ([...]) count, with PADDING to the left of these."""
    width = values.shape[-1]
    place = torch.arange(width, device=values.device) - (width - lengths.long().unsqueeze(-1))
    taken = values.long().gather(-1, place.clamp(0, width - 1))
    return torch.where(place >= 0, taken, PADDING)
