"""Top-k, then top-p, by a search for the threshold bit by bit, without sorting."""

import torch
import triton
import triton.language as tl

BLOCK = 4096


@triton.jit
def _order(values):
    """Unsigned integers in the order of the floats; both zeros give the same."""
    values = tl.where(values == 0.0, 0.0, values)
    bits = values.to(tl.uint32, bitcast=True)
    return tl.where(values < 0.0, bits ^ 0xFFFFFFFF, bits | 0x80000000)


@triton.jit
def _mask_kernel(logits_ptr, out_ptr, k_ptr, p_ptr, logits_stride, out_stride, vocab, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    logits_ptr += row * logits_stride
    out_ptr += row * out_stride
    k = tl.load(k_ptr + row)
    k = tl.where((k > 0) & (k < vocab), k, vocab)
    p = tl.load(p_ptr + row)
    lanes = tl.arange(0, BLOCK)
    one = tl.full((), 1, tl.uint32)

    # The largest threshold that at least k tokens reach.
    cut = tl.full((), 0, tl.uint32)
    for step in range(32):
        trial = cut | (one << (31 - step))
        count = 0
        for start in range(0, vocab, BLOCK):
            inside = start + lanes < vocab
            values = tl.load(logits_ptr + start + lanes, mask=inside, other=float("-inf")).to(tl.float32)
            count += tl.sum(((_order(values) >= trial) & inside).to(tl.int32), axis=0)
        cut = tl.where(count >= k, trial, cut)

    if p < 1.0:
        peak = tl.full((), float("-inf"), tl.float32)
        for start in range(0, vocab, BLOCK):
            values = tl.load(logits_ptr + start + lanes, mask=start + lanes < vocab, other=float("-inf"))
            peak = tl.maximum(peak, tl.max(values.to(tl.float32), axis=0))
        mass = 0.0
        for start in range(0, vocab, BLOCK):
            inside = start + lanes < vocab
            values = tl.load(logits_ptr + start + lanes, mask=inside, other=float("-inf")).to(tl.float32)
            mass += tl.sum(tl.where(inside & (_order(values) >= cut), tl.exp(values - peak), 0.0), axis=0)
        # The largest threshold, not above the row's largest logit, whose tokens hold p of that mass.
        narrow = tl.full((), 0, tl.uint32)
        for step in range(32):
            trial = narrow | (one << (31 - step))
            held = 0.0
            for start in range(0, vocab, BLOCK):
                inside = start + lanes < vocab
                values = tl.load(logits_ptr + start + lanes, mask=inside, other=float("-inf")).to(tl.float32)
                order = _order(values)
                kept = inside & (order >= cut) & (order >= trial)
                held += tl.sum(tl.where(kept, tl.exp(values - peak), 0.0), axis=0)
            narrow = tl.where(held >= p * mass, trial, narrow)
        narrow = tl.minimum(narrow, _order(peak))
        cut = tl.maximum(cut, narrow)

    for start in range(0, vocab, BLOCK):
        inside = start + lanes < vocab
        values = tl.load(logits_ptr + start + lanes, mask=inside)
        kept = _order(values.to(tl.float32)) >= cut
        tl.store(out_ptr + start + lanes, tl.where(kept, values, float("-inf")), mask=inside)


def mask_top_k_top_p(logits: torch.Tensor, k: torch.Tensor, p: torch.Tensor) -> torch.Tensor:
    """Set to -inf what neither the k largest logits of a row nor, of those, the fewest with mass p hold.

    logits: [rows, vocab], bf16, fp16 or fp32; the last dimension is packed, rows may be apart by any stride; rows *
    stride may pass 2**31. Never written, never returned.
    k: [rows], int32. Not in 1..vocab-1: no limit. Tokens that equal the k-th largest are all kept.
    p: [rows], fp32. 1 or more: no limit. The token that reaches p is kept, and all that equal it; at least the largest
    is kept, for p = 0 too. The mass is that of the softmax over what top-k left, in fp32; within 1e-5 of p either
    decision is right.
    Returns a new packed tensor of the logits' dtype. A row of -inf alone comes back as it is. NaN is not allowed.
    Rows with many -inf take no longer than others.
    """
    rows, vocab = logits.shape
    out = torch.empty((rows, vocab), dtype=logits.dtype, device=logits.device)
    if rows:
        _mask_kernel[(rows,)](logits, out, k, p, logits.stride(0), out.stride(0), vocab, BLOCK=BLOCK, num_warps=8)
    return out
