"""What the check stage gets: change facts, findings, the probes to run and the sources they need."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, PositiveInt, model_validator

from analyzer.model.base import Document, Record
from analyzer.model.change import Change, Related, Subject
from analyzer.model.finding import Finding

Scalar = str | int | float | bool
Dtype = Literal["fp32", "bf16", "fp16", "fp64", "int32", "int64", "bool"]
#: A probe's name is a folder's name too.
ProbeName = Annotated[str, Field(pattern=r"^\w[\w.-]*$")]
Fill = Literal[
    "normal", "uniform", "constant", "arange", "repeat", "cycle", "columns", "integers", "exponential", "values",
    "distinct", "softmax", "none",
]  # fmt: skip


#: Fills that another seed changes.
RANDOM_FILLS = ("normal", "uniform", "integers", "exponential", "distinct", "softmax")


class TensorSpec(Record):
    """One input of a probe.

    Whatever the fill, `spots` and `blanks` of the parameters are lists of a number and a value by turns: every so many
    elements, or rows, hold the value.

    `shape` holds integers or expressions over the case's numbers ("rows", "vocab", "rows // 8"); `dtype` is a torch
    name or "logits" (the specialization's dtype). `fill`: normal (× scale), uniform (low..high), constant (value),
    arange (start, step), repeat (arange // every), cycle (arange % every), columns (each row counts its
    columns × step), integers (low..high, exclusive), exponential (rate 1), values (those of `values`, over and
    over), distinct (other integers below high in each place of a row), softmax (of normal × scale), none (the argument
    is None). `also`: what revisions call the parameter besides; the name that the signature has is used.
    """

    name: str
    shape: tuple[int | str, ...] = ()
    dtype: Dtype | Literal["logits"] = "logits"
    fill: Fill = "normal"
    parameters: dict[str, Scalar | tuple[Scalar, ...]] = {}
    also: tuple[str, ...] = ()


class OracleStep(Record):
    """One operation of the fp64 oracle and its parameters, each a number or the name of an input.

    temperature (by, floor), crop (to), penalties (prompt, output: token ids; or prompt_bits, output_counts; repetition,
    frequency, presence), bias (ids, values), allow (mask, empty; or ids), ban (ids; pos, until), bad-words (history,
    words; lengths, word_lengths), top-k (k, ties), top-p (p, boundary, ties), min-p (value), log-softmax, log, softmax,
    gather (ids), top (ids, n), rank (ids, ties), argmax (noise), race (noise), speculate (drafts, draft or
    draft_logits; uniform and recovered), sample. Of ids and words `count` are used, where it is given. kernels/ has
    their contracts. Written flat: ``{operation: top-k, k: 20, ties: all}``. ``state[mapping]`` is an input whose rows
    another one names.
    """

    operation: Literal[
        "temperature", "crop", "penalties", "bias", "allow", "ban", "bad-words", "top-k", "top-p", "min-p",
        "log-softmax", "log", "softmax", "gather", "top", "rank", "argmax", "race", "speculate", "sample",
    ]  # fmt: skip
    parameters: dict[str, Scalar] = {}

    @model_validator(mode="before")
    @classmethod
    def _flat(cls, given: Any) -> Any:
        if not isinstance(given, dict) or "parameters" in given:
            return given
        return {
            "operation": given.get("operation"),
            "parameters": {name: value for name, value in given.items() if name != "operation"},
        }


class Probe(Record):
    """How one symbol is called and what its output means. A declaration; Python only where state has to be built.

    `target`: "package.module:qualified.name", called with the inputs by name. `python`: a function of the profile's
    probes.py, called in the child with the target's revision importable; it returns what is called in its place.
    `covers`: qualified names whose change calls for this probe. `launches`: kernels that the call launches.
    `cases`: named sizes (parity, memory, latency, cpu), each a mapping to numbers such as rows and vocab.
    `arguments`: what the call takes besides tensors; a text that names one of the case's numbers stands for it.
    `optional`: arguments and inputs that the call gets only where its
    signature has them. `result`: "return", a part of what is returned ("return.1", "return.logprobs"), or the input
    that holds the result.
    `parameters`: numbers for `python` and for shapes. `may_write`: inputs that the contract allows to be written or
    returned. `output`: what the result is. `oracle`: the operations that lead to it, in their order, from the first
    input that has the dtype under test. `noise`: inputs that change from draw to draw, as seeds and positions do.
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
    optional: tuple[str, ...] = ()
    result: str = "return"
    parameters: dict[str, Scalar] = {}
    dtypes: tuple[Dtype, ...] = Field(("bf16", "fp32"), min_length=1)
    cases: dict[str, dict[str, PositiveInt]] = Field(min_length=1)
    output: Literal["masked-logits", "tensor", "tokens"] = "masked-logits"
    oracle: tuple[OracleStep, ...] = ()
    may_write: tuple[str, ...] = ()
    sampler: Literal["gumbel", "none"] = "none"
    noise: tuple[str, ...] = ()
    checks: tuple[str, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _noise_is_random(self) -> Probe:
        fills = {spec.name: spec.fill for spec in self.inputs}
        for name in self.noise:
            if fills.get(name) not in RANDOM_FILLS:
                raise ValueError(f"noise: {name!r} is no input with a random fill ({', '.join(RANDOM_FILLS)})")
        return self


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
