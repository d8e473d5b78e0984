"""What of a file has to be parsed: the functions and classes that differ, and the code around them.

Most of a changed file is the same on both sides, and parsing it takes most of the time of a change's facts. A function
or method with the same text on both sides has no edits, whatever else changed; its lines are blanked before parsing,
and `Module.whole` parses the file as it is where another function's meaning leads there.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

#: Shorter files are parsed as they are.
LINES = 80
_TOP = re.compile(r"(?:@|def |async def |class )")
_INNER = re.compile(r"    (?:@|def |async def )")
_NAME = re.compile(r"\s*(?:async )?(?:def|class)\s+(\w+)")
_QUOTES = re.compile(r'"""|\'\'\'')


@dataclass(frozen=True)
class _Block:
    """Lines `start` to `end` (exclusive, from 0) of one definition with its decorators."""

    name: str
    text: str
    start: int
    end: int
    is_class: bool


def trimmed(base: str, head: str) -> tuple[str, str] | None:
    """Both texts with the definitions that they share blanked, every line where it was; None: parse them whole.

    Files with kernels are parsed whole: a kernel's meaning depends on the functions that launch it.
    """
    if base.count("\n") < LINES or head.count("\n") < LINES or "jit" in base or "jit" in head:
        return None
    sides = (base.split("\n"), head.split("\n"))
    blocks = [list(_blocks(lines, 0, len(lines), _TOP)) for lines in sides]
    inner = [[*_methods(lines, own)] for lines, own in zip(sides, blocks, strict=True)]
    if any(_splits_a_string(block) for group in (*blocks, *inner) for block in group):
        return None
    spared = [_shared(*blocks), _shared(*inner)]
    result = []
    for lines, tops, methods in zip(sides, blocks, inner, strict=True):
        lines = list(lines)
        for block in methods:
            if (block.name, block.text) in spared[1]:
                lines[block.start : block.end] = ["    pass", *[""] * (block.end - block.start - 1)]
        for block in tops:
            if (block.name, block.text) in spared[0]:
                lines[block.start : block.end] = [""] * (block.end - block.start)
        result.append("\n".join(lines))
    return result[0], result[1]


def _blocks(lines: list[str], start: int, end: int, opens: re.Pattern) -> Iterator[_Block]:
    """The definitions whose first lines `opens` matches; a line that starts at their column ends them."""
    indent = 4 if opens is _INNER else 0
    at = start
    while at < end:
        if not opens.match(lines[at]):
            at += 1
            continue
        first = at
        while at < end and lines[at][indent : indent + 1] == "@":  # decorators, which may span lines
            at = _after(lines, at, end, indent)
        if at == end or not opens.match(lines[at]):
            continue
        name = _NAME.match(lines[at])
        is_class = lines[at].lstrip().startswith("class")
        at = _after(lines, at, end, indent)
        if name:
            text = "\n".join(lines[first:at]).rstrip()
            yield _Block(name[1], text, first, first + text.count("\n") + 1, is_class)


def _after(lines: list[str], at: int, end: int, indent: int) -> int:
    """The next line at the indent that is no closing bracket, no comment and not empty."""
    at += 1
    while at < end:
        line = lines[at]
        stripped = line.lstrip()
        if stripped and len(line) - len(stripped) <= indent and stripped[0] not in ")]}#":
            return at
        at += 1
    return at


def _methods(lines: list[str], blocks: list[_Block]) -> Iterator[_Block]:
    """The methods of each class, named after it."""
    for block in blocks:
        if block.is_class:
            for one in _blocks(lines, block.start + 1, block.end, _INNER):
                yield _Block(f"{block.name}.{one.name}", one.text, one.start, one.end, False)


def _splits_a_string(block: _Block) -> bool:
    """Whether a string seems to begin in a block and to end outside."""
    return len(_QUOTES.findall(block.text)) % 2 == 1


def _shared(base: list[_Block], head: list[_Block]) -> set[tuple[str, str]]:
    """(name, text) of what both sides have alike; a name that one side has twice is no one's."""
    counts = [Counter(block.name for block in side) for side in (base, head)]
    once = [{(b.name, b.text) for b in side if n[b.name] == 1} for side, n in zip((base, head), counts, strict=True)]
    return once[0] & once[1]
