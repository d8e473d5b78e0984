"""Edits from facts of both sides.

Direction is never decided by an extractor. A fact that only head has is added, one that only base has is removed, and
a pair with two values is compared; so the edits of head -> base are the reversed edits of base -> head.
"""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, replace

from analyzer.change.align import Alignment
from analyzer.change.inside import guards
from analyzer.change.inside.allocations import is_own_call
from analyzer.change.inside.cut_out import as_called
from analyzer.change.inside.dtypes import dtype_of
from analyzer.change.inside.extract import cast_parts, draws_here
from analyzer.change.inside.fact import Fact
from analyzer.change.inside.launches import changed_options
from analyzer.change.nodes import root_name
from analyzer.change.refusals import behind_guard, ensured_otherwise, refused_otherwise
from analyzer.change.reversal import appeared, reverse_kind
from analyzer.change.source import Function
from analyzer.model.change import Edit

#: Facts that are about a place in the order of the code: one that moved is gone here and new there.
POSITIONAL = frozenset({"barrier"})
#: The type of a variable in C++ -> the noun of its change; the same variable of the same statement is compared.
DECLARED = {"declared-type": "cast", "declared-width": "index"}
#: Facts that say nothing where their statement has no counterpart.
ONLY_PAIRED = frozenset(
    {"dtype-argument", "mask", "comparison", "operator", "constant", "stride", "launch", "tolerance", *DECLARED}
)
#: Facts of a statement that only one version has that are told with the tests around it.
WHERE = frozenset({"cast", "allocation", "synchronization"})
#: Facts that count only where what they apply to is known to both versions.
OF_SOMETHING = frozenset({"cast", "contiguity", "index"})


def sort_key(edit: Edit) -> tuple:
    """Order of a list of edits: the same for both directions up to the sides' line numbers."""
    lines = sorted((edit.base_line or edit.head_line or 0, edit.head_line or edit.base_line or 0))
    spans = sorted((edit.before, edit.after))
    return (edit.path, *lines, min(edit.kind, reverse_kind(edit.kind)), edit.symbol, *spans)


#: Source spans are cut at this length.
SPAN = 1200

Pair = tuple[Fact | None, Fact | None]


def match(base: list[Fact], head: list[Fact], alignment: Alignment) -> list[Pair]:
    """Pair the facts of one noun: the same fact first, then the same place, then the same subject."""
    noun = (base or head)[0].noun if base or head else ""
    forth = dict(alignment.equal) if noun in POSITIONAL else alignment.pairs
    back = {j: i for i, j in forth.items()}
    pairs: list[Pair] = []

    def where(fact: Fact, side: str) -> int | None:
        """The pair of statements that the fact is in, by its base index."""
        if side == "base":
            return fact.place if fact.place in forth else None
        return back.get(fact.place)

    def take(key: Callable[[Fact, str], Hashable | None]) -> None:
        waiting: dict[Hashable, list[Fact]] = defaultdict(list)
        for fact in base:
            if (its := key(fact, "base")) is not None:
                waiting[its].append(fact)
        for fact in list(head):
            its = key(fact, "head")
            if its is not None and waiting[its]:
                other = waiting[its].pop(0)
                pairs.append((other, fact))
                base.remove(other)
                head.remove(fact)

    def placed(*parts: Callable[[Fact], Hashable]) -> Callable[[Fact, str], Hashable | None]:
        """The same pair of statements, and the same of `parts`."""
        return lambda f, side: None if where(f, side) is None else (where(f, side), *(part(f) for part in parts))

    base, head = list(base), list(head)
    if noun == "seed-or-rng" and len(alignment.base) + len(alignment.head) > 2:
        take(lambda f, side: _as_drawn(f, side, alignment))
        moved = [one for pair in pairs for one in _moved(*pair, alignment)]
        pairs.clear()  # one and the same, in another function's words
        sides = [(f, "base") for f in base] + [(f, "head") for f in head]
        unsure = {f.anchor for f, side in sides if _as_drawn(f, side, alignment) is None}
        base, head = ([f for f in facts if f.anchor not in unsure] for facts in (base, head))
        pairs += moved
    for key in _stages(noun, placed):
        take(key)
    return pairs + [(fact, None) for fact in base] + [(None, fact) for fact in head]


