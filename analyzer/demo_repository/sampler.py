"""Samples a token for each row of logits."""

import torch
from minisample.ops import apply_temperature, apply_top_k_top_p


class Sampler:
    """Temperature, then top-k, then top-p, then a draw."""

    @staticmethod
    def apply_params(logits: torch.Tensor, temperature: torch.Tensor, k: int, p: float) -> torch.Tensor:
        """The logits that are drawn from: -inf for every token that is dropped."""
        # The stages below work in place and in fp32, so they get a copy.
        logits = torch.empty_like(logits, dtype=torch.float32).copy_(logits)
        apply_temperature(logits, temperature)
        return apply_top_k_top_p(logits, k, p)

    def sample(self, logits: torch.Tensor, temperature: torch.Tensor, k: int, p: float) -> torch.Tensor:
        """One token id a row."""
        masked = self.apply_params(logits, temperature, k, p)
        return torch.multinomial(masked.softmax(dim=-1), 1).squeeze(1)
