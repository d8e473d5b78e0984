"""Large changes in a readable report: what is the same in many files is told once, the rest is counted."""

from __future__ import annotations

import re

import pytest

from analyzer.errors import UsageError
from analyzer.model.change import Change, Edit, FileChange, Symbol
from analyzer.model.plan import Plan
from analyzer.model.report import SECTIONS, Report
from analyzer.report.build import build
from analyzer.report.digest import digest, short_names
from analyzer.report.phrases import LANGUAGES
from analyzer.report.sections import Shape
from analyzer.report.write import markdown
from analyzer.settings import settle

SUBJECT = {"repository": "r", "base": "a" * 40, "head": "b" * 40, "state": "open"}


def file(path: str, *edits: Edit, category: str = "source", status: str = "modified", **more) -> FileChange:
    symbols = tuple(Symbol(name=edit.symbol, kind="function", change="body") for edit in edits)
    given = {"added": 3, "removed": 1, "symbols": symbols} | more
    return FileChange(path=path, status=status, category=category, edits=edits, **given)


def edit(kind: str, path: str, symbol: str, **detail) -> Edit:
    return Edit(kind=kind, path=path, symbol=symbol, base_line=1, head_line=1, detail=detail)


def report_of(*files: FileChange) -> Report:
    return build(Plan(subject=SUBJECT, change=Change(files=files), profile="generic"))


def told(report: Report, cap: int = 15) -> list[tuple[str, str]]:
    return [(item.title.en, " ".join(one.en for one in item.sentences)) for item in digest(report, cap)]


def test_the_same_in_many_files_is_told_once() -> None:
    """34 files that lose the same parameter are one entry, with the number of symbols; another file stays alone."""
    paths = [f"mini/layers/l{i}.py" for i in range(34)]
    same = [file(path, edit("parameter-removed", path, f"L{i}.run", parameter="x")) for i, path in enumerate(paths)]
    other = file("mini/ops.py", edit("barrier-removed", "mini/ops.py", "_kernel"))
    found = told(report_of(*same, other))
    assert [title for title, _ in found] == ["ops.py", "34 source files"]
    assert "and 28 more lose the parameter `x`." in found[1][1] and "`mini/layers/ 34`" in found[1][1]


def test_two_files_are_told_one_by_one() -> None:
    """What only two files share is told of each."""
    same = [file(f"{n}.py", edit("parameter-removed", f"{n}.py", n, parameter="x")) for n in ("a", "b")]
    assert [title for title, _ in told(report_of(*same))] == ["a.py", "b.py"]


def test_files_with_nothing_to_say_are_listed_together() -> None:
    """Moved, added and unrecognised files are an entry each, with their lines; they come after what has an edit."""
    moved = [file(f"new/{i}.py", status="renamed", previous_path=f"old/{i}.py") for i in range(5)]
    docs = [file(f"docs/{i}.md", category="docs", status="added") for i in range(3)]
    plain = [file(f"mini/{n}.py") for n in "abc"]
    known = file("mini/ops.py", edit("barrier-removed", "mini/ops.py", "_kernel"))
    found = told(report_of(*moved, *docs, *plain, known))
    assert found[0][0] == "ops.py"
    assert sorted(found[1:]) == [
        ("3 docs files", "Added: `docs/0.md`, `docs/1.md` and `docs/2.md`.".replace("docs/", "")),
        ("3 source files", "+9 −3 lines by no known kind of edit: `a.py +3 −1`, `b.py +3 −1` and `c.py +3 −1`."),
        (
            "5 source files",
            "Moved (+15 −5 lines): `new/0.py`, `1.py`, `2.py`, `3.py` and `4.py`.".replace("new/", ""),
        ),
    ]


def test_what_is_beyond_the_cap_is_counted() -> None:
    """Every file is in an entry or in a count, by category and folder, with lines and edits."""
    files = [
        file(
            f"mini/part{i % 2}/m{i}.py",
            edit("constant-changed", f"mini/part{i % 2}/m{i}.py", f"N{i}", value_after=str(i)),
        )
        for i in range(40)
    ]
    items = digest(report_of(*files), 10)
    assert len(items) == 11 and sum(len(item.files) for item in items) == 40
    assert items[-1].title.en == "30 more source files" and items[-1].title.zh == "另外 30 个源码文件"
    assert (
        items[-1].sentences[0].en == "+90 −30 lines, 30 edits (in report.json): `mini/part0/ 15` and `mini/part1/ 15`."
    )


