"""An edit as the reversed diff says it: which kind is the opposite of which."""

from __future__ import annotations

from analyzer.model.change import Edit

OPPOSITE = {
    "added": "removed", "removed": "added", "introduced": "removed", "widened": "narrowed", "narrowed": "widened",
    "assumed": "honoured", "honoured": "assumed", "extracted": "inlined", "inlined": "extracted",
    "loosened": "tightened", "tightened": "loosened", "skipped": "unskipped", "unskipped": "skipped",
}  # fmt: skip


#: Nouns whose appearance is called an introduction.
INTRODUCED = frozenset({"in-place", "alias-returned", "low-precision-round-trip"})


def appeared(noun: str) -> str:
    return f"{noun}-introduced" if noun in INTRODUCED else f"{noun}-added"


def reverse_kind(kind: str) -> str:
    """The kind of the same edit in the reversed diff (``cast-added`` -> ``cast-removed``)."""
    noun, _, way = kind.rpartition("-")
    if way == "removed" and noun in INTRODUCED:
        return f"{noun}-introduced"
    return f"{noun}-{OPPOSITE.get(way, way)}"


def reverse(edit: Edit) -> Edit:
    """The edit as the reversed diff says it: kind swapped, sides swapped."""
    detail = dict(edit.detail)
    swapped: dict = {}
    for name, value in detail.items():
        if name.endswith("_before"):
            name = name.removesuffix("_before") + "_after"
        elif name.endswith("_after"):
            name = name.removesuffix("_after") + "_before"
        swapped[name] = value
    return edit.model_copy(
        update={
            "kind": reverse_kind(edit.kind),
            "symbol": str(swapped.get("symbol_after", edit.symbol)),
            "path": str(swapped.get("path_after", edit.path)),
            "base_line": edit.head_line,
            "head_line": edit.base_line,
            "before": edit.after,
            "after": edit.before,
            "detail": dict(sorted(swapped.items())),
        }
    )
