"""A report on a terminal: the verdict, its reasons, the evidence table."""

from __future__ import annotations

import re
from typing import Literal

from rich.console import Console, Group
from rich.panel import Panel
from rich.table import Table
from rich.text import Text as Shown

from analyzer.model.report import Report
from analyzer.report.evidence import CheckGroup, not_run, passed, rows
from analyzer.report.figures import Row
from analyzer.report.markdown import line
from analyzer.report.phrases import phrase
from analyzer.report.view import COLON, SPACE, STOP, headline

COLORS = {"none": "green", "info": "green", "low": "green", "medium": "yellow", "high": "red", "critical": "bold red"}
GOOD = ("merge", "keep")
BAD = ("hold", "revert", "forward-fix")
#: Columns from which the evidence is a table; below, its cells would be a word or two wide.
WIDE = 120
LABELS = {
    "en": ("risk", "check", "probe", "base", "head", "result", "passed", "not run", "not measured"),
    "zh": ("风险", "检查", "探针", "base", "head", "结果", "通过", "未运行", "未测量"),
}


def show(report: Report, console: Console, lang: Literal["en", "zh"] = "en") -> None:
    """Print a short summary in colour. Text of other people is shown, never taken as markup or as control codes."""
    risk, *columns, good, skipped, missing = LABELS[lang]
    subject, action = report.subject, report.summary.recommendation.action
    title = f"PR #{subject.pr} " if subject.pr else ""
    head = Shown(f"{title}{line(subject.title) or subject.head[:10]}", style="bold")
    level = report.risk.level
    word = getattr(phrase(f"severities.{level}"), lang)
    about = Shown(f"{subject.repository}  {subject.base[:10]} → {subject.head[:10]}  {risk} ")
    about.append(word, style=COLORS[level])
    verdict = Shown(getattr(phrase(f"actions.{action}"), lang) + STOP[lang], style=f"bold {_color(action)}")
    first, *others = headline(report, lang)
    lines = [Shown.assemble(verdict, SPACE[lang], _words(first)), *(_words(one) for one in others if one)]
    console.print(Panel(Group(head, about, Shown(), *lines), border_style=_color(action), expand=False))
    if found := rows(report.evidence):
        console.print(_table(found, columns, lang) if console.width >= WIDE else _blocks(found, lang))
    for label, groups in ((good, passed(report.evidence)), (skipped, not_run(report.evidence))):
        for group in groups:
            console.print(Shown(label + COLON[lang], style="dim") + _group(group, lang))
    for one in report.not_measured:
        console.print(Shown(missing + COLON[lang], style="dim") + _words(getattr(one, lang)))


def _table(found: list[Row], columns: list[str], lang: str) -> Table:
    table = Table(*columns, box=None, pad_edge=False, header_style="bold")
    for row in found:
        result = _outcome(row, lang)
        if detail := getattr(row.result, lang):
            result = result + COLON[lang] + _words(detail)
        cells = [getattr(row.label, lang), row.probe, getattr(row.base, lang), getattr(row.head, lang)]
        table.add_row(*(_words(cell) for cell in cells), result)
    return table


def _blocks(found: list[Row], lang: str) -> Table:
    """The same rows for a narrow terminal: the outcome, and beside it what was asked, base → head, and the detail."""
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for row in found:
        asked = _words(getattr(row.label, lang))
        asked.stylize("bold")
        lines = [asked + " · " + _words(row.probe)]
        base, head = getattr(row.base, lang), getattr(row.head, lang)
        if base or head:
            lines.append(_words(base if base == head else f"{base or '–'} → {head or '–'}"))
        if detail := getattr(row.result, lang):
            lines.append(_words(detail))
        table.add_row(_outcome(row, lang), Shown("\n").join(lines))
    return table


def _outcome(row: Row, lang: str) -> Shown:
    return Shown(getattr(row.outcome, lang), style="red" if row.bad else "")


def _group(group: CheckGroup, lang: str) -> Shown:
    reason = getattr(group.reason, lang)
    return Shown(f"{line(group.probe)}: {line(group.checks)}{f' — {line(reason)}' if reason else ''}")


def _color(action: str) -> str:
    return "green" if action in GOOD else "red" if action in BAD else "yellow"


def _words(text: str) -> Shown:
    """A sentence with its code spans set apart."""
    shown = Shown()
    for index, part in enumerate(re.split(r"`+", line(text))):
        shown.append(part, style="cyan" if index % 2 else "")
    return shown
