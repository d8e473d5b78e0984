"""A whole report from hand-made facts: its form, both languages, and what strangers may not do in it."""

from __future__ import annotations

import json
import re
from io import StringIO
from pathlib import Path

import jsonschema
import pytest
from jinja2.exceptions import SecurityError
from markdown_it import MarkdownIt
from rich.console import Console

from analyzer.errors import UsageError
from analyzer.model.base import Text, load
from analyzer.model.evidence import Evidence
from analyzer.model.plan import Plan
from analyzer.model.report import Report
from analyzer.report.build import build
from analyzer.report.evidence import rows
from analyzer.report.markdown import JOINER
from analyzer.report.phrases import LANGUAGES, sandbox
from analyzer.report.schema import DOCUMENTS, schema, write_schemas
from analyzer.report.terminal import show
from analyzer.report.write import markdown, write

HAN = re.compile("[\u4e00-\u9fff]")
CONVERSATION = {
    "number": 7,
    "repository": "ada/mini",
    "title": "Apply in place",
    "author": "ada",
    "state": "open",
    "body": "## Summary\n\nThe copy costs `rows * vocab * 4` bytes. It runs out of memory.",
    "comments": [{"author": "bob", "role": "MEMBER", "body": "Is the result the same?"}],
    "reviews": [{"author": "eve", "role": "MEMBER", "state": "CHANGES_REQUESTED", "body": "The numerics change."}],
}


@pytest.fixture
def report(plan: Plan, evidence: Evidence) -> Report:
    return build(plan, evidence, CONVERSATION)


def headings(text: str) -> list[str]:
    return [row.lstrip("# ") for row in text.split("\n") if row.startswith("#") and not row.startswith("###")]


def test_the_first_three_lines(report: Report) -> None:
    """The verdict with its two strongest measured reasons, and the way out, before anything else."""
    english, chinese = (markdown(report, lang).split("\n")[:4] for lang in LANGUAGES)
    assert english[0] == (
        "> **Hold.** Lowers peak memory by 4.121 GiB at 7,280 rows, but `mutation` fails (new in head): the caller's "
        "`logits` is overwritten and the result aliases `logits` (`Sampler.apply`, bf16).  "
    )
    assert english[1] == "> `kept-set` fails: 52 of 1,024 rows (5.1%) keep another token set (`Sampler.apply`, bf16).  "
    assert english[2].startswith("> To merge: write to a tensor of the function's own")
    assert english[3] == ""
    assert chinese[0].startswith(
        "> **暂缓合并。** 7,280 行时峰值显存降低 4.121 GiB，但 `mutation` 不通过（head 新引入）"
    )
    assert (
        chinese[1] == "> `kept-set` 不通过：1,024 行中有 52 行（5.1%）的保留词元集合不同（`Sampler.apply`，bf16）。  "
    )
    assert chinese[2].startswith("> 若要合并：")


def test_the_sections(report: Report) -> None:
    """Both languages have the same sections in the same order."""
    assert headings(markdown(report, "en")) == [
        "PR #7 · Apply in place",
        *("Summary", "Motivation", "Implementation", "Evidence", "Key snippets", "Discussion", "Risks and impact"),
        *("What would make it safe", "Related", "Sources"),
    ]
    assert headings(markdown(report, "zh")) == [
        "PR #7 完整报告",
        *("执行摘要", "功能与动机", "实现拆解", "实测证据", "关键源码片段", "评论区精华", "风险与影响"),
        *("怎样才安全", "关联脉络", "事实来源"),
    ]


def test_both_languages_tell_the_same_facts(report: Report) -> None:
    """Every figure and every piece of code of one language is in the other."""
    english, chinese = (markdown(report, lang) for lang in LANGUAGES)
    for pattern in (r"`[^`\n]+`", r"[+−]?\d+(?:,\d{3})*(?:\.\d+)?"):
        assert set(re.findall(pattern, english)) == set(re.findall(pattern, chinese))
    ours = english.replace(CONVERSATION["title"], "")
    assert not HAN.search(ours)


def test_the_evidence_table(report: Report) -> None:
    """One row a check that says something, a failed one in bold and first, the environment above."""
    text = markdown(report, "en")
    assert "NVIDIA H200, torch 2.11.0, Triton 3.6.0." in text
    assert (
        "| mutation, bf16 | `apply` | inputs untouched | writes `logits`, result aliases `logits` | **fail** |" in text
    )
    assert "| latency, 7,280 rows, bf16 | `apply` | 23.7 ms | 13.8 ms | changed: 1.7× faster |" in text


