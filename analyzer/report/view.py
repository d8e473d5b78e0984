"""A report in one language, as plain data for templates and the terminal."""

from __future__ import annotations

from typing import Any

from analyzer.change.category import is_test
from analyzer.model.base import Text
from analyzer.model.change import FileChange, Related
from analyzer.model.report import Report
from analyzer.report.evidence import not_run, passed, rows
from analyzer.report.figures import gain_of, name_of
from analyzer.report.markdown import line
from analyzer.report.phrases import keys, phrase, spoken

#: Actions whose strongest reason speaks against the change: a gain is said before it.
AGAINST = ("hold", "revert", "forward-fix")
#: Steps told in the headline; the report tells all of them.
STEPS = 2
WORD_GROUPS = ("outcomes", "severities", "actions", "states", "categories", "stances", "topics", "sources")
#: Punctuation of each language.
STOP = {"en": ".", "zh": "。"}
COLON = {"en": ": ", "zh": "："}
SPACE = {"en": " ", "zh": ""}


def view(report: Report, lang: str) -> dict[str, Any]:
    """What a template gets: the report with every `Text` in `lang`, and what is derived from it for showing."""
    files = report.implementation.files
    return {
        "report": spoken(report.model_dump(), lang),
        "headline": headline(report, lang),
        "action": getattr(phrase(f"actions.{report.summary.recommendation.action}"), lang),
        **{
            name: [spoken(vars(one), lang) for one in found(report.evidence)]
            for name, found in (("rows", rows), ("passed", passed), ("not_run", not_run))
        },
        "added": sum(file.added for file in files),
        "removed": sum(file.removed for file in files),
        "files": [spoken(file.model_dump(), lang) for file in _in_order(report)],
        "symbols": list(dict.fromkeys(symbol.name for file in _in_order(report) for symbol in file.symbols)),
        "callers": callers(report),
        "related": [getattr(_related(one), lang) for one in report.related],
        "words": _words(lang),
        "lang": lang,
    }


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


def callers(report: Report) -> list[dict[str, Any]]:
    """Who calls each changed symbol that is not new: code by name and place, tests by their number."""
    new = {s.name for file in report.implementation.files for s in file.symbols if s.change == "added"}
    called: dict[str, dict[str, Any]] = {}
    for caller in report.callers:
        if caller.calls in new:
            continue
        entry = called.setdefault(caller.calls, {"calls": caller.calls, "who": [], "tests": 0})
        if is_test(caller.path):
            entry["tests"] += 1
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
