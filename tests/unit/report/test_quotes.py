"""What people said: the sentences that give a reason, stances, retractions, bots."""

from __future__ import annotations

import pytest

from analyzer.model.change import Subject
from analyzer.report.conversation import Conversation, Remark
from analyzer.report.discussion import LENGTH, discussion
from analyzer.report.motivation import motivation
from analyzer.report.quotes import sentences, shortened, unmarked

SUBJECT = Subject(repository="ada/mini", base="a" * 40, head="b" * 40, title="Keep fp32 (#7)")


def reasons(body: str, message: str = "") -> list[str]:
    subject = SUBJECT.model_copy(update={"message": message})
    return [one.quote for one in motivation(subject, Conversation(body=body))]


def test_reasons_come_from_under_their_heading() -> None:
    """Sentences under a heading that promises a reason, without checklists, commands and the plan of tests."""
    body = (
        "<!-- template -->\n\nThanks!\n\n## Purpose\n\nThe copy costs **4 bytes**. It runs out\nof memory, see "
        "[the log](https://x.example).\n\n- one item\n- [ ] I read the rules\n\n## Test Plan\n\nRun pytest.\n\n"
        "```\npytest\n```\n\nSigned-off-by: Ada <ada@x.example>"
    )
    assert reasons(body) == ["The copy costs 4 bytes.", "It runs out of memory, see the log.", "one item"]


def test_a_bold_lead_is_a_heading() -> None:
    """`**Reason:**` gives the reason of its paragraph, and a colon keeps what it announces."""
    body = 'Reverts a/b#1 ("x").\n\n**Reason:** it broke one job:\n- `nightly`\n\nThe sampler hung.\n\nAuto-generated.'
    assert reasons(body) == ["it broke one job: `nightly`", "The sampler hung."]


def test_without_a_description_the_message_or_the_title_speaks() -> None:
    """The commit message's body, else the title, each said to be that."""
    message = "Keep fp32 (#7)\n\nRounding moved the boundary.\n\nSigned-off-by: Ada <ada@x.example>\n"
    (one,) = motivation(SUBJECT.model_copy(update={"message": message}), Conversation())
    assert (one.quote, one.where.en, one.where.zh) == ("Rounding moved the boundary.", "commit message", "提交说明")
    (title,) = motivation(SUBJECT, Conversation())
    assert (title.quote, title.where.en) == ("Keep fp32 (#7)", "title")
    assert motivation(SUBJECT.model_copy(update={"title": ""}), Conversation()) == ()


def said(body: str, author: str = "ada", state: str = "") -> list[tuple[str, str, str]]:
    remark = Remark(author=author, role="MEMBER", body=body, state=state)
    talk = Conversation(reviews=(remark,)) if state else Conversation(comments=(remark,))
    return [(one.stance, one.quote, one.outcome) for one in discussion(talk)]


@pytest.mark.parametrize(
    ("body", "state", "stance"),
    [
        ("Looks right to me", "APPROVED", "approve"),
        ("", "APPROVED", "approve"),
        ("Let's revert my change for now", "APPROVED", "approve"),
        ("The kernel reads past the end", "CHANGES_REQUESTED", "object"),
        ("I don't think this is correct", "", "object"),
        ("Does this hold for bf16?", "", "question"),
        ("Let's merge this", "", "decision"),
        ("Rebased.", "", "comment"),
    ],
)
def test_stances(body: str, state: str, stance: str) -> None:
    """A review's state decides, then the words."""
    assert said(body, state=state) == [(stance, body, "")]


def test_a_struck_out_comment_is_a_retraction() -> None:
    """What was struck out is quoted without the strokes and said to be retracted; one stroke within is not."""
    assert said("~It is unlikely to be the cause.~") == [("retracted", "It is unlikely to be the cause.", "retracted")]
    assert said("~~wrong~~") == [("retracted", "wrong", "retracted")]
    assert said("about ~3 ms~ of it")[0][0] == "comment"


@pytest.mark.parametrize("author", ["mergify[bot]", "github-actions", "ci-bot", "Copilot"])
def test_bots_are_left_out(author: str) -> None:
    """Machines have no stance."""
    assert said("Build failed", author=author) == []


def test_what_says_nothing_is_left_out() -> None:
    """Quoted lines, commands to bots and empty comments are no remarks."""
    assert said("> I said this before\n\n/rebase") == []
    assert said("```\nlog\n```") == []
    assert said("") == []
    assert said("> earlier words\n\nStill true.") == [("comment", "Still true.", "")]


def test_long_quotes_are_cut_at_a_word() -> None:
    """A quote keeps within its length, and shows that it was cut."""
    (quote,) = (one[1] for one in said("word " * 500))
    assert len(quote) <= LENGTH and quote.endswith("word…")
    assert shortened("short", 10) == "short"


def test_sentences_are_told_apart() -> None:
    """Abbreviations, versions and code do not end a sentence; Chinese stops do."""
    assert sentences("Use e.g. Triton 3.6 here. Then `a. B` stops! Done.") == [
        "Use e.g. Triton 3.6 here.",
        "Then `a. B` stops!",
        "Done.",
    ]
    assert sentences("先复制。再改写。") == ["先复制。", "再改写。"]
    assert unmarked("**`x`** (`y`)") == "`x` (`y`)"
    assert unmarked("**a** and *b*, [c](d), `**e**`, ![f](g)<br>") == "a and b, c, `**e**`,"
