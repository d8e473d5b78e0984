"""Random numbers that a function draws through another one of the change: which of them do, and whether alike."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Mapping

from analyzer.change.inside.extract import draws, facts
from analyzer.change.nodes import last_name
from analyzer.change.source import Function, Module, once
from analyzer.model.change import Edit


def drawn_otherwise(edits: Iterable[Edit], sides: tuple[Iterable[Module], Iterable[Module]]) -> list[Edit]:
    """The edits; a value that is had of another function, both of which draw and by other generators, is a draw.

    By the files of the change alone, and one level deep: of a function that the whole change defines once.
    """
    edits = list(edits)
    if not any(edit.kind == "value-changed" for edit in edits):
        return edits
    known = tuple(_by_name(modules) for modules in sides)
    found = []
    for edit in edits:
        called = [_called(text) for text in (edit.before, edit.after)] if edit.kind == "value-changed" else ["", ""]
        if all(called) and called[0] != called[1]:
            its = [_draws(side[name]) if name in side else () for side, name in zip(known, called, strict=True)]
            if all(its) and its[0] != its[1]:
                detail = {
                    name: edit.detail[name]
                    for name in ("symbol_before", "symbol_after", "path_before", "path_after")
                    if name in edit.detail
                }
                edit = edit.model_copy(update={"kind": "seed-or-rng-changed", "detail": detail})
        found.append(edit)
    return found


def _by_name(modules: Iterable[Module]) -> Mapping[str, Function]:
    """Functions of the top level that no other function of these files has the name of."""
    every = [function for module in modules if module.language == "python" for function in module.functions.values()]
    times = Counter(function.simple_name for function in every)
    return {f.name: f for f in every if times[f.simple_name] == 1 and "." not in f.name}


def _called(text: str) -> str:
    """``f`` of ``f(a, b)``."""
    try:
        node = ast.parse(f"({text})", mode="eval").body
    except (SyntaxError, ValueError):
        return ""
    return last_name(node.func) if isinstance(node, ast.Call) else ""


@once
def _draws(function: Function) -> tuple[str, ...]:
    """What a function draws or seeds with."""
    return tuple(sorted(fact.anchor for fact in facts(list(function.statements), lambda node: "", (draws,))))
