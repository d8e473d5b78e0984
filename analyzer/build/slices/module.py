"""One module as a slice sees it: its statements, what each binds, and where its imports lead."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from analyzer.build.slices.names import Import, Names, bound, bound_by_import, chain, names


@dataclass(eq=False)
class Statement:
    """A statement at module level, or in an `if` there; `conditions` are the `if`s around it, outermost first."""

    node: ast.stmt
    conditions: tuple[ast.If, ...] = ()

    @cached_property
    def names(self) -> Names:
        """What the statement and the conditions around it need; an import of one line needs nothing itself."""
        own = () if isinstance(self.node, (ast.Import, ast.ImportFrom)) else (self.node,)
        return names(*own, *(condition.test for condition in self.conditions))


@dataclass(frozen=True)
class Piece:
    """The unit of a slice: a statement, or one alias of an import."""

    statement: Statement
    alias: ast.alias | None = None


class Module:
    """A parsed module. Raises SyntaxError.

    `statements` are those that run (a TYPE_CHECKING block does not). A name can be bound by more than one piece.
    """

    def __init__(self, name: str, path: str, source: str, is_stub: bool = False) -> None:
        self.name, self.path, self.is_stub = name, path, is_stub
        self.source = source.replace("\r\n", "\n").replace("\r", "\n").lstrip("\ufeff")
        self.tree = ast.parse(self.source)
        self.is_package = path.endswith("/__init__.py")
        self.statements = list(_statements(self.tree.body))
        self.bindings: dict[str, list[Piece]] = {}
        self.mutations: dict[str, list[Piece]] = {}
        self.stars: list[Statement] = []
        self.future: list[Statement] = []
        for statement in self.statements:
            self._index(statement)

    def _index(self, statement: Statement) -> None:
        node = statement.node
        if isinstance(node, ast.ImportFrom) and node.module == "__future__":
            self.future.append(statement)
        elif isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
            self.stars.append(statement)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                self.bindings.setdefault(bound_by_import(alias), []).append(Piece(statement, alias))
        else:
            for name in bound(node):
                self.bindings.setdefault(name, []).append(Piece(statement))
            for name in _mutated(node) - bound(node):
                self.mutations.setdefault(name, []).append(Piece(statement))

    def origin(self, node: ast.ImportFrom) -> str:
        """The absolute name of the module that a from-import names."""
        if not node.level:
            return node.module or ""
        package = self.name.split(".")
        package = package[: len(package) - node.level + self.is_package]
        return ".".join([*package, *([node.module] if node.module else [])])

    def is_imported(self, name: str) -> bool:
        """True where nothing but imports bind `name` (what is imported is not this module's to mutate)."""
        return all(piece.alias for piece in self.bindings.get(name, ()))


def imported(module: Module, node: Import) -> Iterator[tuple[ast.alias, str, str | None]]:
    """Each alias of an import with the module it names and, in a from-import, the name taken from there."""
    for alias in node.names:
        if isinstance(node, ast.ImportFrom):
            yield alias, module.origin(node), alias.name
        else:
            yield alias, alias.name, None


def _statements(body: list[ast.stmt], conditions: tuple[ast.If, ...] = ()) -> Iterator[Statement]:
    for node in body:
        if not isinstance(node, ast.If):
            yield Statement(node, conditions)
            continue
        inner = (*conditions, node)
        typing_only = _is_type_checking(node.test)
        runtime_only = isinstance(node.test, ast.UnaryOp) and _is_type_checking(node.test.operand)
        if not typing_only:
            yield from _statements(node.body, inner)
        if not runtime_only:
            yield from _statements(node.orelse, inner)


def _is_type_checking(test: ast.expr) -> bool:
    name, attributes = chain(test) or ("", ())
    return (attributes or (name,))[-1] == "TYPE_CHECKING"


def _mutated(node: ast.stmt) -> set[str]:
    """The names whose objects a statement at module level may change.

    `X[...] = …`, `X.a = …`, `del X[...]`, `X.append(…)`, `fill(X)`, `@X.register` above a definition.
    """
    found: set[str] = set()
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        for decorator in node.decorator_list:
            name, attributes = chain(decorator.func if isinstance(decorator, ast.Call) else decorator) or ("", ())
            if attributes:
                found.add(name)
        return found
    for part in ast.walk(node):
        if isinstance(part, (ast.Attribute, ast.Subscript)) and isinstance(part.ctx, (ast.Store, ast.Del)):
            found.add(_root(part))
        elif isinstance(part, ast.Expr) and isinstance(part.value, ast.Call):
            if isinstance(part.value.func, ast.Attribute):
                found.add(_root(part.value.func))
            found |= {argument.id for argument in part.value.args if isinstance(argument, ast.Name)}
    return found - {""}


def _root(node: ast.AST) -> str:
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
