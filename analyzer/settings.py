"""One typed settings object: defaults < `.analyzer.yml` of the BASE revision < environment < flags.

The file comes from the base revision so that a change cannot switch off what would find it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from datetime import date
from typing import Any, Literal

import yaml
from pydantic import Field, ValidationError, field_validator, model_validator

from analyzer.errors import UsageError
from analyzer.findings.checks import names
from analyzer.model.base import Record
from analyzer.model.plan import Probe

FILE = ".analyzer.yml"
ENVIRONMENT = "ANALYZER_"
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
    `probes`: how the repository's own symbols are called (model/plan.py). `sections`: sections of the report.
    `budget`: seconds for the check stage. `only`: names of checks. `architectures`: what kernels are compiled for
    (``sm_90``), else the GPU that is there. `cache`: a folder for compiled kernels that runs may share,
    the user's cache folder where none is given.
    """

    profile: str | None = None
    waivers: tuple[Waiver, ...] = ()
    silence: tuple[str, ...] = ()
    rules: tuple[dict[str, Any], ...] = ()
    probes: tuple[Probe, ...] = ()
    sections: tuple[str, ...] = ()
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
        if (variable := ENVIRONMENT + name.upper()) in environment and name not in ("waivers", "rules", "probes")
    }
    given = {name: value for name, value in (flags or {}).items() if value is not None}
    layers = ((_parse(file or b"", source), source), (variables, "environment"), (given, "options"))
    merged: dict[str, object] = {}
    for layer, name in layers:
        checked = _validate(layer, name)
        merged |= {field: getattr(checked, field) for field in checked.model_fields_set}
    return Settings.model_construct(**merged)  # type: ignore[arg-type]


def _parse(content: bytes, source: str) -> dict[str, object]:
    try:
        parsed = yaml.safe_load(content) or {}
    except yaml.MarkedYAMLError as error:
        line = f":{error.problem_mark.line + 1}" if error.problem_mark else ""
        raise UsageError(f"{source}{line}: {error.problem or error.context}") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise UsageError(f"{source}: {str(error).splitlines()[0]}") from None
    if not isinstance(parsed, dict) or not all(isinstance(key, str) for key in parsed):
        raise UsageError(f"{source}: must be a mapping of names to values")
    return parsed


def _validate(layer: dict[str, object], source: str) -> Settings:
    try:
        return Settings.model_validate(layer)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "settings"
        if source == "environment":
            where = ENVIRONMENT + where.upper()
        elif source == "options":
            where = "--" + where.replace("_", "-")
        raise UsageError(f"{source}: {where}: {first['msg'].removeprefix('Value error, ')}") from None
