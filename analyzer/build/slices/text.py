"""Writes a module's kept pieces at the lines where they stand in the source."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterator

from analyzer.build.slices.module import Module, Piece, Statement, imported
from analyzer.build.slices.names import bound, bound_by_import, names

_BUILTINS = frozenset(dir(builtins))

#: A place in a source: line (from 0) and column (in bytes, as the parser counts).
Place = tuple[int, int]


def render(
    module: Module, kept: set[Piece], starred: set[tuple[Statement, str]], is_module: Callable[[str], bool]
) -> str:
    """The module's source with all but `kept` and the names of star imports blanked; line numbers stay.

    Conditions around kept statements stay whole, `pass` standing for what is cut. An import keeps its kept names
    alone. An annotation that names what the slice does not have becomes a string, which Python and Triton accept and
    never look up. `is_module` tells the tree's modules: of those a slice has the used attributes only.
    """
    if not kept and not starred:
        return ""
    return _Text(module, kept, starred, is_module).write()


class _Text:
    def __init__(self, module: Module, kept: set[Piece], starred: set, is_module: Callable[[str], bool]) -> None:
        self.module, self.is_module = module, is_module
        self.source = module.source.encode().split(b"\n")
        self.lines = [b""] * len(self.source)
        self.statements = {id(piece.statement.node): piece.statement for piece in kept}
        self.statements |= {id(statement.node): statement for statement, _ in starred}
        self.aliases: dict[int, list[ast.alias]] = {}
        for piece in kept:
            if piece.alias:
                self.aliases.setdefault(id(piece.statement.node), []).append(piece.alias)
        self.starred: dict[int, list[str]] = {}
        for statement, name in starred:
            self.starred.setdefault(id(statement.node), []).append(name)
        self.conditions = {id(condition) for s in self.statements.values() for condition in s.conditions}

    def write(self) -> str:
        self._body(self.module.tree.body)
        if not any(alias.name == "annotations" for s in self.module.future for alias in s.node.names):
            self._quote_annotations()
        return b"\n".join(line.rstrip() for line in self.lines).decode().rstrip("\n") + "\n"

    # Statements

    def _body(self, body: list[ast.stmt]) -> bool:
        """Write the kept statements of a block; False where there is none."""
        end: Place = (-1, 0)
        for node in body:
            is_condition = id(node) in self.conditions
            if not is_condition and id(node) not in self.statements:
                continue
            if _start(node)[0] == end[0]:
                self._put(end, b";")
            if is_condition:
                self._if(node)
            elif id(node) in self.starred or self.aliases.get(id(node)):
                self._put(_start(node), self._import(node))
            else:
                self._copy(_start(node), _end(node))
            end = _end(node)
        return end[0] >= 0

    def _if(self, node: ast.If) -> None:
        self._copy(_start(node), _start(node.body[0]))
        self._block(node.body)
        if self._has_any(node.orelse):
            line, _ = _end(node.body[-1])
            self._copy((line + 1, 0), _start(node.orelse[0]))
            self._block(node.orelse)

    def _block(self, body: list[ast.stmt]) -> None:
        if not self._body(body):
            self._put(_start(body[0]), b"pass")

    def _has_any(self, body: list[ast.stmt]) -> bool:
        return any(id(node) in self.conditions or id(node) in self.statements for node in body)

    def _import(self, node: ast.Import | ast.ImportFrom) -> bytes:
        kept = [_alias(alias) for alias in node.names if alias in self.aliases.get(id(node), ())]
        kept += sorted(self.starred.get(id(node), ()))
        if isinstance(node, ast.Import):
            return f"import {', '.join(kept)}".encode()
        return f"from {'.' * node.level}{node.module or ''} import {', '.join(kept)}".encode()

    # Places

    def _copy(self, start: Place, end: Place) -> None:
        for number in range(start[0], end[0] + 1):
            first = start[1] if number == start[0] else 0
            last = end[1] if number == end[0] else len(self.source[number])
            self._put((number, first), self.source[number][first:last])

    def _put(self, place: Place, text: bytes) -> None:
        number, column = place
        self.lines[number] = self.lines[number].ljust(column) + text

    # Annotations

    def _quote_annotations(self) -> None:
        bound_at = dict(self._bound_at())
        wanting = {
            (node.lineno, node.col_offset): node
            for statement in self.statements.values()
            for node in statement.names.annotations
            if not all(bound_at.get(name, 1 << 60) < statement.node.lineno for name in _roots(node))
        }
        for _, node in sorted(wanting.items(), reverse=True):
            self._quote(node)

    def _bound_at(self) -> Iterator[tuple[str, int]]:
        """The line from which each name is there: builtins, and what kept statements bind; not in-tree modules."""
        yield from ((name, 0) for name in _BUILTINS)
        for statement in sorted(self.statements.values(), key=lambda s: s.node.lineno, reverse=True):
            node, line = statement.node, statement.node.lineno
            if id(node) in self.starred:
                yield from ((name, line) for name in self.starred[id(node)])
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                for alias, origin, taken in imported(self.module, node):
                    is_kept = alias in self.aliases.get(id(node), ())
                    if is_kept and not self.is_module(f"{origin}.{taken}" if taken else origin):
                        yield bound_by_import(alias), line
            else:
                yield from ((name, line) for name in bound(node))

    def _quote(self, node: ast.expr) -> None:
        """Put a string in the place of an expression; brackets keep one of several lines together."""
        (first, column), (last, end) = _start(node), _end(node)
        text = repr(ast.unparse(node)).encode()
        tail = self.lines[last][end:]
        if first == last:
            self.lines[first] = self.lines[first][:column] + text + tail
            return
        self.lines[first] = self.lines[first][:column] + b"(" + text
        for number in range(first + 1, last):
            self.lines[number] = b""
        self.lines[last] = b")" + tail


def _start(node: ast.AST) -> Place:
    """Where a node begins; a definition begins at its first decorator."""
    decorators = getattr(node, "decorator_list", None)
    return (decorators[0].lineno if decorators else node.lineno) - 1, node.col_offset


def _end(node: ast.AST) -> Place:
    return node.end_lineno - 1, node.end_col_offset


def _alias(alias: ast.alias) -> str:
    return f"{alias.name} as {alias.asname}" if alias.asname else alias.name


def _roots(annotation: ast.expr) -> set[str]:
    return {name for name, _ in names(annotation).uses}
