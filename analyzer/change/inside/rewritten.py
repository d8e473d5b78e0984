"""A function that was written anew: what of it can still be said.

Statements are told by their counterparts. Where most of them have none, what seems gone may stand there in another
form, and what seems new may replace it: of such a function only that is told which needs no counterpart.
"""

from __future__ import annotations

from collections.abc import Iterable

from analyzer.change.align import Alignment
from analyzer.change.edits import at, make
from analyzer.model.change import Edit

#: A function is rewritten where this many statements of one side, and some of the other, have no equal, and less than
#: this share of both sides' has. On a history that was read by hand most wrong sentences were of such functions.
CHANGED, OTHER, SHARE = 10, 5, 0.65
#: Nouns of edits that say what a name, an operand or a signature has, wherever in the function it stands.
SURE = frozenset(
    {
        "parameter", "default", "decorator", "launch", "cast", "dtype-argument", "index", "stride", "barrier", "atomic",
        "synchronization", "seed-or-rng", "global-state", "copy",
    }
)  # fmt: skip


def rewritten(alignment: Alignment) -> bool:
    sizes = len(alignment.base_statements), len(alignment.head_statements)
    same = len(alignment.equal)
    left = sorted(size - same for size in sizes)
    return left[1] >= CHANGED and left[0] >= OTHER and 2 * same < SHARE * sum(sizes)


def sure(edits: Iterable[Edit], alignment: Alignment) -> list[Edit]:
    """The edits of a rewritten function that are told, and that it is one."""
    detail = {
        "same": len(alignment.equal),
        "statements_before": len(alignment.base_statements),
        "statements_after": len(alignment.head_statements),
    }
    told = [edit for edit in edits if edit.kind.rpartition("-")[0] in SURE]
    return [make("body-changed", at(alignment.base[0]), at(alignment.head[0]), detail), *told]
