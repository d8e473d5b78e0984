"""CMake: flags, definitions, GPU architectures, and what is found or fetched."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from analyzer.change.build_files.fact import BuildFact
from analyzer.change.build_files.flags import architecture_facts, flag_facts

_TOKEN = re.compile(
    r'(?P<bracket>\[(?P<level>=*)\[.*?\](?P=level)\])|(?P<quoted>"(?:\\.|[^"\\])*")|(?P<space>\s+)|(?P<paren>[()])'
    r'|(?P<plain>(?:\\.|[^\s()"#\\])+)|(?P<other>.)',
    re.DOTALL,
)
_COMMENT = re.compile(r'#\[(?P<level>=*)\[.*?\](?P=level)\]|#[^\n]*|(?P<text>"(?:\\.|[^"\\])*")', re.DOTALL)
_SCOPES = frozenset({"PRIVATE", "PUBLIC", "INTERFACE", "BEFORE", "AFTER", "SYSTEM"})
#: Variables of CMake itself that stand for flags, and the properties that they initialize.
_SETTINGS = frozenset(
    {"CMAKE_BUILD_TYPE", "CMAKE_CXX_STANDARD", "CMAKE_CUDA_STANDARD", "CMAKE_HIP_STANDARD", "CMAKE_C_STANDARD",
     "CMAKE_INTERPROCEDURAL_OPTIMIZATION", "CMAKE_CUDA_SEPARABLE_COMPILATION", "CMAKE_POSITION_INDEPENDENT_CODE"}
)  # fmt: skip
_VARIABLE = re.compile(r"\$\{(\w+)\}")
_FETCHES = frozenset({"fetchcontent_declare", "externalproject_add", "cpmaddpackage"})


@dataclass(frozen=True)
class Command:
    """A command with its arguments, quotes taken off; `conditions`: the tests of the blocks that it stands in."""

    name: str
    arguments: tuple[str, ...]
    line: int
    conditions: tuple[str, ...]

    @property
    def condition(self) -> str:
        return self.conditions[-1] if self.conditions else ""


def commands(text: str) -> Iterator[Command]:
    """The commands of a CMake file in their order."""
    text = _COMMENT.sub(lambda m: m[0] if m["text"] else re.sub(r"[^\n]", " ", m[0]), text)
    conditions: list[str] = []
    name, line, depth, at, start = "", 1, 0, 1, 0
    arguments: list[str] = []
    for match in _TOKEN.finditer(text):
        at += text.count("\n", start, match.start())
        start = match.start()
        kind, word = match.lastgroup, match[0]
        if match["bracket"] is not None:
            kind, word = "bracket", re.sub(r"^\[=*\[\n?|\]=*\]$", "", match["bracket"])
        if depth == 0:
            if kind == "plain" and re.fullmatch(r"[A-Za-z_]\w*", word):
                name, line, arguments = word.lower(), at, []
            elif word == "(" and name:
                depth = 1
            elif kind != "space":
                name = ""
        elif word == ")" and depth == 1:
            depth = 0
            command = Command(name, tuple(arguments), line, tuple(conditions))
            name = ""
            _enter(command, conditions)
            yield command
        elif kind != "space":
            depth += {"(": 1, ")": -1}.get(word, 0) if kind == "paren" else 0
            arguments.append(word[1:-1] if kind == "quoted" else word)


def _enter(command: Command, conditions: list[str]) -> None:
    """Keep the stack of tests."""
    test = " ".join(command.arguments)
    if command.name == "if":
        conditions.append(test)
    elif command.name == "elseif" and conditions:
        conditions[-1] = test
    elif command.name == "else" and conditions:
        conditions[-1] = f"NOT ({conditions[-1]})"
    elif command.name == "endif" and conditions:
        conditions.pop()


def cmake(text: str) -> Iterator[BuildFact]:
    """The facts of a CMake file; a variable that is set once stands for its value in what is found and fetched."""
    read = list(commands(text))
    sets = [c for c in read if c.name == "set" and len(c.arguments) > 1]
    times = Counter(c.arguments[0] for c in sets)
    values = {c.arguments[0]: c.arguments[1] for c in sets if times[c.arguments[0]] == 1}
    for command in read:
        if command.name == "find_package" or command.name in _FETCHES:
            filled = (_VARIABLE.sub(lambda m: values.get(m[1], m[0]), one) for one in command.arguments)
            command = replace(command, arguments=tuple(filled))
        yield from _command(command)


def _command(command: Command) -> Iterator[BuildFact]:
    name, arguments, line, condition = command.name, command.arguments, command.line, command.condition
    if not arguments:
        return
    first, rest = arguments[0], arguments[1:]
    if name == "set":
        yield from _values(first, rest, command)
    elif name in ("list", "string") and first in ("APPEND", "PREPEND") and rest:
        yield from _values(rest[0], rest[1:], command)
    elif name in ("add_compile_options", "add_link_options", "add_definitions"):
        yield from flag_facts("", ";".join(arguments), line, condition)
    elif name == "add_compile_definitions":
        yield from _definitions("", arguments, command)
    elif name in ("target_compile_options", "target_link_options"):
        words = [one for one in rest if one not in _SCOPES]
        yield from flag_facts(first, ";".join(words), line, condition)
    elif name == "target_compile_definitions":
        yield from _definitions(first, rest, command)
    elif name in ("set_target_properties", "set_property", "set_source_files_properties"):
        yield from _properties(command)
    elif name == "find_package":
        yield _found(command)
    elif name in _FETCHES:
        yield from _fetched(command)
    elif name not in ("if", "elseif", "else", "endif", "while", "message", "foreach", "execute_process"):
        # a function of the project's own that hands a list of architectures on
        for one in rest:
            yield from architecture_facts(first, one, line, condition)


def _values(variable: str, values: tuple[str, ...], command: Command) -> Iterator[BuildFact]:
    """Flags or architectures that a variable is given."""
    kept = values[: values.index("CACHE")] if "CACHE" in values else values
    joined = ";".join(one for one in kept if one != "PARENT_SCOPE")
    declared = variable in ("CMAKE_CUDA_ARCHITECTURES", "CMAKE_HIP_ARCHITECTURES", "TORCH_CUDA_ARCH_LIST")
    if facts := architecture_facts(variable, joined, command.line, command.condition, declared=declared):
        yield from facts
    elif variable in _SETTINGS:
        yield _setting(variable, joined, command)
    else:
        yield from flag_facts(variable, joined, command.line, command.condition)


def _setting(name: str, value: str, command: Command, symbol: str = "") -> BuildFact:
    """A variable or property of CMake's own that stands for a flag."""
    shown = f"{name}={value}"
    return BuildFact("build-flag", symbol, name, value, shown, command.line, shown, condition=command.condition)


