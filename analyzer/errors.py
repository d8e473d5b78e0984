"""The errors a user can meet, each one line, each with its exit code.

AnalyzerError (1: our own failure)
├── UsageError (2: an option, a settings file, a rule or a bundle that cannot be used)
└── NothingToAnalyze (3: no repository, an unknown revision, an empty diff)
"""


class AnalyzerError(Exception):
    """Ends the command with one line: what was wrong, what to do."""

    exit_code = 1


class UsageError(AnalyzerError):
    """What the user handed over cannot be used."""

    exit_code = 2


class NothingToAnalyze(AnalyzerError):
    """There is no change to analyze."""

    exit_code = 3