def test_without_evidence_it_says_so(plan: Plan) -> None:
    """A report without measurements claims none, and says why there is none."""
    static = plan.model_copy(update={"settings": {"device": "none"}})
    report = build(static, None, None)
    assert report.evidence is None
    assert [text.en for text in report.not_measured] == ["everything (the run was asked for the diff alone)"]
    assert "everything (no evidence was handed to the report)" in markdown(build(plan, None, None), "en")
    assert report.summary.recommendation.action == "hold"  # by its findings alone
    assert "4.121" not in markdown(report, "en")
    quiet = static.model_copy(update={"findings": ()})
    assert build(quiet, None, None).summary.recommendation.action == "review"


def test_a_revert_is_kept_with_its_price(revert_plan: Plan, revert_evidence: Evidence) -> None:
    """The same change backwards: nothing that holds it, the price named, what is better told."""
    report = build(revert_plan, revert_evidence, None)
    assert report.summary.recommendation.action == "keep"
    assert report.risk.level in ("low", "medium")
    first, second = markdown(report, "en").split("\n")[:2]
    assert first == (
        "> **Keep.** Takes back PR 6 exactly, at a price: 4 bytes a logit more memory, 4.121 GiB at 7,280 rows.  "
    )
    assert second == "> The caller's `logits` is no longer overwritten.  "
    assert "9 loads of `_mask_kernel` are no longer cast to float32." in markdown(report, "en")
    assert "are now cast" not in markdown(report, "en")


def test_every_statement_names_its_fact(report: Report) -> None:
    """Risks and impact rest on a place of the diff, a measurement, or history."""
    statements = [*report.risk.statements, *report.impact.users, *report.impact.system, *report.impact.team]
    assert {statement.source for statement in statements} == {"diff", "measurement"}
    assert all(statement.fact and statement.text.zh for statement in statements)
    assert report.sources.keys() == {"diff", "history", "measurement", "quote"}


def test_evidence_does_not_rate_itself(plan: Plan, evidence: Evidence) -> None:
    """Severity, tags and waivers come from our tables and the base revision, never from the evidence."""
    tags = (Text(en="harmless", zh="无害"),)
    tampered = tuple(
        check.model_copy(update={"severity": "info", "tags": tags, "waived_by": "trust me"})
        for check in evidence.checks
    )
    report = build(plan, evidence.model_copy(update={"checks": tampered}), None)
    assert report.summary.recommendation.action == "hold"
    assert "harmless" not in markdown(report, "en") and "trust me" not in markdown(report, "en")


def test_a_waived_check_is_shown_and_does_not_hold(plan: Plan, evidence: Evidence) -> None:
    """A check waived by the file of its symbol stays in the table, with the reason."""
    waivers = [
        {"check": name, "path": "mini/*", "reason": "accepted by ada", "until": "2999-01-01"}
        for name in ("mutation", "kept-set")
    ]
    calm = plan.model_copy(update={"settings": {"waivers": waivers}, "findings": ()})
    report = build(calm, evidence, None)
    assert report.summary.recommendation.action == "merge"
    assert "(waived: accepted by ada (until 2999-01-01))" in markdown(report, "en")


HOSTILE = (
    "@octocat #1 <img src=x> <!-- --> https://evil.example [a](b) ![c](d) | `\n# x\n```\n</details> \x1b[31m\u202e"
)


def poisoned(report: Report) -> Report:
    """The report with the same attack in every string that strangers can choose."""
    raw = json.loads(report.model_dump_json())
    kept = {
        "kind",
        "status",
        "category",
        "change",
        "check",
        "outcome",
        "severity",
        "level",
        "action",
        "source",
        "family",
    }
    kept |= {"how", "state", "stance", "topic", "relation", "base", "head", "schema_version", "mode", "rule", "path"}

    def attack(node: object, key: str) -> object:
        if isinstance(node, dict):
            return {name: attack(value, name) for name, value in node.items()}
        if isinstance(node, list):
            return [attack(value, key) for value in node]
        return HOSTILE if isinstance(node, str) and key not in kept else node

    raw = {key: attack(value, key) for key, value in raw.items()}
    raw["sources"] = report.sources
    return Report.model_validate(raw)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_strangers_text_does_nothing(report: Report, lang: str) -> None:
    """With an attack in every field the report has our headings, tables and code blocks and nothing of theirs."""
    text = markdown(poisoned(report), lang)
    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    found = [inner for token in parser.parse(text) for inner in (token, *(token.children or ()))]
    kinds = {token.type for token in found}
    assert not kinds & {"link_open", "image", "html_block", "html_inline", "s_open", "code_block"}
    shown = "\n".join(token.content for token in found if token.type in ("text", "text_special"))
    assert not re.search(r"@octocat|#1\b|https://", shown.replace(f"#{report.subject.pr}", ""))
    assert "\x1b" not in text and "\u202e" not in text
    assert len([token for token in found if token.type == "fence"]) == len(report.snippets)
    ours = [token.tag for token in parser.parse(markdown(report, lang)) if token.type == "heading_open"]
    assert [token.tag for token in found if token.type == "heading_open"] == ours


