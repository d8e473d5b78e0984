"""Which tests name what changed: by a call or a mention that the parser follows to it, in a test or its file's helpers.

What a test runs is not known, so nothing is said of it. That no test names a symbol is said only where its word stands
in no test file at all, or where every place of it was followed elsewhere.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping

from analyzer.change.around.sites import COMMON, FILES, Site, Sites, Target
from analyzer.change.revisions.category import is_test
from analyzer.change.revisions.sources import SourcePair
from analyzer.change.source import Function, Module, once, parse
from analyzer.model.change import Coverage, FileChange

#: How many symbols are told of.
_SYMBOLS = 40


def coverage(
    found: Iterable[Site], sites: Sites, files: Iterable[FileChange], pairs: Iterable[SourcePair]
) -> tuple[Coverage, ...]:
    """One record for each changed function, method and kernel of which it can be told; `found`: their sites in head."""
    files, found = tuple(files), tuple(found)
    targets = _told_of(files)
    changed = {(file.path, part) for file in files for symbol in file.symbols for part in _with_outer(symbol.name)}
    gone = _removed_tests(files, pairs)
    records = []
    unnamed: dict[Target, list[Site]] = {}
    for target in targets:
        its = [site for site in found if site.target == target]
        tests = _tests([site for site in its if is_test(site.function.path)])
        removed = tuple(sorted(f"{t.path}::{t.name}" for t, text in gone if re.search(rf"\b{target.name}\b", text)))
        if not tests and not _silent(target, sites):
            continue  # a test holds the word and cannot be followed
        if sites.defined(target.name) != 1:
            removed = ()
        if not tests:
            unnamed[target] = [site for site in its if not is_test(site.function.path) and site.how != "passes-on"]
        records.append(_record(target, tests, changed, removed))
    through = _through(unnamed, sites)
    return tuple(
        record.model_copy(update=_one_level(unnamed[target], through, changed)) if target in unnamed else record
        for record in records
        for target in [Target(record.path, record.symbol)]
    )


def _with_outer(name: str) -> list[str]:
    """A name and those of what it stands in: a test whose nested function changed has changed."""
    parts = name.split(".")
    return [".".join(parts[:n]) for n in range(1, len(parts) + 1)]


def _told_of(files: tuple[FileChange, ...]) -> list[Target]:
    """Changed code that a test could name; nested functions and names that every second class has are left out."""
    found = [
        Target(file.path, symbol.name)
        for file in files
        if not is_test(file.path) and file.category in ("source", "kernel") and file.path.endswith(".py")
        for symbol in file.symbols
        if symbol.change != "removed"
        and (symbol.kind == "method" or (symbol.kind in ("function", "kernel") and "." not in symbol.name))
    ]
    return [target for target in found if not COMMON.fullmatch(target.name)][:_SYMBOLS]


def _record(
    target: Target, tests: Iterable[tuple[str, str]], changed: set[tuple[str, str]], removed: tuple[str, ...]
) -> Coverage:
    new, old = _split(tests, changed)
    return Coverage(symbol=target.qualified, path=target.path, changed=new, unchanged=old, removed=removed)


def _split(tests: Iterable[tuple[str, str]], changed: set[tuple[str, str]]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(tests that changed too, tests that did not), as ``path::name``."""
    tests = sorted(set(tests))
    return (
        tuple(f"{path}::{name}" for path, name in tests if (path, name) in changed),
        tuple(f"{path}::{name}" for path, name in tests if (path, name) not in changed),
    )


def _tests(found: Iterable[Site]) -> set[tuple[str, str]]:
    """The tests that have a site, or that name a helper of their file that has one."""
    tests: set[tuple[str, str]] = set()
    for site in found:
        tests |= {(test.path, test.name) for test in _reaching(site.function)}
    return tests


