"""Rejection sampling of speculative decoding."""

import torch


def verify_drafts(
    draft_ids: torch.Tensor,
    draft_counts: torch.Tensor,
    draft_probs: torch.Tensor,
    target_logits: torch.Tensor,
    bonus_ids: torch.Tensor,
    uniforms: torch.Tensor,
    waits: torch.Tensor,
) -> torch.Tensor:
    """Accept drafted tokens as the target model would have drawn them, then one token more.

    draft_ids: [requests, steps], int64, -1 where there is no draft; draft_counts: [requests], int64, 0 to steps: each
    request's own number of drafts. steps is 1 or more.
    draft_probs: [requests, steps, vocab], fp32: what each draft was drawn from. target_logits: the same shape, bf16,
    fp16 or fp32; its softmax in fp32 is the target. uniforms: [requests, steps], fp32, 0 or more and below 1; 0 occurs.
    A draft is accepted where uniform * draft probability < target probability, so never one that the target cannot
    draw; the first that is not ends the row. There the recovered token is drawn: the largest of
    max(target - draft, 0) / wait, or of target / wait where no token has more than 0. Where all drafts are accepted the
    bonus token follows. waits: [requests, vocab], fp32, above 0; bonus_ids: [requests], int64. No input is written.
    Returns [requests, steps + 1], int64: accepted tokens, one recovered or bonus token, then -1.
    """
    requests, steps, vocab = target_logits.shape
    target = target_logits.softmax(dim=-1, dtype=torch.float32)
    drafted = draft_ids.clamp(min=0).unsqueeze(-1)
    wanted = target.gather(-1, drafted).squeeze(-1)
    offered = draft_probs.gather(-1, drafted).squeeze(-1)
    columns = torch.arange(steps + 1, device=draft_ids.device)
    accepted = (uniforms * offered < wanted) & (columns[:-1] < draft_counts.unsqueeze(1))
    length = accepted.long().cumprod(dim=-1).sum(dim=-1, keepdim=True)

    stop = length.clamp(max=steps - 1).unsqueeze(-1).expand(requests, 1, vocab)
    wished = target.gather(1, stop).squeeze(1)
    residual = (wished - draft_probs.gather(1, stop).squeeze(1)).clamp(min=0)
    residual = torch.where((residual > 0).any(dim=-1, keepdim=True), residual, wished)
    recovered = (residual / waits).argmax(dim=-1)

    last = torch.where(length.squeeze(1) == draft_counts, bonus_ids, recovered)
    padded = torch.cat([draft_ids, draft_ids[:, :1]], dim=1)
    tokens = torch.where(columns < length, padded, -1)
    return tokens.scatter_(1, length, last.unsqueeze(1))