def _stages(noun: str, placed: Callable) -> Iterator[Callable[[Fact, str], Hashable | None]]:
    """Keys under which two facts of a noun are the same fact, from the surest on."""

    def anchor(f: Fact) -> Hashable:
        return f.anchor

    def value(f: Fact) -> Hashable:
        return f.value

    def elsewhere(*parts: Callable[[Fact], Hashable]) -> Callable[[Fact, str], Hashable]:
        return lambda f, side: tuple(part(f) for part in parts)

    yield placed(anchor, value)
    if noun in POSITIONAL:
        yield placed(anchor)
        return
    if noun in ("constant", "comparison", "operator"):  # the same number elsewhere is another one
        yield placed(anchor)
    yield elsewhere(anchor, value)
    if noun in DECLARED:
        yield placed(anchor)
        return
    if noun == "copy":  # a copy in another dtype is another copy
        yield placed(lambda f: f.value[0])
        yield elsewhere(anchor, lambda f: f.value[0])
        return
    yield placed(anchor)
    if noun == "operator":
        return
    yield placed(value)
    if noun == "dtype-argument":
        yield placed(lambda f: f.detail["call"])
    if noun in ("cast", "index", "allocation", "launch", "guard"):
        yield elsewhere(anchor)
    if noun in ("cast", "index", "allocation", "launch", "guard", "mask", "seed-or-rng"):
        yield placed()
    if noun == "allocation":  # as large a buffer under another name
        yield elsewhere(value)


def _as_drawn(fact: Fact, side: str, alignment: Alignment) -> Hashable | None:
    """A draw with its arguments as the function hands them to what was cut out of it."""
    functions, key = (alignment.base, alignment.base_key) if side == "base" else (alignment.head, alignment.head_key)
    values = as_called(fact.node, fact.function, functions, key)
    return None if values is None else (fact.anchor, values)


def _moved(base: Fact, head: Fact, alignment: Alignment) -> Iterator[Pair]:
    """A draw that a function has no longer, or now has, by itself, with the function that has it on the other side."""
    own = base.function is alignment.base[0], head.function is alignment.head[0]
    if own == (True, False):
        yield replace(base, detail=base.detail | {"elsewhere": head.function.name}), None
    elif own == (False, True):
        yield None, replace(head, detail=head.detail | {"elsewhere": base.function.name})


def edits_of(pairs: Iterable[Pair], alignment: Alignment) -> list[Edit]:
    """The edits of paired facts of one noun."""
    found = []
    for base, head in pairs:
        kind = _kind(base, head, alignment)
        if kind:
            found.append(_edit(kind, base, head, alignment))
    return found


def _kind(base: Fact | None, head: Fact | None, alignment: Alignment) -> str:
    noun = (base or head).noun
    if base is None or head is None:
        one = base or head
        if noun == "guard" and one.value in refused_otherwise(alignment, base is not None):
            return ""
        if noun == "guard" and ensured_otherwise(one, base is not None, alignment):
            return ""
        if noun == "allocation" and _made_by_a_call(one, base is not None, alignment):
            return ""
        if noun in ONLY_PAIRED or (noun in OF_SOMETHING and not _known(one, base is not None, alignment)):
            return ""
        if noun in ("index", "cast") and _casts_as_before(one, base is not None, alignment):
            return ""
        if noun == "index" and _as_wide(one, base is not None, alignment):
            return "cast-removed" if head is None else "cast-added"
        if noun == "index":
            wide = (one.value == 64) == (head is not None)
            return "index-widened" if wide else "index-narrowed"
        if noun == "seed-or-rng":
            return "seed-or-rng-changed"
        return f"{noun}-removed" if head is None else appeared(noun)
    if base.present != head.present:
        return appeared(noun) if head.present else f"{noun}-removed"
    if base.value == head.value or _untold(base, head):
        return ""
    noun = DECLARED.get(noun, noun)
    if noun == "index":
        return "index-widened" if head.value > base.value else "index-narrowed"
    if noun == "guard":
        return f"guard-{guards.direction(base.value, head.value)}"
    if noun == "stride":
        return "stride-assumed" if head.value == "size" else "stride-honoured"
    if noun == "tolerance":
        return f"tolerance-{'loosened' if head.value > base.value else 'tightened'}"
    return f"{noun}-changed"


