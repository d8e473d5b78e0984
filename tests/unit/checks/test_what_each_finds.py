"""Each check on a pair of small samplers: the fault that it is for fails, the same code passes."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="needs the checks extra")

from faults.local import local_workers, pair_run  # noqa: E402

from analyzer.checks.session import CHECKS  # noqa: E402
from analyzer.model.plan import Probe  # noqa: E402

MASK = """
import torch


def mask(logits, k, p):
    x = logits.float()
    values, order = x.sort(dim=-1, descending=True)
    place = torch.arange(x.shape[1])
    values = values.masked_fill(place >= k.unsqueeze(1), float("-inf"))
    mass = values.softmax(-1)
    before = mass.cumsum(-1) - mass
    past = (before >= p.unsqueeze(1)) & (p.unsqueeze(1) < 1) & (place > 0)
    values = values.masked_fill(past, float("-inf"))
    return torch.full_like(x, float("-inf")).scatter_(1, order, values)
"""
DRAW = """
import torch


def draw(logits, noise):
    return (logits.float().softmax(-1) / noise).argmax(-1)
"""
K = {"low": 1, "high": 30}
LOGITS = {"name": "logits", "shape": ["rows", "vocab"], "fill": "normal", "parameters": {"scale": 2.5}}
PROBES = {
    MASK: Probe.model_validate(
        {
            "name": "mask", "target": "tiny:mask", "covers": ["mask"], "dtypes": ["fp32"], "checks": ["kept-set"],
            "inputs": [
                LOGITS,
                {"name": "k", "shape": ["rows"], "dtype": "int32", "fill": "integers", "parameters": K},
                {"name": "p", "shape": ["rows"], "dtype": "fp32", "fill": "uniform", "parameters": {"low": 0.3}},
            ],
            "cases": {"parity": {"rows": 64, "vocab": 1000}},
            "oracle": [{"operation": "top-k", "k": "k"}, {"operation": "top-p", "p": "p"}],
        }
    ),
    DRAW: Probe.model_validate(
        {
            "name": "draw", "target": "tiny:draw", "covers": ["draw"], "dtypes": ["fp32"], "checks": ["sampling"],
            "inputs": [LOGITS, {"name": "noise", "shape": ["rows", "vocab"], "dtype": "fp32", "fill": "exponential"}],
            "cases": {"parity": {"rows": 64, "vocab": 1000}}, "output": "tokens", "noise": ["noise"],
            "oracle": [{"operation": "race", "noise": "noise"}],
        }
    ),
}  # fmt: skip
FAULTS = {
    "kept-set": [(MASK, "place >= k.unsqueeze", "place > k.unsqueeze", "one token too many")],
    "distribution-distance": [(MASK, "order, values)", "order, values * 1.05)", "logits scaled")],
    "oracle": [
        (MASK, "order, values)", "order, values.bfloat16().float())", "values rounded on the way"),
        (DRAW, "logits.float()", "(1.2 * logits.float())", "another temperature"),
    ],
    "mutation": [(MASK, "logits.float()", "logits.clamp_(-2.0)", "the caller's logits are written")],
    "sampling": [
        (DRAW, "logits.float()", "(1.2 * logits.float())", "another temperature"),
        (DRAW, ".argmax(-1)", "[:, :-100].argmax(-1)", "the last tile is never drawn"),
    ],
    "special-values": [
        (MASK, "logits.float()", "logits.float().nan_to_num(neginf=-60.0)", "masked tokens come back"),
        (DRAW, "logits.float()", "logits.float().clamp_min(-50)", "a row with one valid token draws another"),
    ],
    "batch-invariance": [
        (
            MASK,
            "logits.float()",
            "logits.float() - logits.float().nan_to_num().max()",
            "shifted by the batch's maximum",
        ),
        (
            DRAW,
            "logits.float()",
            "(logits.float() * (1.0 if len(logits) < 8 else 1.5))",
            "small batches go another way",
        ),
    ],
    "layout": [
        (MASK, "logits.float()", "torch.as_strided(logits, logits.shape, (logits.shape[1], 1)).float()", "packed rows"),
    ],
    "determinism": [(MASK, "logits.float()", "logits.float() + 1e-6 * torch.rand(())", "unseeded noise")],
}
CASES = [
    pytest.param(check, *fault[:3], id=f"{check}: {fault[3]}") for check, faults in FAULTS.items() for fault in faults
]


def outcome_of(check, base, head, folder, probe=None) -> str:
    workers = local_workers(folder, "tiny", {"base": base, "head": head})
    (record,) = CHECKS[check](pair_run(workers, probe or PROBES[base]))
    return record.outcome


@pytest.mark.parametrize(("check", "base", "find", "replace"), CASES)
def test_the_fault_fails_and_base_passes(check, base, find, replace, tmp_path):
    """Head with the fault fails by this check. The same code twice passes, and so does taking the fault back."""
    assert base.count(find) == 1
    faulty = base.replace(find, replace)
    assert outcome_of(check, base, faulty, tmp_path / "fault") == "fail"
    assert outcome_of(check, base, base, tmp_path / "same") == "pass"


@pytest.mark.parametrize(("check", "base", "find", "replace"), CASES)
def test_what_base_has_too_does_not_fail(check, base, find, replace, tmp_path):
    """A fault of both revisions is pre-existing, or told as no difference at all; it never blocks."""
    faulty = base.replace(find, replace)
    assert outcome_of(check, faulty, faulty, tmp_path, PROBES[base]) in ("pass", "pre-existing")
