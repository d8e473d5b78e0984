import torch
from minisample.sampler import Sampler


def test_keeps_no_more_than_k():
    logits = torch.randn(4, 100)
    masked = Sampler.apply_params(logits, torch.full((4,), 0.7), k=5, p=1.0)
    assert (masked.isfinite().sum(dim=-1) == 5).all()


def test_leaves_the_callers_logits_alone():
    logits = torch.randn(4, 100)
    before = logits.clone()
    Sampler.apply_params(logits, torch.full((4,), 0.7), k=5, p=0.9)
    assert torch.equal(logits, before)
