"""Temperature, each request with its own."""

import torch


def apply_temperature(logits: torch.Tensor, temperature: torch.Tensor) -> torch.Tensor:
    """Divide each row by its temperature, in fp32.

    logits: [rows, vocab], bf16, fp16 or fp32; rows may be apart by any stride. Never written, never returned.
    temperature: [rows], fp32, 0 or more. Below 1e-5 the row is for greedy decoding and its values stay as they are.
    Returns a new fp32 tensor: each element is the logit as fp32 divided by the temperature, within two roundings.
    -inf stays -inf.
    """
    divisor = torch.where(temperature < 1e-5, 1.0, temperature)
    return logits.to(torch.float32) / divisor.unsqueeze(1)
