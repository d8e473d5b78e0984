"""The steps of an implementation as a reader can take them in: each file alone, or many with the same to say together.

A change of three hundred files has a few that matter. What is the same in many files is told once, files of which there
is nothing to say but that they changed are listed, and what is beyond the cap is counted by folder.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from analyzer.change.facts import TEXT_ALONE
from analyzer.model.base import Text
from analyzer.model.change import FileChange
from analyzer.model.report import Report
from analyzer.report.grouping import grouped, readings, told
from analyzer.report.phrases import phrase
from analyzer.report.prose import CATEGORY_ORDER
from analyzer.report.sentences import listed

#: From this number on, files are told together.
MANY = 3
#: Edits of a file that may be the same as another's.
REPEATED = 3
FOLDERS = 4
NAMES = 8
#: Files that are named; of more the folders are.
FEW = 12
#: How deep a folder is named in a count.
DEPTH = 3


@dataclass(frozen=True)
class Item:
    """One entry: what it is about (a file's name, or how many files), and what is said of it."""

    title: Text
    sentences: tuple[Text, ...]
    files: tuple[FileChange, ...]


def digest(report: Report, cap: int) -> list[Item]:
    """The steps, at most `cap` of them, then a count of the rest for each category."""
    by_path = {file.path: file for file in report.implementation.files}
    names = short_names(by_path)
    groups: dict[object, list[FileChange]] = {}
    sentences = {}
    for step in report.implementation.steps:
        sentences[step.path] = step.sentences
        groups.setdefault(_key(by_path[step.path]), []).append(by_path[step.path])
    items = []
    for key, files in groups.items():
        if len(files) >= MANY and key != files[0].path:
            items.append(_together(files, names))
        else:
            items += [Item(_name(names[file.path]), sentences[file.path], (file,)) for file in files]
    places = {step.path: place for place, step in enumerate(report.implementation.steps)}
    items.sort(
        key=lambda item: (_tier(item), _quiet(item.files[0]) and len(item.files) > 1, places[item.files[0].path])
    )
    if len(items) <= cap:
        return items
    return items[:cap] + list(_rest(items[cap:]))


def _tier(item: Item) -> int:
    """Code, then what builds it and runs with it, then documents and tests."""
    order = CATEGORY_ORDER.index(item.files[0].category)
    return max(order, CATEGORY_ORDER.index("kernel"))


def short_names(paths: Iterable[str]) -> dict[str, str]:
    """Path -> the shortest end of it, in whole parts, that no other path has."""
    split = {path: path.split("/") for path in paths}
    ends = Counter("/".join(parts[-n:]) for parts in split.values() for n in range(1, len(parts) + 1))
    return {
        path: next(
            (end for n in range(1, len(parts) + 1) if ends[end := "/".join(parts[-n:])] == 1),
            path,
        )
        for path, parts in split.items()
    }


def _key(file: FileChange) -> object:
    """What files that are told together have in common; the path of one that is told alone."""
    if _remarks(file) or file.unread:
        return file.path
    if _quiet(file):
        return (file.category, _way(file))
    spoken = {edit.symbol for edit in file.edits}
    alike = file.status == "modified" and len(file.edits) <= REPEATED and all(s.name in spoken for s in file.symbols)
    return (file.category == "test", readings(file.edits)) if alike else file.path


def _quiet(file: FileChange) -> bool:
    """Whether there is nothing to say of a file but that it changed."""
    return not (file.edits or _remarks(file) or file.unread)


def _remarks(file: FileChange) -> list[Text]:
    return [note for note in file.notes if note != TEXT_ALONE]


def _way(file: FileChange) -> str:
    if file.status in ("added", "deleted"):
        return file.status
    return "moved" if file.previous_path else "text-alone" if TEXT_ALONE in file.notes else "unrecognised"


def _together(files: Sequence[FileChange], names: dict[str, str]) -> Item:
    first = files[0]
    title = phrase("digest.files", count=len(files), category=phrase(f"categories.{first.category}"))
    named = listed([names[file.path] for file in files], NAMES) if len(files) <= FEW else _folders(files)
    if not _quiet(first):
        edits = [edit for file in files for edit in file.edits]
        return Item(title, (phrase("digest.alike", files=named), *told(grouped(edits), edits)), tuple(files))
    if _way(first) == "unrecognised" and len(files) <= FEW:
        named = listed([_with_lines(file, names) for file in files], NAMES)
    return Item(title, (phrase(f"digest.{_way(first)}", files=named, **_lines(files)),), tuple(files))


def _with_lines(file: FileChange, names: dict[str, str]) -> str:
    return f"{names[file.path]} +{file.added} −{file.removed}"


def _rest(items: Sequence[Item]) -> Iterator[Item]:
    """A count of files for each category, with the folders that have most of them; one that is alone stays an entry."""
    for category in dict.fromkeys(item.files[0].category for item in items):
        its = [item for item in items if item.files[0].category == category]
        files = tuple(file for item in its for file in item.files)
        if len(its) == 1:
            yield its[0]
            continue
        edits = sum(edit.count for file in files for edit in file.edits)
        yield Item(
            phrase("digest.more-files", count=len(files), category=phrase(f"categories.{category}")),
            (phrase("digest.rest", folders=_folders(files), edits=edits, **_lines(files)),),
            files,
        )


def _folders(files: Iterable[FileChange]) -> Text:
    """``a/b/ 12``, ``a/c/ 3``: where the files are, and how many."""
    counts = Counter("/".join(file.path.split("/")[:-1][:DEPTH]) or "." for file in files).most_common()
    return listed([f"{folder}/ {count}" for folder, count in counts], FOLDERS)


def _lines(files: Iterable[FileChange]) -> dict[str, int]:
    files = list(files)
    return {"added": sum(file.added for file in files), "removed": sum(file.removed for file in files)}


def _name(path: str) -> Text:
    return Text(en=path, zh=path)
