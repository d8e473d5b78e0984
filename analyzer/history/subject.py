"""What is known of the change as a whole: title, PR, author, state; from Git, and from the PR's conversation."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from analyzer.change.revisions.repository import Pair, Repository
from analyzer.errors import UsageError
from analyzer.findings.yaml_source import said
from analyzer.history.messages import pr_of, title_of
from analyzer.model.base import read_json
from analyzer.model.change import Related, State, Subject

_STATES: dict[str, State] = {"open": "open", "merged": "merged", "reverted": "reverted", "closed": "unknown"}


def describe(repository: Repository, pair: Pair, related: tuple[Related, ...]) -> Subject:
    """The subject as Git shows it. A pair that is no commit and its parent has no title, PR or author of its own."""
    if not pair.adjacent:
        return Subject(repository=repository.name, base=pair.base, head=pair.head, state="open", notes=pair.notes)
    commit = repository.commit(pair.head)
    number = pr_of(commit.message)
    page = f"/pull/{number}" if number else f"/commit/{pair.head}"
    state = _state(repository, pair.head, related)
    return Subject(
        repository=repository.name,
        base=pair.base,
        head=pair.head,
        title=title_of(commit.message),
        pr=number,
        author=commit.author,
        merged_at=commit.date if state in ("merged", "reverted") else None,
        url=repository.url + page if repository.url else "",
        state=state,
        message=commit.message,
        notes=pair.notes,
    )


def _state(repository: Repository, head: str, related: tuple[Related, ...]) -> State:
    """Merged: an ancestor of the default branch; reverted: that branch takes it back later."""
    branch = repository.default_branch()
    if branch is None:
        return "unknown"
    if not repository.is_ancestor(head, branch):
        return "open"
    return "reverted" if any(one.relation == "reverted-by" for one in related) else "merged"


def read_conversation(path: Path) -> dict[str, Any]:
    """A PR's conversation from a file (docs: --pr-json); UsageError where it is none."""
    try:
        conversation = read_json(path.read_bytes(), str(path))
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from None
    if not isinstance(conversation, dict) or not isinstance(conversation.get("number"), int):
        raise UsageError(f"{path}: not a PR's conversation (no number)")
    return conversation


def with_conversation(subject: Subject, conversation: Mapping[str, Any] | None) -> Subject:
    """The subject as the PR itself states it, which wins over what Git shows; another PR's is refused."""
    if conversation is None:
        return subject
    number = conversation["number"]
    if subject.pr is not None and subject.pr != number:
        raise UsageError(f"the conversation is PR #{number}'s, the change is #{subject.pr}")
    told = {
        "pr": number,
        "repository": conversation.get("repository"),
        "title": conversation.get("title"),
        "author": conversation.get("author"),
        "url": conversation.get("url"),
        "merged_at": conversation.get("merged_at"),
        "state": _STATES.get(str(conversation.get("state")), "unknown"),
    }
    changed = {name: value for name, value in told.items() if value}
    if told["state"] in ("open", "unknown"):
        changed["merged_at"] = None
    try:
        return Subject.model_validate(subject.model_dump() | changed)
    except ValidationError as error:
        raise UsageError(f"the conversation: {said(error.errors()[0])}") from None
