"""What the facts of one file may cost.

Where work grows faster than a file it is bounded by its amount, so that a slow machine says the same as a fast one;
time is the last resort. A file that costs too much is refused with a note, and the facts of the others are still told.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from analyzer.model.base import Text

R = TypeVar("R")
#: Steps of one file, about a tenth of a microsecond each.
STEPS = 200_000_000
#: Seconds of processor time of one file.
SECONDS = 20.0
#: Steps between two looks at the clock.
_LOOK = 100_000


class TooMuch(Exception):
    """A file costs more than it may."""


class _Budget:
    def __init__(self) -> None:
        self.steps = 0
        self.seconds = 0.0
        self._next = 0
        self._since = 0.0

    def resume(self) -> None:
        self._since = time.thread_time()

    def pause(self) -> None:
        self.seconds += time.thread_time() - self._since

    def spend(self, steps: int) -> None:
        self.steps += steps
        if self.steps > STEPS:
            raise TooMuch
        if self.steps > self._next:
            self._next = self.steps + _LOOK
            if self.seconds + time.thread_time() - self._since > SECONDS:
                raise TooMuch


_of_thread = threading.local()


def spend(steps: int) -> None:
    """Count work against the file whose facts are being found; TooMuch where that is more than it may cost."""
    budget = getattr(_of_thread, "budget", None)
    if budget is not None:
        budget.spend(steps)


class Limits:
    """The budgets of a change's files, and a note for each file that was refused."""

    def __init__(self, refused: Mapping[str, Text] | None = None) -> None:
        self.refused: dict[str, Text] = dict(refused or {})
        self._budgets: dict[str, _Budget] = {}

    def of(self, paths: Iterable[str], compute: Callable[[], R], otherwise: R) -> R:
        """`compute()` on the budget of the first of the files that it is about; all refused where it is too much."""
        paths = sorted(set(paths))
        if any(path in self.refused for path in paths):
            return otherwise
        budget = self._budgets.setdefault(paths[0], _Budget())
        outer = getattr(_of_thread, "budget", None)
        if outer is budget:
            return compute()
        _of_thread.budget = budget
        budget.resume()
        try:
            return compute()
        except Exception as error:  # a cost, or a fault of ours: the other files keep their facts
            self.refused |= {path: _note(path, error) for path in paths}
            return otherwise
        finally:
            budget.pause()
            _of_thread.budget = outer


def _note(path: str, error: BaseException) -> Text:
    en, zh = {
        TooMuch: ("comparing its two sides takes too long", "两侧比较耗时过长"),
        MemoryError: ("comparing its two sides takes too much memory", "两侧比较占用内存过多"),
        RecursionError: ("its code is nested too deeply", "代码嵌套过深"),
    }.get(
        type(error),
        (
            f"comparing its two sides failed ({type(error).__name__}: {error})",
            f"两侧比较失败（{type(error).__name__}：{error}）",
        ),
    )
    return Text(en=f"{path}: {en}; its edits are not listed.", zh=f"{path}：{zh}，未列出其语义改动。")
