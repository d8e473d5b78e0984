"""Which edits of a change fit a rule's pattern, looked up by kind so that a change of thousands of files is quick."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable

from analyzer.findings.rule import Companion, Pattern, Rule
from analyzer.model.change import Change, Edit

#: Companion edits that a finding shows.
SHOWN = 20

#: A file's number in the change, and the edit.
Placed = tuple[int, Edit]
#: A file's number, and the symbol's name.
Where = tuple[int, str]


class Matcher:
    """The edits of one change."""

    def __init__(self, change: Change) -> None:
        self._files = change.files
        self._symbol_kinds = [{symbol.name: symbol.kind for symbol in reversed(f.symbols)} for f in change.files]
        self._by_kind: dict[str, list[tuple[int, int, Edit]]] = defaultdict(list)
        for number, file in enumerate(change.files):
            for place, edit in enumerate(file.edits):
                self._by_kind[edit.kind].append((number, place, edit))
        self._companions: dict[int, dict[Hashable, list[Edit]]] = {}

    def matched(self, rule: Rule) -> dict[Where, list[Edit]]:
        """The edits that a rule matches, where what has to be there too is there, by file and symbol."""
        also, unless = rule.match.also, rule.match.unless
        found: dict[Where, list[Edit]] = defaultdict(list)
        for number, edit in self._fitting(rule.match):
            if also and not self._beside(also, number, edit):
                continue
            if not any(self._beside(one, number, edit) for one in unless):
                found[number, edit.symbol].append(edit)
        return found

    def with_companions(self, rule: Rule, number: int, edits: list[Edit]) -> tuple[Edit, ...]:
        """What a finding rests on: the edits that match, then those that had to be there too, each once."""
        also = rule.match.also
        its = {id(other): other for edit in edits for other in self._beside(also, number, edit)} if also else {}
        return (*edits, *list(its.values())[:SHOWN])

    def _fitting(self, pattern: Pattern) -> list[Placed]:
        """The edits that a pattern asks for, in the change's order."""
        found = [
            (number, place, edit)
            for kind in dict.fromkeys(pattern.kinds)
            for number, place, edit in self._by_kind.get(kind, ())
            if pattern.allows(edit)
            and (not pattern.categories or self._files[number].category in pattern.categories)
            and (not pattern.symbol_kinds or self._symbol_kinds[number].get(edit.symbol, "") in pattern.symbol_kinds)
        ]
        return [(number, edit) for number, _, edit in sorted(found, key=lambda one: one[:2])]

    def _beside(self, pattern: Companion, number: int, edit: Edit) -> list[Edit]:
        """The edits that a companion pattern asks for, in the scope of an edit."""
        if id(pattern) not in self._companions:
            groups: dict[Hashable, list[Edit]] = defaultdict(list)
            for other_number, other in self._fitting(pattern):
                groups[_scope(pattern, other_number, other)].append(other)
            self._companions[id(pattern)] = dict(groups)
        return self._companions[id(pattern)].get(_scope(pattern, number, edit), [])


def _scope(pattern: Companion, number: int, edit: Edit) -> Hashable:
    """What two edits have in common that are companions: the place, and the detail that has to be the same."""
    places = {"change": (), "file": (number,), "symbol": (number, edit.symbol)}
    return (*places[pattern.scope], *(edit.detail.get(key) for key in pattern.same))
