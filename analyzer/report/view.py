"""A report in one language, as plain data for templates and the terminal."""

from __future__ import annotations

from typing import Any

from analyzer.change.revisions.category import is_test
from analyzer.model.base import Record, Text
from analyzer.model.change import FileChange, Related, Snippet
from analyzer.model.report import Report
from analyzer.report.digest import digest
from analyzer.report.evidence import not_run, passed, rows
from analyzer.report.figures import gain_of, name_of
from analyzer.report.markdown import line
from analyzer.report.phrases import DASH, keys, phrase, spoken
from analyzer.report.sections import CODE_LINES, Shape
from analyzer.report.sentences import listed

#: Actions whose strongest reason speaks against the change: a gain is said before it.
AGAINST = ("hold", "revert", "forward-fix")
#: Symbols named in the line of key symbols.
SYMBOLS = 20
#: Steps told in the headline; the report tells all of them.
STEPS = 2
WORD_GROUPS = ("outcomes", "severities", "actions", "states", "categories", "stances", "topics", "sources")
#: Punctuation of each language.
STOP = {"en": ".", "zh": "。"}
COLON = {"en": ": ", "zh": "："}
SPACE = {"en": " ", "zh": ""}


def view(report: Report, lang: str, shape: Shape) -> dict[str, Any]:
    """What a template gets: the report with every `Text` in `lang`, and what is derived from it for showing.

    `shown` and `more` are the entries of a list that the shape has room for, and the number of the others.
    """
    files = report.implementation.files
    shown, more = _cut(report, shape)
    return {
        "report": spoken(report.model_dump(exclude={"implementation"}), lang),
        "headline": headline(report, lang),
        "action": getattr(phrase(f"actions.{report.summary.recommendation.action}"), lang),
        "reasons": [_lower(getattr(reason, lang)) for reason in report.summary.recommendation.reasons],
        **{
            name: [spoken(vars(one), lang) for one in found(report.evidence)]
            for name, found in (("passed", passed), ("not_run", not_run))
        },
        "added": sum(file.added for file in files),
        "removed": sum(file.removed for file in files),
        "file_count": len(files),
        "shown": {name: spoken(entries, lang) for name, entries in shown.items()},
        "more": {
            name: getattr(phrase("digest.more", count=count), lang) if count else "" for name, count in more.items()
        },
        "symbols": getattr(_symbols(report), lang),
        "sections": shape.sections,
        "words": _words(lang),
        "lang": lang,
    }


def _cut(report: Report, shape: Shape) -> tuple[dict[str, list], dict[str, int]]:
    """Each list of the report cut to its section's cap."""
    lists = {
        "motivation": ("motivation", report.motivation),
        "files": ("implementation", map(_file, _in_order(report))),
        "callers": ("implementation", callers(report, shape.cap("implementation"))),
        "rows": ("evidence", map(vars, rows(report.evidence))),
        "snippets": ("snippets", report.snippets),
        "discussion": ("discussion", report.discussion),
        "statements": ("risks", report.risk.statements),
        **{whom: ("risks", getattr(report.impact, whom)) for whom in ("users", "system", "team")},
        "findings": ("risks", report.risk.findings),
        "remedy": ("remedy", report.remedy),
        "related": ("related", map(_related, report.related)),
    }
    shown, more = {}, {}
    for name, (section, entries) in lists.items():
        cut, more[name] = shape.cut(section, entries)
        if name == "snippets":
            fitting = _fitting(cut)
            more[name] += len(cut) - len(fitting)
            cut = fitting
        shown[name] = [
            entry.model_dump() if isinstance(entry, Record) and not isinstance(entry, Text) else entry for entry in cut
        ]
    shown["steps"] = [vars(item) | {"files": ()} for item in digest(report, shape.cap("implementation"))]
    for name in ("statements", "users", "system", "team"):
        for one in shown[name]:
            one["text"] = {lang: sentence(one["text"][lang], lang) for lang in STOP}
    return shown, more


def _fitting(snippets: list[Snippet]) -> list[Snippet]:
    """The first snippets, as many as their lines allow; at least one."""
    fitting, lines = [], 0
    for snippet in snippets:
        lines += snippet.code.count("\n") + 1
        if fitting and lines > CODE_LINES:
            break
        fitting.append(snippet)
    return fitting


