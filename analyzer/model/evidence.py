"""What was built and measured."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, ConfigDict, FiniteFloat, TypeAdapter, ValidationError

from analyzer.model.base import Document, Record, Severity, Text

Outcome = Literal[
    "pass", "fail", "pre-existing", "changed", "crash", "hang", "out-of-memory", "inconclusive", "not-run"
]
#: Outcomes that count against the change.
BAD_OUTCOMES = ("fail", "crash", "hang", "out-of-memory")


#: Figures that are no numbers.
_FIGURE_KINDS: dict[str, Any] = {
    **dict.fromkeys(("failure", "error", "source", "ptx_sha256"), str),
    **dict.fromkeys(("inputs_written", "output_aliases", "new"), list[str]),
    **dict.fromkeys(("same", "forced", "predicted", "held"), bool),
}
_KINDS = {name: TypeAdapter(kind, config=ConfigDict(strict=True)) for name, kind in _FIGURE_KINDS.items()}
_NUMBER = TypeAdapter(int | FiniteFloat, config=ConfigDict(strict=True))


def _figures(values: dict[str, Any]) -> dict[str, Any]:
    for name, value in values.items():
        try:
            _KINDS.get(name, _NUMBER).validate_python(value)
        except ValidationError as error:
            raise ValueError(f"{name}: {error.errors()[0]['msg']}") from None
    return values


#: What a check measured, by name. Reports calculate with it: a number is finite.
Figures = Annotated[dict[str, Any], AfterValidator(_figures)]


class Environment(Record):
    """The machine of the check stage; empty strings where there is none."""

    gpu: str = ""
    architecture: str = ""
    driver: str = ""
    torch: str = ""
    triton: str = ""
    numpy: str = ""
    python: str = ""
    platform: str = ""


#: A remark in both languages; one of a recording made before there were two is a plain string.
Remark = Text | str


class Isolation(Record):
    """What kept the code under test apart; `missing` says what could not be had and why."""

    pid_namespace: bool = False
    network_namespace: bool = False
    other_user: bool = False
    missing: tuple[Remark, ...] = ()


class Resources(Record):
    """One compiled kernel's, from its cubin: registers and stack bytes a thread, shared bytes a block, code bytes."""

    registers: int
    stack_bytes: int
    shared_bytes: int
    code_bytes: int


class Launch(Record):
    """A launch as the kernel's own wrapper makes it."""

    grid: tuple[int, ...]
    signature: dict[str, str]
    constants: dict[str, Any] = {}
    options: dict[str, Any] = {}


class Build(Record):
    """One kernel of one revision compiled for one specialization.

    `forced`: this revision's wrapper refuses the specialization, so the other revision's launch was compiled instead.
    """

    revision: str
    probe: str
    symbol: str
    dtype: str
    architecture: str
    mode: Literal["package", "slice"]
    outcome: Literal["built", "failed", "refused"]
    forced: bool = False
    reason: str = ""
    bridges: tuple[str, ...] = ()
    launch: Launch | None = None
    resources: Resources | None = None
    ptx_sha256: str = ""
    seconds: float = 0.0
    cached: bool = False


class Specialization(Record):
    dtype: str = ""
    arch: str = ""


class Check(Record):
    """One check of one probe: what was measured on base and head, and how it stands to its gate.

    `base`, `head` and `delta` are the check's own figures (docs/checks.md). `margin` is how far the statistic is from
    the gate, positive on the good side. `reproduce` is a command that repeats it.
    """

    check: str
    probe: str
    symbol: str
    specialization: Specialization = Specialization()
    outcome: Outcome
    severity: Severity = "info"
    reason: Text
    parameters: dict[str, Any] = {}
    base: Figures = {}
    head: Figures = {}
    delta: Figures = {}
    gate: str = ""
    margin: FiniteFloat | None = None
    reproduce: str = ""
    tags: tuple[Text, ...] = ()
    waived_by: str | None = None


class Evidence(Document):
    """evidence.json: the records of one run of the check stage over one bundle."""

    bundle: str
    environment: Environment = Environment()
    isolation: Isolation = Isolation()
    bridges: tuple[Remark, ...] = ()
    builds: tuple[Build, ...] = ()
    checks: tuple[Check, ...] = ()
    not_measured: tuple[Text, ...] = ()
    seconds: float = 0.0
