"""Quoting people: Markdown taken off, sentences told apart, length kept in bounds. Quotes stay in their language."""

from __future__ import annotations

import re
from collections.abc import Iterator

#: Headings and bold leads under which a description says why.
WHY = re.compile(
    r"summary|reasons?|motivation|purpose|why|problem|background|description|context|overview|what|概述|动机|原因|背景",
    re.IGNORECASE,
)
_HEADING = re.compile(r"^\s{0,3}#{1,6}\s+(.*?)\s*#*\s*$|^\s*\*\*([^*]{1,40}?):?\*\*:?\s*$")
_BOLD_LEAD = re.compile(r"^\s*(?:[-*+]\s+)?\*\*([^*]{1,40}?):?\*\*:?\s+(?=\S)")
#: Lines that say nothing of the change: trailers, checkboxes, generated notes, commands to bots.
_NOISE = re.compile(
    r"^\s*(?:(?:signed-off-by|co-authored-by|reviewed-by|acked-by|cc|fixes|closes|resolves)\b\W|[-*]\s*\[[ xX]\]|"
    r"auto-?generated\b|generated (?:by|with)\b|/\w+\s*$|@\S+\s+\w+\s*$|-{3,}\s*$|\|)",
    re.IGNORECASE,
)
_ITEM = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+")
#: The end of a sentence: not after an abbreviation, nor within a number or a name.
_STOP = re.compile(
    r"(?<=[.!?])(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\bvs\.)(?<!\betc\.)(?<!\bcf\.)\s+(?=[\"'(`\[A-Z0-9])|(?<=[。！？])"
)


def sections(body: str) -> Iterator[tuple[str, list[str]]]:
    """(heading, paragraphs) of a Markdown text without code blocks and comments; "" before the first heading.

    A paragraph is one line of text; each list item is one of its own.
    """
    text = re.sub(r"<!--.*?(?:-->|\Z)", "", body.replace("\r\n", "\n"), flags=re.DOTALL)
    text = re.sub(r"^(`{3,}|~{3,}).*?(?:^\1[`~]*\s*$|\Z)", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"<details\b.*?(?:</details>|\Z)", "", text, flags=re.DOTALL | re.IGNORECASE)
    heading, paragraphs, current = "", [], []

    def end() -> None:
        if current:
            paragraphs.append(" ".join(current))
            current.clear()

    for row in text.split("\n"):
        found = _HEADING.match(row)
        if found:
            end()
            yield heading, paragraphs
            heading, paragraphs = (found[1] or found[2] or "").strip(), []
        elif not row.strip() or _NOISE.match(row) or row.lstrip().startswith(">"):
            end()
        else:
            if _ITEM.match(row):
                end()
            current.append(_ITEM.sub("", row).strip())
    end()
    yield heading, paragraphs


def bold_lead(paragraph: str) -> tuple[str, str]:
    """``**Reason:** text`` -> ("Reason", text); ("", paragraph) where there is no such lead."""
    found = _BOLD_LEAD.match(paragraph)
    return (found[1], paragraph[found.end() :]) if found else ("", paragraph)


def unmarked(text: str) -> str:
    """Text without Markdown: links by their text, no images, emphasis or HTML; code spans stay as they are."""
    text = re.sub(r"!\[[^\]]*\]\([^)]*\)", "", text)
    text = re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"(\*\*|__)(`[^`]+`)\1", r"\2", text)
    parts = re.split(r"(`+[^`]*`+)", text)
    parts[::2] = [_without_emphasis(part) for part in parts[::2]]
    return re.sub(r"\s+", " ", "".join(parts)).strip()


def _without_emphasis(text: str) -> str:
    text = re.sub(r"</?[A-Za-z][^>]*>", "", text)
    text = re.sub(r"(\*\*|__)(?=\S)(.+?)(?<=\S)\1", r"\2", text)
    return re.sub(r"(?<![\w*])\*(?=\S)([^*]+?)(?<=\S)\*(?![\w*])", r"\1", text)


def sentences(paragraph: str) -> list[str]:
    """The sentences of a paragraph, Markdown taken off; a stop within code ends none."""
    text, told, start = unmarked(paragraph), [], 0
    for stop in _STOP.finditer(text):
        if text.count("`", 0, stop.start()) % 2 == 0:
            told.append(text[start : stop.end()])
            start = stop.end()
    return [one.strip() for one in (*told, text[start:]) if one.strip()]


def shortened(text: str, limit: int) -> str:
    """At most `limit` characters, cut at a word, with an ellipsis where something was cut."""
    if len(text) <= limit:
        return text
    cut = text[: limit - 1]
    return (cut[: cut.rfind(" ")] if " " in cut[limit // 2 :] else cut).rstrip() + "…"