def _file(file: FileChange) -> dict[str, Any]:
    """A row of the table of files."""
    symbols = listed([symbol.name for symbol in file.symbols]) if file.symbols else DASH
    return {"path": file.path, "module": file.module, "category": file.category, "symbols": symbols}


def _symbols(report: Report) -> Text:
    names = dict.fromkeys(
        symbol.name for file in _in_order(report) if not is_test(file.path) for symbol in file.symbols
    )
    return listed(names, SYMBOLS)


def headline(report: Report, lang: str) -> tuple[str, str, str]:
    """What follows the verdict: its strongest reason, the next one, and the way out, one line each."""
    recommendation = report.summary.recommendation
    reasons = [getattr(reason, lang) for reason in recommendation.reasons]
    gain = gain_of(report.evidence.checks) if report.evidence else None
    first = reasons[0] if reasons else ""
    if gain and first and recommendation.action in AGAINST:
        first = getattr(phrase("verdict.gain-but", gain=gain, loss=_lower(first)), lang)
    second = reasons[1] if len(reasons) > 1 else getattr(report.summary.one_line, lang)
    return (sentence(first, lang), sentence(second, lang), way_out(report, lang))


def way_out(report: Report, lang: str) -> str:
    """What would change the recommendation, or that nothing more is asked for."""
    recommendation = report.summary.recommendation
    steps = [getattr(step, lang) for step in recommendation.to_proceed]
    if not steps:
        return getattr(phrase("proceed.nothing"), lang)
    label = getattr(phrase(f"proceed.{recommendation.action}"), lang)
    if lang == "en":
        steps[0] = _lower(steps[0])
    return f"{label}{COLON[lang]}{SPACE[lang].join(steps[:STEPS])}"


def sentence(text: str, lang: str) -> str:
    """A fragment with a capital and a full stop."""
    if not text:
        return ""
    return text[0].upper() + text[1:] + ("" if text[-1] in ".。!?！？" else STOP[lang])


def callers(report: Report, cap: int) -> list[dict[str, Any]]:
    """Who calls each changed symbol that is not new: code by name and place, at most `cap`, tests by their number."""
    new = {s.name for file in report.implementation.files for s in file.symbols if s.change == "added"}
    called: dict[str, dict[str, Any]] = {}
    for caller in report.callers:
        if caller.calls in new:
            continue
        entry = called.setdefault(caller.calls, {"calls": caller.calls, "who": [], "tests": 0, "others": 0})
        if is_test(caller.path):
            entry["tests"] += 1
        elif len(entry["who"]) == cap:
            entry["others"] += 1
        else:
            entry["who"].append(caller.model_dump() | {"place": f"{caller.path}:{caller.line}"})
    return list(called.values())


def _in_order(report: Report) -> list[FileChange]:
    """The files in the order in which they are explained."""
    by_path = {file.path: file for file in report.implementation.files}
    return [by_path[step.path] for step in report.implementation.steps]


def _related(one: Related) -> Text:
    """A relation with its title and the fact that it rests on."""
    title = line(one.title)
    what = f"{name_of(one)}{f' ({title})' if title else ''}"
    said = phrase(
        f"related.{one.relation}", what=Text(en=what, zh=what.replace(" (", "（", 1)[:-1] + "）" if title else what)
    )
    return Text(en=f"{said.en}: {one.why.en}", zh=f"{said.zh}：{one.why.zh}")


def _words(lang: str) -> dict[str, dict[str, str]]:
    """Names of severities, outcomes, categories and the like: group -> key -> word."""
    words: dict[str, dict[str, str]] = {}
    for key in keys(lang):
        group, _, name = key.partition(".")
        if "." not in name and group in WORD_GROUPS:
            words.setdefault(group, {})[name] = getattr(phrase(key), lang)
    return words


def _lower(text: str | Text) -> str:
    """For the middle of a sentence; an acronym or code keeps its case."""
    text = str(text)
    return text[0].lower() + text[1:] if len(text) > 1 and text[1].islower() else text
