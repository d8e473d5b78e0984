"""Other people's text, read by a real Markdown parser: it shows as written and does nothing."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from analyzer.report.markdown import JOINER, cell, clean, code, fence, line, plain, prose

PARSER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
#: What strangers write, and pieces of it in any order.
HOSTILE = st.lists(
    st.sampled_from(
        [
            *("@octocat", "@org/team", "#123", "GH-1", "https://evil.example/x", "www.evil.example", "a@b.example"),
            *(
                "<!-- x -->",
                "<img src=x onerror=1>",
                "</details>",
                "[a](b)",
                "![a](b)",
                "[x]: y",
                "`",
                "``",
                "```",
                "~~",
            ),
            *(
                "**",
                "_",
                "__init__",
                "|",
                "\\",
                "\\|",
                "\n",
                "\n\n",
                "---",
                "===",
                "# h",
                "> q",
                "1. ",
                "- ",
                "+ ",
                "&lt;",
            ),
            *("&#64;octocat", "\u202e", "\x1b[31m", "\x00", "$x$", "text", " ", "漢字", "mailto:a@b.example", "a_b"),
        ]
    ),
    max_size=8,
).map("".join)
ANY = HOSTILE | st.text(max_size=40)
WRITTEN = {"inline", "text", "paragraph_open", "paragraph_close", "code_inline", "text_special"}


def tokens(markdown: str) -> list[Token]:
    found = []
    for token in PARSER.parse(markdown):
        found += [token, *(token.children or ())]
    return found


def shown(markdown: str) -> str:
    """The text that a reader sees, without what joins nothing."""
    kept = [t.content for t in tokens(markdown) if t.type in ("text", "code_inline", "text_special")]
    return "".join(kept).replace(JOINER, "")


def linked(markdown: str) -> list[str]:
    """What GitHub would make a link or a mention of, outside code."""
    texts = "\n".join(t.content for t in tokens(markdown) if t.type in ("text", "text_special"))
    return re.findall(r"@\w|#\d|GH-\d|\w+://|www\.|mailto:\w", texts, re.IGNORECASE)


@given(ANY)
@example("<!-- marker --> @octocat #1 https://x.example")
@example("\\<b>")
@example("\\@octocat")
def test_plain_text_is_only_text(text: str) -> None:
    """No link, mention, heading, list, HTML, emphasis or table; what is read is what was written."""
    markdown = plain(text)
    assert {t.type for t in tokens(markdown)} <= WRITTEN - {"code_inline"}
    assert not linked(markdown)
    assert shown(markdown) == line(text)


@given(ANY)
def test_prose_keeps_code_and_nothing_else(text: str) -> None:
    """A sentence of ours may hold code spans; whatever else it holds is text."""
    markdown = prose(text)
    assert {t.type for t in tokens(markdown)} <= WRITTEN
    assert not linked(markdown)


@given(ANY)
def test_code_shows_exactly_its_content(text: str) -> None:
    """A code span ends where we end it, whatever backticks are inside."""
    found = [t for t in tokens("x " + code(text)) if t.type == "code_inline"]
    assert [t.content.strip() for t in found] == ([line(text)] if line(text) else [])


@given(ANY, ANY)
def test_a_cell_is_one_cell(first: str, second: str) -> None:
    """No content ends a cell or a row of a table."""
    markdown = f"| a | b |\n|---|---|\n| {cell(first)} | {cell(code(second))} |\n"
    kinds = [t.type for t in tokens(markdown)]
    assert kinds.count("td_open") == 2 and kinds.count("tr_open") == 2
    assert not {"link_open", "image", "html_inline", "html_block", "em_open", "s_open"} & set(kinds)
    assert not linked(markdown)


@given(ANY)
def test_a_fence_holds_its_content(text: str) -> None:
    """A code block is one block, longer-fenced than anything inside, and nothing follows from it."""
    markdown = fence(text, "python\n```") + "\n\nafter\n"
    found = [t for t in PARSER.parse(markdown) if t.level == 0 and t.type != "paragraph_close"]
    assert [t.type for t in found] == ["fence", "paragraph_open", "inline"][: len(found)]
    assert found[0].content.rstrip("\n") == clean(text).rstrip("\n") and found[0].info == "python"


@pytest.mark.parametrize("hidden", ["\u202e", "\u200b", "\x1b[31m", "\x00", "\ufeff", "\u2066"])
def test_what_cannot_be_seen_is_made_visible(hidden: str) -> None:
    """Direction marks, zero-width and control characters show as a replacement character."""
    for escape in (plain, prose, code, fence):
        assert hidden[0] not in escape(f"a{hidden}b")
        assert "\ufffd" in escape(f"a{hidden}b")


def test_names_read_well_in_the_raw_text() -> None:
    """Ordinary names, numbers and signs are not cluttered with backslashes."""
    assert plain("apply_top_k_top_p, 1.07%, +4.0, −4.0 bytes (a/b.py:3)") == (
        "apply_top_k_top_p, 1.07%, +4.0, −4.0 bytes (a/b.py:3)"
    )
