"""What one side of a build file states."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class BuildFact:
    """A requirement (noun ``dependency``) or a flag (noun ``build-flag``) of one side.

    `symbol`: the variable, target or group that it is stated for, empty where there is none. `name`: the distribution,
    image or flag. `value`: what is compared; `shown`: the same as it is written. `condition`: under which it holds.
    `architecture`: the GPU that a flag compiles for. `apart`: worth a word of its own in a list of locked versions.
    """

    noun: str
    symbol: str
    name: str
    value: str
    shown: str
    line: int
    text: str
    group: str = ""
    condition: str = ""
    architecture: str = ""
    apart: bool = True


class Unreadable(ValueError):
    """A build file that its own format cannot read; `line` where it says where."""

    def __init__(self, line: int | None = None) -> None:
        super().__init__(line)
        self.line = line
