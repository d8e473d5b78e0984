"""report.json: everything a report says, each with its source."""

from __future__ import annotations

from typing import Literal, get_args

from analyzer.model.base import Document, Level, Record, Text
from analyzer.model.change import Caller, FileChange, Related, Snippet, Subject
from analyzer.model.evidence import Evidence
from analyzer.model.finding import Finding

Action = Literal["merge", "hold", "review", "keep", "revert", "forward-fix", "unsure", "already-reverted"]
Source = Literal["diff", "measurement", "history", "quote"]
#: Sections of the Markdown in their order; those that no setting switches off.
Section = Literal[
    "summary",
    "motivation",
    "implementation",
    "evidence",
    "snippets",
    "discussion",
    "risks",
    "remedy",
    "related",
    "sources",
]
SECTIONS: tuple[str, ...] = get_args(Section)
FIXED_SECTIONS = ("summary",)


class Recommendation(Record):
    """`reasons` strongest first; `to_proceed` says what would change a hold or a review."""

    action: Action
    reasons: tuple[Text, ...] = ()
    to_proceed: tuple[Text, ...] = ()


class Summary(Record):
    one_line: Text
    recommendation: Recommendation


class Motivation(Record):
    """A sentence of somebody's (original language) and where it was said: title, description, commit message."""

    quote: str
    where: Text


class Comment(Record):
    """A quote of the PR's conversation. `outcome`: empty, "retracted" where it was struck out or withdrawn."""

    author: str
    role: str = ""
    stance: Literal["approve", "object", "retracted", "question", "decision", "comment"]
    quote: str
    topic: Literal["correctness", "performance", "tests", "api", "other"] = "other"
    outcome: str = ""


class Statement(Record):
    """A sentence of the report and the fact it rests on."""

    text: Text
    source: Source
    fact: str


class Risk(Record):
    level: Level
    score: int
    tags: tuple[Text, ...] = ()
    statements: tuple[Statement, ...] = ()
    findings: tuple[Finding, ...] = ()


class Impact(Record):
    users: tuple[Statement, ...] = ()
    system: tuple[Statement, ...] = ()
    team: tuple[Statement, ...] = ()


class Implementation(Record):
    """`steps`: one entry a file in the order that matters to a reader, each a list of sentences."""

    files: tuple[FileChange, ...]
    steps: tuple[FileStep, ...] = ()


class FileStep(Record):
    path: str
    sentences: tuple[Text, ...]


class Report(Document):
    subject: Subject
    summary: Summary
    motivation: tuple[Motivation, ...] = ()
    implementation: Implementation
    snippets: tuple[Snippet, ...] = ()
    discussion: tuple[Comment, ...] = ()
    risk: Risk
    impact: Impact
    callers: tuple[Caller, ...] = ()
    remedy: tuple[Text, ...] = ()
    related: tuple[Related, ...] = ()
    evidence: Evidence | None = None
    not_measured: tuple[Text, ...] = ()
    sources: dict[Source, str] = {}


Implementation.model_rebuild()
