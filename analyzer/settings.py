"""One typed settings object: defaults < `.analyzer.yml` of the BASE revision < environment < flags.

The file comes from the base revision so that a change cannot switch off what would find it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from datetime import date
from typing import Literal

from pydantic import Field, PositiveInt, ValidationError, field_validator, model_validator

from analyzer.errors import UsageError, nearest
from analyzer.findings.checks import names
from analyzer.findings.engine import load_rules
from analyzer.findings.rule import Rule
from analyzer.findings.yaml_source import line_of, read_yaml, said
from analyzer.model.base import Record
from analyzer.model.plan import Probe
from analyzer.model.report import SECTIONS

FILE = ".analyzer.yml"
ENVIRONMENT = "ANALYZER_"
#: Settings that are no single text, and so stand in files only.
OF_FILES = ("waivers", "rules", "probes", "caps")
_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600}


class Waiver(Record):
    """A maintainer's word that a finding is accepted: shown in the report, and over after `until` (a date).

    Names a rule or a check (or both), and where it holds: a path or a symbol, each a glob.
    """

    rule: str = ""
    check: str = ""
    path: str = ""
    symbol: str = ""
    reason: str
    until: date

    @model_validator(mode="after")
    def _says_what(self) -> Waiver:
        if not (self.rule or self.check):
            raise ValueError("needs a rule or a check")
        if not (self.path or self.symbol):
            raise ValueError("needs a path or a symbol")
        return self


class Settings(Record):
    """What a run is to do. Empty tuples: all, or none, as the name says.

    `rules`: rules of the repository itself, in the form of rules/*.yml; `silence`: ids of rules that are not run.
    `probes`: how the repository's own symbols are called (model/plan.py). `sections`: sections of the Markdown reports,
    `caps`: how many entries of a section they show; report.json has everything.
    `budget`: seconds for the check stage. `only`: names of checks. `architectures`: what kernels are compiled for
    (``sm_90``), else the GPU that is there. `cache`: a folder for compiled kernels that runs may share,
    the user's cache folder where none is given.
    """

    profile: str | None = None
    waivers: tuple[Waiver, ...] = ()
    silence: tuple[str, ...] = ()
    rules: tuple[Rule, ...] = ()
    probes: tuple[Probe, ...] = ()
    sections: tuple[str, ...] = ()
    caps: dict[str, PositiveInt] = {}
    device: Literal["auto", "cuda", "cpu", "none"] = "auto"
    budget: float = 600.0
    only: tuple[str, ...] = ()
    architectures: tuple[str, ...] = ()
    cache: str | None = None
    seed: int = Field(0, ge=0, lt=2**32)
    fail_on: Literal["low", "medium", "high", "critical"] | None = None
    lang: Literal["en", "zh"] = "en"

    @field_validator("budget", mode="before")
    @classmethod
    def _seconds(cls, value: object) -> object:
        """``90``, ``90s``, ``10m`` or ``1h``."""
        match = re.fullmatch(r"(\d+(?:\.\d+)?)([smh]?)", str(value).strip())
        if not match or float(match[1]) <= 0:
            raise ValueError("not a time: give seconds, or 90s, 10m, 1h")
        return float(match[1]) * _SECONDS[match[2]]

    @field_validator("only", "silence", "sections", "architectures", mode="before")
    @classmethod
    def _words(cls, value: object) -> object:
        """A list, or one string of names with commas between them."""
        return tuple(word.strip() for word in value.split(",") if word.strip()) if isinstance(value, str) else value

    @field_validator("only")
    @classmethod
    def _known(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for name in value:
            if name not in names():
                raise ValueError(f"no check {name!r}; there are: {', '.join(names())}")
        return value

    @field_validator("sections", "caps")
    @classmethod
    def _sections(cls, value: tuple[str, ...] | dict[str, int]) -> tuple[str, ...] | dict[str, int]:
        for name in value:
            if name not in SECTIONS:
                raise ValueError(f"no section {name!r}; there are: {', '.join(SECTIONS)}")
        return value


def settle(
    file: bytes | None = None,
    source: str = FILE,
    flags: Mapping[str, object] | None = None,
    environment: Mapping[str, str] = os.environ,
) -> Settings:
    """The settings of one run. `file` is the content of the base revision's file, `source` what errors call it.

    A flag that is None was not given. Each layer is validated by itself, so that an error names where it stands.
    """
    variables = {
        name: environment[variable]
        for name in Settings.model_fields
        if (variable := ENVIRONMENT + name.upper()) in environment and name not in OF_FILES
    }
    given = {name: value for name, value in (flags or {}).items() if value is not None}
    base = _file(file or b"", source)
    merged: dict[str, object] = {}
    for checked in (base, _layer(variables, "environment", base.rules), _layer(given, "options", base.rules)):
        merged |= {field: getattr(checked, field) for field in checked.model_fields_set}
    return Settings.model_construct(**merged)  # type: ignore[arg-type]


def _file(content: bytes, source: str) -> Settings:
    """The settings of a file; a fault is told by file and line."""
    parsed, root = read_yaml(content, source)
    if parsed is None:
        return Settings()
    if not isinstance(parsed, dict) or not all(isinstance(key, str) for key in parsed):
        raise UsageError(f"{source}:1: must be a mapping of names to values")
    try:
        checked = Settings.model_validate(parsed)
    except ValidationError as error:
        fault = error.errors()[0]
        raise UsageError(f"{source}:{line_of(root, fault['loc'])}: {said(fault)}") from None
    for where, fault in _unknown(checked, checked.rules):
        raise UsageError(f"{source}:{line_of(root, where)}: {'.'.join(map(str, where))}: {fault}")
    return checked


def _layer(layer: Mapping[str, object], source: str, own: tuple[Rule, ...]) -> Settings:
    """The settings of variables or options; a fault is told by the name of the one. `own`: the repository's rules."""

    def refused(where: str, fault: str) -> UsageError:
        variable = ENVIRONMENT + where.upper()
        return UsageError(
            f"{source}: {variable if source == 'environment' else '--' + where.replace('_', '-')}: {fault}"
        )

    try:
        checked = Settings.model_validate(layer)
    except ValidationError as error:
        fault = error.errors()[0]
        raise refused(".".join(map(str, fault["loc"])), fault["msg"].removeprefix("Value error, ")) from None
    for where, message in _unknown(checked, own):
        raise refused(str(where[0]), message)
    return checked


def _unknown(checked: Settings, own: tuple[Rule, ...]) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """(place, fault) of rules that cannot be added, and of names that no rule and no check has."""
    if not (own or checked.silence or checked.waivers):
        return
    known = {rule.id: rule for rule in load_rules()}
    for number, rule in enumerate(checked.rules):
        if rule.id in known:
            yield ("rules", number, "id"), f"the id {rule.id!r} is taken"
        known[rule.id] = rule
    for number, rule in enumerate(checked.rules):
        if rule.refines and (rule.refines not in known or known[rule.refines].refines):
            yield ("rules", number, "refines"), f"no rule {rule.refines!r} that refines no other itself"
    known |= {rule.id: rule for rule in own}
    for number, name in enumerate(checked.silence):
        if name not in known:
            yield ("silence", number), f"no rule {name!r}{nearest(name, known)}"
    for number, waiver in enumerate(checked.waivers):
        if waiver.rule and waiver.rule not in known:
            yield ("waivers", number, "rule"), f"no rule {waiver.rule!r}{nearest(waiver.rule, known)}"
        if waiver.check and waiver.check not in names():
            yield ("waivers", number, "check"), f"no check {waiver.check!r}{nearest(waiver.check, names())}"