def _made_by_a_call(fact: Fact, in_base: bool, alignment: Alignment) -> bool:
    """Whether the other version gives the same name what a call of its own code returns: that may allocate as well."""
    places = alignment.pairs if in_base else {j: i for i, j in alignment.pairs.items()}
    place = places.get(fact.place)
    if getattr(fact.statement.node, "value", None) is not fact.node:
        return False
    own, other = (alignment.base_name, alignment.head_name) if in_base else (alignment.head_name, alignment.base_name)
    statements = alignment.head_statements if in_base else alignment.base_statements
    target = fact.statement.target()
    if place is None:
        same = {pair[1 if in_base else 0] for pair in alignment.equal}
        return target.isidentifier() and any(
            other(s.target()) == own(target) and is_own_call(s) for n, s in enumerate(statements) if n not in same
        )
    statement = statements[place]
    same = target.endswith("]") or own(target) == other(statement.target())  # parts are paired by what holds them
    return bool(target) and same and is_own_call(statement)


def _casts_as_before(fact: Fact, in_base: bool, alignment: Alignment) -> bool:
    """Whether the other version casts to the same dtype: of an index as often, of a part that was cut out at all."""
    dtype = fact.detail["dtype"]
    own, other = (
        sum(
            parts is not None and parts[1] == dtype
            for f in functions
            for statement in f.statements
            for parts in (cast_parts(call, f) for call in statement.calls)
        )
        for functions in (alignment.base, alignment.head)[:: 1 if in_base else -1]
    )
    if fact.noun == "index":
        return 0 < own <= other
    return alignment.counterpart(fact.function) is None and other > 0


def _as_wide(fact: Fact, in_base: bool, alignment: Alignment) -> bool:
    """Whether the other version names the same dtype where it makes what the cast gives: it may be as wide there."""
    own, other = (alignment.base_name, alignment.head_name)[:: 1 if in_base else -1]
    target = own(fact.statement.target())
    function = (alignment.head if in_base else alignment.base)[0]
    values = [value for name, its in function.assigned.items() if other(name) == target for _, value in its]
    return any(dtype_of(node, function) == fact.detail["dtype"] for value in values for node in ast.walk(value))


def _untold(base: Fact, head: Fact) -> bool:
    """Whether two allocations differ in a dtype alone that one does not say, or two launches in nothing of theirs.

    What a draw is given is no operator's, what a function of the code's own is given is: one has them, the other not.
    """
    if base.noun == "operator":
        return draws_here(base.statement) != draws_here(head.statement)
    if base.noun == "launch":
        return not changed_options(base, head)
    unsaid = base.noun == "allocation" and "" in (base.detail.get("dtype"), head.detail.get("dtype"))
    return unsaid and base.value[1:] == head.value[1:]


def _known(fact: Fact, in_base: bool, alignment: Alignment) -> bool:
    """Whether the other version has the statement, or the variable that the fact applies to."""
    paired = fact.place in alignment.pairs if in_base else fact.place in alignment.pairs.values()
    if paired or fact.operand is None:
        return True
    name = (alignment.base_name if in_base else alignment.head_name)(root_name(fact.operand))
    others, rename = (alignment.head, alignment.head_name) if in_base else (alignment.base, alignment.base_name)
    return any(name in {rename(local) for local in f.locals} for f in others)


def _edit(kind: str, base: Fact | None, head: Fact | None, alignment: Alignment) -> Edit:
    one = head or base
    detail = dict(one.detail)
    paired = alignment.pairs if one is base else alignment.pairs.values()
    if (base is None or head is None) and one.noun in WHERE and one.place not in paired and one.statement.conditions:
        detail["condition"] = one.statement.innermost  # the statement came or went with the tests around it
    if one.noun == "guard" and None in (base, head) and not behind_guard(one, base is not None, alignment):
        detail["with_its_code"] = True
    if base is not None and head is not None:
        detail = {}
        options = changed_options(base, head) if base.noun == "launch" else {}
        if options:
            detail["options"] = ", ".join(options)
            for name, (before, after) in options.items():
                detail |= {f"{name}_before": before, f"{name}_after": after}
        for name in sorted(base.detail.keys() | head.detail.keys()):
            before, after = base.detail.get(name, ""), head.detail.get(name, "")
            detail |= {name: after} if before == after else {f"{name}_before": before, f"{name}_after": after}
        if base.noun == "operator":
            x, y = Counter(base.value), Counter(head.value)
            detail = {"operator_before": " ".join((x - y).elements()), "operator_after": " ".join((y - x).elements())}
        if base.present != head.present:  # the fact is of one side: say it plainly
            detail = dict((head if head.present else base).detail)
    return make(kind, _side(base, head, alignment, "base"), _side(head, base, alignment, "head"), detail)


