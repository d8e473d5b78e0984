"""What usual comparisons of base's and head's outputs say: the peers of the checks, on the same inputs."""

from __future__ import annotations

import torch

PEERS = ("assert_close", "cosine > 0.99", "TVD < 0.2", "kept count")


def accused_by(base: torch.Tensor, head: torch.Tensor, kind: str) -> list[str]:
    """The peers that call head different. `kind`: the probe's kind of output (masked-logits, tensor, tokens)."""
    found = []
    try:
        torch.testing.assert_close(head, base, equal_nan=True)
    except AssertionError:
        found.append("assert_close")
    if kind == "tokens" or base.shape != head.shape:
        return found
    one, two = (_distributions(tensor) for tensor in (base, head))
    if float(torch.nn.functional.cosine_similarity(one, two, dim=-1).min()) <= 0.99:
        found.append("cosine > 0.99")
    if float((one - two).abs().sum(-1).max()) / 2 >= 0.2:
        found.append("TVD < 0.2")
    if kind == "masked-logits":
        counts = [(tensor.double() > float("-inf")).sum(-1) for tensor in (base, head)]
        if not torch.equal(*counts):
            found.append("kept count")
    return found


def _distributions(values: torch.Tensor) -> torch.Tensor:
    return torch.nan_to_num(values.double().flatten(1).softmax(-1), nan=0.0)
