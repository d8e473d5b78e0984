"""A change, its plan and its evidence, made by hand: a sampler's fp32 copy becomes an in-place chain in bf16."""

from __future__ import annotations

from typing import Any

import pytest

from analyzer.findings.engine import find, load_rules
from analyzer.model.base import Text
from analyzer.model.change import Caller, Change, Edit, FileChange, Related, Snippet, Subject, Symbol
from analyzer.model.evidence import Check, Environment, Evidence, Specialization
from analyzer.model.plan import Plan, PlannedCheck

SAMPLER, KERNELS, TESTS = "mini/sampler.py", "mini/kernels.py", "tests/test_sampler.py"
APPLY = "Sampler.apply"


def edit(kind: str, path: str = SAMPLER, symbol: str = APPLY, **more: Any) -> Edit:
    """An edit with a line on the sides that its kind has."""
    return Edit(kind=kind, path=path, symbol=symbol, **{"base_line": 10, "head_line": 12, **more})


COPY = edit(
    "copy-removed",
    detail={"subject": "logits", "dtype": "float32", "size": "numel(logits) × 4 bytes", "conditional": False},
)
EDITS = {
    SAMPLER: (
        COPY,
        edit("in-place-introduced", detail={"parameter": "logits", "by": "temper, mask"}),
        edit(
            "low-precision-round-trip-introduced", detail={"parameter": "logits", "stages": "temper", "exact": "mask"}
        ),
    ),
    KERNELS: (edit("cast-added", KERNELS, "_mask_kernel", count=9, detail={"dtype": "float32", "of": "load"}),),
    TESTS: (edit("test-added", TESTS, "test_padded"),),
}
REVERSED = {
    SAMPLER: (
        COPY.model_copy(update={"kind": "copy-added"}),
        edit("in-place-removed", detail={"parameter": "logits", "by": "temper, mask"}),
        edit("low-precision-round-trip-removed", detail={"parameter": "logits", "stages": "temper"}),
    ),
    KERNELS: (edit("cast-removed", KERNELS, "_mask_kernel", count=9, detail={"dtype": "float32", "of": "load"}),),
    TESTS: (edit("test-removed", TESTS, "test_padded"),),
}


def change_of(edits: dict[str, tuple[Edit, ...]]) -> Change:
    def file(path: str, category: str, kind: str, symbol: str) -> FileChange:
        return FileChange(
            path=path,
            status="modified",
            module=Text(en="sampler", zh="采样器"),
            category=category,
            added=9,
            removed=4,
            symbols=(Symbol(name=symbol, kind=kind, change="body"),),
            edits=edits[path],
        )

    return Change(
        files=(
            file(TESTS, "test", "function", "test_padded"),
            file(KERNELS, "kernel", "kernel", "_mask_kernel"),
            file(SAMPLER, "source", "method", APPLY),
        ),
        callers=(
            Caller(symbol="Sampler.sample", path=SAMPLER, line=40, calls=APPLY, changed=False),
            Caller(symbol="test_sampler", path=TESTS, line=7, calls=APPLY, changed=False),
        ),
        snippets=(Snippet(path=SAMPLER, symbol=APPLY, language="python", code="def apply(self, logits):\n    ..."),),
    )


def plan_of(edits: dict[str, tuple[Edit, ...]], **more: Any) -> Plan:
    change = change_of(edits)
    state = more.pop("state", "open")
    checks = ("mutation", "kept-set", "peak-memory", "latency")
    return Plan(
        subject=Subject(
            repository="ada/mini", base="a" * 40, head="b" * 40, title="Apply in place", pr=7, author="ada", state=state
        ),
        change=change,
        findings=find(load_rules(), change),
        profile="generic",
        checks=tuple(PlannedCheck(check=name, probe="apply", symbols=(APPLY,)) for name in checks),
        **more,
    )


def check(name: str, outcome: str, **more: Any) -> Check:
    defaults = {"probe": "apply", "symbol": APPLY, "reason": Text(en="", zh="")}
    return Check(check=name, outcome=outcome, specialization=Specialization(dtype="bf16"), **{**defaults, **more})


#: Figures as they were measured for a real sampler (docs/checks.md).
CHECKS = (
    check(
        "peak-memory",
        "changed",
        parameters={"rows": 7280, "vocab": 151936, "predicted": False},
        base={"bytes": 4424968192, "source": "sampler.py:156 torch.empty_like"},
        head={"bytes": 107374},
        delta={"bytes": 107374 - 4424968192, "bytes_per_logit": -4.0},
    ),
    check(
        "mutation",
        "fail",
        base={"inputs_written": [], "output_aliases": []},
        head={"inputs_written": ["logits"], "output_aliases": ["logits"]},
    ),
    check(
        "kept-set",
        "fail",
        base={"violating_rows": 0},
        head={"violating_rows": 52},
        delta={"rows_differing": 52, "rows": 1024, "tokens_per_row": 0.053, "mass_moved": 0.0021},
    ),
    check("token-flips", "changed", delta={"flipped": 11, "tokens": 1024, "rate": 11 / 1024}),
    check(
        "latency",
        "changed",
        parameters={"rows": 7280},
        base={"ms": 23.7},
        head={"ms": 13.8},
        delta={"ratio": 0.582, "low": 0.57, "high": 0.6},
    ),
    check("identity", "pass", symbol="_mask_kernel", delta={"same": True}),
)
#: The same measurements with base and head swapped.
REVERT_CHECKS = (
    check(
        "peak-memory",
        "changed",
        parameters={"rows": 7280, "vocab": 151936, "predicted": False},
        base={"bytes": 107374},
        head={"bytes": 4424968192, "source": "sampler.py:156 torch.empty_like"},
        delta={"bytes": 4424968192 - 107374, "bytes_per_logit": 4.0},
    ),
    check(
        "mutation",
        "pass",
        base={"inputs_written": ["logits"], "output_aliases": ["logits"]},
        head={"inputs_written": [], "output_aliases": []},
    ),
    check("kept-set", "changed", delta={"rows_differing": 52, "rows": 1024}),
    check("latency", "changed", delta={"ratio": 1.72, "low": 1.7, "high": 1.74}, parameters={"rows": 7280}),
)
TARGET = Related(relation="reverts", pr=6, why=Text(en="its message says so", zh="提交说明如此说"))
INVERSE = TARGET.model_copy(update={"relation": "exact-inverse-of"})


def evidence_of(checks: tuple[Check, ...]) -> Evidence:
    environment = Environment(gpu="NVIDIA H200", torch="2.11.0", triton="3.6.0")
    return Evidence(bundle="c" * 64, environment=environment, checks=checks)


@pytest.fixture
def plan() -> Plan:
    return plan_of(EDITS)


@pytest.fixture
def evidence() -> Evidence:
    return evidence_of(CHECKS)


@pytest.fixture
def revert_plan() -> Plan:
    return plan_of(REVERSED, is_revert=True, related=(TARGET, INVERSE), state="merged")


@pytest.fixture
def revert_evidence() -> Evidence:
    return evidence_of(REVERT_CHECKS)
