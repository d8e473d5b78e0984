"""Gumbel-max sampling in two kernels: the best token of each tile, then the best of the tiles."""

import torch
import triton
import triton.language as tl

BLOCK = 1024


@triton.jit
def _mix(x):
    """A hash of 32 bits to 32 bits."""
    x = x ^ (x >> 16)
    x = x * 0x7FEB352D
    x = x ^ (x >> 15)
    x = x * 0x846CA68B
    return x ^ (x >> 16)


@triton.jit
def _gumbel(key, tokens):
    """Gumbel noise; the large values come from small uniforms, where fp32 is fine-grained."""
    bits = _mix(_mix(tokens.to(tl.uint32)) ^ key)
    uniforms = (bits.to(tl.float32) + 0.5) * 2.3283064365386963e-10
    uniforms = tl.minimum(uniforms, 0.99999994)
    # -log(1 - u): a series where 1 - u would round the smallest away.
    series = uniforms * (1.0 + uniforms * (0.5 + uniforms * (0.33333334 + uniforms * 0.25)))
    wait = tl.where(uniforms < 0.01, series, -tl.log(1.0 - uniforms))
    return -tl.log(wait)


@triton.jit
def _tile_kernel(
    logits_ptr,
    row_stride,
    temperature_ptr,
    seeds_ptr,
    positions_ptr,
    best_ptr,
    ids_ptr,
    tiles,
    vocab,
    BLOCK: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    tile = tl.program_id(1)
    tokens = tile * BLOCK + tl.arange(0, BLOCK)
    inside = tokens < vocab
    values = tl.load(logits_ptr + row * row_stride + tokens, mask=inside, other=float("-inf")).to(tl.float32)
    values = tl.where(values == values, values, float("-inf"))
    temperature = tl.load(temperature_ptr + row)
    if temperature >= 1e-5:
        seed = tl.load(seeds_ptr + row)
        position = tl.load(positions_ptr + row)
        key = _mix(seed.to(tl.uint32) ^ 0x9E3779B9)
        key = _mix(key ^ (seed >> 32).to(tl.uint32))
        key = _mix(key ^ position.to(tl.uint32))
        values = values / temperature + _gumbel(key, tokens)
    best = tl.max(values, axis=0)
    place = tl.argmax(values, axis=0)
    tl.store(best_ptr + row * tiles + tile, best)
    tl.store(ids_ptr + row * tiles + tile, (tile * BLOCK + place).to(tl.int64))


@triton.jit
def _row_kernel(best_ptr, ids_ptr, out_ptr, tiles, TILES: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    lanes = tl.arange(0, TILES)
    best = tl.load(best_ptr + row * tiles + lanes, mask=lanes < tiles, other=float("-inf"))
    tl.store(out_ptr + row, tl.load(ids_ptr + row * tiles + tl.argmax(best, axis=0)))


def sample_gumbel(
    logits: torch.Tensor, temperature: torch.Tensor, seeds: torch.Tensor, positions: torch.Tensor, vocab_size: int
) -> torch.Tensor:
    """Draw one token a row from the softmax of logits / temperature.

    logits: [rows, columns], bf16, fp16 or fp32; the last dimension is packed, rows may be apart by any stride; rows *
    stride may pass 2**31. Never written.
    vocab_size: the first so many columns are tokens, 1 or more; the others are padding, hold anything, and are never
    drawn.
    temperature: [rows], fp32. Below 1e-5: the largest logit, the lowest id of equals, whatever the seed.
    seeds, positions: [rows], int64. A row's token depends on its logits, temperature, seed and position and on nothing
    else: not on its place in the batch, the other rows, the call or the process.
    Returns [rows], int64, each in 0..vocab_size-1. Values and noise are fp32; noise reaches 22. NaN counts as -inf; a
    row without a finite logit gives 0.
    """
    rows = logits.shape[0]
    out = torch.empty((rows,), dtype=torch.int64, device=logits.device)
    if not rows:
        return out
    tiles = triton.cdiv(vocab_size, BLOCK)
    best = torch.empty((rows, tiles), dtype=torch.float32, device=logits.device)
    ids = torch.empty((rows, tiles), dtype=torch.int64, device=logits.device)
    _tile_kernel[(rows, tiles)](
        logits, logits.stride(0), temperature, seeds, positions, best, ids, tiles, vocab_size, BLOCK=BLOCK, num_warps=4
    )
    _row_kernel[(rows,)](best, ids, out, tiles, TILES=triton.next_power_of_2(tiles))
    return out
