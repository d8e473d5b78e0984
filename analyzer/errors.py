"""The errors a user can meet, each one line, each with its exit code.

AnalyzerError (1: our own failure)
├── UsageError (2: an option, a settings file, a rule or a bundle that cannot be used)
└── NothingToAnalyze (3: no repository, an unknown revision, an empty diff)
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class AnalyzerError(Exception):
    """Ends the command with one line: what was wrong, what to do."""

    exit_code = 1


class UsageError(AnalyzerError):
    """What the user handed over cannot be used."""

    exit_code = 2


class NothingToAnalyze(AnalyzerError):
    """There is no change to analyze."""

    exit_code = 3


def nearest(name: str, known: Iterable[str]) -> str:
    """What `name` may have meant, as the end of a message; empty where nothing is near."""
    near = get_close_matches(name, list(known), n=3, cutoff=0.5)
    return f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
