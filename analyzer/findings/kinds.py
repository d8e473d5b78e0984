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
        )
    },
    "guard": ("added", "removed", "changed", "widened", "narrowed"),
    "in-place": ("introduced", "removed"),
    "alias-returned": ("introduced", "removed"),
    "low-precision-round-trip": ("introduced", "removed"),
    "index": ("widened", "narrowed"),
    "stride": ("assumed", "honoured"),
    **{
        noun: ("changed",)
        for noun in (
            "constant",
            "default",
            "comparison",
            "operator",
            "launch",
            "seed-or-rng",
            "dependency",
            "build-flag",
        )
    },
    "function": ("added", "removed", "renamed", "moved", "extracted", "inlined"),
    "test": ("added", "removed", "changed", "skipped", "unskipped"),
    "tolerance": ("loosened", "tightened"),
}

KINDS: tuple[str, ...] = tuple(f"{noun}-{way}" for noun, ways in DIRECTIONS.items() for way in ways)
