"""Change facts: from the two sides of the changed files to edits with a meaning.

`change_edits` reads all files together, because functions move between files and a copy protects what other files do.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from analyzer.change import testing
from analyzer.change.align import dump
from analyzer.change.build_files.edits import build_edits
from analyzer.change.edits import at, make, merge
from analyzer.change.effects import effects
from analyzer.change.functions import Matching, match_functions
from analyzer.change.inside import alignment_edits
from analyzer.change.parameters import signature_edits
from analyzer.change.source import Function, Module, parse_both
from analyzer.model.base import Text
from analyzer.model.change import Edit, Symbol


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
    """The files of both revisions."""

    def file(self, side: str, path: str) -> str | None:
        """The text of a file of `side` (base or head), None where there is none."""
        ...


class NoTree:
    """A tree of which only the changed files are known."""

    def file(self, side: str, path: str) -> str | None:
        return None


def file_facts(path: str, base: str | None, head: str | None, previous_path: str | None = None) -> FileFacts:
    """The facts of one file by itself."""
    return change_edits([SourcePair(path, previous_path, base, head)], NoTree())[path]


def change_edits(files: list[SourcePair], tree: Tree) -> dict[str, FileFacts]:
    """The facts of all changed files, by path (of head, or of base for a file that was deleted)."""
    python = [f for f in files if f.path.endswith(".py")]
    parsed = [parse_both(f.previous_path or f.path, f.base, f.path, f.head) for f in python]
    base = {module.path: module for module, _ in parsed}
    head = {module.path: module for _, module in parsed}
    renames = {f.previous_path: f.path for f in python if f.previous_path}
    whole = [f for f in python if not (base[f.previous_path or f.path].notes or head[f.path].notes)]

    matching = match_functions(
        [x for f in whole for x in base[f.previous_path or f.path].functions.values()],
        [x for f in whole for x in head[f.path].functions.values()],
        renames,
    )
    edits = list(_function_edits(matching))
    for alignment in matching.alignments:
        edits += alignment_edits(alignment)
    found = effects(matching.alignments, base, head, tree)
    edits = [found.sized(edit) for edit in edits] + found.edits
    symbols = _symbols(matching)
    for f in whole:
        changed = _constants(base[f.previous_path or f.path], head[f.path])
        edits += [edit for edit, _ in changed if edit]
        symbols.setdefault(f.path, []).extend(symbol for _, symbol in changed)

    build = {f.path: build_edits(f.path, f.previous_path, f.base, f.head) for f in files}
    edits += [edit for found, _ in build.values() for edit in found]
    renames = {f.previous_path: f.path for f in files if f.previous_path}

    by_path: dict[str, list[Edit]] = {}
    for edit in merge(edits):
        by_path.setdefault(renames.get(edit.path, edit.path), []).append(edit)
    return {
        f.path: FileFacts(
            tuple(sorted(symbols.get(f.path, []), key=lambda s: (s.head_line or s.base_line or 0, s.name))),
            tuple(by_path.get(f.path, [])),
            (*base[f.previous_path or f.path].notes, *head[f.path].notes, *_api_notes(by_path.get(f.path, [])))
            if f.path in head
            else build[f.path][1],
        )
        for f in files
    }


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


def _function_edits(matching: Matching) -> Iterator[Edit]:
    """Functions that came, went, or have another name or place."""
    for function in matching.added:
        noun = "test" if testing.is_test(function) else "function"
        yield make(f"{noun}-added", None, at(function, text=_header(function)), _what(function))
    for function in matching.removed:
        noun = "test" if testing.is_test(function) else "function"
        yield make(f"{noun}-removed", at(function, text=_header(function)), None, _what(function))
    for base, head in matching.renamed:
        moved = base.path != head.path or base.simple_name == head.simple_name
        kind = "function-moved" if moved else "function-renamed"
        same = base.kind == head.kind
        detail = {"what": head.kind} if same else {"what_before": base.kind, "what_after": head.kind}
        yield make(kind, at(base, text=_header(base)), at(head, text=_header(head)), detail)
    for origin, new in matching.extracted:
        detail = _what(new) | {"origin": origin.name}
        yield make("function-extracted", None, at(new, text=_header(new)), detail)
    for gone, into in matching.inlined:
        detail = _what(gone) | {"origin": into.name}
        yield make("function-inlined", at(gone, text=_header(gone)), None, detail)


def _what(function: Function) -> dict:
    return {"what": function.kind}


def _header(function: Function) -> str:
    """``def name(parameters)`` without annotations' line breaks."""
    return f"def {function.simple_name}({', '.join(p.arg for p in function.parameters)})"


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
            change = "signature" if signature else "body"
            add(head, change=change, base_line=base.line, head_line=head.line)
    return found


def _decorated(function: Function) -> list[str]:
    return [dump(d, str) for d in function.node.decorator_list]


def _constants(base: Module, head: Module) -> list[tuple[Edit | None, Symbol]]:
    """Module and class constants: those that only one side has are symbols, those with another value are edits."""
    found: list[tuple[Edit | None, Symbol]] = []
    for name in dict.fromkeys([*base.constants, *head.constants]):
        x, y = base.constants.get(name), head.constants.get(name)
        lines = {"base_line": x.lineno if x else None, "head_line": y.lineno if y else None}
        if x is None or y is None:
            change = "added" if x is None else "removed"
            found.append((None, Symbol(name=name, kind="constant", change=change, **lines)))
        elif dump(x.value, str) != dump(y.value, str):
            before, after = ast.unparse(x.value), ast.unparse(y.value)
            symbol = Symbol(name=name, kind="constant", change="body", **lines)
            if not (_is_plain(x.value) and _is_plain(y.value)):
                found.append((None, symbol))  # a table of objects or functions has no value to compare
                continue
            configs = any("Config" in text and "num_warps" in text for text in (before, after))
            kind = "launch-changed" if configs else "constant-changed"
            detail = {"options": "autotune"} if configs else {"value_before": before[:200], "value_after": after[:200]}
            edit = Edit(
                kind=kind, path=head.path, symbol=name, before=before, after=after, detail=dict(sorted(detail.items())),
                **lines,
            )  # fmt: skip
            found.append((edit, symbol))
    return found


def _is_plain(value: ast.expr) -> bool:
    """Numbers, texts and what is computed or listed from them, of a size that a reader can compare."""
    nodes = list(ast.walk(value))
    table = any(isinstance(n, ast.Lambda) or (isinstance(n, ast.Dict) and len(n.keys) > 8) for n in nodes)
    strings = sum(isinstance(n, ast.Constant) and isinstance(n.value, str) for n in nodes)
    return not table and strings <= 8


__all__ = ["FileFacts", "NoTree", "SourcePair", "Tree", "change_edits", "file_facts"]
