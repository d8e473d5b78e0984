"""Who calls what changed: the head revision's whole tree, `git grep` to narrow, the parser to decide."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath

from analyzer.change.category import is_test
from analyzer.change.repository import Repository
from analyzer.model.change import Caller, FileChange, Symbol

#: Names that every second class has, as any ``__name__``: a call by such a name says nothing about whose it is.
_COMMON = re.compile(
    r"__\w+__|forward|apply|add|append|clear|close|copy|get|init|items|keys|load|main|name|pop|put|read|reset|run|set"
    r"|setup|start|step|stop|to|update|values|wait|write"
)
#: Names in more files than this are too common to tell whose call it is; how many callers a report can use.
_FILES, _CALLERS = 60, 60


@dataclass(frozen=True)
class _Target:
    """A changed symbol: `path` defines it, `owner` is its class (empty for a function), `name` its last part."""

    path: str
    qualified: str

    @property
    def owner(self) -> str:
        return self.qualified.rpartition(".")[0].rpartition(".")[2]

    @property
    def name(self) -> str:
        return self.qualified.rpartition(".")[2]


def callers(repository: Repository, head: str, files: Iterable[FileChange]) -> tuple[Caller, ...]:
    """The functions that call changed functions, methods and kernels: source before tests, by path and line."""
    files = tuple(files)
    changed = {(file.path, symbol.name) for file in files for symbol in file.symbols}
    targets = [_Target(file.path, symbol.name) for file in files for symbol in file.symbols if _counts(file, symbol)]
    by_name: dict[str, list[_Target]] = {}
    for target in targets:
        by_name.setdefault(target.name, []).append(target)
    lines = repository.grep(head, *sorted(by_name)) if by_name else []
    paths: dict[str, set[str]] = {}
    for path, line in lines:
        for name in by_name:
            if name in line:
                paths.setdefault(name, set()).add(path)
    defined: dict[str, int] = {name: 0 for name in by_name}
    for _, line in lines:
        named = re.match(r"\s*(?:async\s+)?def\s+(\w+)", line)
        if named and named[1] in defined:
            defined[named[1]] += 1
    unique = frozenset(name for name, count in defined.items() if count <= 1)
    wanted = {path for found in paths.values() if len(found) <= _FILES for path in found}
    blobs = {path: blob for path, blob in repository.blobs(head, ["*.py"]).items() if path in wanted}
    contents = repository.read_many(blobs.values())
    found: dict[tuple[str, str, str], Caller] = {}
    for path, blob in blobs.items():
        names = {
            name: by_name[name] for name, found_in in paths.items() if path in found_in and len(found_in) <= _FILES
        }
        for caller, line, target in _calls(contents[blob] or b"", path, names, unique):
            one = Caller(
                symbol=caller,
                path=path,
                line=line,
                calls=target.qualified,
                changed=(path, caller) in changed,
                note="test" if is_test(path) else "",
            )
            found.setdefault((path, caller, target.qualified), one)
    return tuple(sorted(found.values(), key=lambda one: (is_test(one.path), one.path, one.line, one.calls))[:_CALLERS])


def _counts(file: FileChange, symbol: Symbol) -> bool:
    called = symbol.kind in ("function", "method", "kernel")
    return called and not is_test(file.path) and not _COMMON.fullmatch(symbol.name.rpartition(".")[2])


def _calls(
    source: bytes, path: str, names: dict[str, list[_Target]], unique: frozenset[str]
) -> Iterable[tuple[str, int, _Target]]:
    """(caller's qualified name, line, what it calls) of each call in a file that is one of a target."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return
    visitor = _Calls(path, names, unique)
    visitor.visit(tree)
    yield from visitor.found


class _Calls(ast.NodeVisitor):
    """Walks a file with the names of the classes and functions around each call."""

    def __init__(self, path: str, names: dict[str, list[_Target]], unique: frozenset[str]) -> None:
        self.found: list[tuple[str, int, _Target]] = []
        self._path, self._names, self._unique = path, names, unique
        self._stack: list[ast.AST] = []
        self._imported: dict[str, str] = {}  # local name -> what it was called where it comes from
        self._modules: dict[str, str] = {}  # local name -> the last part of the module's
        self._defined: set[str] = set()  # functions at this file's top level

    def visit_Module(self, node: ast.Module) -> None:
        for inner in ast.walk(node):
            if isinstance(inner, ast.ImportFrom):
                self._imported |= {alias.asname or alias.name: alias.name for alias in inner.names}
            elif isinstance(inner, ast.Import):
                self._modules |= {one.asname or one.name: one.name.rpartition(".")[2] for one in inner.names}
        self._defined = {inner.name for inner in node.body if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef)}
        self.generic_visit(node)

    def _scope(self, node: ast.AST) -> None:
        self._stack.append(node)
        self.generic_visit(node)
        self._stack.pop()

    visit_ClassDef = visit_FunctionDef = visit_AsyncFunctionDef = _scope

    def visit_Call(self, node: ast.Call) -> None:
        called = node.func
        if isinstance(called, ast.Subscript):  # kernel[grid](...)
            called = called.value
        for target in self._targets(called):
            caller = self._caller()
            if (self._path, caller) != (target.path, target.qualified):  # a recursion is no caller
                self.found.append((caller, node.lineno, target))
        self.generic_visit(node)

    def _caller(self) -> str:
        return ".".join(node.name for node in self._stack if hasattr(node, "name")) or "<module>"

    def _targets(self, called: ast.expr) -> list[_Target]:
        """The targets that a called expression can be."""
        if isinstance(called, ast.Name):
            name = self._imported.get(called.id, called.id)
            return [
                target for target in self._names.get(name, ()) if not target.owner and self._reaches(called.id, target)
            ]
        if isinstance(called, ast.Attribute):
            return [target for target in self._names.get(called.attr, ()) if self._through(called.value, target)]
        return []

    def _reaches(self, local: str, target: _Target) -> bool:
        """A bare name is the target where this file defines it or imports it."""
        return target.path == self._path if local in self._defined else local in self._imported

    def _through(self, receiver: ast.expr, target: _Target) -> bool:
        """``receiver.name(...)``: a module's function, or a method of the class or of an object called like it."""
        if not target.owner:
            said = ast.unparse(receiver)
            module = self._modules.get(said) or self._imported.get(said)
            return module in PurePosixPath(target.path).with_suffix("").parts
        classes = [node for node in self._stack if isinstance(node, ast.ClassDef)]
        if isinstance(receiver, ast.Name) and receiver.id in ("self", "cls") and classes:
            inherits = any(target.owner in ast.unparse(base) for base in classes[-1].bases)
            own = any(getattr(inner, "name", None) == target.name for inner in classes[-1].body)
            itself = classes[-1].name == target.owner and self._path == target.path
            return itself or (inherits and not own)
        called_like = ast.unparse(receiver).rpartition(".")[2].lower().replace("_", "")
        return target.name in self._unique or target.owner.lower() in called_like
