"""Change facts: from the two sides of the changed files to edits with a meaning.

`change_edits` reads all files together, because functions move between files and a copy protects what other files do.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from analyzer.change.align import Alignment
from analyzer.change.build_files.edits import build_edits
from analyzer.change.classes import classes_of
from analyzer.change.constants import constants
from analyzer.change.edits import at, make, merge
from analyzer.change.functions import Matching, match_functions
from analyzer.change.imports import import_edits
from analyzer.change.inside import testing
from analyzer.change.inside.cut_out import draw_of
from analyzer.change.inside.function_edits import alignment_edits
from analyzer.change.inside.handed_over import HandedOver
from analyzer.change.inside.own_draws import drawn_otherwise
from analyzer.change.inside.parameters import signature_edits
from analyzer.change.limits import Limits
from analyzer.change.revisions.category import is_cpp
from analyzer.change.shapes import dump, same_program
from analyzer.change.source import DEFINED, Function, Module
from analyzer.change.tensors.effects import effects
from analyzer.change.trim import parse_both
from analyzer.model.base import Text
from analyzer.model.change import Edit, Symbol

#: Characters of Python on both sides that are read together; a syntax tree takes some forty times as many bytes.
TOGETHER = 6_000_000

#: Of a file whose two sides are one and the same program.
TEXT_ALONE = Text(en="Comments, docstrings or layout alone.", zh="仅注释、文档字符串或排版有变。")

_TOO_MANY = Text(
    en="So many functions came and went that not all were compared: one that was renamed may be told as gone and new.",
    zh="增删的函数过多，未逐一比较：被重命名的函数可能显示为一删一增。",
)


@dataclass(frozen=True)
class SourcePair:
    """One changed file: its text on both sides, None where that side has no such file."""

    path: str
    previous_path: str | None
    base: str | None
    head: str | None


@dataclass(frozen=True)
class FileFacts:
    symbols: tuple[Symbol, ...] = ()
    edits: tuple[Edit, ...] = ()
    notes: tuple[Text, ...] = ()


class Tree(Protocol):
    """The files of both revisions; `parsed` keeps those that were read, by path and text."""

    parsed: dict[tuple[str, str], Module]

    def file(self, side: str, path: str) -> str | None:
        """The text of a file of `side` (base or head), None where there is none."""
        ...


class NoTree:
    """A tree of which only the changed files are known."""

    def __init__(self) -> None:
        self.parsed: dict[tuple[str, str], Module] = {}

    def file(self, side: str, path: str) -> str | None:
        return None


def file_facts(path: str, base: str | None, head: str | None, previous_path: str | None = None) -> FileFacts:
    """The facts of one file by itself."""
    return change_edits([SourcePair(path, previous_path, base, head)], NoTree())[path]


def change_edits(files: list[SourcePair], tree: Tree) -> dict[str, FileFacts]:
    """The facts of all changed files, by path (of head, or of base for a file that was deleted).

    A file that costs too much has a note in place of its facts.
    """
    found: dict[str, FileFacts] = {}
    for group in groups(files):
        limits = Limits()
        while True:
            kept = [f for f in group if f.path not in limits.refused]
            facts = _within(kept, tree, limits)
            if all(f.path not in limits.refused for f in kept):
                break
            limits = Limits(limits.refused)  # what is refused must not lend its functions to the others
        found |= facts | {path: FileFacts(notes=(note,)) for path, note in limits.refused.items()}
    return {f.path: found[f.path] for f in files}


def groups(files: list[SourcePair]) -> list[list[SourcePair]]:
    """The files that are read together: all of them, unless their syntax trees would take too much memory at once."""
    found: list[list[SourcePair]] = [[]]
    size = 0
    for f in sorted(files, key=lambda f: sorted((f.path, f.previous_path or f.path))):
        its = len(f.base or "") + len(f.head or "") if _is_read(f.path) else 0
        if size and size + its > TOGETHER:
            found.append([])
            size = 0
        found[-1].append(f)
        size += its
    return found


def _is_read(path: str) -> bool:
    return path.endswith(".py") or is_cpp(path)


def _parsed(f: SourcePair, limits: Limits) -> tuple[Module, Module]:
    """Both sides of a file, in its language."""
    sides = (f.previous_path or f.path, f.base, f.path, f.head)
    if not is_cpp(f.path):
        return parse_both(*sides)
    from analyzer.change.cuda.parsing import parse_both as parse_cpp  # its parser is not there for Python alone

    return limits.of([f.path], lambda: parse_cpp(*sides), (Module(sides[0], ""), Module(f.path, "")))


def _within(files: list[SourcePair], tree: Tree, limits: Limits) -> dict[str, FileFacts]:
    """The facts of files that are read together; each by itself where it cannot be told which of them is too much."""
    try:
        return _facts(files, tree, limits)
    except Exception:
        facts: dict[str, FileFacts] = {}
        for f in files:
            facts |= limits.of([f.path], lambda f=f: _facts([f], tree, limits), {})
        return facts


def _facts(files: list[SourcePair], tree: Tree, limits: Limits) -> dict[str, FileFacts]:
    code = [f for f in files if _is_read(f.path)]
    parsed = [_parsed(f, limits) for f in code]
    base = {module.path: module for module, _ in parsed}
    head = {module.path: module for _, module in parsed}
    renames = {f.previous_path: f.path for f in files if f.previous_path}
    whole = [f for f in code if not (base[f.previous_path or f.path].notes or head[f.path].notes)]
    functions: tuple[list[Function], list[Function]] = ([], [])
    for f in whole:
        sides = (base[f.previous_path or f.path], head[f.path])
        read = limits.of([f.path], lambda sides=sides: [list(side.functions.values()) for side in sides], ([], []))
        for all_of_side, its in zip(functions, read, strict=True):
            all_of_side += its

    matching = match_functions(*functions, renames)
    modules = [(base[f.previous_path or f.path], head[f.path]) for f in whole]
    classes = classes_of(modules, matching, renames)
    for alignment in matching.alignments:  # a class under another name is the same class wherever it is used
        alignment.globals |= classes.renamed
    edits = [*classes.edits, *_function_edits(matching, classes.told)]
    handed_over = HandedOver(matching)
    for alignment in matching.alignments:
        told = limits.of(alignment.paths(renames), lambda its=alignment: alignment_edits(its, handed_over), [])
        edits += told
    edits = drawn_otherwise(edits, (base.values(), head.values()))
    python = [a for a in matching.alignments if a.head[0].module.language == "python"]
    found = effects(python, base, head, tree, lambda a, what: limits.of(a.paths(renames), what, None))
    edits = [found.sized(edit) for edit in _with_moved_draws(edits, matching)] + found.edits
    symbols = _symbols(matching)
    for path, its in classes.symbols.items():
        symbols.setdefault(path, []).extend(its)
    moved = classes.moved | {new.simple_name for old, new in matching.renamed if old.path != new.path}
    for f in whole:
        sides = (base[f.previous_path or f.path], head[f.path])
        changed = limits.of([f.path], lambda sides=sides: list(constants(*sides)), [])
        edits += [edit for edit, _ in changed if edit]
        symbols.setdefault(f.path, []).extend(dict.fromkeys(symbol for _, symbol in changed))
        edits += limits.of([f.path], lambda sides=sides: list(import_edits(*sides, moved, renames)), [])
    sides = {f.path: (base[f.previous_path or f.path], head[f.path]) for f in code}
    notes = {path: [note for side in both for note in (*side.notes, *side.remarks)] for path, both in sides.items()}
    if not matching.complete and (unmatched := [*matching.added, *matching.removed]):
        notes[min(renames.get(one.path, one.path) for one in unmatched)].append(_TOO_MANY)
    for f in files:
        what = (f.path, f.previous_path, f.base, f.head)
        stated, noted = limits.of([f.path], lambda what=what: build_edits(*what), ([], ()))
        edits += stated
        notes.setdefault(f.path, []).extend(noted)

    by_path: dict[str, list[Edit]] = {}
    for edit in merge(edits):
        by_path.setdefault(renames.get(edit.path, edit.path), []).append(edit)
    for f in whole:
        if (
            None not in (f.base, f.head)
            and not (symbols.get(f.path) or by_path.get(f.path) or notes[f.path])
            and DEFINED.findall(f.base) == DEFINED.findall(f.head)  # what stays may have been left out of the trees
            and same_program(*sides[f.path])
        ):
            notes[f.path].append(TEXT_ALONE)
    facts = {
        f.path: FileFacts(
            tuple(sorted(symbols.get(f.path, []), key=lambda s: (s.head_line or s.base_line or 0, s.name))),
            tuple(by_path.get(f.path, [])),
            (*dict.fromkeys(notes[f.path]), *_api_notes(by_path.get(f.path, []))),
        )
        for f in files
    }
    for module in (*base.values(), *head.values()):
        module.forget()
    return facts


def _api_notes(edits: list[Edit]) -> Iterator[Text]:
    """Parameters that callers may name, under new names."""
    for edit in edits:
        detail = edit.detail
        if edit.kind == "parameter-changed" and detail.get("renamed") and not detail.get("kernel"):
            old, new = detail["name_before"], detail["name_after"]
            yield Text(
                en=f"`{edit.symbol}`: parameter `{old}` is now called `{new}`; calls that name it have to follow.",
                zh=f"`{edit.symbol}` 的参数 `{old}` 改名为 `{new}`，以关键字传参的调用方需同步修改。",
            )


def _function_edits(matching: Matching, told: set[Function]) -> Iterator[Edit]:
    """Functions that came, went, or have another name or place, without those `told` with their class."""
    for function in matching.added:
        if function in told:
            continue
        noun = "test" if testing.is_test(function) else "function"
        yield make(f"{noun}-added", None, at(function, text=function.header), _what(function))
    for function in matching.removed:
        if function in told:
            continue
        noun = "test" if testing.is_test(function) else "function"
        yield make(f"{noun}-removed", at(function, text=function.header), None, _what(function))
    for base, head in matching.renamed:
        if base in told:
            continue
        moved = base.path != head.path or base.simple_name == head.simple_name
        kind = "function-moved" if moved else "function-renamed"
        same = base.kind == head.kind
        detail = {"what": head.kind} if same else {"what_before": base.kind, "what_after": head.kind}
        yield make(kind, at(base, text=base.header), at(head, text=head.header), detail)
    for origin, new in matching.extracted:
        detail = _what(new) | {"origin": origin.name}
        yield make("function-extracted", None, at(new, text=new.header), detail)
    for gone, into in matching.inlined:
        detail = _what(gone) | {"origin": into.name}
        yield make("function-inlined", at(gone, text=gone.header), None, detail)


def _with_moved_draws(edits: list[Edit], matching: Matching) -> list[Edit]:
    """The edits, with a draw that only one side has naming the function of the other side that came or went with it.

    One of which it cannot be said whether such a function makes it is left out.
    """
    sides = {(a.head[0].path, a.head[0].name): (a.base[0], a.head[0]) for a in matching.alignments}
    found = []
    for edit in edits:
        moved = edit.kind == "seed-or-rng-changed" and bool(edit.before) != bool(edit.after)
        if moved and "elsewhere" not in edit.detail:
            others = matching.added if edit.before else matching.removed
            pair = sides.get((edit.path, edit.symbol))
            name = draw_of(edit.before or edit.after, others, pair[1 if edit.before else 0] if pair else None)
            if name is None:
                continue
            detail = edit.detail | ({"elsewhere": name} if name else {})
            edit = edit.model_copy(update={"detail": dict(sorted(detail.items()))})
        found.append(edit)
    return found


def _what(function: Function) -> dict:
    return {"what": function.kind}


def _symbols(matching: Matching) -> dict[str, list[Symbol]]:
    found: dict[str, list[Symbol]] = {}

    def add(function: Function, **more) -> None:
        found.setdefault(function.path, []).append(Symbol(name=function.name, kind=function.kind, **more))

    renamed = {id(head): base for base, head in matching.renamed}
    for function in [*matching.added, *(new for _, new in matching.extracted)]:
        add(function, change="added", head_line=function.line)
    for function in [*matching.removed, *(gone for gone, _ in matching.inlined)]:
        add(function, change="removed", base_line=function.line)
    for base, head in matching.renamed:
        change = "renamed" if base.path == head.path and base.simple_name != head.simple_name else "moved"
        add(head, change=change, previous_name=base.name, base_line=base.line, head_line=head.line)
    for alignment in matching.alignments:
        base, head = alignment.base[0], alignment.head[0]
        if id(head) in renamed:
            continue
        signature = any(True for _ in signature_edits(alignment))
        if signature or not alignment.same or alignment.renamed or _decorated(base) != _decorated(head):
            change = "signature" if signature else "names" if _names_alone(alignment) else "body"
            add(head, change=change, base_line=base.line, head_line=head.line)
    return found


def _names_alone(alignment: Alignment) -> bool:
    """Whether both sides are one and the same code under other names of local variables; False where not sure."""
    base, head = alignment.base[0], alignment.head[0]
    if not alignment.same or len(alignment.base) + len(alignment.head) > 2 or head.module.language != "python":
        return False
    bodies = [[s for s in f.node.body if not _is_text(s)] for f in (base, head)]
    keys = [[key(s) for s in its] for key, its in zip((alignment.base_key, alignment.head_key), bodies, strict=True)]
    return keys[0] == keys[1] and _decorated(base) == _decorated(head)


def _is_text(statement: ast.stmt) -> bool:
    """A docstring, or another text that does nothing."""
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _decorated(function: Function) -> list[str]:
    return [dump(d, str) for d in function.node.decorator_list]


__all__ = ["FileFacts", "NoTree", "SourcePair", "Tree", "change_edits", "file_facts"]
