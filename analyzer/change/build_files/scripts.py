"""Dockerfiles and Makefiles: base images, what is installed and cloned, architectures, flags."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

from analyzer.change.build_files.fact import BuildFact
from analyzer.change.build_files.flags import architecture_facts, flag_facts
from analyzer.change.build_files.requirements import requirement_fact

_INSTRUCTION = re.compile(r"\s*(FROM|ARG|ENV|RUN)\s+(.*)", re.IGNORECASE | re.DOTALL)
_VARIABLE = re.compile(r"\$(?:\{(\w+)(?::-([^}]*))?\}|(\w+))")
_PIP = re.compile(r"\bpip3?\s+install\s+(.*?)(?=&&|\|\||[;|\n]|$)", re.DOTALL)
#: Options of pip and uv whose value is the next word.
_OPTIONS = frozenset(
    {"-r", "-c", "-i", "-f", "-e", "-t", "-p", "--requirement", "--constraint", "--index-url", "--extra-index-url",
     "--python", "--find-links", "--target", "--prefix", "--index", "--torch-backend", "--index-strategy", "--root",
     "--editable", "--override", "--build-constraint", "--no-build-isolation-package", "--trusted-host",
     "--python-version"}
)  # fmt: skip
#: ``git clone ARGUMENTS`` and, of what was cloned last, ``git checkout REFERENCE``.
_GIT = re.compile(
    r"\bgit\s+clone\s+([^&;|]+)|\bgit\s+(?:checkout|reset\s+--hard)\s+(?:-f\s+|-q\s+|--quiet\s+)*[\"']?([^\s\"'&;|]+)"
)
_EXPORT = re.compile(r"(?:^|[\s;&])(\w+)=([\"'])([^\"'$]+)\2")
_MAKE = re.compile(r"(?:export\s+|override\s+)?(\w*FLAGS)\s*(?:[:?+]?|::)=\s*(.*)")


def _joined(text: str) -> Iterator[tuple[int, str]]:
    """(line, text) of each logical line: continued ones in one, comment lines left out."""
    first, parts = 0, []
    for number, line in enumerate(text.split("\n"), 1):
        if line.lstrip().startswith("#"):
            continue
        first = first or number
        continued = line.rstrip().endswith("\\")
        parts.append(line.rstrip()[:-1] if continued else line)
        if not continued:
            yield first, " ".join(parts)
            first, parts = 0, []
    if parts:
        yield first, " ".join(parts)


def _filled(text: str, values: dict[str, str]) -> str:
    """The text with the variables that have a known value put in."""
    for _ in range(5):
        filled = _VARIABLE.sub(lambda m: values.get(m[1] or m[3]) or m[2] or m[0], text)
        if filled == text:
            break
        text = filled
    return text


def dockerfile(text: str) -> Iterator[BuildFact]:
    """Base images, pinned installs, sources cloned at a reference, and architectures that variables list.

    Variables are filled with their defaults; what still holds one is not said.
    """
    values: dict[str, str] = {}
    stages: set[str] = set()
    cloned = ""
    for number, line in _joined(text):
        match = _INSTRUCTION.match(line)
        what, rest = (match[1].upper(), match[2].strip()) if match else ("RUN", line)  # else: of a here-document
        if what == "FROM":
            words = [word for word in rest.split() if not word.startswith("--")]
            image = _filled(words[0], values) if words else ""
            if image and image.lower() not in stages and "$" not in image and image != "scratch":
                yield _image(image, number, line)
            stages.add(words[2].lower() if len(words) > 2 and words[1].lower() == "as" else "")
        elif what in ("ARG", "ENV"):
            for name, value in _assignments(rest, what):
                values[name] = _filled(value, values)
                yield from architecture_facts(name, value, number)
        else:
            yield from _installed(rest, values, number)
            for export in _EXPORT.finditer(rest):
                yield from architecture_facts(export[1], export[3], number)
            for step in _GIT.finditer(rest):
                if step[1]:
                    cloned, reference = _cloned(_filled(step[1], values))
                else:
                    reference = _filled(step[2], values)
                if cloned and reference and "$" not in cloned + reference:
                    name = cloned.rstrip("/").rsplit("/", 1)[-1].removesuffix(".git")
                    shown = f"{reference} of {cloned.removesuffix('.git')}"
                    yield BuildFact(
                        "dependency", "", name, shown, shown, number, step[0].strip(), "built in the image"
                    )  # fmt: skip


def _cloned(arguments: str) -> tuple[str, str]:
    """The address and the reference of a ``git clone``; empty where it is not stated."""
    address = re.search(r"(?:https?|ssh|git)://[^\s\"']+|git@[^\s\"']+", arguments)
    branch = re.search(r"(?:--branch[\s=]|-b\s)\s*[\"']?([^\s\"']+)", arguments)
    return address[0] if address else "", branch[1] if branch else ""


def _image(image: str, line: int, text: str) -> BuildFact:
    name, _, digest = image.partition("@")
    registry, slash, last = name.rpartition("/")
    last, _, tag = last.partition(":")
    version = " ".join(one for one in (tag, digest) if one)
    return BuildFact("dependency", "", f"{registry}{slash}{last}", version, version, line, text.strip(), "base image")


def _assignments(rest: str, what: str) -> list[tuple[str, str]]:
    try:
        words = shlex.split(rest, comments=True)
    except ValueError:
        return []
    if what == "ENV" and words and "=" not in words[0]:
        return [(words[0], " ".join(words[1:]))]
    return [(name, value) for name, separator, value in (word.partition("=") for word in words) if separator]


def _installed(command: str, values: dict[str, str], line: int) -> Iterator[BuildFact]:
    """Distributions that a pip install names with a version or an address."""
    for match in _PIP.finditer(command):
        try:
            words = shlex.split(match[1])
        except ValueError:
            continue
        place = 0
        while place < len(words):
            word = words[place]
            place += 1
            if word.startswith("-"):
                place += word in _OPTIONS
                continue
            filled = _filled(word, values)
            fact = None if "$" in filled else requirement_fact(filled, line, "", "installed in the image")
            if fact and (re.search(r"[=<>~!]=|[<>]", fact.shown) or "@" in fact.shown):
                yield fact


def makefile(text: str) -> Iterator[BuildFact]:
    """Flags of the variables that Make's own rules and convention call ``...FLAGS``."""
    for number, line in _joined(text):
        if match := _MAKE.match(line):
            yield from flag_facts(match[1], re.sub(r"\s#.*", "", match[2]), number)
