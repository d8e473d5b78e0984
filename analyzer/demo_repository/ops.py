"""The stages of sampling, in place on logits of shape [rows, vocabulary]: kernels on a GPU, PyTorch elsewhere."""

import torch
from minisample.kernels import divide_rows, drop_below


def apply_temperature(logits: torch.Tensor, temperature: torch.Tensor) -> None:
    """Divide each row by its temperature."""
    if logits.is_cuda:
        divide_rows(logits, temperature)
    else:
        logits.div_(temperature.unsqueeze(1))


def apply_top_k_top_p(logits: torch.Tensor, k: int, p: float) -> torch.Tensor:
    """Set to -inf all but the k largest logits, and of those all but the fewest whose mass reaches p."""
    cutoff = smallest_kept(logits, k, p)
    if logits.is_cuda:
        drop_below(logits, cutoff)
    else:
        logits.masked_fill_(logits < cutoff.unsqueeze(1), float("-inf"))
    return logits


def smallest_kept(logits: torch.Tensor, k: int, p: float) -> torch.Tensor:
    """The smallest logit that each row keeps."""
    largest = logits.topk(k, dim=-1).values
    mass = largest.softmax(dim=-1)
    before = mass.cumsum(dim=-1) - mass
    kept = (before < p).sum(dim=-1, keepdim=True)
    return largest.gather(-1, kept - 1).squeeze(1)
