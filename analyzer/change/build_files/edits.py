"""The edits of build files: the facts of both sides matched.

As for code, direction is which side has a fact. A file that only one side has is one edit for all that it states, and
a lock file one for the versions that moved, beside those of the libraries that kernels rest on.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator
from functools import partial
from pathlib import PurePosixPath

from analyzer.change.build_files import locks
from analyzer.change.build_files.cmake import cmake
from analyzer.change.build_files.fact import BuildFact, Unreadable
from analyzer.change.build_files.flags import changes_numbers
from analyzer.change.build_files.requirements import is_compiled, requirement_file
from analyzer.change.build_files.scripts import dockerfile, makefile
from analyzer.change.build_files.setup_script import has_build_facts, setup_script
from analyzer.change.build_files.tables import cargo, pyproject, setup_cfg
from analyzer.change.source import plain
from analyzer.model.base import Text
from analyzer.model.change import Edit

#: So many names are told of a group that is one edit.
_NAMES = 8
_BY_NAME: dict[str, Callable[[str], Iterable[BuildFact]]] = {
    "pyproject.toml": pyproject,
    "cargo.toml": cargo,
    "setup.cfg": setup_cfg,
    "cmakelists.txt": cmake,
    "makefile": makefile,
    "gnumakefile": makefile,
    **dict.fromkeys(locks.NAMES, locks.lock_file),
}
Pair = tuple[BuildFact | None, BuildFact | None]


def is_build_file(path: str) -> bool:
    """Whether a path is that of a build or dependency file, by its name."""
    return _reader(path) is not None or PurePosixPath(path).name.lower() == "setup.py"


def facts_of(path: str, text: str) -> list[BuildFact]:
    """What a file states as a build or dependency file, nothing for another; Unreadable where its format is broken."""
    if reader := _reader(path):
        return list(reader(plain(text)))
    if path.endswith(".py") and has_build_facts(path, text):
        return list(setup_script(plain(text)))
    return []


def _reader(path: str) -> Callable[[str], Iterable[BuildFact]] | None:
    """What reads a file of this name."""
    name = PurePosixPath(path).name.lower()
    if name in _BY_NAME:
        return _BY_NAME[name]
    if name.endswith(".cmake"):
        return cmake
    if name.endswith(".mk"):
        return makefile
    if re.match(r"(?:.*[.-])?(?:docker|container)file(?:[.-].*)?$", name) and not name.endswith((".md", ".py")):
        return dockerfile
    return partial(_requirements, path) if is_requirement_file(path) else None


def _requirements(path: str, text: str) -> Iterable[BuildFact]:
    facts = requirement_file(path, text)
    return locks.locked(facts) if is_compiled(text) else facts


def is_requirement_file(path: str) -> bool:
    pure = PurePosixPath(path.lower())
    listed = pure.suffix in (".txt", ".in")
    named = re.search(r"requirements|constraints", pure.stem) or "requirements" in pure.parts[:-1]
    return listed and bool(named)


def build_edits(
    path: str, previous_path: str | None, base: str | None, head: str | None
) -> tuple[list[Edit], tuple[Text, ...]]:
    """The edits of one file, None for a side that has it not, and what to note of it."""
    sides: list[list[BuildFact]] = []
    for its, text in ((previous_path or path, base), (path, head)):
        try:
            sides.append(facts_of(its, text) if text is not None else [])
        except (Unreadable, RecursionError) as error:
            return [], (_unreadable(its, getattr(error, "line", None)),)
    pairs = _matched(*sides)
    differing = [(x, y) for x, y in pairs if x is None or y is None or _differ(x, y)]
    whole = base is None or head is None
    apart = [pair for pair in differing if not whole and all(f.apart for f in pair if f)]
    together = [pair for pair in differing if whole or not all(f.apart for f in pair if f)]
    places = (previous_path or path, path)
    lists = [_list_edit(group, *places) for group in _lists(apart)]
    return lists + [_edit(group, *places) for group in _groups(together)], ()


def _unreadable(path: str, line: int | None) -> Text:
    where = f" (line {line})" if line else ""
    return Text(
        en=f"{path} cannot be parsed{where}: its dependencies and flags are not listed.",
        zh=f"{path} 无法解析{f'（第 {line} 行）' if line else ''}：未列出其依赖与编译选项的改动。",
    )


def _one(pair: Pair) -> BuildFact:
    return pair[1] or pair[0]


def _differ(x: BuildFact, y: BuildFact) -> bool:
    return (x.value, x.condition) != (y.value, y.condition)


def _matched(base: list[BuildFact], head: list[BuildFact]) -> list[Pair]:
    """The same fact first, then another value under the same condition, then another condition, then the name alone."""
    pairs: list[Pair] = []
    order = {id(fact): place for place, fact in enumerate(base)}
    stages: tuple[Callable[[BuildFact], Hashable], ...] = (
        lambda f: (f.value, f.condition),
        lambda f: f.condition,
        lambda f: f.value,
        lambda f: None,
    )
    for stage in stages:
        waiting: dict[Hashable, list[BuildFact]] = defaultdict(list)
        for fact in base:
            waiting[fact.noun, fact.symbol, fact.name, stage(fact)].append(fact)
        left = []
        for fact in head:
            others = waiting.get((fact.noun, fact.symbol, fact.name, stage(fact)))
            if others:
                pairs.append((others.pop(0), fact))
            else:
                left.append(fact)
        base = sorted((fact for others in waiting.values() for fact in others), key=lambda fact: order[id(fact)])
        head = left
    return pairs + [(fact, None) for fact in base] + [(None, fact) for fact in head]


def _groups(pairs: list[Pair]) -> Iterator[list[Pair]]:
    """Pairs that are one edit: of the same noun and direction."""
    groups: dict[tuple, list[Pair]] = defaultdict(list)
    for x, y in pairs:
        groups[_one((x, y)).noun, x is None, y is None].append((x, y))
    yield from groups.values()


def _lists(pairs: list[Pair]) -> Iterator[list[Pair]]:
    """Each pair by itself; architectures that one list gains or loses together."""
    groups: dict[Hashable, list[Pair]] = defaultdict(list)
    for place, pair in enumerate(pairs):
        sides = tuple((f.line, f.condition) if f else None for f in pair)
        listed = _one(pair).architecture == _one(pair).name
        groups[(_one(pair).symbol, *sides) if listed else place].append(pair)
    yield from groups.values()


def _list_edit(pairs: list[Pair], previous: str, path: str) -> Edit:
    """One edit for a pair, or for architectures of one list."""
    (x, y), fact = pairs[0], _one(pairs[0])
    detail = _detail(x, y)
    if len(pairs) > 1:
        names = sorted((_one(pair).name for pair in pairs), key=lambda name: (len(name.partition(".")[0]), name))
        detail |= dict.fromkeys(("flag", "architecture"), ", ".join(names))
    return _make(pairs, previous, path, fact.symbol, x.text if x else "", y.text if y else "", detail)


def _edit(pairs: list[Pair], previous: str, path: str) -> Edit:
    """One edit for a group of which only the names are told."""
    if len(pairs) == 1:
        return _list_edit(pairs, previous, path)
    pairs = sorted(pairs, key=lambda pair: (_one(pair).name, sorted(f.line for f in pair if f)))
    flags = _one(pairs[0]).noun == "build-flag"
    names = list(dict.fromkeys(_one(pair).shown if flags else _one(pair).name for pair in pairs))
    detail: dict[str, str | bool] = {"names": ", ".join(names[:_NAMES]) + (", …" if len(names) > _NAMES else "")}
    if all(f.group == "lock" for pair in pairs for f in pair if f):
        detail["group"] = "lock"
    return _make(pairs, previous, path, "", "", "", detail)


def _make(
    pairs: list[Pair], previous: str, path: str, symbol: str, before: str, after: str, detail: dict[str, str | bool]
) -> Edit:
    x, y = pairs[0]
    way = "added" if x is None else "removed" if y is None else "changed"
    if way == "changed" and previous != path:
        detail |= {"path_before": previous, "path_after": path}
    lines = [min((f.line for f in side if f), default=None) for side in zip(*pairs, strict=True)]
    return Edit(
        kind=f"{_one(pairs[0]).noun}-{way}", path=previous if way == "removed" else path, symbol=symbol,
        base_line=lines[0], head_line=lines[1], before=before[:400], after=after[:400], count=len(pairs),
        detail=dict(sorted((k, v) for k, v in detail.items() if v != "")),
    )  # fmt: skip


def _detail(x: BuildFact | None, y: BuildFact | None) -> dict[str, str | bool]:
    fact = y or x
    both = [f for f in (x, y) if f]
    if fact.noun == "dependency":
        detail: dict[str, str | bool] = {"name": fact.name}
        what, shown = "requirement", _requirement
        same = len({f.group for f in both}) == 1
        detail |= {"group": fact.group} if same else {"group_before": x.group, "group_after": y.group}
    else:
        detail = {"scope": fact.symbol, "flag": fact.name if len(both) > 1 else fact.shown}
        what, shown = "flag", lambda f: f.shown
        if any(changes_numbers(f.shown) for f in both):
            detail["numerics"] = True
        if len({f.architecture for f in both}) == 1:
            detail["architecture"] = fact.architecture
    if len(both) == 1:
        return detail | ({what: shown(fact)} if what == "requirement" else {}) | {"condition": fact.condition}
    if x.value != y.value:
        detail |= {f"{what}_before": shown(x), f"{what}_after": shown(y)}
    elif what == "requirement":
        detail[what] = min(shown(x), shown(y))
    if x.condition != y.condition:
        return detail | {"condition_before": x.condition, "condition_after": y.condition}
    return detail | {"condition": x.condition}


def _requirement(fact: BuildFact) -> str:
    """A requirement with the name of what is required."""
    between = ":" if fact.group == "base image" and fact.shown else "" if re.match(r"[\[<>=!~]", fact.shown) else " "
    return f"{fact.name}{between}{fact.shown}".strip()
