"""What a change is: files, symbols, and edits with a meaning."""

from __future__ import annotations

from typing import Literal

from analyzer.model.base import Record, Text

Status = Literal["added", "modified", "deleted", "renamed", "type-changed"]
Category = Literal["source", "kernel", "test", "build", "docs", "ci", "data"]
State = Literal["open", "merged", "reverted", "unknown"]


class Subject(Record):
    """The revision pair, and what is known of the change around it.

    `base` and `head` are 40 hex digits; `base` is 40 zeros where head is compared with the empty tree.
    `notes` says how the pair was chosen (a merge commit's first parent, the empty tree).
    """

    repository: str
    base: str
    head: str
    title: str = ""
    pr: int | None = None
    author: str = ""
    merged_at: str | None = None
    url: str = ""
    state: State = "unknown"
    message: str = ""
    notes: tuple[Text, ...] = ()


class Edit(Record):
    """One typed statement of what changed in meaning.

    `kind` is a noun and a direction (``cast-added``). `base_line` and `head_line` are 1-based lines in the file of each
    side (None where that side has none); `before` and `after` are the source spans; `count` is how many places of
    `symbol` the statement holds for; `detail` has what prose and rules need (dtype, target, size expression, ...).
    """

    kind: str
    path: str
    symbol: str
    base_line: int | None = None
    head_line: int | None = None
    before: str = ""
    after: str = ""
    count: int = 1
    detail: dict[str, str | int | float | bool] = {}


class Symbol(Record):
    """A changed function, method, class, kernel or module constant; `name` is qualified within its file.

    `names`: nothing but the names of its local variables is other.
    """

    name: str
    kind: Literal["function", "method", "class", "kernel", "constant"]
    change: Literal["added", "removed", "renamed", "moved", "signature", "body", "names"]
    previous_name: str | None = None
    base_line: int | None = None
    head_line: int | None = None


class FileChange(Record):
    """One file of the diff. `added` and `removed` count lines; `unread` says why its content could not be read."""

    path: str
    previous_path: str | None = None
    status: Status
    module: Text = Text(en="", zh="")
    category: Category = "source"
    added: int = 0
    removed: int = 0
    symbols: tuple[Symbol, ...] = ()
    edits: tuple[Edit, ...] = ()
    notes: tuple[Text, ...] = ()
    unread: Text | None = None


class Caller(Record):
    """`symbol` reaches the changed symbol `calls` at `path`:`line`; `changed`: whether it changed too.

    `how`: it calls it, launches it, names it without a call (a callback), or only imports it. `gone`: head defines
    `calls` no longer where `symbol` looks for it. `after`: what the caller does with a tensor that the call now
    overwrites; None where nothing is overwritten, or where it cannot be told.
    """

    symbol: str
    path: str
    line: int
    calls: str
    changed: bool
    note: str = ""
    how: Literal["calls", "launches", "passes-on", "imports"] = "calls"
    gone: bool = False
    after: Text | None = None


class Coverage(Record):
    """The tests that name a changed symbol, by ``path::name``, and whether they changed with it.

    To name is to call it or to hand it on, in the test or in a helper of its file; what a test runs is not known.
    `through` calls or launches the symbol and is named by `through_tests`; it is told where no test names the symbol.
    """

    symbol: str
    path: str
    changed: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    through: str = ""
    launches: bool = False
    through_changed: tuple[str, ...] = ()
    through_unchanged: tuple[str, ...] = ()

    @property
    def named(self) -> bool:
        return bool(self.changed or self.unchanged)


class Snippet(Record):
    path: str
    symbol: str
    language: str
    code: str
    notes: tuple[Text, ...] = ()


class Related(Record):
    """Another PR or commit and how it relates; `why` is the fact that the relation rests on."""

    relation: str
    commit: str | None = None
    pr: int | None = None
    title: str = ""
    why: Text


class Change(Record):
    """All facts of a diff."""

    files: tuple[FileChange, ...]
    callers: tuple[Caller, ...] = ()
    coverage: tuple[Coverage, ...] = ()
    snippets: tuple[Snippet, ...] = ()

    @property
    def edits(self) -> tuple[Edit, ...]:
        return tuple(edit for file in self.files for edit in file.edits)
