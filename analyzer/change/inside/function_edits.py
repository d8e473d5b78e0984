"""The edits inside a function that both sides have."""

from __future__ import annotations

from collections.abc import Iterator

from analyzer.change.align import Alignment
from analyzer.change.edits import at, edits_of, make, match
from analyzer.change.inside import extract, guards, launches, operations, testing
from analyzer.change.inside.branch_values import branch_values
from analyzer.change.inside.decorators import decorator_edits
from analyzer.change.inside.global_state import global_state
from analyzer.change.inside.handed_over import HandedOver
from analyzer.change.inside.order import order_edits
from analyzer.change.inside.parameters import signature_edits
from analyzer.change.inside.rewrites import rewrites
from analyzer.change.inside.rewritten import rewritten, sure
from analyzer.change.inside.statements import statement_edits
from analyzer.change.inside.structure import structure
from analyzer.change.revisions.category import is_test
from analyzer.change.writing import written
from analyzer.model.change import Edit

#: Facts that hold of a statement by itself: of statements that are the same on both sides they are the same.
LOCAL = (*extract.EXTRACTORS, guards.guards, global_state)
#: Facts that depend on other statements, too: what a name holds at a launch, which parameters are strides.
WIDE = (launches.launches, launches.strides, launches.stride_arguments)


def alignment_edits(alignment: Alignment, handed_over: HandedOver) -> list[Edit]:
    """Edits inside a function, its signature included."""
    edits = _edits(alignment, handed_over)
    return sure(edits, alignment) if rewritten(alignment) else edits


def _edits(alignment: Alignment, handed_over: HandedOver) -> list[Edit]:
    if any(is_test(f.path) for f in (alignment.base[0], alignment.head[0])):
        return _matched(alignment, testing.EXTRACTORS, alignment.touched) + list(_test_edits(alignment))
    if alignment.head[0].module.language != "python":
        return _cpp_edits(alignment, handed_over)
    facts = _matched(alignment, LOCAL, alignment.touched)
    edits = [edit for edit in facts if not handed_over.tells(edit, alignment)] + _matched(alignment, WIDE)
    edits += signature_edits(alignment)
    around = structure(alignment)
    around.told.update(branch_values(alignment).same, branch_values(alignment).unsure)
    edits += [*around.edits, *order_edits(alignment), *decorator_edits(alignment)]
    edits += [*rewrites(alignment, around.told), *statement_edits(alignment, handed_over)]
    return edits + _matched(alignment.differing(around.told | alignment.weak), operations.EXTRACTORS, alignment.touched)


def _cpp_edits(alignment: Alignment, handed_over: HandedOver) -> list[Edit]:
    """Edits inside a C++ function; none where different parts of the two versions could not be read."""
    from analyzer.change.cuda import facts as cuda  # with its parser, which other files do without

    base, head = alignment.base[0], alignment.head[0]
    if base.unread != head.unread:
        return list(signature_edits(alignment))
    edits: list[Edit] = list(cuda.parameter_widths(alignment))
    edits += _matched(alignment, cuda.LOCAL, alignment.touched) + _matched(alignment, cuda.WIDE)
    edits += signature_edits(alignment)
    around = structure(alignment)
    edits += [*around.edits, *order_edits(alignment)]
    told = around.told | cuda.told_by_launches(alignment)
    edits += [*rewrites(alignment, told), *statement_edits(alignment, handed_over)]
    return edits + _matched(alignment.differing(told | alignment.weak), operations.EXTRACTORS, alignment.touched)


def _matched(alignment: Alignment, extractors, only: tuple[set[int], set[int]] = (None, None)) -> list[Edit]:
    base = extract.facts(alignment.base_statements, alignment.base_key, extractors, only[0], alignment.lone[0])
    head = extract.facts(alignment.head_statements, alignment.head_key, extractors, only[1], alignment.lone[1])
    base, head = _without_same_casts(base, head, alignment)
    edits = []
    for noun in dict.fromkeys(f.noun for f in [*base, *head]):
        pairs = match([f for f in base if f.noun == noun], [f for f in head if f.noun == noun], alignment)
        edits += edits_of(pairs, alignment)
    return edits


def _without_same_casts(base: list, head: list, alignment: Alignment) -> tuple[list, list]:
    """Without casts that both have, of which one side uses the result as an index and the other does not."""
    waiting = [f for f in base if f.noun in ("cast", "index")]
    dropped = set()
    for other in head:
        if other.noun not in ("cast", "index"):
            continue
        for one in waiting:
            same = one.anchor == other.anchor and one.detail.get("dtype") == other.detail.get("dtype")
            if same and one.noun != other.noun and alignment.pairs.get(one.place) == other.place:
                dropped |= {one, other}
                waiting.remove(one)
                break
    return [f for f in base if f not in dropped], [f for f in head if f not in dropped]


def _test_edits(alignment: Alignment) -> Iterator[Edit]:
    base, head = alignment.base[0], alignment.head[0]
    if not (testing.is_test(base) and testing.is_test(head)):
        return
    x, y = testing.skips(base), testing.skips(head)
    changed = testing.skips_changed(x, y)
    for one, two in changed:
        detail = {"decorator_before": written(one), "decorator_after": written(two)}
        yield make("decorator-changed", at(base, one), at(head, two), detail)
    told = {id(node) for pair in changed for node in pair}
    for text in sorted(x.keys() ^ y.keys()):
        if id(x.get(text, y.get(text))) in told:
            continue
        skipped = text in y
        before, after = ("", text) if skipped else (text, "")
        kind = "test-skipped" if skipped else "test-unskipped"
        yield make(kind, at(base, text=before), at(head, text=after), {"by": text})
    cases = [" ".join(testing.parametrization(f)) for f in (base, head)]
    if cases[0] != cases[1] or not alignment.same:
        detail = {"cases_before": cases[0], "cases_after": cases[1]} if cases[0] != cases[1] else {}
        yield make("test-changed", at(base), at(head), detail)
