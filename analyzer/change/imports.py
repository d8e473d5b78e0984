"""Names that a file uses on both sides and that come from another module."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from analyzer.change.nodes import last_name
from analyzer.change.source import Module
from analyzer.model.change import Edit


@dataclass(frozen=True)
class Import:
    """`dotted`: what the name stands for, without leading dots."""

    dotted: str
    node: ast.Import | ast.ImportFrom

    def origin(self, name: str) -> str:
        """The module, and what the name is called there where it has another name."""
        module, _, last = self.dotted.rpartition(".")
        return module if module and last == name else self.dotted


def import_edits(base: Module, head: Module, moved: frozenset[str], renames: Mapping[str, str]) -> Iterator[Edit]:
    """`moved`: names of functions and classes that the change moves itself; `renames`: of files, base -> head."""
    x, y = _imports(base), _imports(head)
    modules = {_module(old): _module(new) for old, new in renames.items()}
    differing = [
        name
        for name in x.keys() & y.keys()
        if x[name].dotted != y[name].dotted
        and not ({name, x[name].dotted.rpartition(".")[2]} & moved)
        and not _renamed(x[name].dotted, y[name].dotted, modules)
    ]
    if not differing:
        return
    used = _used(base.whole) & _used(head.whole)
    for name in sorted(differing):
        if name not in used:
            continue
        one, two = x[name], y[name]
        detail: dict = {"name": name, "from_before": one.origin(name), "from_after": two.origin(name)}
        if base.path != head.path:
            detail |= {"path_before": base.path, "path_after": head.path}
        yield Edit(
            kind="import-changed", path=head.path, symbol=name, base_line=one.node.lineno, head_line=two.node.lineno,
            before=base.segment(one.node), after=head.segment(two.node), detail=dict(sorted(detail.items())),
        )  # fmt: skip


def _renamed(before: str, after: str, modules: Mapping[str, str]) -> bool:
    """Whether the name follows a file that has another path."""
    return any(
        old and (before == old or before.startswith(f"{old}.")) and after == new + before[len(old) :]
        for old, new in modules.items()
    )


def _module(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _imports(module: Module) -> dict[str, Import]:
    """Imports outside of functions, without those that only a type checker runs."""
    found: dict[str, Import] = {}
    package = _module(module.path).split(".")
    if not module.path.endswith("/__init__.py"):
        package = package[:-1]

    def visit(body: list[ast.stmt]) -> None:
        for node in body:
            if isinstance(node, ast.Import):
                for name in node.names:
                    local = name.asname or name.name.split(".")[0]
                    found[local] = Import(name.name if name.asname else local, node)
            elif isinstance(node, ast.ImportFrom):
                above = package[: len(package) - node.level + 1] if node.level else []
                for name in node.names:
                    dotted = ".".join([*above, *([node.module] if node.module else []), name.name])
                    found[name.asname or name.name] = Import(dotted, node)
            elif isinstance(node, ast.If) and last_name(node.test) != "TYPE_CHECKING":
                visit(node.body)
                visit(node.orelse)
            elif isinstance(node, ast.Try):
                for handler in node.handlers:
                    visit(handler.body)
                visit(node.body)

    visit(module.tree.body)
    visit = None  # it holds itself, and with it the file
    return found


def _used(module: Module) -> set[str]:
    """Names that are read where code runs, annotations left out."""
    found: set[str] = set()
    waiting: list[ast.AST] = [module.tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name):
            found.add(node.id)
        for name, value in ast.iter_fields(node):
            if name not in ("annotation", "returns"):
                waiting += [one for one in (value if isinstance(value, list) else [value]) if isinstance(one, ast.AST)]
    return found
