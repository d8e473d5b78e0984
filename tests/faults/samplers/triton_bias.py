"""Allowed tokens and logit bias, one program a row, in place."""

import torch
import triton
import triton.language as tl

BLOCK = 4096


@triton.jit
def _bias_kernel(
    logits_ptr,
    row_stride,
    vocab,
    allowed_ids_ptr,
    allowed_counts_ptr,
    allowed_slots,
    bias_ids_ptr,
    biases_ptr,
    bias_counts_ptr,
    bias_slots,
    ALLOWED: tl.constexpr,
    BIASES: tl.constexpr,
    BLOCK: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    logits_ptr += row * row_stride

    allowed_count = tl.load(allowed_counts_ptr + row)
    if allowed_count > 0:
        lanes = tl.arange(0, ALLOWED)
        used = lanes < allowed_count
        ids = tl.load(allowed_ids_ptr + row * allowed_slots + lanes, mask=used, other=0)
        values = tl.load(logits_ptr + ids, mask=used)
        # All reads before the row is masked, and the row masked before values come back: other warps hold those tokens.
        tl.debug_barrier()
        for start in range(0, vocab, BLOCK):
            offsets = start + tl.arange(0, BLOCK)
            tl.store(logits_ptr + offsets, float("-inf"), mask=offsets < vocab)
        tl.debug_barrier()
        tl.store(logits_ptr + ids, values, mask=used)
        tl.debug_barrier()

    bias_count = tl.load(bias_counts_ptr + row)
    if bias_count > 0:
        lanes = tl.arange(0, BIASES)
        used = lanes < bias_count
        ids = tl.load(bias_ids_ptr + row * bias_slots + lanes, mask=used, other=0)
        biases = tl.load(biases_ptr + row * bias_slots + lanes, mask=used, other=0.0)
        values = tl.load(logits_ptr + ids, mask=used).to(tl.float32) + biases
        tl.store(logits_ptr + ids, values, mask=used)


def apply_bias(
    logits: torch.Tensor,
    allowed_ids: torch.Tensor,
    allowed_counts: torch.Tensor,
    bias_ids: torch.Tensor,
    biases: torch.Tensor,
    bias_counts: torch.Tensor,
) -> torch.Tensor:
    """Leave each row its allowed tokens only, then add its biases, in place.

    logits: [rows, vocab], bf16, fp16 or fp32; the last dimension is packed, rows may be apart by any stride, and what
    lies between them is not touched; rows * stride may pass 2**31. Written, and returned.
    allowed_ids: [rows, slots], int64, packed; allowed_counts: [rows], int32: how many of the slots are used, 0 for a
    row without a limit. bias_ids: [rows, slots], int64, packed; biases: its shape, fp32; bias_counts: [rows], int32.
    The used ids of a row are distinct; slots that are not used hold anything. slots is 1 or more. Nothing but logits
    is written.
    A token that is allowed keeps its value bit for bit where it has no bias; logit + bias is fp32, rounded once to the
    logits' dtype. A token that is not allowed is -inf, biased or not.
    """
    rows, vocab = logits.shape
    if rows:
        _bias_kernel[(rows,)](
            logits,
            logits.stride(0),
            vocab,
            allowed_ids,
            allowed_counts,
            allowed_ids.shape[1],
            bias_ids,
            biases,
            bias_counts,
            bias_ids.shape[1],
            ALLOWED=triton.next_power_of_2(allowed_ids.shape[1]),
            BIASES=triton.next_power_of_2(bias_ids.shape[1]),
            BLOCK=BLOCK,
            num_warps=8,
        )
    return logits
