"""Edits in sentences: what each file's change does, and the change in one sentence."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from analyzer.model.base import LEVELS, Text
from analyzer.model.change import Change, Edit, FileChange
from analyzer.model.finding import Finding
from analyzer.model.plan import Plan
from analyzer.model.report import FileStep
from analyzer.report.figures import name_of
from analyzer.report.markdown import code, line
from analyzer.report.phrases import phrase

#: Sentences told of one file; the number of further edits is told.
SENTENCES = 12
#: Edits told in the one sentence about the whole change.
HEADLINES = 2
#: Longest span of code shown within a sentence, and how much of it may be what both sides share.
SPAN = 100
SHARED = 30
#: Symbols named in one sentence about changes of no known kind.
SYMBOLS = 6
#: Which files a reader wants first.
CATEGORY_ORDER = ("source", "kernel", "build", "ci", "data", "docs", "test")
#: Which of a symbol's edits a reader wants first, by their nouns; the others follow.
NOUN_ORDER = ("copy", "in-place", "low-precision-round-trip", "index", "stride", "barrier", "cast", "dtype-argument")


def sentence(edit: Edit, among: Iterable[Edit] = ()) -> Text:
    """What an edit does, in both languages. `among`: the edits around it, for what they say about each other."""
    before, after = _spans(edit.before, edit.after)
    return phrase(
        f"edits.{edit.kind}",
        who=code(edit.symbol) or Text(en="the module", zh="模块级代码"),
        count=edit.count,
        before=before,
        after=after,
        d=_whole(edit.detail),
        options=_options(edit),
        targets=[name for name in str(edit.detail.get("target", "")).split(", ") if name],
        spared=_spared(edit, among),
    )


def steps(change: Change, findings: Sequence[Finding]) -> tuple[FileStep, ...]:
    """One step a file: those with the strongest findings first, tests and documents last."""
    files = sorted(change.files, key=lambda file: _weight(file, findings))
    return tuple(FileStep(path=file.path, sentences=_of_file(file)) for file in files)


def one_line(plan: Plan) -> Text:
    """The change in one sentence: what a revert takes back, and the edits that the strongest findings rest on."""
    target = next((r for r in plan.related if r.relation in ("reverts", "partially-reverts")), None)
    told = []
    if target:
        exact = any(r.relation == "exact-inverse-of" and name_of(r) == name_of(target) for r in plan.related)
        told.append(phrase("summary.reverts", what=name_of(target), exact=exact))
    code_files = [file for file in plan.change.files if file.category in ("source", "kernel") and file.symbols]
    if code_files and not any(file.edits for file in code_files):
        told += _of_file(max(code_files, key=lambda file: file.added + file.removed))[:HEADLINES]
    else:
        told += [sentence(edit, plan.change.edits) for edit in _strongest(plan)]
    return join(told) if told else phrase("summary.no-edits", count=len(plan.change.files))


def join(sentences: Iterable[Text]) -> Text:
    """Sentences one after the other."""
    told = list(sentences)
    return Text(en=" ".join(one.en for one in told), zh="".join(one.zh for one in told))


def _of_file(file: FileChange) -> tuple[Text, ...]:
    edits = _grouped(_ordered(edit for edit in file.edits if not (file.notes and _is_api_rename(edit))))
    told = [sentence(edit, file.edits) for edit in edits[:SENTENCES]]
    if len(edits) > SENTENCES:
        told.append(phrase("notes.more-edits", count=len(edits) - SENTENCES))
    if file.status in ("added", "deleted"):
        told.insert(0, phrase(f"notes.{file.status}"))
    elif file.previous_path:
        told.insert(0, phrase("notes.renamed", path=file.previous_path))
    if file.unread:
        told.append(phrase("notes.unread", why=file.unread))
    told += file.notes
    if not told:
        symbols = [symbol.name for symbol in file.symbols]
        return (_unrecognised("notes.unrecognised", symbols, added=file.added, removed=file.removed),)
    said = " ".join(one.en for one in told)
    others = [symbol.name for symbol in file.symbols if code(symbol.name) not in said]
    if others and len(edits) <= SENTENCES and file.status == "modified":
        told.append(_unrecognised("notes.others-changed", others))
    return tuple(told)


def _unrecognised(key: str, symbols: list[str], **more: int) -> Text:
    """What changed without an edit of a known kind: its lines are for a reader to judge."""
    return phrase(key, symbols=symbols[:SYMBOLS], more=max(len(symbols) - SYMBOLS, 0), **more)


def _is_api_rename(edit: Edit) -> bool:
    """Whether an edit is told by the file's note on parameters that callers may name."""
    return edit.kind == "parameter-changed" and bool(edit.detail.get("renamed")) and not edit.detail.get("kernel")


def _rank(edit: Edit) -> int:
    noun = edit.kind.rpartition("-")[0]
    return NOUN_ORDER.index(noun) if noun in NOUN_ORDER else len(NOUN_ORDER)


