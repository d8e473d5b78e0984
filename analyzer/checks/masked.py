"""The comparison of masked logits that several checks read, computed once for a probe and dtype."""

from __future__ import annotations

import torch

from analyzer.build.worker import inputs, tensors
from analyzer.build.workers import Result, Worker
from analyzer.checks.probe_run import ProbeRun
from analyzer.kernels.compare import MaskedLogits, masked_logits


def given(run: ProbeRun) -> dict[str, torch.Tensor | None]:
    """The inputs of the parity call, made anew by the parent: what the child had cannot have touched them."""
    return inputs.make_all(
        run.probe.model_dump(mode="json"), run.numbers("parity"), run.dtype, run.device, run.plan.seed
    )


def output(run: ProbeRun, result: Result, worker: Worker) -> torch.Tensor:
    return tensors.read(result.data["output"], worker.out)


def comparison(run: ProbeRun) -> MaskedLogits:
    """Base, head and the oracle of the parity call, computed once. Needs both calls to have ended."""
    if "masked" not in run.memo:
        base, head = run.calls
        numbers = dict(run.probe.oracle.parameters) if run.probe.oracle else {}
        logits = given(run)["logits"]
        assert logits is not None
        run.memo["masked"] = masked_logits(
            logits,
            output(run, base, run.base),
            output(run, head, run.head),
            run.device,
            float(numbers.get("temperature", 1.0)),
            int(numbers["top_k"]) if "top_k" in numbers else None,
            float(numbers["top_p"]) if "top_p" in numbers else None,
        )
    return run.memo["masked"]