def _side(own: Fact | None, other: Fact | None, alignment: Alignment, side: str) -> Side | None:
    if own is not None:
        return Side(own.function, own.line, own.text)
    line, text = _counterpart(other, alignment, side)
    function = alignment.counterpart(other.function)
    return Side(function, line, text) if function is not None else None


@dataclass(frozen=True)
class Side:
    """One side of an edit: the function, and the place in it where it has one."""

    function: Function
    line: int | None = None
    text: str = ""


def at(function: Function, node: ast.AST | None = None, text: str | None = None) -> Side:
    """The place of a node, or of the function itself."""
    if node is None:
        return Side(function, function.line, text or "")
    return Side(function, node.lineno, function.module.segment(node) if text is None else text)


def make(kind: str, base: Side | None, head: Side | None, detail: dict) -> Edit:
    """An edit, named after head's function where there is one; other names on the other side go into the detail."""
    detail = {name: value for name, value in detail.items() if value != ""}
    if base is not None and head is not None:
        if base.function.name != head.function.name:
            detail |= {"symbol_before": base.function.name, "symbol_after": head.function.name}
        if base.function.path != head.function.path:
            detail |= {"path_before": base.function.path, "path_after": head.function.path}
    x, y = base or Side(head.function), head or Side(base.function)
    one = (head or base).function
    return Edit(
        kind=kind, path=one.path, symbol=one.name, base_line=x.line, head_line=y.line,
        before=_short(x.text), after=_short(y.text), detail=dict(sorted(detail.items())),
    )  # fmt: skip


def _short(span: str) -> str:
    return span if len(span) <= SPAN else span[:SPAN] + " ..."


def _counterpart(fact: Fact, alignment: Alignment, side: str) -> tuple[int | None, str]:
    """Where the other side has the statement of a fact that it has not: the operand there, or the line alone."""
    if side == "base":
        place = next((i for i, j in alignment.pairs.items() if j == fact.place), None)
        statements, key, own = alignment.base_statements, alignment.base_key, alignment.head_key
    else:
        place = alignment.pairs.get(fact.place)
        statements, key, own = alignment.head_statements, alignment.head_key, alignment.base_key
    if place is None:
        return None, ""
    statement = statements[place]
    if fact.operand is not None:
        wanted = own(fact.operand)
        for node in statement.nodes:
            if type(node) is type(fact.operand) and key(node) == wanted and isinstance(node, ast.expr):
                return node.lineno, statement.function.module.segment(node)
    return statement.line, ""


def _lines(kind: str) -> tuple[tuple[str, str], ...]:
    """Names in `detail` for the lines of several places, and the lines' fields."""
    way = kind.rpartition("-")[2]
    if way in ("added", "introduced"):
        return (("lines", "head_line"),)
    if way == "removed":
        return (("lines", "base_line"),)
    return ("lines_before", "base_line"), ("lines_after", "head_line")


def merge(edits: list[Edit]) -> list[Edit]:
    """One edit for all places of a symbol where the same thing holds, with their number and lines."""
    groups: dict[tuple, list[Edit]] = defaultdict(list)
    for edit in edits:
        groups[edit.path, edit.symbol, edit.kind, tuple(sorted(edit.detail.items()))].append(edit)
    merged = []
    for group in groups.values():
        group.sort(key=lambda e: sorted((e.base_line or e.head_line or 0, e.head_line or e.base_line or 0)))
        first = group[0]
        if len(group) > 1:
            lines = {}
            for name, attribute in _lines(first.kind):
                numbers = [getattr(e, attribute) for e in group]
                if all(numbers):
                    lines[name] = ", ".join(map(str, numbers))
            first = first.model_copy(
                update={
                    "count": sum(e.count for e in group),
                    "detail": dict(sorted((first.detail | lines).items())),
                }
            )
        merged.append(first)
    return sorted(merged, key=lambda e: (sort_key(e), e.kind))
