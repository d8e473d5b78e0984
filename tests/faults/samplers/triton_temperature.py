"""Temperature as a Triton kernel, in place."""

import torch
import triton
import triton.language as tl

BLOCK = 2048


@triton.jit
def _temperature_kernel(logits_ptr, temperature_ptr, row_stride, vocab, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    offsets = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < vocab
    temperature = tl.load(temperature_ptr + row)
    if temperature >= 1e-5:
        pointers = logits_ptr + row * row_stride + offsets
        values = tl.load(pointers, mask=inside).to(tl.float32)
        tl.store(pointers, values / temperature, mask=inside)


def apply_temperature(logits: torch.Tensor, temperature: torch.Tensor) -> torch.Tensor:
    """Divide each row by its temperature, in place.

    logits: [rows, vocab], bf16, fp16 or fp32; the last dimension is packed, rows may be apart by any stride, and what
    lies between them is not touched; rows * stride may pass 2**31. Written, and returned.
    temperature: [rows], fp32, 0 or more. Below 1e-5 the row is for greedy decoding and stays as it is.
    The quotient is fp32, rounded once to the logits' dtype (fp32: within two roundings). -inf stays -inf.
    """
    rows, vocab = logits.shape
    if rows:
        grid = (rows, triton.cdiv(vocab, BLOCK))
        _temperature_kernel[grid](logits, temperature, logits.stride(0), vocab, BLOCK=BLOCK)
    return logits
