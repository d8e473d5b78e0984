"""Which edits one sentence tells, and in which order: what decides numbers, memory and aliasing first, tests last."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from analyzer.model.base import Text
from analyzer.model.change import Edit
from analyzer.report.sentences import Told, chained, items_of, reading, sentence

#: Nouns in the order that matters to a reader, in tiers; an unknown one is told with the first tier's last.
TIERS = (
    (
        *("copy", "in-place", "low-precision-round-trip", "alias-returned", "index", "stride", "order", "barrier"),
        *("atomic", "synchronization", "context", "mask", "cast", "dtype-argument", "operator", "comparison"),
        *("seed-or-rng", "contiguity", "allocation", "value", "argument", "result", "statement"),
    ),
    (
        "guard",
        "condition",
        "loop",
        "launch",
        "constant",
        "default",
        "global-state",
        "exception",
        "decorator",
    ),
    ("parameter", "base-class", "import"),
    ("dependency", "build-flag"),
    ("function",),
    ("tolerance", "test"),
)
_TIER = {noun: tier for tier, nouns in enumerate(TIERS) for noun in nouns}
_RANK = {noun: rank for rank, noun in enumerate(noun for nouns in TIERS for noun in nouns)}
#: Nouns whose sentences do not go on about the symbol of the one before.
_ALONE = ("low-precision-round-trip", "function", "test", "dependency", "build-flag", "import", "tolerance")
#: Clauses of one sentence, and how long it may get.
CLAUSES = 3
LENGTH = 320


def noun_of(edit: Edit) -> str:
    return edit.kind.rpartition("-")[0]


def rank(edit: Edit) -> int:
    """The place of an edit in the order that matters to a reader, 0 first; a new kernel is no detail."""
    if noun_of(edit) == "function" and edit.detail.get("what") == "kernel":
        return len(TIERS[0]) - 1
    return _RANK.get(noun_of(edit), len(TIERS[0]))


def grouped(edits: Iterable[Edit]) -> list[Told]:
    """Edits told together, in order: of one symbol what reads the same, then symbols of which the same is said.

    The buffer that a copy fills is told with the copy, a statement that is new or gone with what it does.
    """
    edits = list(edits)
    edits = [edit for edit in edits if not _told_otherwise(edit, edits)]
    copies = {(e.symbol, e.kind, e.detail.get("size")) for e in edits if noun_of(e) == "copy"}
    of_symbol: dict[tuple, list[Edit]] = {}
    for edit in edits:
        buffer_of = (edit.symbol, edit.kind.replace("allocation", "copy"), edit.detail.get("size"))
        if noun_of(edit) == "allocation" and buffer_of in copies:
            continue
        words = reading(edit, edits) if len(edits) > 1 else edit.kind
        of_symbol.setdefault((edit.path, edit.symbol, words), []).append(edit)
    alike: dict[tuple, list[Edit]] = {}
    for (*_, words), group in of_symbol.items():
        items = tuple(dict.fromkeys(item for edit in group for item in items_of(edit)))
        alike.setdefault((words, items), []).extend(group)
    return _ordered([Told(tuple(group)) for group in alike.values()])


def _told_otherwise(edit: Edit, edits: Iterable[Edit]) -> bool:
    """Whether a statement that is new or gone is what another edit of its line says more of."""
    noun, _, way = edit.kind.rpartition("-")
    line = "head_line" if way == "added" else "base_line"
    return (
        noun == "statement"
        and edit.detail.get("statements", 1) == 1
        and any(
            other.symbol == edit.symbol
            and other.kind.endswith(f"-{way}")
            and noun_of(other) != "statement"
            and getattr(other, line) == getattr(edit, line)
            for other in edits
        )
    )


def told(groups: Sequence[Told], among: Iterable[Edit] = ()) -> list[Text]:
    """The groups in sentences; what is said of one symbol in a row is one sentence, as long as it stays readable."""
    among = list(among)
    sentences: list[Text] = []
    for _, run in groupby(groups, key=_subject):
        clauses: list[Text] = []
        for group in run:
            more = sentence(group, among, goes_on=bool(clauses))
            if clauses and (len(clauses) == CLAUSES or sum(len(c.en) for c in clauses) + len(more.en) > LENGTH):
                sentences.append(chained(clauses))
                clauses, more = [], sentence(group, among)
            clauses.append(more)
        sentences.append(chained(clauses))
    return sentences


def readings(edits: Sequence[Edit]) -> frozenset[str]:
    """What edits say, whatever symbols they say it of."""
    return frozenset(reading(edit, edits, whole=True) for edit in edits)


def _subject(group: Told) -> tuple:
    """What groups have in common that one sentence tells; of its own for one that would not read well there."""
    if group.noun in _ALONE or len(group.symbols) > 1 or not group.first.symbol:
        return (id(group),)
    return (group.symbols, _TIER.get(group.noun, 0))


def _ordered(groups: list[Told]) -> list[Told]:
    """Tier by tier; within one symbol by symbol, each with its weightiest edits first."""
    best: dict[tuple, int] = {}
    first: dict[tuple, int] = {}
    for index, group in enumerate(groups):
        key = (_TIER.get(group.noun, 0), group.symbols)
        best[key] = min(rank(group.first), best.get(key, len(_RANK)))
        first.setdefault(key, index)

    def place(group: Told) -> tuple:
        tier = _TIER.get(group.noun, 0)
        key = (tier, group.symbols)
        conditional = bool(group.first.detail.get("conditional"))
        return (tier, best[key], first[key], rank(group.first), conditional, group.kind.endswith("-added"))

    return sorted(groups, key=place)


def weightiest(edits: Iterable[Edit], limit: int) -> list[Edit]:
    """The single edits that a reader wants first, at most `limit`."""
    return sorted(edits, key=lambda e: (rank(e), bool(e.detail.get("conditional")), e.kind.endswith("-added")))[:limit]