def test_a_known_page_is_a_link_and_another_address_is_not(report: Report) -> None:
    """The page of a pull request is linked; an address of another form is shown as code."""

    def with_url(url: str) -> str:
        return markdown(report.model_copy(update={"subject": report.subject.model_copy(update={"url": url})}), "en")

    assert "<https://github.com/ada/mini/pull/7>" in with_url("https://github.com/ada/mini/pull/7")
    assert "`https://github.com/ada/mini/pull/7?x=<b>`" in with_url("https://github.com/ada/mini/pull/7?x=<b>")
    assert "`javascript:alert(1)`" in with_url("javascript:alert(1)")


def test_templates_are_sandboxed() -> None:
    """A template cannot reach Python's insides, nor print a name that it was not given."""
    with pytest.raises(SecurityError):
        sandbox().from_string("{{ x.__class__.__mro__ }}").render(x="a")
    with pytest.raises(Exception, match="undefined"):
        sandbox().from_string("{{ missing }}").render()


def test_files_are_written_and_validate(report: Report, tmp_path: Path) -> None:
    """Three files; report.json validates against its schema and reads back as the same report."""
    paths = write(report, tmp_path / "deep" / "out")
    assert [path.name for path in paths] == ["report.json", "report.en.md", "report.zh.md"]
    raw = json.loads(paths[0].read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(schema("report")).validate(raw)
    assert load(Report, paths[0].read_bytes(), "report.json") == report
    assert paths[1].read_text(encoding="utf-8") == markdown(report, "en")


def test_schemas_refuse_other_shapes(report: Report, plan: Plan, evidence: Evidence, tmp_path: Path) -> None:
    """A schema of each document is written; documents validate, an unknown key or an unknown outcome does not."""
    assert [path.name for path in write_schemas(tmp_path)] == [f"{name}.schema.json" for name in DOCUMENTS]
    for name, document in (("plan", plan), ("evidence", evidence), ("report", report)):
        validator = jsonschema.Draft202012Validator(json.loads((tmp_path / f"{name}.schema.json").read_text()))
        raw = json.loads(document.model_dump_json())
        assert validator.is_valid(raw)
        assert not validator.is_valid({**raw, "colour": "red"})
    raw = json.loads(evidence.model_dump_json())
    raw["checks"][0]["outcome"] = "splendid"
    assert not jsonschema.Draft202012Validator(schema("evidence")).is_valid(raw)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("width", (60, 80, 119))
def test_a_narrow_terminal_shows_all_of_it(report: Report, lang: str, width: int) -> None:
    """Where a table would not fit, each row is a block: nothing is cut, and nothing is left out."""
    out = StringIO()
    show(report, Console(file=out, width=width, force_terminal=False), lang)
    shown = "".join(out.getvalue().split())
    assert "…" not in out.getvalue()
    assert all(len(line) <= width for line in out.getvalue().splitlines())
    for one in rows(report.evidence):
        for text in (one.label, one.base, one.head, one.result, one.outcome):
            assert "".join(getattr(text, lang).replace("`", "").split()) in shown


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_terminal_shows_the_verdict(report: Report, lang: str) -> None:
    """Verdict, reasons and the evidence table; other people's text gives no colour and no control code."""
    out = StringIO()
    show(report, Console(file=out, width=200, force_terminal=False), lang)
    text = out.getvalue()
    assert ("Hold." if lang == "en" else "暂缓合并。") in text
    assert "4.121 GiB" in text and "52" in text and "1.07%" in text
    coloured = StringIO()
    hostile = report.model_copy(update={"subject": report.subject.model_copy(update={"title": "[red]x[/red]\x1b[31m"})})
    show(hostile, Console(file=coloured, width=200, force_terminal=False), lang)
    assert "[red]x[/red]" in coloured.getvalue() and "\x1b" not in coloured.getvalue()


def test_the_conversation_is_part_of_it(report: Report) -> None:
    """Motivation and discussion are quotes in their own language, with who said them."""
    text = markdown(report, "zh")
    assert "- The copy costs `rows * vocab * 4` bytes.（PR 描述）" in text
    assert "- **eve**（member）反对：“The numerics change.”（正确性）" in text
    assert "- **bob**（member）提问：“Is the result the same?”（正确性）" in text


def test_a_conversation_of_another_shape_is_refused(plan: Plan) -> None:
    """One line for a conversation that is none."""
    with pytest.raises(UsageError, match=r"^the conversation: comments"):
        build(plan, None, {**CONVERSATION, "comments": "none"})


def test_joiner_shows_nothing(report: Report) -> None:
    """The character that splits a mention is in the text only where something was split."""
    assert JOINER not in markdown(report, "en")
