"""What of a file has to be parsed: the functions and classes that differ, and the code around them.

Most of a changed file is the same on both sides, and parsing it takes most of the time of a change's facts. A function
or method with the same text on both sides has no edits, whatever else changed; its lines are blanked before parsing,
and `Module.whole` parses the file as it is where another function's meaning leads there.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from analyzer.change.source import Module, parse, plain

#: Shorter files are parsed as they are.
LINES = 80
#: First characters of lines that go on with what is before them: a closing bracket, a comment, nothing.
_CONTINUES = frozenset(" \t#)]}") | {""}
_NAME = re.compile(r" *(?:async )?(def|class) +(\w+)")
_OPENS = {0: ("def ", "class ", "async def "), 4: ("    def ", "    class ", "    async def ")}
#: What a blanked method leaves, so that its class has a body.
_PASS = "    pass"


class _Block(NamedTuple):
    """One definition with its decorators: lines `start` to `end`, from 0, the end not included."""

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
    tops = [_blocks(lines, 0, len(lines), 0) for lines in sides]
    shared = _shared(*tops)
    methods = [
        [method for block in top if block.is_class and (block.name, block.text) not in shared
         for method in _methods(lines, block)]
        for lines, top in zip(sides, tops, strict=True)
    ]  # fmt: skip
    alike = _shared(*methods)
    gaps = [
        [(block, _PASS) for block in inner if (block.name, block.text) in alike]
        + [(block, "") for block in top if (block.name, block.text) in shared]
        for top, inner in zip(tops, methods, strict=True)
    ]
    if any(_splits_a_string(block) for block, _ in gaps[0]):  # the same texts as of the other side
        return None
    for lines, side in zip(sides, gaps, strict=True):
        for block, instead in side:
            lines[block.start : block.end] = [instead] + [""] * (block.end - block.start - 1)
    return "\n".join(sides[0]), "\n".join(sides[1])


def _blocks(lines: list[str], first: int, last: int, indent: int) -> list[_Block]:
    """The definitions at an indent of 0 or 4 spaces; the next line there or further left ends one."""
    if indent:  # few lines are left for the slower look
        some = [i for i in range(first, last) if lines[i][4:5] not in _CONTINUES or lines[i][:4] != _PASS[:4]]
        starts = [i for i in some if lines[i][: indent + 1].lstrip(" ")[:1] not in _CONTINUES]
    else:
        starts = [i for i in range(first, last) if lines[i][:1] not in _CONTINUES]
    found = []
    decorated = None  # where the decorators of the next definition begin
    for start, following in zip(starts, [*starts[1:], last], strict=False):  # none, of a class without a body
        line = lines[start]
        if line[indent : indent + 1] == "@":
            decorated = start if decorated is None else decorated
            continue
        named = _NAME.match(line) if line.startswith(_OPENS[indent]) else None
        if named:
            begin = start if decorated is None else decorated
            end = following
            while not lines[end - 1].strip():
                end -= 1
            found.append(_Block(named[2], "\n".join(lines[begin:end]), begin, end, named[1] == "class"))
        decorated = None
    return found


def _methods(lines: list[str], block: _Block) -> Iterator[_Block]:
    """The methods of a class, named after it."""
    header = next(i for i in range(block.start, block.end) if lines[i].startswith("class "))
    for one in _blocks(lines, header + 1, block.end, 4):
        if not one.is_class:
            yield one._replace(name=f"{block.name}.{one.name}")


def _splits_a_string(block: _Block) -> bool:
    """Whether a string seems to begin in a block and to end outside."""
    return (block.text.count('"""') + block.text.count("'''")) % 2 == 1


def _shared(base: list[_Block], head: list[_Block]) -> set[tuple[str, str]]:
    """(name, text) of what both sides have alike; a name that one side has twice is no one's."""
    counts = [Counter(block.name for block in side) for side in (base, head)]
    once = [{(b.name, b.text) for b in side if n[b.name] == 1} for side, n in zip((base, head), counts, strict=True)]
    return once[0] & once[1]


def parse_both(base_path: str, base: str | None, head_path: str, head: str | None) -> tuple[Module, Module]:
    """Both sides of a file; of what they share only as much as the edits need."""
    if base is None or head is None:
        return parse(base_path, base), parse(head_path, head)
    base, head = plain(base), plain(head)
    parts = trimmed(base, head)
    if parts is not None:
        modules = [parse(path, part) for path, part in zip((base_path, head_path), parts, strict=True)]
        if not any(module.notes for module in modules):
            for module, text in zip(modules, (base, head), strict=True):
                module.text, module.partial = text, True
            return modules[0], modules[1]
    return parse(base_path, base), parse(head_path, head)
