"""Why the change was made, in its author's words: sentences of the description, the commit message, or the title."""

from __future__ import annotations

import re

from analyzer.model.change import Subject
from analyzer.model.report import Motivation
from analyzer.report.conversation import Conversation
from analyzer.report.phrases import phrase
from analyzer.report.quotes import WHY, bold_lead, sections, sentences, shortened

SENTENCES = 6
LENGTH = 400
#: A sentence that only names other changes gives no reason.
_ONLY_NAMES = re.compile(
    r"^(?:this )?(?:reverts?|supersedes?|closes?|fixes|resolves)\b[^.]*#\d+[^.]*\.?$", re.IGNORECASE
)


def motivation(subject: Subject, conversation: Conversation) -> tuple[Motivation, ...]:
    """The first meaningful sentences, those under a heading that promises a reason before others."""
    message = subject.message.partition("\n")[2]
    for where, text in (("description", conversation.body or ""), ("message", message)):
        said = _reasons(text)
        if said:
            return tuple(Motivation(quote=shortened(one, LENGTH), where=phrase(f"where.{where}")) for one in said)
    title = subject.title or conversation.title
    return (Motivation(quote=shortened(title, LENGTH), where=phrase("where.title")),) if title else ()


def _reasons(text: str) -> list[str]:
    told: list[str] = []
    rest: list[str] = []
    for heading, paragraphs in sections(text):
        why = bool(WHY.search(heading))
        for paragraph in paragraphs:
            lead, words = bold_lead(paragraph)
            why = why or bool(lead and WHY.search(lead))
            if not lead or WHY.search(lead):
                _add(told if why else rest if not heading else [], sentences(words))
    return [one for one in told or rest if not _ONLY_NAMES.match(one)][:SENTENCES]


def _add(told: list[str], more: list[str]) -> None:
    """What a colon announces belongs to the sentence before."""
    if told and told[-1].endswith(":") and more:
        told[-1] += " " + more[0]
        more = more[1:]
    told.extend(more)
