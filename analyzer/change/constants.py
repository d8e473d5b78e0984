"""Constants of modules and classes: those with another value, tables entry by entry."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import islice

from analyzer.change.nodes import last_name
from analyzer.change.sequences import lcs
from analyzer.change.shapes import dump
from analyzer.change.source import Module
from analyzer.change.writing import written
from analyzer.model.change import Edit, Symbol

#: Nodes of a value that a reader can compare.
READABLE = 1000
_TYPES = frozenset({"Literal", "Union", "Optional", "Callable", "Annotated", "Type", "type"})
#: Entries of a table that are told one by one.
ENTRIES = 6


def constants(base: Module, head: Module) -> Iterator[tuple[Edit | None, Symbol]]:
    """Those that only one side has are symbols, those with another value are edits."""
    for name in dict.fromkeys([*base.constants, *head.constants]):
        x, y = base.constants.get(name), head.constants.get(name)
        lines = {"base_line": x.lineno if x else None, "head_line": y.lineno if y else None}
        if x is None or y is None:
            yield None, Symbol(name=name, kind="constant", change="added" if x is None else "removed", **lines)
        elif name == "__all__":
            continue
        elif not _same_source(base, x, head, y) and dump(x.value, str) != dump(y.value, str):
            symbol = Symbol(name=name, kind="constant", change="body", **lines)
            found = False
            for before, after, detail in _differences(x.value, y.value):
                found = True
                kind = "launch-changed" if "options" in detail else "constant-changed"
                yield Edit(
                    kind=kind, path=head.path, symbol=name, before=before, after=after,
                    detail=dict(sorted(detail.items())), **lines,
                ), symbol  # fmt: skip
            if not found:
                yield None, symbol


def _same_source(base: Module, x: ast.stmt, head: Module, y: ast.stmt) -> bool:
    """Far quicker than to compare the structure of a large table."""
    sides = ((base, x), (head, y))
    places = [(node.col_offset, node.end_col_offset) for _, node in sides]
    lines = [module.lines[node.lineno - 1 : node.end_lineno] for module, node in sides]
    return places[0] == places[1] and lines[0] == lines[1]


def _differences(x: ast.expr, y: ast.expr) -> Iterator[tuple[str, str, dict]]:
    """(before, after, detail) of a value, or of each entry of a table."""
    if _is_type(x) and _is_type(y):
        return
    if _is_plain(x) and _is_plain(y):
        before, after = written(x), written(y)
        configs = any("Config" in text and "num_warps" in text for text in (before, after))
        yield before, after, {"options": "autotune"} if configs else _values(before, after)
        return
    entries = _entries(x), _entries(y)
    if entries[0] is None or entries[1] is None:
        return
    common = lcs(*([(name, dump(node, str)) for name, node in side] for side in entries))
    same = [{pair[side] for pair in common} for side in (0, 1)]
    gone, new = (
        {name: node for place, (name, node) in enumerate(its) if place not in kept}
        for its, kept in zip(entries, same, strict=True)
    )
    if len(gone.keys() | new.keys()) > ENTRIES:
        return
    for name in sorted(gone.keys() | new.keys()):
        one, two = gone.get(name), new.get(name)
        if one is not None and two is not None and dump(one, str) == dump(two, str):
            continue  # it only has another place
        texts = ["" if node is None else written(node) for node in (one, two)]
        yield texts[0], texts[1], {"entry": name[:100]} | _values(*texts)


def _values(before: str, after: str) -> dict[str, str]:
    found = {"value_before": before[:200], "value_after": after[:200]}
    return {name: text for name, text in found.items() if text}


def _entries(value: ast.expr) -> list[tuple[str, ast.expr]] | None:
    """(name, value) of what a table lists, an element of a list by itself; None for what is no table."""
    if isinstance(value, ast.Dict) and all(key is not None for key in value.keys):
        return [(written(key), its) for key, its in zip(value.keys, value.values, strict=True)]
    if isinstance(value, ast.List | ast.Tuple | ast.Set):
        return [(written(node), node) for node in value.elts]
    return None


def _is_type(value: ast.expr) -> bool:
    """``Literal["a"]``, ``Callable[..., int]``: what only annotations speak of."""
    return isinstance(value, ast.Subscript) and last_name(value.value) in _TYPES


def _is_plain(value: ast.expr) -> bool:
    """Numbers, texts and what is computed or listed from them, of a size that a reader can compare."""
    nodes = list(islice(ast.walk(value), READABLE + 1))
    table = any(isinstance(n, ast.Lambda) or (isinstance(n, ast.Dict) and len(n.keys) > 8) for n in nodes)
    strings = sum(isinstance(n, ast.Constant) and isinstance(n.value, str) for n in nodes)
    return not table and strings <= 8 and len(nodes) <= READABLE
