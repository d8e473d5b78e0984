"""Bad words: sequences of tokens that a request must not end with."""

import torch


def mask_bad_words(
    logits: torch.Tensor,
    history: torch.Tensor,
    lengths: torch.Tensor,
    words: torch.Tensor,
    word_lengths: torch.Tensor,
) -> torch.Tensor:
    """Set to -inf the last token of each word whose other tokens end the request's history, in place.

    logits: [rows, vocab], bf16, fp16 or fp32; rows may be apart by any stride. Written, and returned.
    history: [rows, places], int64, at least one place; lengths: [rows], int64: the first so many are tokens, what comes
    after them is left over from other requests.
    words: [rows, count, width], int64, each from the left, filled up with -1; word_lengths: [rows, count], int64; 0 is
    a slot that is not used. A word of one token is always masked; a word longer than history and one more never is.
    Nothing but logits is written. Values of other tokens stay bit for bit.
    """
    width = words.shape[-1]
    rows, vocab = logits.shape
    steps = torch.arange(width - 1, device=words.device)
    needed = word_lengths.unsqueeze(-1) - 1
    places = lengths.view(-1, 1, 1) - needed + steps
    said = history.gather(1, places.clamp(0, history.shape[1] - 1).flatten(1)).view(places.shape)
    same = (said == words[..., :-1]) & (places >= 0)
    hit = (same | (steps >= needed)).all(dim=-1) & (word_lengths > 0)
    last = words.gather(2, needed.clamp(min=0)).squeeze(-1)
    blocked = torch.zeros(rows, vocab + 1, dtype=torch.bool, device=logits.device)
    blocked.scatter_(1, torch.where(hit, last, vocab), True)
    return logits.masked_fill_(blocked[:, :vocab], float("-inf"))
