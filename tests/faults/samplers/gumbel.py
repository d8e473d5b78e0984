"""Gumbel-max sampling with a seed for each request."""

import torch

CHUNK = 4096
_LOW = 0xFFFFFFFF


def _mix(x: torch.Tensor) -> torch.Tensor:
    """A hash of 32 bits to 32 bits, held in int64."""
    x = x ^ (x >> 16)
    x = (x * 0x7FEB352D) & _LOW
    x = x ^ (x >> 15)
    x = (x * 0x846CA68B) & _LOW
    return x ^ (x >> 16)


def _keys(seeds: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
    """32 bits for each request and position."""
    key = _mix((seeds & _LOW) ^ 0x9E3779B9)
    key = _mix(key ^ ((seeds >> 32) & _LOW))
    return _mix(key ^ (positions & _LOW))


def _gumbel(keys: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
    """Gumbel noise for each request and token; the large values come from small uniforms, which are fine-grained."""
    bits = _mix(_mix(tokens) ^ keys.unsqueeze(1))
    uniforms = ((bits.to(torch.float32) + 0.5) * 2.0**-32).clamp(max=1 - 2.0**-24)
    return -torch.log(-torch.log1p(-uniforms))


def sample_gumbel(
    logits: torch.Tensor, temperature: torch.Tensor, seeds: torch.Tensor, positions: torch.Tensor, vocab_size: int
) -> torch.Tensor:
    """Draw one token a row from the softmax of logits / temperature.

    logits: [rows, columns], bf16, fp16 or fp32; rows may be apart by any stride. Never written.
    vocab_size: the first so many columns are tokens, 1 or more; the others are padding, hold anything, and are never
    drawn.
    temperature: [rows], fp32. Below 1e-5: the largest logit, the lowest id of equals, whatever the seed.
    seeds, positions: [rows], int64. A row's token depends on its logits, temperature, seed and position and on nothing
    else: not on its place in the batch, the other rows, the call or the process.
    Returns [rows], int64, each in 0..vocab_size-1. Values and noise are fp32; noise reaches 22. NaN counts as -inf; a
    row without a finite logit gives 0.
    """
    rows = logits.shape[0]
    divisor = torch.where(temperature < 1e-5, 1.0, temperature).unsqueeze(1)
    random = (temperature >= 1e-5).unsqueeze(1)
    keys = _keys(seeds, positions)
    best = torch.full((rows,), float("-inf"), device=logits.device)
    ids = torch.zeros(rows, dtype=torch.int64, device=logits.device)
    for start in range(0, vocab_size, CHUNK):
        end = min(start + CHUNK, vocab_size)
        values = logits[:, start:end].to(torch.float32)
        values = torch.where(values.isnan(), float("-inf"), values) / divisor
        tokens = torch.arange(start, end, device=logits.device)
        values = torch.where(random, values + _gumbel(keys, tokens), values)
        top, place = values.max(dim=-1)
        better = top > best
        best = torch.where(better, top, best)
        ids = torch.where(better, place + start, ids)
    return ids
