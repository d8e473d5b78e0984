"""Log-probabilities of chosen tokens: each row is summed in parts, the parts in a fixed order."""

import torch
import triton
import triton.language as tl

BLOCK = 2048
PARTS = 8


@triton.jit
def _part_kernel(
    logits_ptr, row_stride, peak_ptr, sums_ptr, vocab, part_size, PARTS: tl.constexpr, BLOCK: tl.constexpr
):
    row = tl.program_id(0).to(tl.int64)
    part = tl.program_id(1)
    peak = tl.load(peak_ptr + row)
    first = part * part_size
    last = tl.minimum(first + part_size, vocab)
    sums = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(first, last, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        values = tl.load(logits_ptr + row * row_stride + offsets, mask=offsets < last, other=float("-inf"))
        sums += tl.exp(values.to(tl.float32) - peak)
    tl.store(sums_ptr + row * PARTS + part, tl.sum(sums, axis=0))


@triton.jit
def _chosen_kernel(logits_ptr, row_stride, ids_ptr, slots, peak_ptr, sums_ptr, out_ptr, PARTS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    slot = tl.program_id(1)
    token = tl.load(ids_ptr + row * slots + slot)
    total = tl.sum(tl.load(sums_ptr + row * PARTS + tl.arange(0, PARTS)), axis=0)
    value = tl.load(logits_ptr + row * row_stride + token).to(tl.float32)
    tl.store(out_ptr + row * slots + slot, value - tl.load(peak_ptr + row) - tl.log(total))


def chosen_logprobs(logits: torch.Tensor, ids: torch.Tensor) -> torch.Tensor:
    """The log-probability of each of a row's ids.

    logits: [rows, vocab], bf16, fp16 or fp32; the last dimension is packed, rows may be apart by any stride; rows *
    stride may pass 2**31. Each row has a finite logit, none above 1e4. Never written.
    ids: [rows, slots], int64, packed, 0 to vocab-1; slots is 1 or more. Never written.
    Returns [rows, slots], fp32, computed in fp32, within 1e-5 plus a relative 1e-6; a token of -inf has -inf.
    The same input gives the same bits each time. Rows do not depend on each other.
    """
    rows, vocab = logits.shape
    slots = ids.shape[1]
    out = torch.empty((rows, slots), dtype=torch.float32, device=logits.device)
    if not rows:
        return out
    peak = logits.amax(dim=-1).to(torch.float32)
    sums = torch.empty((rows, PARTS), dtype=torch.float32, device=logits.device)
    part_size = triton.cdiv(triton.cdiv(vocab, PARTS), BLOCK) * BLOCK
    _part_kernel[(rows, PARTS)](
        logits, logits.stride(0), peak, sums, vocab, part_size, PARTS=PARTS, BLOCK=BLOCK, num_warps=4
    )
    _chosen_kernel[(rows, slots)](logits, logits.stride(0), ids, slots, peak, sums, out, PARTS=PARTS)
    return out