def _definitions(target: str, words: tuple[str, ...], command: Command) -> Iterator[BuildFact]:
    for word in words:
        if word not in _SCOPES and re.match(r"[A-Za-z_-]", word):
            text = word if word.startswith("-") else f"-D{word}"
            yield from flag_facts(target, text.replace(" ", ""), command.line, command.condition)


def _properties(command: Command) -> Iterator[BuildFact]:
    marks = [i for i, one in enumerate(command.arguments) if one in ("PROPERTIES", "PROPERTY")]
    if not marks:
        return
    place = marks[0]
    owners = [one for one in command.arguments[:place] if one not in ("TARGET", "SOURCE", "DIRECTORY", "APPEND")]
    symbol = owners[0] if len(owners) == 1 else ""
    rest = command.arguments[place + 1 :]
    if command.name == "set_property" and rest:
        pairs = [(rest[0], ";".join(rest[1:]))]
    else:
        pairs = list(zip(rest[::2], rest[1::2], strict=False))
    for key, value in pairs:
        if key in ("CUDA_ARCHITECTURES", "HIP_ARCHITECTURES"):
            yield from architecture_facts(symbol, value, command.line, command.condition, declared=True)
        elif key in ("COMPILE_OPTIONS", "COMPILE_FLAGS", "LINK_OPTIONS", "LINK_FLAGS"):
            yield from flag_facts(symbol, value, command.line, command.condition)
        elif f"CMAKE_{key}" in _SETTINGS:
            yield _setting(key, value, command, symbol)
        elif key == "COMPILE_DEFINITIONS":
            yield from _definitions(symbol, tuple(value.split(";")), command)


def _found(command: Command) -> BuildFact:
    name, rest = command.arguments[0], command.arguments[1:]
    version = rest[0] if rest and re.match(r"\d|\$\{", rest[0]) else ""
    if version and "EXACT" in rest:
        version = f"=={version}"
    elif version:
        version = f">={version}"
    return BuildFact(
        "dependency", "", name, version, version, command.line, " ".join(command.arguments), "cmake", command.condition
    )


def _fetched(command: Command) -> Iterator[BuildFact]:
    """What FetchContent or ExternalProject fetches, by its tag or its address."""
    words = command.arguments
    values = {key: value for key, value in pairwise(words) if re.fullmatch(r"[A-Z_]+", key)}
    version = values.get("GIT_TAG") or values.get("VERSION") or values.get("URL") or ""
    if values.get("GIT_REPOSITORY"):
        version = f"{version} of {values['GIT_REPOSITORY'].removesuffix('.git')}".strip()
    if version:
        yield BuildFact(
            "dependency", "", words[0], version, version, command.line, " ".join(words), "fetched", command.condition
        )
