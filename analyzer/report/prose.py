"""Edits in sentences: what each file's change does, and the change in one sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from analyzer.change.facts import TEXT_ALONE
from analyzer.model.base import LEVELS, Text
from analyzer.model.change import Change, Edit, FileChange
from analyzer.model.finding import Finding
from analyzer.model.plan import Plan
from analyzer.model.report import FileStep
from analyzer.report.figures import name_of
from analyzer.report.grouping import TIERS, grouped, rank, told, weightiest
from analyzer.report.phrases import phrase
from analyzer.report.sentences import Told, listed

#: Groups of edits told of one file; the number of further edits is told.
GROUPS = 8
#: Groups of edits told in the one sentence about the whole change.
HEADLINES = 2
#: Edits among which those groups are looked for.
LOOKED_AT = 60
#: Files from which on the summary begins with their number.
LARGE = 30
#: Which files a reader wants first.
CATEGORY_ORDER = ("source", "kernel", "build", "ci", "data", "docs", "test")
#: The weight of a file without an edit.
_LAST = sum(map(len, TIERS))


def steps(change: Change, findings: Sequence[Finding]) -> tuple[FileStep, ...]:
    """One step a file: those with the strongest findings first, tests and documents last."""
    files = sorted(change.files, key=lambda file: _weight(file, findings))
    left: dict[str, list[Edit]] = {}
    for edit in change.edits:
        if edit.kind == "function-moved" and edit.detail.get("path_before") not in (None, edit.path):
            left.setdefault(str(edit.detail["path_before"]), []).append(edit)
    return tuple(FileStep(path=file.path, sentences=_of_file(file, left.get(file.path, ()))) for file in files)


def one_line(plan: Plan) -> Text:
    """The change in one sentence: what a revert takes back, and the edits that the strongest findings rest on."""
    reverts = [r for r in plan.related if plan.is_revert and r.relation in ("reverts", "partially-reverts")]
    target = next(iter(reverts), None)
    said = []
    if target:
        exact = any(r.relation == "exact-inverse-of" and name_of(r) == name_of(target) for r in plan.related)
        said.append(phrase("summary.reverts", what=name_of(target), exact=exact, part=target.relation != "reverts"))
    files = plan.change.files
    if len(files) >= LARGE:
        lines = {"added": sum(file.added for file in files), "removed": sum(file.removed for file in files)}
        said.append(phrase("summary.large", files=_by_category(files), **lines))
    code_files = [file for file in plan.change.files if file.category in ("source", "kernel") and file.symbols]
    if code_files and not any(file.edits for file in code_files):
        said += _of_file(max(code_files, key=lambda file: file.added + file.removed))[:HEADLINES]
    else:
        said += _strongest(plan)
    unread = [file for file in files if untold(file)]
    if unread:
        said.append(phrase("summary.untold", files=listed([file.path for file in unread]), several=len(unread)))
    if said:
        return join(said)
    alone = bool(files) and all(TEXT_ALONE in file.notes for file in files)
    return phrase("summary.text-alone" if alone else "summary.no-edits", count=len(files))


def untold(file: FileChange) -> bool:
    """Whether a file of code changed in what could not be compared."""
    told = file.symbols or file.edits or file.category not in ("source", "kernel")
    return not told and bool(file.unread or [note for note in file.notes if note != TEXT_ALONE])


def _by_category(files: Iterable[FileChange]) -> Text:
    """``3 source files, 1 test file``."""
    counts = Counter(file.category for file in files).most_common()
    told = [phrase("summary.files", count=count, category=phrase(f"categories.{name}")) for name, count in counts]
    english = [one.en for one in told]
    joined = " and ".join([", ".join(english[:-1]), english[-1]] if english[1:] else english)
    return Text(en=joined, zh="、".join(one.zh for one in told))


def join(sentences: Iterable[Text]) -> Text:
    """Sentences one after the other."""
    said = list(sentences)
    return Text(en=" ".join(one.en for one in said), zh="".join(one.zh for one in said))


def _of_file(file: FileChange, left: Sequence[Edit] = ()) -> tuple[Text, ...]:
    """What is said of a file. `left`: functions that were moved out of it, told where they went to."""
    groups = grouped(file.edits)
    said = told(groups[:GROUPS], file.edits)
    if len(groups) > GROUPS:
        said.append(phrase("notes.more-edits", count=sum(len(group.edits) for group in groups[GROUPS:])))
    if file.status in ("added", "deleted"):
        said.insert(0, phrase(f"notes.{file.status}"))
    elif file.previous_path:
        said.insert(0, phrase("notes.renamed", path=file.previous_path))
    if file.unread:
        said.append(phrase("notes.unread", why=file.unread))
    said += [note for note in file.notes if not _says_rename(note, file.edits)]
    if file.status in ("added", "deleted"):
        return tuple(said)
    if left and not said and not file.symbols:
        names = listed([str(edit.detail.get("symbol_before", edit.symbol)) for edit in left])
        return (phrase("notes.moved-out", names=names, several=len(left), added=file.added, removed=file.removed),)
    return (*said, *_without_edit(file, bool(said)))


def _without_edit(file: FileChange, otherwise: bool) -> list[Text]:
    """Symbols that no edit speaks of: values that came or went, and code whose lines are for a reader to judge."""
    spoken = {edit.symbol for edit in file.edits}
    spoken |= {
        str(edit.detail[name]) for edit in file.edits for name in ("origin", "symbol_before") if name in edit.detail
    }
    spoken |= {f"{edit.symbol}.{edit.detail['parameter']}" for edit in file.edits if "parameter" in edit.detail}
    classes = tuple(f"{edit.symbol}." for edit in file.edits if edit.detail.get("what") == "class")
    others = [s for s in file.symbols if s.name not in spoken and not s.name.startswith(classes)]
    said = []
    for way in ("added", "removed"):
        values = [symbol.name for symbol in others if symbol.change == way and symbol.kind == "constant"]
        if values:
            said.append(phrase(f"notes.values-{way}", names=listed(values), several=len(values)))
    if names := [symbol.name for symbol in others if symbol.change == "names"]:
        said.append(phrase("notes.names-alone", names=listed(names), several=len(names)))
    changed = [symbol.name for symbol in others if symbol.change in ("body", "signature")]
    if changed or not (said or otherwise):
        key = "notes.others-changed" if said or otherwise else "notes.unrecognised"
        test = file.category == "test"  # of its functions only cases, tolerances and skips are compared
        said.append(phrase(key, names=listed(changed), added=file.added, removed=file.removed, test=test))
    return said


def _says_rename(note: Text, edits: Iterable[Edit]) -> bool:
    """Whether a note on a parameter that callers may name is what an edit's sentence says already."""
    return any(
        edit.detail.get("renamed")
        and not edit.detail.get("kernel")
        and note.en.startswith(f"`{edit.symbol}`: parameter")
        for edit in edits
        if edit.kind == "parameter-changed"
    )


