"""Acceptance of drafted tokens, one program a request."""

import torch
import triton
import triton.language as tl


@triton.jit
def _accept_kernel(
    draft_ids_ptr, ends_ptr, draft_probs_ptr, draft_stride, target_probs_ptr, target_stride, uniforms_ptr, out_ptr
):
    request = tl.program_id(0)
    first = tl.where(request > 0, tl.load(ends_ptr + tl.maximum(request - 1, 0)), 0)
    last = tl.load(ends_ptr + request)
    length = 0
    alive = 1
    for place in range(first, last):
        if alive == 1:
            row = tl.cast(place, tl.int64)
            token = tl.load(draft_ids_ptr + row)
            offered = tl.load(draft_probs_ptr + row * draft_stride + token)
            wanted = tl.load(target_probs_ptr + row * target_stride + token)
            alive = tl.where(tl.load(uniforms_ptr + row) * offered < wanted, 1, 0)
            length += alive
    tl.store(out_ptr + request, length)


def accepted_lengths(
    draft_ids: torch.Tensor,
    ends: torch.Tensor,
    draft_probs: torch.Tensor,
    target_probs: torch.Tensor,
    uniforms: torch.Tensor,
) -> torch.Tensor:
    """How many of each request's drafted tokens are accepted before the first that is not.

    draft_ids: [drafts], int64: the requests' drafts, one request after another. ends: [requests], int32: where each
    request's drafts end, which is where the next one's begin; a request may have none, and any number.
    draft_probs, target_probs: [drafts, vocab], fp32, the last dimension packed, rows apart by any stride, each by its
    own; rows * stride may pass 2**31. uniforms: [drafts], fp32, 0 or more and below 1; 0 occurs. No input is written.
    A draft is accepted where uniform * draft probability < target probability, so never one that the target cannot
    draw. Returns [requests], int32.
    """
    requests = ends.shape[0]
    out = torch.empty((requests,), dtype=torch.int32, device=draft_ids.device)
    if requests:
        _accept_kernel[(requests,)](
            draft_ids,
            ends,
            draft_probs,
            draft_probs.stride(0),
            target_probs,
            target_probs.stride(0),
            uniforms,
            out,
        )
    return out
