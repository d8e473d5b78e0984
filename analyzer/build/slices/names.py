"""Which names a piece of syntax uses and binds, by Python's scoping rules."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

Import = ast.Import | ast.ImportFrom
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass
class Names:
    """What a statement needs from its module.

    `uses`: (name, attributes) of every name looked up outside the statement's own scopes; `a.b.c` is ("a", ("b", "c")).
    `chains`: the same for all names, local ones too (what a function does with a module that it imports itself).
    `annotations`: expressions that only annotate (one with `constexpr` counts as a use).
    `eager` and `lazy`: imports inside the statement that run with it, and those that run when a function is called.
    """

    uses: set[tuple[str, tuple[str, ...]]] = field(default_factory=set)
    chains: set[tuple[str, tuple[str, ...]]] = field(default_factory=set)
    annotations: list[ast.expr] = field(default_factory=list)
    eager: list[Import] = field(default_factory=list)
    lazy: list[Import] = field(default_factory=list)


def names(*nodes: ast.AST) -> Names:
    """The names that statements or expressions at module level need."""
    visitor = _Visitor()
    for node in nodes:
        visitor.visit(node)
    return visitor.found


def bound(node: ast.AST) -> set[str]:
    """The names that a statement binds in the scope it stands in (an attribute or an item binds none)."""
    return set(_bound(node))


def bound_by_import(alias: ast.alias) -> str:
    """The name that one alias of an import binds."""
    return alias.asname or alias.name.partition(".")[0]


def chain(node: ast.AST) -> tuple[str, tuple[str, ...]] | None:
    """`a.b.c` as ("a", ("b", "c")), None for anything that does not start at a name."""
    attributes: list[str] = []
    while isinstance(node, ast.Attribute):
        attributes.append(node.attr)
        node = node.value
    return (node.id, tuple(reversed(attributes))) if isinstance(node, ast.Name) else None


def _bound(node: ast.AST) -> Iterator[str]:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield node.name
        return
    if isinstance(node, _COMPREHENSIONS):
        yield from (n.target.id for n in ast.walk(node) if isinstance(n, ast.NamedExpr))
        return
    if isinstance(node, ast.Lambda):
        return
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        yield from (bound_by_import(alias) for alias in node.names)
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id
    elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
        yield node.name
    elif isinstance(node, ast.MatchMapping) and node.rest:
        yield node.rest
    for child in ast.iter_child_nodes(node):
        yield from _bound(child)


class _Visitor(ast.NodeVisitor):
    """Walks one statement with the local names of the scopes around each node."""

    def __init__(self) -> None:
        self.found = Names()
        self.scopes: list[set[str]] = []
        self.functions = 0

    def visit_Name(self, node: ast.Name) -> None:
        self._use(node)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if chain(node) is None:
            self.generic_visit(node)
        else:
            self._use(node)

    def _use(self, node: ast.AST) -> None:
        name, attributes = chain(node)
        self.found.chains.add((name, attributes))
        if not any(name in scope for scope in self.scopes):
            self.found.uses.add((name, attributes))

    def visit_Import(self, node: Import) -> None:
        (self.found.lazy if self.functions else self.found.eager).append(node)

    visit_ImportFrom = visit_Import

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        for decorator in node.decorator_list:
            self.visit(decorator)
        self._signature(node.args)
        self._annotation(node.returns)
        self._inside(_locals(node.args, node.body), node.body)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._signature(node.args)
        self._inside(_locals(node.args, [node.body]), [node.body])

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        # A class body's names are not in the scope of its methods, and may be read before they are bound: not a scope.
        self.generic_visit(node)

    def visit_ListComp(self, node: ast.AST) -> None:
        targets = {name for generator in node.generators for name in _bound(generator.target)}
        self.scopes.append(targets)
        self.generic_visit(node)
        self.scopes.pop()

    visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_ListComp

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self._annotation(node.annotation)
        self.visit(node.target)
        if node.value:
            self.visit(node.value)

    def _signature(self, arguments: ast.arguments) -> None:
        for argument in _arguments(arguments):
            self._annotation(argument.annotation)
        for default in (*arguments.defaults, *arguments.kw_defaults):
            if default:
                self.visit(default)

    def _annotation(self, node: ast.expr | None) -> None:
        if node is None:
            return
        # Triton reads the annotations of a kernel: `constexpr` is part of its meaning.
        if any((part.attr if isinstance(part, ast.Attribute) else _id(part)) == "constexpr" for part in ast.walk(node)):
            self.visit(node)
        else:
            self.found.annotations.append(node)

    def _inside(self, scope: set[str], body: list[ast.AST]) -> None:
        self.scopes.append(scope)
        self.functions += 1
        for node in body:
            self.visit(node)
        self.functions -= 1
        self.scopes.pop()


def _id(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def _arguments(arguments: ast.arguments) -> list[ast.arg]:
    every = [*arguments.posonlyargs, *arguments.args, arguments.vararg, *arguments.kwonlyargs, arguments.kwarg]
    return [argument for argument in every if argument]


def _locals(arguments: ast.arguments, body: list[ast.AST]) -> set[str]:
    """The local names of a function: arguments and what its body binds, without what it declares global."""
    declared: set[str] = set()
    for node in body:
        declared |= {name for part in _own(node) if isinstance(part, ast.Global) for name in part.names}
    local = {argument.arg for argument in _arguments(arguments)}
    return (local | {name for node in body for name in _bound(node)}) - declared


def _own(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function's body without those of the functions and classes in it."""
    yield node
    if not isinstance(node, _SCOPES):
        for child in ast.iter_child_nodes(node):
            yield from _own(child)
