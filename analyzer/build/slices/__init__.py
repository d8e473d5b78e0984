"""Slices: wanted symbols of a revision with everything they need and nothing else, cut out with the AST.

A slice imports where the whole package cannot: without its dependencies, its compiled extensions, its start-up code.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from analyzer.build.slices.closure import Closure
from analyzer.build.slices.text import render


@dataclass(frozen=True)
class Slice:
    """`files`: source by path, to be written under one folder of the import path. `entry`: the module to import.

    `missing`: what could not be had, with why; code that reaches it raises NameError (ImportError where the import
    stands in a `try` or in a function). `lazy`: in-tree imports inside functions that were too large to follow; they
    fail when the function is called. `bridges`: the modules that a stub replaced.
    """

    files: dict[str, str]
    entry: str
    missing: tuple[str, ...] = ()
    lazy: tuple[str, ...] = ()
    bridges: tuple[str, ...] = ()


def cut(read: Callable[[str], str | None], module: str, names: list[str], stubs: dict[str, str]) -> Slice:
    """Cut `names` (functions, classes, constants; `Class.method` takes the class) of `module` out of a revision.

    A name of another module that the slice's user needs is written `other.module:name`.
    `read` gives a file's source by its path from the import root, None where there is none: a module is in-tree if
    that has it. `stubs` (module -> source) replace modules outright. Kept text keeps its line numbers. Never raises
    for the sake of the revision's code: what is not there or does not parse is named in `missing`.
    """
    closure = Closure(read, stubs)
    closure.want([name.rpartition(":")[::2] if ":" in name else (module, name) for name in names])
    files: dict[str, str] = {}
    for name, kept in closure.kept.items():
        unit = closure.module(name)
        starred = closure.starred.get(name, set())
        files[unit.path] = unit.source if unit.is_stub else render(unit, kept, starred, closure.is_module)
    for path in list(files):
        folders = path.split("/")[:-1]
        for depth in range(1, len(folders) + 1):
            files.setdefault("/".join([*folders[:depth], "__init__.py"]), "")
    bridges = sorted(name for name in closure.kept if name in stubs)
    return Slice(files, module, tuple(closure.missing), tuple(closure.lazy), tuple(bridges))
