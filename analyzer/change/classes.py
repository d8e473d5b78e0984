"""Classes that came, went, or have another name or place, and what else of a class is no function and no constant.

A new class is one edit: its methods are not told one by one.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from analyzer.change.functions import Matching
from analyzer.change.inside.decorators import changes, detail_of
from analyzer.change.nodes import FunctionNode, last_name
from analyzer.change.revisions.category import is_test
from analyzer.change.sequences import greedy, similarity
from analyzer.change.shapes import dump
from analyzer.change.source import Function, Module
from analyzer.model.change import Edit, Symbol

#: Classes under different names share at least this much of their bodies; of the same name in another file, half of it.
ALIKE = 0.75
#: Base classes that say nothing of what runs.
_TYPING = frozenset({"object", "Generic", "Protocol", "ABC"})
#: A field of such a class is a parameter of its constructor.
_RECORDS = frozenset({"NamedTuple", "TypedDict", "BaseModel", "Struct"})


@dataclass(frozen=True, eq=False)
class Class:
    name: str
    node: ast.ClassDef
    module: Module

    @property
    def path(self) -> str:
        return self.module.path

    @property
    def methods(self) -> int:
        return sum(isinstance(node, FunctionNode) for node in self.node.body)

    @property
    def header(self) -> str:
        return f"class {self.node.name}({', '.join(map(ast.unparse, self.node.bases))})".replace("()", "")

    def owns(self, function: Function) -> bool:
        return function.path == self.path and function.name.startswith(f"{self.name}.")


@dataclass
class Classes:
    """`told`: functions of either side whose coming, going or moving is told with their class."""

    edits: list[Edit] = field(default_factory=list)
    symbols: dict[str, list[Symbol]] = field(default_factory=dict)
    told: set[Function] = field(default_factory=set)
    moved: frozenset[str] = frozenset()
    renamed: dict[str, str] = field(default_factory=dict)


def classes_of(pairs: list[tuple[Module, Module]], matching: Matching, renames: Mapping[str, str]) -> Classes:
    """All that differs in the classes of the changed files; what a class is to its tests is told of the tests."""
    pairs = [pair for pair in pairs if not any(is_test(module.path) for module in pair)]
    left = {(renames.get(c.path, c.path), c.name): c for base, _ in pairs for c in _classes(base)}
    right = {(c.path, c.name): c for _, head in pairs for c in _classes(head)}
    gone = [c for key, c in left.items() if key not in right]
    new = [c for key, c in right.items() if key not in left]
    found = Classes()
    matched = [(gone[i], new[j]) for i, j in greedy(_likenesses(gone, new, matching))]
    for x, y in matched:
        kind = "function-moved" if x.path != y.path else "function-renamed"
        found.edits.append(_edit(kind, x, y, {"what": "class", "methods": y.methods}))
        change = "moved" if x.path != y.path else "renamed"
        _symbol(found, y, change, previous_name=x.name, base_line=x.node.lineno, head_line=y.node.lineno)
        for f, g in matching.renamed:
            if x.owns(f) and y.owns(g) and f.name[len(x.name) :] == g.name[len(y.name) :]:
                found.told |= {f, g}
    found.renamed = {x.node.name: y.node.name for x, y in matched if x.node.name != y.node.name}
    found.moved = frozenset(y.node.name for x, y in matched if x.path != y.path)
    for c in gone:
        if c not in {x for x, _ in matched}:
            found.edits.append(_edit("function-removed", c, None, {"what": "class", "methods": c.methods}))
            found.told |= {f for f in matching.removed if c.owns(f)}
            _symbol(found, c, "removed", base_line=c.node.lineno)
    for c in new:
        if c not in {y for _, y in matched}:
            found.edits.append(_edit("function-added", None, c, {"what": "class", "methods": c.methods}))
            found.told |= {f for f in matching.added if c.owns(f)}
            _symbol(found, c, "added", head_line=c.node.lineno)
    names = {x.node.name: y.node.name for x, y in matched}
    for x, y in [*((c, right[key]) for key, c in left.items() if key in right), *matched]:
        found.edits += _inside(x, y, names)
    return found


def _symbol(found: Classes, c: Class, change: str, **more) -> None:
    found.symbols.setdefault(c.path, []).append(Symbol(name=c.name, kind="class", change=change, **more))


def _classes(module: Module) -> Iterator[Class]:
    return _classes_in(module.tree.body, module)


def _classes_in(body: list[ast.stmt], module: Module) -> Iterator[Class]:
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield Class(node.name, node, module)
        elif isinstance(node, ast.If | ast.Try):
            yield from _classes_in(node.body, module)
            yield from _classes_in(node.orelse, module)


def _likenesses(gone: list[Class], new: list[Class], matching: Matching) -> dict[tuple[int, int], float]:
    """How alike classes are: by the methods that are the same functions; where they have none, by their bodies."""
    found: dict[tuple[int, int], float] = {}
    for i, x in enumerate(gone):
        for j, y in enumerate(new):
            shared = sum(x.owns(f) and y.owns(g) for f, g in matching.renamed) if x.methods and y.methods else 0
            score = shared / max(x.methods, y.methods, 1)
            if not x.methods and not y.methods:
                fields = [Counter(dump(s, str) for s in c.node.body) for c in (x, y)]
                score = similarity(*fields) if min(map(len, fields)) > 1 or x.name == y.name else 0.0
            if score >= (ALIKE if x.name != y.name else ALIKE / 2):
                found[i, j] = score + 0.2 * (x.name == y.name)
    return found


def _inside(x: Class, y: Class, names: Mapping[str, str]) -> Iterator[Edit]:
    """Base classes, decorators, and the fields of a record."""

    def base_key(node: ast.AST) -> str:
        return dump(node, lambda name: "~".join(sorted((name, names.get(name, name)))) if name in names else name)

    back = {new: old for old, new in names.items()}

    def head_key(node: ast.AST) -> str:
        return dump(node, lambda name: "~".join(sorted((name, back[name]))) if name in back else name)

    bases = [
        [b for b in c.node.bases if last_name(b.value if isinstance(b, ast.Subscript) else b) not in _TYPING]
        for c in (x, y)
    ]
    differing = list(changes(*bases, base_key, head_key))
    ways = Counter(way for way, _, _ in differing)
    if ways == {"added": 1, "removed": 1}:
        one = next(node for _, node, _ in differing if node is not None)
        two = next(node for _, _, node in differing if node is not None)
        differing = [("changed", one, two)]
    for way, one, two in differing:
        yield _edit(f"base-class-{way}", x, y, detail_of("base", one, two), (one, two))
    for way, one, two in changes(x.node.decorator_list, y.node.decorator_list, base_key, head_key):
        yield _edit(f"decorator-{way}", x, y, detail_of("decorator", one, two), (one, two))
    if _is_record(x) and _is_record(y):
        fields = _fields(x), _fields(y)
        for name in sorted(fields[0].keys() ^ fields[1].keys()):
            one, two = fields[0].get(name), fields[1].get(name)
            detail = {"parameter": name, "required": (one or two).value is None, "kernel": False}
            yield _edit(f"parameter-{'removed' if two is None else 'added'}", x, y, detail, (one, two))


def _is_record(c: Class) -> bool:
    return any(last_name(d) == "dataclass" for d in c.node.decorator_list) or any(
        last_name(b) in _RECORDS for b in c.node.bases
    )


def _fields(c: Class) -> dict[str, ast.AnnAssign]:
    return {
        node.target.id: node
        for node in c.node.body
        if isinstance(node, ast.AnnAssign)
        and isinstance(node.target, ast.Name)
        and "ClassVar" not in ast.unparse(node.annotation)
    }


def _edit(kind: str, x: Class | None, y: Class | None, detail: dict, nodes: tuple | None = None) -> Edit:
    """`nodes`: what differs on both sides; the header where it is the class as a whole."""
    one = y or x
    if x is not None and y is not None:
        if x.name != y.name:
            detail |= {"symbol_before": x.name, "symbol_after": y.name}
        if x.path != y.path:
            detail |= {"path_before": x.path, "path_after": y.path}
    places = [
        (None, "") if c is None
        else (c.node.lineno, c.header) if nodes is None
        else (c.node.lineno, "") if node is None
        else (node.lineno, c.module.segment(node))
        for c, node in zip((x, y), nodes or (None, None), strict=True)
    ]  # fmt: skip
    return Edit(
        kind=kind, path=one.path, symbol=one.name, base_line=places[0][0], head_line=places[1][0],
        before=places[0][1], after=places[1][1], detail=dict(sorted(detail.items())),
    )  # fmt: skip