def _weight(file: FileChange, findings: Sequence[Finding]) -> tuple[int, int, int, bool, int]:
    strongest = max((LEVELS.index(f.severity) for f in findings if f.path == file.path), default=0)
    place = max(CATEGORY_ORDER.index(file.category), 1)  # sources and kernels are told together
    weightiest = min(map(rank, file.edits), default=_LAST)
    return (place, -strongest, weightiest, file.category != "kernel", -(file.added + file.removed))


def _strongest(plan: Plan) -> list[Text]:
    """What to say first: the edits of findings medium or above, then the weightiest kinds, one a symbol and noun."""
    serious = [edit for f in plan.findings if LEVELS.index(f.severity) >= LEVELS.index("medium") for edit in f.edits]
    code_edits = [edit for file in plan.change.files if file.category != "test" for edit in file.edits]
    groups = grouped(_brief(serious)) + grouped(_brief(code_edits or plan.change.edits))
    chosen: dict[tuple, Told] = {}
    for group in groups:
        chosen.setdefault((group.noun, group.symbols[0]), group)
    headlines = [part for group in list(chosen.values())[:HEADLINES] for part in _with_what_came(group, groups)]
    return told(headlines, plan.change.edits)


def _with_what_came(group: Told, groups: Sequence[Told]) -> list[Told]:
    """A statement or buffer that is gone is told with one that came to the function: half of it says another thing."""
    if group.kind not in ("statement-removed", "allocation-removed"):
        return [group]
    added = f"{group.noun}-added"
    came = (other for other in groups if other.kind == added and other.symbols == group.symbols)
    return [group, *[other for other in [next(came, None)] if other is not None]]


def _brief(edits: Iterable[Edit]) -> list[Edit]:
    """The weightiest edits, without the details that a headline has no room for."""
    return [
        edit.model_copy(update={"detail": {k: v for k, v in edit.detail.items() if k not in ("by", "size", "exact")}})
        for edit in weightiest(edits, LOOKED_AT)
    ]
