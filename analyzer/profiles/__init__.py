"""What is known of a project: one folder each, the only place that knows a project's names.

A folder holds ``profile.yml`` (a `Profile`) and, where a probe has to build state, ``probes.py``, which runs in the
child process beside the code under test and may import the standard library, numpy, torch and that code only.
"""

from __future__ import annotations

from collections.abc import Collection
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

import yaml
from pydantic import ValidationError

from analyzer.errors import UsageError
from analyzer.model.base import Record, Text
from analyzer.model.change import Category
from analyzer.model.plan import Probe

FOLDER = Path(__file__).parent
Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class ModuleName(Record):
    """Files that match `glob` belong to a module with this name."""

    glob: str
    name: Text


class CategoryRule(Record):
    glob: str
    category: Category


class Profile(Record):
    """`detect`: paths that a tree of this project has. `sources`: globs of the files that a check needs. `roots`: the
    folders that its packages lie in, where that is not the tree itself.

    `stubs`: modules that a slice replaces, as module -> source text (re-exports, platform look-ups).
    `distribution`: metadata that the package asks for about itself, written where it is not installed.
    `not_measured`: parts of the project that no probe reaches.
    """

    name: str
    detect: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    roots: tuple[str, ...] = ("",)
    modules: tuple[ModuleName, ...] = ()
    categories: tuple[CategoryRule, ...] = ()
    stubs: dict[str, str] = {}
    distribution: dict[str, str] = {}
    not_measured: tuple[Text, ...] = ()
    probes: tuple[Probe, ...] = ()

    def module(self, path: str) -> Text:
        """The module that a file belongs to; a folder's name where the profile gives none."""
        for rule in self.modules:
            if fnmatchcase(path, rule.glob):
                return rule.name
        folder = Path(path).parent.name or Path(path).stem
        return Text(en=folder, zh=folder)

    def category(self, path: str) -> Category | None:
        """The category that the profile gives a file, None where the common rules decide."""
        return next((rule.category for rule in self.categories if fnmatchcase(path, rule.glob)), None)

    def python(self) -> str:
        """The source of the profile's probes.py, empty where it has none."""
        path = FOLDER / self.name / "probes.py"
        return path.read_text(encoding="utf-8") if path.exists() else ""


def names() -> list[str]:
    """All profiles, "generic" last."""
    found = sorted(path.parent.name for path in FOLDER.glob("*/profile.yml"))
    return sorted(found, key=lambda name: name == "generic")


@cache
def load(name: str) -> Profile:
    """Read one profile; an unknown name is a UsageError that lists those there are."""
    path = FOLDER / name / "profile.yml"
    if name not in names():
        raise UsageError(f"no profile {name!r}; there are: {', '.join(names())}")
    try:
        declared = yaml.load(path.read_text(encoding="utf-8"), Loader=Loader)  # a safe loader
        return Profile.model_validate({"name": name, **(declared or {})})
    except (yaml.YAMLError, ValidationError) as error:
        raise UsageError(f"{path}: {error}") from None


def detect(paths: Collection[str]) -> Profile:
    """The first profile all of whose `detect` paths are in a tree; generic where none is."""
    for name in names():
        profile = load(name)
        if profile.detect and all(path in paths for path in profile.detect):
            return profile
    return load("generic")
