"""Dependencies that are declared in tables: pyproject.toml, Cargo.toml, setup.cfg."""

from __future__ import annotations

import configparser
import re
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from analyzer.change.build_files.fact import BuildFact, Unreadable
from analyzer.change.build_files.requirements import requirement_fact

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


class _Lines:
    """Finds the lines of values in the order in which they are asked for; a parser of tables does not tell them."""

    def __init__(self, text: str) -> None:
        self._lines = [("" if line.lstrip().startswith(("#", ";")) else line) for line in text.split("\n")]
        self._used: set[int] = set()

    def section(self, header: str) -> int:
        """The index of the line of ``[header]``, 0 where there is none."""
        wanted = re.compile(rf"\s*\[\s*{re.escape(header)}\s*\]")
        return next((i for i, line in enumerate(self._lines) if wanted.match(line)), 0)

    def of(self, value: str, start: int = 0) -> int:
        """The first line from `start` on that holds `value` and was not given out; the first of the file at worst."""
        for places in (range(start, len(self._lines)), range(start)):
            for place in places:
                if place not in self._used and value in self._lines[place]:
                    self._used.add(place)
                    return place + 1
        return next((i + 1 for i, line in enumerate(self._lines) if value in line), 1)


def _toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"at line (\d+)", str(error))
        raise Unreadable(int(line[1]) if line else None) from None


def _table(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _texts(value: object) -> list[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []


def pyproject(text: str) -> Iterator[BuildFact]:
    """Requirements of a project in all their groups, and the Python that it asks for."""
    data, lines = _toml(text), _Lines(text)
    project = _table(data.get("project"))
    groups = [
        ("build-system", "build", _texts(_table(data.get("build-system")).get("requires"))),
        ("project", "runtime", _texts(project.get("dependencies"))),
        *(
            ("project.optional-dependencies", f"extra {name}", _texts(listed))
            for name, listed in _table(project.get("optional-dependencies")).items()
        ),
        *(
            ("dependency-groups", f"group {name}", _texts(listed))
            for name, listed in _table(data.get("dependency-groups")).items()
        ),
    ]
    for section, group, listed in groups:
        start = lines.section(section)
        for one in listed:
            if fact := requirement_fact(one, lines.of(one, start), group, group):
                yield fact
    if isinstance(python := project.get("requires-python"), str):
        yield from _python(python, lines.of("requires-python"))
    poetry = _table(_table(data.get("tool")).get("poetry"))
    tables = [("tool.poetry.dependencies", "runtime", poetry.get("dependencies"))] + [
        (f"tool.poetry.group.{name}.dependencies", f"group {name}", _table(group).get("dependencies"))
        for name, group in _table(poetry.get("group")).items()
    ]
    for section, group, listed in tables:
        yield from _versions(_table(listed), group, lines, lines.section(section))


def _python(specifier: str, line: int) -> Iterator[BuildFact]:
    if fact := requirement_fact(f"python {specifier}", line, "runtime", "runtime"):
        yield fact


def _versions(listed: Mapping[str, Any], group: str, lines: _Lines, start: int) -> Iterator[BuildFact]:
    """Dependencies as a table of names: ``name = "1.0"`` or ``name = {version = "1.0", features = [...]}``."""
    for name, value in listed.items():
        parts = [value] if isinstance(value, str) else []
        for key in ("version", "git", "rev", "tag", "branch", "path", "url"):
            if isinstance(its := _table(value).get(key), str):
                parts.append(its if key == "version" else f"{key} {its}")
        if features := sorted(_texts(_table(value).get("features") or _table(value).get("extras"))):
            parts.append(f"[{','.join(features)}]")
        if _table(value).get("default-features") is False:
            parts.append("no default features")
        condition = next((i for k in ("markers", "python") if isinstance(i := _table(value).get(k), str)), "")
        shown = " ".join(parts)
        yield BuildFact(
            "dependency", group, name.lower().replace("_", "-"), shown, shown, lines.of(name, start), f"{name} {shown}",
            group, condition,
        )  # fmt: skip


def cargo(text: str) -> Iterator[BuildFact]:
    """Dependencies of a Rust crate or workspace."""
    data, lines = _toml(text), _Lines(text)
    places = [("", data)]
    places += [(f"target {name} ", _table(table)) for name, table in _table(data.get("target")).items()]
    places.append(("workspace ", _table(data.get("workspace"))))
    for prefix, table in places:
        for key, group in (("dependencies", "runtime"), ("dev-dependencies", "test"), ("build-dependencies", "build")):
            header = f"{'workspace.' if prefix == 'workspace ' else ''}{key}"
            yield from _versions(_table(table.get(key)), prefix + group, lines, lines.section(header))


def setup_cfg(text: str) -> Iterator[BuildFact]:
    """Requirements of a declarative setuptools project."""
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(text)
    except configparser.Error as error:
        raise Unreadable(getattr(error, "lineno", None)) from None
    lines = _Lines(text)
    wanted = [("options", "install_requires", "runtime"), ("options", "setup_requires", "build")]
    if parser.has_section("options.extras_require"):
        wanted += [("options.extras_require", name, f"extra {name}") for name in parser["options.extras_require"]]
    for section, key, group in wanted:
        start = lines.section(section)
        for line in parser.get(section, key, fallback="").split("\n"):
            one = re.sub(r"(^|\s)#.*", "", line).strip()
            if one and (fact := requirement_fact(one, lines.of(one, start), group, group)):
                yield fact
    if python := parser.get("options", "python_requires", fallback=""):
        yield from _python(python, lines.of("python_requires"))
