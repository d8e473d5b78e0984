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

#: Shorter files are parsed as they are.
LINES = 80
#: Lines that begin or end a definition at the top or in a class: no closing bracket, no comment, not empty.
_TOP = re.compile(r"^[^\s#)\]}]", re.MULTILINE)
_INNER = re.compile(r"^ {1,4}[^\s#)\]}]", re.MULTILINE)
_NAME = re.compile(r" *(?:async )?(def|class) +(\w+)")
_QUOTES = re.compile(r'"""|\'\'\'')
#: What a blanked method leaves, so that its class has a body.
_PASS = "    pass"


class _Block(NamedTuple):
    """One definition with its decorators: the text from `start` to `end`."""

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
    tops = [list(_blocks(text, _TOP)) for text in (base, head)]
    spared = _shared(*tops)
    classes = [[b for b in side if b.is_class and (b.name, b.text) not in spared] for side in tops]
    methods = [[one for block in side for one in _methods(block)] for side in classes]
    if any(_splits_a_string(block) for side in (*tops, *methods) for block in side):
        return None
    alike = _shared(*methods)
    results = []
    for text, top, inner in zip((base, head), tops, methods, strict=True):
        gaps = [(b.start, b.end, "") for b in top if (b.name, b.text) in spared]
        gaps += [(b.start, b.end, _PASS) for b in inner if (b.name, b.text) in alike]
        parts, at = [], 0
        for start, end, instead in sorted(gaps):
            parts += [text[at:start], instead, "\n" * text.count("\n", start, end)]
            at = end
        results.append("".join([*parts, text[at:]]))
    return results[0], results[1]


def _blocks(text: str, marks: re.Pattern) -> Iterator[_Block]:
    """The definitions whose first line is one that `marks` matches; the next such line ends them."""
    starts = [match.start() for match in marks.finditer(text)]
    first = None  # where the decorators of the next definition begin
    for start, following in zip(starts, [*starts[1:], len(text)], strict=True):
        if text[start : start + 5].lstrip(" ").startswith("@"):
            first = start if first is None else first
            continue
        named = _NAME.match(text, start)
        if named:
            begin = start if first is None else first
            content = text[begin:following].rstrip()
            yield _Block(named[2], content, begin, begin + len(content), named[1] == "class")
        first = None


def _methods(block: _Block) -> Iterator[_Block]:
    """The methods of a class, named after it, at their places in the file."""
    header = block.text.find("\n", block.text.find("class "))  # decorators may come first
    if header < 0:
        return
    body = block.text[header + 1 :]
    for one in _blocks(body, _INNER):
        if not one.is_class and one.text.startswith(("    def ", "    async ", "    @")):
            shift = block.start + header + 1
            yield _Block(f"{block.name}.{one.name}", one.text, one.start + shift, one.end + shift, False)


def _splits_a_string(block: _Block) -> bool:
    """Whether a string seems to begin in a block and to end outside."""
    return len(_QUOTES.findall(block.text)) % 2 == 1


def _shared(base: list[_Block], head: list[_Block]) -> set[tuple[str, str]]:
    """(name, text) of what both sides have alike; a name that one side has twice is no one's."""
    counts = [Counter(block.name for block in side) for side in (base, head)]
    once = [{(b.name, b.text) for b in side if n[b.name] == 1} for side, n in zip((base, head), counts, strict=True)]
    return once[0] & once[1]
