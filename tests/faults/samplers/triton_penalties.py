"""Repetition, frequency and presence penalties: token ids are counted, then each logit is adjusted, in place."""

import torch
import triton
import triton.language as tl

BLOCK = 1024
IDS = 256


@triton.jit
def _count_kernel(ids_ptr, slots, seen_ptr, vocab, PROMPT: tl.constexpr, IDS: tl.constexpr):
    """Bit 30 of a token's word says that the prompt has it; the bits below count it in the output."""
    row = tl.program_id(0).to(tl.int64)
    lanes = tl.program_id(1) * IDS + tl.arange(0, IDS)
    ids = tl.load(ids_ptr + row * slots + lanes, mask=lanes < slots, other=vocab)
    words = seen_ptr + row * vocab + ids
    if PROMPT:
        tl.atomic_or(words, 1 << 30, mask=ids < vocab)
    else:
        tl.atomic_add(words, 1, mask=ids < vocab)


@triton.jit
def _penalties_kernel(
    logits_ptr, row_stride, seen_ptr, repetition_ptr, frequency_ptr, presence_ptr, vocab, BLOCK: tl.constexpr
):
    row = tl.program_id(0).to(tl.int64)
    offsets = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < vocab
    seen = tl.load(seen_ptr + row * vocab + offsets, mask=inside, other=0)
    count = seen & ((1 << 30) - 1)
    repetition = tl.load(repetition_ptr + row)
    frequency = tl.load(frequency_ptr + row)
    presence = tl.load(presence_ptr + row)
    pointers = logits_ptr + row * row_stride + offsets
    values = tl.load(pointers, mask=inside).to(tl.float32)
    scale = tl.where(seen != 0, repetition, 1.0)
    values = tl.where(values > 0, values / scale, values * scale)
    values -= frequency * count
    values -= tl.where(count > 0, presence, 0.0)
    tl.store(pointers, values, mask=inside)


def apply_penalties(
    logits: torch.Tensor,
    prompt_ids: torch.Tensor,
    output_ids: torch.Tensor,
    repetition: torch.Tensor,
    frequency: torch.Tensor,
    presence: torch.Tensor,
) -> torch.Tensor:
    """Make tokens that a request has seen less probable, in place.

    logits: [rows, vocab], bf16, fp16 or fp32; the last dimension is packed, rows may be apart by any stride, and what
    lies between them is not touched; rows * stride may pass 2**31. Written, and returned.
    prompt_ids, output_ids: [rows, any number], int64, packed, 0 to vocab; the id vocab is padding. Never written.
    repetition: [rows], fp32, above 0. What is in the prompt or the output: a positive logit is divided by it, any other
    is multiplied. Then frequency times the count in the output, and presence once for what is in the output, are
    subtracted; both [rows], fp32. All in fp32, rounded once to the logits' dtype (fp32: within two roundings).
    A token that was not seen keeps its value. -inf stays -inf. Rows do not depend on each other.
    """
    rows, vocab = logits.shape
    if not rows:
        return logits
    seen = torch.zeros((rows, vocab), dtype=torch.int32, device=logits.device)
    for ids, prompt in ((prompt_ids, True), (output_ids, False)):
        slots = ids.shape[1]
        if slots:
            _count_kernel[(rows, triton.cdiv(slots, IDS))](ids, slots, seen, vocab, PROMPT=prompt, IDS=IDS)
    grid = (rows, triton.cdiv(vocab, BLOCK))
    _penalties_kernel[grid](
        logits, logits.stride(0), seen, repetition, frequency, presence, vocab, BLOCK=BLOCK, num_warps=4
    )
    return logits