def _ordered(edits: Iterable[Edit]) -> list[Edit]:
    """Symbol by symbol, each with its weightiest edits first; symbols in the order of their weightiest edit."""
    edits = list(edits)
    best: dict[str, int] = {}
    for edit in edits:
        best[edit.symbol] = min(_rank(edit), best.get(edit.symbol, len(NOUN_ORDER)))
    first = {symbol: index for index, symbol in enumerate(best)}

    def place(edit: Edit) -> tuple:
        conditional = bool(edit.detail.get("conditional"))
        return (best[edit.symbol], first[edit.symbol], _rank(edit), conditional, edit.kind.endswith("-added"))

    return sorted(edits, key=place)


def _grouped(edits: list[Edit]) -> list[Edit]:
    """Edits that read the same, and allocations of one symbol that change alike, are told together.

    The buffer that a copy fills is told with the copy.
    """
    groups: dict[tuple, list[Edit]] = {}
    for edit in edits:
        if not edit.kind.startswith("allocation-"):
            groups.setdefault((sentence(edit.model_copy(update={"count": 1})).en,), []).append(edit)
        elif not _of_copy(edit, edits):
            alike = (edit.kind, edit.symbol, *(edit.detail.get(k) for k in ("dtype", "dtype_before", "dtype_after")))
            groups.setdefault(alike, []).append(edit)
    return [_one(group) for group in groups.values()]


def _one(group: list[Edit]) -> Edit:
    first, detail = group[0], group[0].detail
    if len(group) > 1 and first.kind.startswith("allocation-"):
        detail = {key: value for key, value in detail.items() if not key.startswith("size")}
        detail["target"] = ", ".join(str(edit.detail.get("target", "?")) for edit in group)
    return first.model_copy(update={"count": sum(edit.count for edit in group), "detail": detail})


def _of_copy(allocation: Edit, edits: Iterable[Edit]) -> bool:
    """Whether an allocation is the buffer that a copy of the same change fills."""
    copy = allocation.kind.replace("allocation", "copy")
    return any(
        edit.kind == copy
        and edit.symbol == allocation.symbol
        and edit.detail.get("size") == allocation.detail.get("size")
        for edit in edits
    )


def _weight(file: FileChange, findings: Sequence[Finding]) -> tuple[int, int, int, int]:
    strongest = max((LEVELS.index(f.severity) for f in findings if f.path == file.path), default=0)
    place = max(CATEGORY_ORDER.index(file.category), 1)  # sources and kernels are told together
    weightiest = min((_rank(edit) for edit in file.edits), default=len(NOUN_ORDER))
    return (place, -strongest, weightiest, -(file.added + file.removed))


def _strongest(plan: Plan) -> list[Edit]:
    """The edits to name first: those of findings medium or above, then the weightiest kinds, one a symbol and noun."""
    serious = [edit for f in plan.findings if LEVELS.index(f.severity) >= LEVELS.index("medium") for edit in f.edits]
    code_edits = [edit for file in plan.change.files if file.category != "test" for edit in file.edits]
    told = [*serious, *_ordered(code_edits or plan.change.edits)]
    chosen = {(edit.kind.rpartition("-")[0], edit.symbol): edit for edit in reversed(told)}
    return _ordered(list(chosen.values())[::-1][:HEADLINES])


def _spared(edit: Edit, among: Iterable[Edit]) -> str:
    """The condition under which a copy keeps the argument from being written, empty where there is none."""
    if not edit.kind.startswith("in-place-"):
        return ""
    copy = "copy-added" if edit.kind == "in-place-introduced" else "copy-removed"
    for other in among:
        same = other.kind == copy and other.symbol == edit.symbol and other.path == edit.path
        if same and other.detail.get("conditional") and other.detail.get("subject") == edit.detail.get("parameter"):
            return str(other.detail.get("condition", ""))
    return ""


def _whole(detail: dict) -> dict:
    """The detail with a dash for a side that has nothing (a mask where there was none)."""
    whole = dict(detail)
    for name in detail:
        stem, _, side = name.rpartition("_")
        if side in ("before", "after") and stem != "default":
            whole.setdefault(f"{stem}_{'after' if side == 'before' else 'before'}", "–")
    return whole


def _options(edit: Edit) -> list[dict[str, str]]:
    """What a launch changes: each option's name and its text on both sides."""
    names = [name for name in str(edit.detail.get("options", "")).split(", ") if f"{name}_after" in edit.detail]
    return [
        {
            "name": name,
            "before": str(edit.detail.get(f"{name}_before", "–")),
            "after": str(edit.detail.get(f"{name}_after", "–")),
        }
        for name in names
    ]


def _plain(text: str) -> str:
    """Code in the parser's own layout, without parentheses that say nothing; other text as it is."""
    try:
        return line(ast.unparse(ast.parse(text)))
    except (SyntaxError, ValueError, RecursionError):
        return text


def _spans(before: str, after: str) -> tuple[str, str]:
    """Both sides of an edit as code; what long ones share at their beginning is left out, so that they differ."""
    texts = [line(before), line(after)]
    shared = 0
    if all(texts) and max(map(len, texts)) > SPAN:
        texts = [_plain(text) for text in texts]
        shared = next((i for i, (x, y) in enumerate(zip(*texts, strict=False)) if x != y), min(map(len, texts)))
    skipped = max(shared - SHARED, 0)
    shown = ["…" + text[skipped:] if skipped else text for text in texts]
    return tuple(code(text if len(text) <= SPAN else text[: SPAN - 1] + "…") for text in shown)
