"""Who calls what changed, in the head revision's whole tree, and what becomes of a tensor that is now overwritten."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from analyzer.change.around.afterwards import Use, uses_after
from analyzer.change.around.gone import gone
from analyzer.change.around.sites import Site, Sites, Target
from analyzer.change.inside.launches import bound_arguments
from analyzer.change.revisions.category import is_test
from analyzer.change.source import Function
from analyzer.model.base import Text
from analyzer.model.change import Caller, Edit, FileChange, Symbol

#: How many callers a report can use, and how many places of a tensor's later use.
_CALLERS, _USES = 60, 3
_WHAT = {"returns": "返回 {}", "passes on": "将 {} 传给其他调用", "reads": "读取 {}"}


def targets(files: Iterable[FileChange]) -> tuple[Target, ...]:
    """The Python functions, methods and kernels that changed and that head still has; tests are none."""
    return tuple(
        Target(file.path, symbol.name)
        for file in files
        for symbol in file.symbols
        if _counts(file, symbol) and symbol.change != "removed"
    )


def _counts(file: FileChange, symbol: Symbol) -> bool:
    python = file.path.endswith(".py") and not is_test(file.path)
    return python and symbol.kind in ("function", "method", "kernel")


def callers(found: Iterable[Site], sites: Sites, files: Iterable[FileChange]) -> tuple[Caller, ...]:
    """One record for each function and what it calls: source before tests, by path and line; `found`: their sites."""
    files = tuple(files)
    changed = {(file.path, symbol.name) for file in files for symbol in file.symbols}
    overwritten: dict[Target, list[Edit]] = {}
    for file in files:
        for edit in file.edits:
            if edit.kind == "in-place-introduced":
                overwritten.setdefault(Target(edit.path, edit.symbol), []).append(edit)
    told: dict[tuple[str, str, Target], list[Site]] = {}
    for site in found:
        told.setdefault((site.function.path, site.function.name, site.target), []).append(site)
    bases = {file.path: file.previous_path or file.path for file in files}
    records = []
    for (path, symbol, target), its in told.items():
        first = min(its, key=lambda site: (site.call is None, site.line))
        records.append(
            Caller(
                symbol=symbol,
                path=path,
                line=first.line,
                calls=target.qualified,
                changed=(path, symbol) in changed or _reworded(first.function, bases, sites),
                note="test" if is_test(path) else "",
                how=first.how,
                after=_after(its, overwritten.get(target, [])),
            )
        )
    records += gone(sites, files)
    records.sort(key=lambda one: (is_test(one.path), not one.gone, one.path, one.line, one.calls))
    return tuple(records[:_CALLERS])


def _reworded(function: Function, bases: dict[str, str], sites: Sites) -> bool:
    """Whether anything of a function reads otherwise in base, be it an annotation."""
    if function.path not in bases or function.name == "<module>":
        return False
    return function.text not in (sites.tree.file("base", bases[function.path]) or "")


def _after(found: list[Site], edits: list[Edit]) -> Text | None:
    """What a caller does with each tensor that its calls now overwrite."""
    said = []
    for edit in edits:
        for site in found:
            one = _afterwards(site, str(edit.detail["parameter"]))
            if one is None:
                return None  # one call that cannot be told, and nothing is said of the others
            said.append(one)
    said = list(dict.fromkeys(said))
    return Text(en="; ".join(one.en for one in said), zh="；".join(one.zh for one in said)) if said else None


def _afterwards(site: Site, parameter: str) -> Text | None:
    if site.call is None or site.function.name == "<module>":
        return None
    argument = bound_arguments(site.call, site.reached).get(parameter)
    uses = uses_after(site.function, site.call, argument) if argument is not None else None
    if uses is None:
        return None
    kept = [s.target() for s in site.function.statements if any(call is site.call for call in s.calls)]
    if not uses and kept == [ast.unparse(argument)]:
        return Text(en=f"keeps only the result, as `{kept[0]}`", zh=f"只保留返回值，仍名为 `{kept[0]}`")
    if not uses:
        name = ast.unparse(argument)
        return Text(en=f"does not use `{name}` afterwards", zh=f"此后不再使用 `{name}`")
    shown = uses[:_USES]
    more = len(uses) - len(shown)
    en = ", ".join(map(_said, shown)) + (
        f", and at {more} more lines" if more > 1 else ", and at 1 more line" if more else ""
    )
    zh = "，".join(map(_said_zh, shown)) + (f"，另有 {more} 行" if more else "")
    return Text(en=f"afterwards {en}", zh=f"此后{zh}")


def _said(use: Use) -> str:
    where = f" where `{use.condition}` holds" if use.condition else ""
    return f"{use.what} `{use.name}` at line {use.line}{where}"


def _said_zh(use: Use) -> str:
    where = f"当 `{use.condition}` 成立时" if use.condition else ""
    return f"{where}在第 {use.line} 行{_WHAT[use.what].format(f'`{use.name}`')}"
