"""Edits in sentences: what each file's change does, and the change in one sentence."""

from __future__ import annotations

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
#: Longest span of code shown within a sentence.
SPAN = 100
#: Which files a reader wants first.
CATEGORY_ORDER = ("source", "kernel", "build", "ci", "data", "docs", "test")


def sentence(edit: Edit) -> Text:
    """What one edit does, in both languages."""
    return phrase(
        f"edits.{edit.kind}",
        who=code(edit.symbol) or Text(en="the module", zh="模块级代码"),
        count=edit.count,
        before=_span(edit.before),
        after=_span(edit.after),
        d=edit.detail,
        options=_options(edit),
    )


def steps(change: Change, findings: Sequence[Finding]) -> tuple[FileStep, ...]:
    """One step a file: those with the strongest findings first, tests and documents last."""
    weight = {file.path: _weight(file, findings) for file in change.files}
    files = sorted(change.files, key=lambda file: weight[file.path])
    return tuple(FileStep(path=file.path, sentences=_of_file(file)) for file in files)


def one_line(plan: Plan) -> Text:
    """The change in one sentence: what a revert takes back, else the edits that the strongest findings rest on."""
    target = next((r for r in plan.related if r.relation in ("reverts", "partially-reverts")), None)
    exact = any(r.relation == "exact-inverse-of" and target and name_of(r) == name_of(target) for r in plan.related)
    head = [phrase("summary.reverts", what=name_of(target), exact=exact, title="")] if target else []
    told = _strongest(plan.change, plan.findings)
    if not told and not head:
        return phrase("summary.no-edits", count=len(plan.change.files))
    return join([*head, *(sentence(edit) for edit in told)])


def join(sentences: Iterable[Text]) -> Text:
    """Sentences one after the other."""
    sentences = list(sentences)
    return Text(en=" ".join(s.en for s in sentences), zh="".join(s.zh for s in sentences))


def _of_file(file: FileChange) -> tuple[Text, ...]:
    told = [sentence(edit) for edit in file.edits[:SENTENCES]]
    if len(file.edits) > SENTENCES:
        told.append(phrase("notes.more-edits", count=len(file.edits) - SENTENCES))
    if file.status in ("added", "deleted"):
        told.insert(0, phrase(f"notes.{file.status}"))
    elif file.previous_path:
        told.insert(0, phrase("notes.renamed", path=file.previous_path))
    if file.unread:
        told.append(phrase("notes.unread", why=file.unread))
    told += file.notes
    return tuple(told) or (phrase("notes.no-meaning", added=file.added, removed=file.removed),)


def _weight(file: FileChange, findings: Sequence[Finding]) -> tuple[int, int, int]:
    strongest = max((LEVELS.index(f.severity) for f in findings if f.path == file.path), default=0)
    return (CATEGORY_ORDER.index(file.category), -strongest, -(file.added + file.removed))


def _strongest(change: Change, findings: Sequence[Finding]) -> list[Edit]:
    """The edits of the strongest findings, each kind of a symbol once; the first edits where no finding is."""
    ranked = [edit for finding in findings for edit in finding.edits] or list(change.edits)
    return list({(edit.kind, edit.symbol): edit for edit in reversed(ranked[:HEADLINES])}.values())[::-1]


def _options(edit: Edit) -> list[dict[str, str]]:
    """What a launch changes: each option's name and its text on both sides."""
    names = [name for name in str(edit.detail.get("options", "")).split(", ") if f"{name}_after" in edit.detail]
    return [
        {
            "name": name,
            "before": str(edit.detail.get(f"{name}_before", "")),
            "after": str(edit.detail.get(f"{name}_after", "")),
        }
        for name in names
    ]


def _span(text: str) -> str:
    shown = line(text)
    return code(shown if len(shown) <= SPAN else shown[: SPAN - 1] + "…")
