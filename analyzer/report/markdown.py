"""Other people's text as Markdown that shows it and does nothing else.

Titles, paths, comments and code come from strangers. Nothing of theirs may become a link, a mention, an image, HTML or
the end of a table, a list or a fence. Templates print `Markdown` as it is and everything else through `plain`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

#: Shows as nothing and splits what GitHub would link: ``@user``, ``#123``, ``GH-123``, bare addresses.
JOINER = "\u2060"
_LINKED = re.compile(r"@(?=\w)|#(?=\d)|GH-(?=\d)|:(?=//)|www(?=\.)|(?:mailto|xmpp):", re.IGNORECASE)
_SPECIAL = re.compile(r"[\\`*\[\]~|$]|(?<![^\W_])_|_(?![^\W_])")
_LEADING = re.compile(r"^(#{1,6}(?=\s|$)|[+-]+(?=\s|$)|=+$|\d{1,9}(?=[.)](?:\s|$)))")
_SPAN = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)")
_INVISIBLE = {"Cc", "Cf", "Cs", "Zl", "Zp"}


class Markdown(str):
    """Text that is Markdown already."""


def clean(text: str) -> str:
    """Text without characters that cannot be seen: control, direction and zero-width ones show as U+FFFD."""
    return "".join(
        char if char in "\n\t\u200c\u200d" or unicodedata.category(char) not in _INVISIBLE else "\ufffd"
        for char in text.replace("\r\n", "\n")
    )


def line(text: str) -> str:
    """Cleaned text on one line."""
    return re.sub(r"\s+", " ", clean(text)).strip()


def plain(text: object) -> Markdown:
    """Any value as Markdown text that reads as it was written."""
    return Markdown(_leading(_escape(line(str(text)))))


def code(text: object) -> Markdown:
    """An inline code span, its fence longer than any run of backticks inside; empty for an empty text."""
    inner = line(str(text))
    if not inner:
        return Markdown("")
    ticks = "`" * (_longest_run(inner) + 1)
    pad = " " if inner[0] == "`" or inner[-1] == "`" else ""
    return Markdown(f"{ticks}{pad}{inner}{pad}{ticks}")


def prose(text: object) -> Markdown:
    """A sentence of ours: its code spans stay code, the rest is escaped."""
    return text if isinstance(text, Markdown) else _render(str(text), code)


def cell(text: object) -> Markdown:
    """A sentence of ours in a table: no pipe ends the cell, in code neither."""
    return _render(str(text), lambda span: re.sub(r"(\\)?\|", _cell_pipe, code(span)))


def fence(text: str, language: str = "") -> Markdown:
    """A code block, its fence longer than any run of backticks inside."""
    body = clean(text).rstrip("\n")
    ticks = "`" * max(3, _longest_run(body) + 1)
    return Markdown(f"{ticks}{re.sub(r'[^A-Za-z0-9+-]', '', language)}\n{body}\n{ticks}")


def _render(text: str, span: Callable[[str], str]) -> Markdown:
    parts, end, whole = [], 0, line(text)
    for found in _SPAN.finditer(whole):
        parts += [_escape(whole[end : found.start()]), span(found[2])]
        end = found.end()
    return Markdown(_leading("".join([*parts, _escape(whole[end:])])))


def _cell_pipe(found: re.Match[str]) -> str:
    """A backslash before a pipe is split from it: parsers of tables differ on what the two mean together."""
    return (found[1] + JOINER if found[1] else "") + "\\|"


def _escape(text: str) -> str:
    text = _LINKED.sub(lambda found: found[0] + JOINER, text)
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _SPECIAL.sub(lambda found: "\\" + found[0], text)


def _leading(text: str) -> str:
    """What opens a heading, a list or a rule at the start of a line opens none."""
    return _LEADING.sub(lambda found: found[1] + "\\" if found[1].isdigit() else "\\" + found[1], text)


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall(r"`+", text)), default=0)
