"""The vocabulary of edits: every kind is a noun and a direction."""

from __future__ import annotations

DIRECTIONS: dict[str, tuple[str, ...]] = {
    **{
        noun: ("added", "removed", "changed")
        for noun in (
            "cast",
            "dtype-argument",
            "copy",
            "allocation",
            "mask",
            "barrier",
            "atomic",
            "synchronization",
            "contiguity",
            "parameter",
            "decorator",
            "context",
            "argument",
            "base-class",
            "dependency",
            "build-flag",
        )
    },
    **{noun: ("added", "removed", "changed", "widened", "narrowed") for noun in ("guard", "condition")},
    "loop": ("added", "removed", "changed"),
    **{noun: ("added", "removed") for noun in ("global-state", "statement")},
    "in-place": ("introduced", "removed"),
    "alias-returned": ("introduced", "removed"),
    "low-precision-round-trip": ("introduced", "removed"),
    "index": ("widened", "narrowed"),
    "stride": ("assumed", "honoured"),
    **{
        noun: ("changed",)
        for noun in (
            "body",
            "constant",
            "default",
            "comparison",
            "operator",
            "launch",
            "seed-or-rng",
            "order",
            "import",
            "result",
            "value",
            "exception",
        )
    },
    "function": ("added", "removed", "renamed", "moved", "extracted", "inlined"),
    "test": ("added", "removed", "changed", "skipped", "unskipped"),
    "tolerance": ("loosened", "tightened"),
}

KINDS: tuple[str, ...] = tuple(f"{noun}-{way}" for noun, ways in DIRECTIONS.items() for way in ways)
