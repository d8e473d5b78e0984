"""One rule as a page for the terminal, in English or Chinese: everything that a reader of its finding may ask."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from difflib import unified_diff

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.syntax import Syntax
from rich.text import Text

from analyzer.findings.rule import Companion, Example, Pattern, Rule

WORDS = {
    "en": {
        "why": "Why",
        "instead": "Instead",
        "matches": "Matches",
        "source": "Source",
        "tags": "Tags",
        "refines": "Refines",
        "found": "A change that it finds",
        "spared": "A change that it leaves alone",
        "off": "To waive it at one place or to silence it, in .analyzer.yml of the base revision",
        "reason": "why it is accepted",
        "or": " or ",
        "and": " and ",
        "missing": "missing",
        "edit": "an edit of kind {kinds}",
        "files": " in {} files",
        "symbols": " of a {}",
        "times": ", {} times or more",
        "detail": " where {}",
        "is": "{key} is {values}",
        "was": "the text before is {}",
        "now": "the text after is {}",
        "same": " of the same {}",
        "also": "with {} {}",
        "unless": "without {} {}",
        "symbol": "in the same symbol",
        "file": "in the same file",
        "change": "in the same change",
        "by": "which takes over the edits that both match",
    },
    "zh": {
        "why": "原因",
        "instead": "建议",
        "matches": "匹配",
        "source": "来源",
        "tags": "标签",
        "refines": "细化",
        "found": "会被发现的改动",
        "spared": "不会被发现的改动",
        "off": "在某处豁免或整体静默：写入 base 版本的 .analyzer.yml",
        "reason": "接受的理由",
        "or": " 或 ",
        "and": "，且 ",
        "missing": "缺失",
        "edit": "{kinds} 类改动",
        "files": "，位于 {} 类文件",
        "symbols": "，属于 {}",
        "times": "，至少 {} 处",
        "detail": "，其中 {}",
        "is": "{key} 为 {values}",
        "was": "改动前的文本为 {}",
        "now": "改动后的文本为 {}",
        "same": "，{} 相同",
        "also": "{1}另有 {0}",
        "unless": "{1}没有 {0}",
        "symbol": "同一符号中",
        "file": "同一文件中",
        "change": "同一改动中",
        "by": "两者都匹配的改动归本规则",
    },
}


def page(rule: Rule, lang: str) -> RenderableType:
    """Title, what it matches, why that is a risk, what to do, source, both examples as diffs, and how to waive it."""
    words = WORDS[lang]

    def said(label: str, text: str) -> Text:
        return Text.assemble((f"{words[label]}: ", "bold"), text)

    parts: list[RenderableType] = [
        Text(getattr(rule.title, lang), style="bold"),
        Text(f"{rule.id} · {rule.family} · {rule.severity}", style="dim"),
        said("tags", ", ".join(getattr(tag, lang) for tag in rule.tags) or "-"),
        Text(""),
        said("matches", "; ".join(_matches(rule, lang))),
    ]
    if rule.refines:
        parts.append(said("refines", f"{rule.refines} ({words['by']})"))
    parts += [said("why", getattr(rule.why, lang)), said("instead", getattr(rule.instead, lang))]
    if rule.source:
        parts.append(said("source", f"{rule.source.title}\n{rule.source.url}"))
    if rule.example:
        for label, example in (("found", rule.example.matches), ("spared", rule.example.counter)):
            parts += [Text(""), Text(words[label], style="bold"), *map(_code, _diffs(example))]
    return Group(*parts, Text(""), Text(words["off"], style="bold"), _code(_off(rule, words["reason"]), "yaml"))


def _code(text: str, language: str = "diff") -> RenderableType:
    return Padding(Syntax(text, language, background_color="default", word_wrap=True), (0, 0, 0, 2))


def _diffs(example: Example) -> Iterator[str]:
    """The example's files as unified diffs; a file that is the same on both sides is shown as it is."""
    before, after = ((text or "").splitlines() for text in (example.before, example.after))
    lines = list(unified_diff(before, after, example.path, example.path, n=99, lineterm=""))
    yield "\n".join([example.path, *lines[3:]] if lines else [example.path, *(f" {line}" for line in before)])
    if example.beside:
        yield from _diffs(example.beside)


def _off(rule: Rule, reason: str) -> str:
    path = rule.example.matches.path if rule.example else "sampler/*"
    return (
        f"waivers:\n  - rule: {rule.id}\n    path: {path}        # symbol: _kernel\n    reason: {reason}\n"
        f"    until: {date.today().year + 1}-01-01\nsilence: [{rule.id}]"
    )


def _matches(rule: Rule, lang: str) -> Iterator[str]:
    """The rule's pattern, then what has to be there too, and what may not."""
    words = WORDS[lang]
    yield _pattern(rule.match, lang)
    companions = [("also", rule.match.also)] if rule.match.also else []
    for label, companion in [*companions, *(("unless", one) for one in rule.match.unless)]:
        yield words[label].format(_pattern(companion, lang), words[companion.scope])


def _pattern(pattern: Pattern, lang: str) -> str:
    words = WORDS[lang]

    def either(values: tuple) -> str:
        return words["or"].join(words["missing"] if value is False else str(value) for value in values)

    told = words["edit"].format(kinds=either(pattern.kinds))
    if pattern.symbol_kinds:
        told += words["symbols"].format(either(pattern.symbol_kinds))
    if pattern.categories:
        told += words["files"].format(either(pattern.categories))
    details = [
        words["and"].join(words["is"].format(key=key, values=either(values)) for key, values in one.items())
        for one in pattern.detail
    ]
    clauses = [words["or"].join(f"({one})" if len(details) > 1 else one for one in details)] if details else []
    clauses += [words["was"].format(either(pattern.before))] if pattern.before else []
    clauses += [words["now"].format(either(pattern.after))] if pattern.after else []
    if clauses:
        told += words["detail"].format(words["and"].join(clauses))
    if pattern.count_min > 1:
        told += words["times"].format(pattern.count_min)
    if isinstance(pattern, Companion) and pattern.same:
        told += words["same"].format(words["and"].join(pattern.same))
    return told
