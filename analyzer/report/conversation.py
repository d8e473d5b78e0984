"""What was said in a pull request: its description, comments and reviews, as they are handed over in JSON.

Everything in it is other people's text. Keys that are not known are left alone.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from analyzer.errors import UsageError
from analyzer.findings.yaml_source import said


class _Loose(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Remark(_Loose):
    """A comment, or a review with its `state` (APPROVED, CHANGES_REQUESTED, COMMENTED, DISMISSED)."""

    author: str = ""
    role: str = ""
    body: str | None = ""
    state: str = ""


class Conversation(_Loose):
    title: str = ""
    author: str = ""
    body: str | None = ""
    comments: tuple[Remark, ...] = ()
    reviews: tuple[Remark, ...] = ()
    review_comments: tuple[Remark, ...] = ()


def read(raw: dict[str, Any] | None) -> Conversation:
    """The conversation; None is an empty one. A UsageError for another shape."""
    try:
        return Conversation.model_validate(raw or {})
    except ValidationError as error:
        raise UsageError(f"the conversation: {said(error.errors()[0])}") from None
