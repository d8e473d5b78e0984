"""What several checks read: inputs as the parent makes them, the oracle's steps, outputs of changed inputs."""

from __future__ import annotations

from typing import Any

import torch

from analyzer.build.worker import tensors, variants
from analyzer.build.workers import Result, Worker
from analyzer.checks.probe_run import ProbeRun
from analyzer.kernels.compare import MaskedLogits, masked_logits
from analyzer.kernels.reference import Reference, Step, of_rows, reference
from analyzer.model.plan import Scalar

Inputs = dict[str, "torch.Tensor | None"]


def given(run: ProbeRun, case: str = "parity", numbers: dict[str, int] | None = None, **variant: Any) -> Inputs:
    """A call's inputs, made anew by the parent: what the child had cannot have touched them."""
    request = {
        "probe": run.probe.model_dump(mode="json"),
        "numbers": numbers or run.numbers(case),
        "dtype": run.dtype,
        "seed": run.plan.seed,
        "variant": variant,
    }
    return variants.make(request, run.device)


def steps(run: ProbeRun, inputs: Inputs) -> list[Step]:
    """The oracle's steps, with inputs in the place of their names."""
    made = []
    for step in run.probe.oracle:
        numbers = run.numbers("parity")
        values = {
            name: _value(numbers.get(v, v) if isinstance(v, str) else v, inputs) for name, v in step.parameters.items()
        }
        made.append((step.operation, {name: value for name, value in values.items() if value is not None}))
    return made


def _value(given: Scalar, inputs: Inputs) -> Any:
    """A number or word as it is, an input by its name, or ``state[mapping]``: the rows of one that another names."""
    if not isinstance(given, str):
        return given
    state, _, mapping = given.removesuffix("]").partition("[")
    if not mapping:
        return inputs.get(given, given)
    held, rows = inputs[state], inputs[mapping]
    return held if held is None or rows is None else held[rows.long()]


def logits_of(run: ProbeRun, inputs: Inputs) -> torch.Tensor:
    """The input that the oracle starts from."""
    logits = inputs[variants.subject(run.probe.model_dump(mode="json"))]
    assert logits is not None
    return logits


def references(run: ProbeRun, inputs: Inputs, rows: slice) -> Reference:
    """The oracle's answer for some rows."""
    return reference(logits_of(run, inputs)[rows].to(run.device), of_rows(steps(run, inputs), rows, run.device))


def output(run: ProbeRun, result: Result, worker: Worker) -> torch.Tensor:
    return tensors.read(result.data["output"], worker.out)


def comparison(run: ProbeRun) -> MaskedLogits:
    """Base, head and the oracle of the parity call, computed once. Needs both calls to have ended."""
    if "masked" not in run.memo:
        base, head = run.calls
        inputs = given(run)
        logits = logits_of(run, inputs)
        run.memo["masked"] = masked_logits(
            logits, output(run, base, run.base), output(run, head, run.head), run.device, steps(run, inputs)
        )
    return run.memo["masked"]