def _reaching(function: Function) -> list[Function]:
    """Tests of a file that are, or that name through helpers of the file, a function of it."""
    module = function.module
    outer = _outer(function, module)
    if _is_test(outer):
        return [outer]
    if outer is module.top:
        return []
    words, grown = {outer.simple_name}, True
    helpers = [f for f in module.functions.values() if _outer(f, module) is f]
    while grown:
        before = len(words)
        words |= {f.simple_name for f in helpers if not _is_test(f) and words & _words(f)}
        grown = len(words) > before
    return [f for f in helpers if _is_test(f) and words & _words(f)]


def _outer(function: Function, module: Module) -> Function:
    """The function of the top level, or the method, that a nested one stands in."""
    name = function.name
    while "." in name and name.rpartition(".")[0] in module.functions:
        name = name.rpartition(".")[0]
    return module.functions.get(name, function)


@once
def _words(function: Function) -> set[str]:
    """The names that a function's code and parameters (fixtures are named there) hold."""
    node = function.node
    return {
        n.id if isinstance(n, ast.Name) else n.attr if isinstance(n, ast.Attribute) else n.arg
        for n in ast.walk(node)
        if isinstance(n, ast.Name | ast.Attribute | ast.arg)
    }


def _is_test(function: Function) -> bool:
    return function.simple_name.startswith("test") and is_test(function.path)


def _silent(target: Target, sites: Sites) -> bool:
    """Whether no test file holds the word in its code: then no test names the symbol."""
    paths = [path for path in sites.paths(target.name) if is_test(path)]
    if len(paths) > FILES:
        return False
    sites.tree.read(paths)
    return all((module := sites.module(path)) is not None and target.name not in _said(module) for path in paths)


def _said(module: Module) -> set[str]:
    """All words of a file's code, texts included, comments not."""
    found: set[str] = set()
    for node in ast.walk(module.tree):
        for value in (getattr(node, "id", None), getattr(node, "attr", None), getattr(node, "name", None)):
            if isinstance(value, str):
                found.add(value.rpartition(".")[2])
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            found |= set(re.findall(r"\w+", node.value))
    return found


def _removed_tests(files: tuple[FileChange, ...], pairs: Iterable[SourcePair]) -> list[tuple[Function, str]]:
    """Tests that base has and head has not, with their text."""
    names = {
        (file.previous_path or file.path, symbol.name)
        for file in files
        for symbol in file.symbols
        if symbol.change == "removed" and symbol.kind in ("function", "method") and is_test(file.path)
    }
    found = []
    for pair in pairs:
        path = pair.previous_path or pair.path
        if any(path == one for one, _ in names) and pair.base is not None:
            its = parse(path, pair.base).functions.values()
            found += [(f, f.text) for f in its if (path, f.name) in names and _is_test(f)]
    return found


def _through(unnamed: Mapping[Target, list[Site]], sites: Sites) -> dict[tuple[str, str], set[tuple[str, str]]]:
    """The tests that name each function that calls what no test names."""
    callers = {Target(site.function.path, site.function.name) for its in unnamed.values() for site in its}
    callers = {one for one in callers if one.qualified != "<module>" and not COMMON.fullmatch(one.name)}
    found: dict[tuple[str, str], list[Site]] = {}
    for site in sites.of(sorted(callers, key=lambda one: (one.path, one.qualified))):
        if is_test(site.function.path):
            found.setdefault((site.target.path, site.target.qualified), []).append(site)
    return {caller: _tests(its) for caller, its in found.items()}


def _one_level(
    its: list[Site], through: Mapping[tuple[str, str], set[tuple[str, str]]], changed: set[tuple[str, str]]
) -> dict[str, object]:
    """The caller that the most tests name, with those."""
    known = {(site.function.path, site.function.name): site for site in its}
    best = max(known, key=lambda key: (len(through.get(key, ())), key), default=None)
    if best is None or not through.get(best):
        return {}
    new, old = _split(through[best], changed)
    return {
        "through": best[1],
        "launches": known[best].how == "launches",
        "through_changed": new,
        "through_unchanged": old,
    }
