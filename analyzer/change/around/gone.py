"""Names that the change took away and that head still looks for: only where nothing else can stand behind the name."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from analyzer.change.around.resolve import BUILTINS, Class, Resolver
from analyzer.change.around.sites import COMMON, FILES, Sites, Target
from analyzer.change.revisions.category import is_test
from analyzer.change.source import Module
from analyzer.model.change import Caller, FileChange

#: Base classes of other packages that bring no method of a project's; torch's module has some of its own.
_PLAIN_BASES = frozenset({"object", "ABC", "abc.ABC", "Enum", "NamedTuple", "Protocol", "nn.Module", "torch.nn.Module"})
_OF_MODULES = frozenset({
    "parameters", "children", "modules", "buffers", "named_parameters", "named_children", "named_modules",
    "named_buffers", "state_dict", "load_state_dict", "train", "eval", "cuda", "cpu", "half", "float", "double",
    "bfloat16", "type", "zero_grad", "requires_grad_", "extra_repr", "compile", "to_empty", "add_module",
    "register_module", "register_buffer", "register_parameter", "get_parameter", "get_submodule", "get_buffer",
})  # fmt: skip


def gone(sites: Sites, files: Iterable[FileChange]) -> list[Caller]:
    """What still names a function or method that the change removed, renamed or moved away."""
    files = tuple(files)
    changed = {(file.path, symbol.name) for file in files for symbol in file.symbols}
    lost = [target for target in dict.fromkeys(_lost(files)) if not COMMON.fullmatch(target.name)]
    there: dict[str, set[str]] = {}
    for target in lost:
        for path in sites.paths(target.name) if len(sites.paths(target.name)) <= FILES else ():
            there.setdefault(path, set()).add(target.name)
    sites.tree.read(there)
    found: dict[tuple[str, str, str], Caller] = {}
    for path in sorted(there):
        module = sites.module(path)
        for target in lost if module is not None else ():
            if target.name not in there[path]:
                continue
            seek = _methods if target.owner else _functions
            for symbol, node, how in seek(target, module, sites):
                one = Caller(
                    symbol=symbol,
                    path=path,
                    line=node.lineno,
                    calls=target.qualified,
                    changed=(path, symbol) in changed,
                    note="test" if is_test(path) else "",
                    how=how,
                    gone=True,
                )
                found.setdefault((path, symbol, target.qualified), one)
    return list(found.values())


def _lost(files: tuple[FileChange, ...]) -> Iterator[Target]:
    """(path, name) of what base has and head has not, nested functions left out."""
    for file in files:
        for symbol in file.symbols:
            if (
                symbol.kind in ("function", "method", "kernel")
                and symbol.change == "removed"
                and not is_test(file.path)
            ):
                yield Target(file.previous_path or file.path, symbol.name)
        for edit in file.edits:
            if edit.kind in ("function-renamed", "function-moved"):
                path = str(edit.detail.get("path_before", edit.path))
                if not is_test(path):
                    yield Target(path, str(edit.detail.get("symbol_before", edit.symbol)))


def _functions(target: Target, module: Module, sites: Sites) -> Iterator[tuple[str, ast.AST, str]]:
    """Uses of a function of the top level: in its own file, or through an import of it."""
    if "." in target.qualified:
        return
    if module.path == target.path:
        if not _binds(module, target.name):
            yield from _uses(module, target.name)
        return
    home = sites.module(target.path)
    if home is None and sites.tree.file("head", target.path) is not None:
        return  # it is there and cannot be read
    if home is not None and _binds(home, target.name):
        return
    for node in _imports(module.tree):
        if not isinstance(node, ast.ImportFrom) or not any(alias.name == target.name for alias in node.names):
            continue
        if _leads_to(node, module, target.path, sites.resolver):
            yield "<module>", node, "imports"


def _binds(module: Module, name: str) -> bool:
    """Whether a file can give a name a meaning: any definition, import, assignment, star, or a ``__getattr__``."""
    if module.whole.stars or name in BUILTINS or "__getattr__" in module.defined or "globals()" in module.text:
        return True
    for node in ast.walk(module.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and node.name == name:
            return True
        if isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load):
            return True
        if isinstance(node, ast.arg) and node.arg == name:
            return True
        if isinstance(node, ast.Import | ast.ImportFrom) and any(
            (alias.asname or alias.name.split(".")[0]) == name for alias in node.names
        ):
            return True
    return False


def _uses(module: Module, name: str) -> Iterator[tuple[str, ast.AST, str]]:
    for function in (module.top, *module.functions.values()):
        for statement in function.statements:
            called = {id(call.func): call for call in statement.calls}
            for node in statement.nodes:
                if isinstance(node, ast.Name) and node.id == name:
                    yield function.name, node, "calls" if id(node) in called else "passes-on"


def _imports(tree: ast.AST) -> Iterator[ast.stmt]:
    """Imports that nothing guards: none in a ``try``, none for the type checker alone."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        elif isinstance(node, ast.Try) or (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)):
            continue
        elif isinstance(node, ast.stmt):
            yield from _imports(node)


def _leads_to(node: ast.ImportFrom, module: Module, path: str, resolver: Resolver) -> bool:
    """Whether an import reads the file at `path`, and no other file of the tree."""
    stem = path.removesuffix(".py").removesuffix("/__init__")
    folders = module.path.split("/")[:-1]
    names = node.module.split(".") if node.module else []
    if node.level:
        return "/".join([*folders[: len(folders) - node.level + 1], *names]) == stem
    places = ["/".join([*folders[:n], *names]) for n in range(len(folders) + 1)]
    return stem in places and not any(resolver.file(place) for place in places if place != stem)


def _methods(target: Target, module: Module, sites: Sites) -> Iterator[tuple[str, ast.AST, str]]:
    """Uses of a method of a class that head still has, on receivers whose class is known."""
    home = sites.module(target.path)
    if home is None or target.owner not in home.classes:
        return
    own = Class(home, home.classes[target.owner])
    for function in (module.top, *module.functions.values()):
        if function is not module.top and target.name not in function.text:
            continue
        for statement in function.statements:
            called = {id(call.func) for call in statement.calls}
            for node in statement.nodes:
                if not (
                    isinstance(node, ast.Attribute) and node.attr == target.name and isinstance(node.ctx, ast.Load)
                ):
                    continue
                classes = sites.resolver.classes_of(node.value, function)
                if len(classes) == 1 and _lacks(classes[0], own, target.name, sites.resolver):
                    yield function.name, node, "calls" if id(node) in called else "passes-on"


def _lacks(its: Class, own: Class, name: str, resolver: Resolver) -> bool:
    """Whether a class that is, or comes from, `own` has nothing of a name, nor anything that could give it one."""
    line = (its, *resolver.above(its))
    if not any(one.node is own.node for one in line):
        return False
    bases = {base for base in resolver.foreign_bases(its) if base.split("[")[0] not in (*_PLAIN_BASES, "Generic")}
    if bases or name in _OF_MODULES or name.startswith("register_"):
        return False
    return not any(_gives(one, name) for one in line)


def _gives(its: Class, name: str) -> bool:
    text = its.module.segment(its.node)
    if its.node.decorator_list or its.node.keywords or "__getattr" in text or "setattr" in text:
        return True
    stored = re.search(rf"(?:\.|^\s*){name}\b\s*(?::[^=\n]+)?=[^=]|\b(?:def|class)\s+{name}\b", text, re.MULTILINE)
    return bool(stored)
