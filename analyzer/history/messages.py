"""What a commit message says about other changes. Pure functions of text; nothing is looked up here."""

from __future__ import annotations

import re
from dataclasses import dataclass

_TAGS = r"(?:\[[^\]]*\]\s*|\w+(?:\([^)]*\))?:\s+)*"
_REVERTS = re.compile(rf"{_TAGS}(?:\[revert\]|revert(?:s|ed|ing)?\b)", re.IGNORECASE)
_RELANDS = re.compile(rf"{_TAGS}(?:\[(?:re-?land|redo|re-?apply)\]|re-?land\w*\b|re-?appl\w+\b|redo\b)", re.IGNORECASE)
_OWN = re.compile(r"\s*\(#(\d+)\)\s*$")
_MERGE = re.compile(r"Merge pull request #(\d+) from ")
_NUMBER = re.compile(r"(?<![\w/&])#(\d+)\b")
_BODY_REVERTS = re.compile(r"^\s*(?:This )?reverts?:? (?:(?:PR|commit)\s+)?(?:[\w.-]+/[\w.-]+)?#(\d+)", re.I | re.M)
_BODY_COMMIT = re.compile(r"\breverts commit ([0-9a-f]{7,40})\b", re.IGNORECASE)
_PLAIN = re.compile(r"\b(?:PRs?|revert|re-?apply|re-?land)\s+#?\s*((?:\d{3,}(?:\s*(?:,|and|&)\s*)?)+)", re.IGNORECASE)


@dataclass(frozen=True)
class Targets:
    """The changes that a message says it takes back or brings back: by PR number, commit (a prefix) or title."""

    prs: tuple[int, ...] = ()
    commits: tuple[str, ...] = ()
    titles: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.prs or self.commits or self.titles)


def pr_of(message: str) -> int | None:
    """The PR that a commit came from: the last ``(#N)`` of its subject, or a merge commit's."""
    subject = message.split("\n", 1)[0]
    match = _OWN.search(subject) or _MERGE.match(subject)
    return int(match[1]) if match else None


def title_of(message: str) -> str:
    """The subject without its own PR number; of a merge commit of a PR, that PR's title."""
    subject, _, body = message.partition("\n")
    if _MERGE.match(subject) and body.strip():
        return body.strip().split("\n", 1)[0]
    return _OWN.sub("", subject)


def reverted(message: str) -> Targets | None:
    """What a revert takes back, empty where it names nothing; None where the message is no revert's."""
    subject, _, body = message.partition("\n")
    by_body = Targets(
        prs=tuple(int(number) for number in _BODY_REVERTS.findall(body)), commits=tuple(_BODY_COMMIT.findall(body))
    )
    if not _REVERTS.match(subject):
        return by_body or None
    by_subject = _named(title_of(message))
    prs = tuple(dict.fromkeys(by_subject.prs + by_body.prs))
    return Targets(prs=prs, commits=by_body.commits, titles=by_subject.titles)


def relanded(message: str) -> Targets | None:
    """What a message says it brings back, None where it is no reland's."""
    if not (match := _RELANDS.match(message)):
        return None
    title = title_of(message)
    named = _named(title)
    return named or Targets(titles=(title[match.end() :].strip(" :"),))


def mentioned(message: str) -> tuple[int, ...]:
    """The other PRs or issues that a message names with ``#N``, in order."""
    own = pr_of(message)
    numbers = dict.fromkeys(int(number) for number in _NUMBER.findall(message))
    return tuple(number for number in numbers if number != own)


def _named(title: str) -> Targets:
    """The target that a title names: ``Revert "T (#N)"``, ``Revert "T" (#N)``, ``Revert "T"``, ``Revert #N``."""
    quoted = re.search(r'"(.*)"', title) or re.search(r'"(.*)$', title)
    if quoted:
        inner, after = quoted[1], title[quoted.end() :]
        if numbers := _NUMBER.findall(after) or _OWN.findall(inner):
            return Targets(prs=tuple(map(int, numbers)), titles=(_OWN.sub("", inner),))
        return Targets(prs=tuple(map(int, _NUMBER.findall(inner))), titles=(inner,))
    plain = [number for group in _PLAIN.findall(title) for number in re.findall(r"\d+", group)]
    return Targets(prs=tuple(dict.fromkeys(map(int, _NUMBER.findall(title) + plain))))