def test_names_are_as_short_as_they_can_be() -> None:
    """A file is called by the shortest end of its path that no other file has."""
    assert short_names(["a/b/ops.py", "a/c/ops.py", "d/test.py"]) == {
        "a/b/ops.py": "b/ops.py",
        "a/c/ops.py": "c/ops.py",
        "d/test.py": "test.py",
    }


def _large(number: int, most: int) -> Report:
    kinds = ("constant-changed", "guard-added", "parameter-added", "function-added", "test-changed")
    files = []
    for i in range(number):
        path = f"mini/p{i % 17}/q{i % 5}/module_{i}.py"
        category = ("source", "kernel", "test", "docs")[i % 4]
        edits = [
            edit(kinds[(i + n) % 5], path, f"f{i}_{n}", value_after=str(i), parameter=f"p{n}") for n in range(i % most)
        ]
        files.append(file(path, *edits, category=category))
    return report_of(*files)


@pytest.mark.parametrize(("number", "most"), [(300, 7), (5000, 2)])
def test_a_large_change_is_readable_in_both_languages(number: int, most: int) -> None:
    """A report of 300 files, and one of 5,000, stays below 250 lines; both languages have the same structure."""
    report = _large(number, most)
    english, chinese = (markdown(report, lang) for lang in LANGUAGES)
    assert len(english.split("\n")) < 250
    assert max(map(len, english.split("\n"))) < 4000
    assert shape(english) == shape(chinese)
    assert len(report.implementation.files) == len(report.implementation.steps) == number


def shape(text: str) -> list[str]:
    """The kind of each line from the first section on: heading, entry, table row, code, blank."""
    lines = text.split("\n")
    start = next(i for i, line in enumerate(lines) if line in ("## Summary", "# 执行摘要"))
    kinds = (
        (r"#+ ", "heading"),
        (r"\d+\. ", "step"),
        (r" *- ", "entry"),
        (r"\|", "row"),
        (r"```", "fence"),
        (r"$", "blank"),
    )
    return [next((kind for pattern, kind in kinds if re.match(pattern, line)), "text") for line in lines[start:]]


def test_a_section_can_be_switched_off(plan: Plan) -> None:
    """Only the sections that the settings name are written; the summary with its recommendation always is."""
    report = build(plan)
    some = markdown(report, "en", Shape.of({"sections": ["risks", "evidence"]}))
    heads = [line for line in some.split("\n") if line.startswith("## ")]
    assert heads == ["## Summary", "## Evidence", "## Risks and impact"]
    assert "**Recommended action**" in some
    assert markdown(report, "en", Shape.of({"sections": list(SECTIONS)})) == markdown(report, "en")


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_cap_holds_and_what_it_hides_is_counted(plan: Plan, lang: str) -> None:
    """One entry a list, the number of the others beside it."""
    report = build(plan)
    assert len(report.risk.findings) > 1
    text = markdown(report, lang, Shape.of({"caps": {"risks": 1}}))
    more = {
        "en": f"{len(report.risk.findings) - 1} more in report.json.",
        "zh": f"另有 {len(report.risk.findings) - 1} 项，见 report.json。",
    }
    assert more[lang] in text
    assert text.count(report.risk.findings[1].rule + "`") < markdown(report, lang).count(
        report.risk.findings[1].rule + "`"
    )


@pytest.mark.parametrize("given", [b"sections: [summary, colours]", b"caps: {colours: 3}"])
def test_an_unknown_section_is_refused(given: bytes) -> None:
    """The line names the sections that there are."""
    with pytest.raises(UsageError, match="no section 'colours'; there are: summary, motivation, implementation"):
        settle(given, environment={})


def test_a_cap_is_a_positive_number() -> None:
    """A section is switched off by leaving it out, not by a cap of nothing."""
    with pytest.raises(UsageError, match=r"caps\.risks"):
        settle(b"caps: {risks: 0}", environment={})
    assert settle(b"caps: {risks: 3}\nsections: risks", environment={}).caps == {"risks": 3}
