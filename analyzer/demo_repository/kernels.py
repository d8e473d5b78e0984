"""Triton kernels over rows of logits. Rows may be padded: they are `row_stride` elements apart."""

import torch
import triton
import triton.language as tl

BLOCK = 1024


@triton.jit
def _temperature_kernel(logits_ptr, temperature_ptr, row_stride, vocab_size, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    offsets = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < vocab_size
    pointers = logits_ptr + row * row_stride + offsets
    logits = tl.load(pointers, mask=inside)
    temperature = tl.load(temperature_ptr + row)
    tl.store(pointers, logits / temperature, mask=inside)


@triton.jit
def _cutoff_kernel(logits_ptr, cutoff_ptr, row_stride, vocab_size, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    offsets = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < vocab_size
    pointers = logits_ptr + row * row_stride + offsets
    logits = tl.load(pointers, mask=inside)
    cutoff = tl.load(cutoff_ptr + row)
    tl.store(pointers, tl.where(logits >= cutoff, logits, float("-inf")), mask=inside)


def divide_rows(logits: torch.Tensor, temperature: torch.Tensor) -> None:
    """Divide each row of `logits` by its temperature, in place."""
    assert logits.dtype == torch.float32
    rows, vocab_size = logits.shape
    grid = (rows, triton.cdiv(vocab_size, BLOCK))
    _temperature_kernel[grid](logits, temperature, logits.stride(0), vocab_size, BLOCK=BLOCK)


def drop_below(logits: torch.Tensor, cutoff: torch.Tensor) -> None:
    """Set what is below its row's cutoff to -inf, in place."""
    assert logits.dtype == torch.float32
    rows, vocab_size = logits.shape
    grid = (rows, triton.cdiv(vocab_size, BLOCK))
    _cutoff_kernel[grid](logits, cutoff, logits.stride(0), vocab_size, BLOCK=BLOCK)
