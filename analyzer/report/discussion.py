"""What people said: who, for or against, in their own words; bots left out, struck-out comments as retractions."""

from __future__ import annotations

import re
from collections import Counter
from typing import Literal

from analyzer.model.report import Comment
from analyzer.report.conversation import Conversation, Remark
from analyzer.report.quotes import sections, shortened, unmarked

LENGTH = 400
COMMENTS = 20
Stance = Literal["approve", "object", "retracted", "question", "decision", "comment"]

_BOT = re.compile(
    r"\[bot\]$|(?:^|[-_])bot$|^(?:github-actions|copilot|codecov|mergify|dependabot|renovate)\b", re.IGNORECASE
)
_STRUCK = re.compile(r"^\s*(~{1,2})(?=\S).*\S\1\s*$", re.DOTALL)
_DECIDES = re.compile(
    r"\blet'?s (?:revert|merge|land|close|go)\b|\b(?:reverting|merging|closing|landing) (?:this|it)\b", re.IGNORECASE
)
_OBJECTS = re.compile(
    r"\bdisagree\b|\bnot convinced\b|\bunlikely to be\b|\b(?:should|must) not\b|\bshouldn'?t\b|\bwrong\b|\bincorrect\b|"
    r"\bbreaks\b|\bplease don'?t\b|\bdon'?t think\b|\bnack\b|^-1\b",
    re.IGNORECASE,
)
#: Words that a topic shows itself by.
_TOPICS = {
    "correctness": r"correct|wrong|bug|numeric|precision|nan\b|hang|crash|fail|behavio|accura|cause|result",
    "performance": r"\bslow|fast|latency|throughput|memory|\boom\b|speed|perf|overhead|\bms\b",
    "tests": r"\btests?\b|\bci\b|coverage|flaky",
    "api": r"\bapi\b|argument|parameter|signature|naming|rename|interface",
}


def discussion(conversation: Conversation) -> tuple[Comment, ...]:
    """The conversation's comments and reviews by people, in the order given."""
    remarks = [*conversation.comments, *conversation.reviews, *conversation.review_comments]
    told = [comment for remark in remarks if not _BOT.search(remark.author) and (comment := _comment(remark))]
    return tuple(told[:COMMENTS])


def _comment(remark: Remark) -> Comment | None:
    body = (remark.body or "").strip()
    struck = bool(_STRUCK.match(body))
    quote = shortened(_words(body.strip("~") if struck else body), LENGTH)
    stance = _stance(remark, quote, struck)
    if not quote and stance == "comment":
        return None
    return Comment(
        author=remark.author,
        role=remark.role.lower(),
        stance=stance,
        quote=quote,
        topic=_topic(quote),
        outcome="retracted" if struck else "",
    )


def _words(body: str) -> str:
    """A comment's own words: no quoted lines, code blocks, or commands to bots."""
    return " ".join(unmarked(paragraph) for _, paragraphs in sections(body) for paragraph in paragraphs)


def _stance(remark: Remark, quote: str, struck: bool) -> Stance:
    if struck:
        return "retracted"
    if remark.state.upper() == "APPROVED":
        return "approve"
    if remark.state.upper() == "CHANGES_REQUESTED" or _OBJECTS.search(quote):
        return "object"
    if _DECIDES.search(quote):
        return "decision"
    return "question" if quote.endswith("?") else "comment"


def _topic(quote: str) -> str:
    counts = Counter({topic: len(re.findall(words, quote, re.IGNORECASE)) for topic, words in _TOPICS.items()})
    topic, most = counts.most_common(1)[0]
    return topic if most else "other"
