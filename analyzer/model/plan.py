"""What the check stage gets: change facts, findings, the probes to run and the sources they need."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, PositiveInt

from analyzer.model.base import Document, Record
from analyzer.model.change import Change, Related, Subject
from analyzer.model.finding import Finding

Scalar = str | int | float | bool
Dtype = Literal["fp32", "bf16", "fp16", "fp64", "int32", "int64", "bool"]
#: A probe's name is a folder's name too.
ProbeName = Annotated[str, Field(pattern=r"^\w[\w.-]*$")]
Fill = Literal["normal", "uniform", "constant", "arange", "repeat", "cycle", "columns", "integers", "none"]


class TensorSpec(Record):
    """One input of a probe.

    `shape` holds integers or expressions over the case's numbers ("rows", "vocab", "rows // 8"); `dtype` is a torch
    name or "logits" (the specialization's dtype). `fill`: normal (× scale), uniform (low..high), constant (value),
    arange (start, step), repeat (arange // every), cycle (arange % every), columns (each row counts its
    columns), integers (low..high, exclusive), none (the argument is None).
    """

    name: str
    shape: tuple[int | str, ...] = ()
    dtype: Dtype | Literal["logits"] = "logits"
    fill: Fill = "normal"
    parameters: dict[str, Scalar] = {}


class Oracle(Record):
    """The fp64 operation that a probe's output is compared with, and the numbers it takes (kernels/kept_set.py)."""

    operation: Literal["top-k-top-p", "identity"]
    parameters: dict[str, Scalar] = {}


class Probe(Record):
    """How one symbol is called and what its output means. A declaration; Python only where state has to be built.

    `target`: "package.module:qualified.name", called with the inputs by name. `python`: a function of the profile's
    probes.py, called in the child with the target's revision importable; it returns what is called in its place.
    `covers`: qualified names whose change calls for this probe. `launches`: kernels that the call launches.
    `cases`: named sizes (parity, memory, latency, cpu), each a mapping to numbers such as rows and vocab.
    `arguments`: what the call takes besides tensors. `result`: "return", or the input that holds the result.
    `parameters`: numbers for `python` and for shapes. `may_write`: inputs that the contract allows to be written or
    returned.
    """

    name: ProbeName
    target: str = Field(pattern=r"^\w+(\.\w+)*:\w+(\.\w+)*$")
    python: str | None = None
    covers: tuple[str, ...] = Field(min_length=1)
    launches: tuple[str, ...] = ()
    modes: tuple[Literal["package", "slice"], ...] = Field(("package", "slice"), min_length=1)
    device: Literal["any", "gpu"] = "any"
    inputs: tuple[TensorSpec, ...] = ()
    arguments: dict[str, Scalar] = {}
    result: str = "return"
    parameters: dict[str, Scalar] = {}
    dtypes: tuple[Dtype, ...] = Field(("bf16", "fp32"), min_length=1)
    cases: dict[str, dict[str, PositiveInt]] = Field(min_length=1)
    output: Literal["masked-logits", "tensor"] = "masked-logits"
    oracle: Oracle | None = None
    may_write: tuple[str, ...] = ()
    sampler: Literal["gumbel", "none"] = "none"
    checks: tuple[str, ...] = Field(min_length=1)


class PlannedCheck(Record):
    """A check to run with a probe, and the changed symbols that call for it."""

    check: str
    probe: str
    symbols: tuple[str, ...]


class Revision(Record):
    """A named revision of the bundle: its commit, and its files as path -> sha256 of the content in the bundle.

    `missing`: files that a check may need and that the clone did not have.
    """

    name: str
    commit: str
    files: dict[str, str] = {}
    missing: tuple[str, ...] = ()


class Plan(Document):
    """plan.json of a bundle."""

    subject: Subject
    change: Change
    findings: tuple[Finding, ...] = ()
    related: tuple[Related, ...] = ()
    profile: str
    probes: tuple[Probe, ...] = ()
    checks: tuple[PlannedCheck, ...] = ()
    changed_kernels: tuple[str, ...] = ()
    revisions: tuple[Revision, ...] = ()
    seed: int = 0
    is_revert: bool = False
    settings: dict[str, Any] = {}
