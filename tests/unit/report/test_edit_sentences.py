"""Sentences about edits: every kind, one and many, both languages; and the truth of their direction."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.change.facts import TEXT_ALONE
from analyzer.findings.kinds import KINDS
from analyzer.model.base import Text
from analyzer.model.change import Change, Edit, FileChange, Subject, Symbol
from analyzer.model.plan import Plan
from analyzer.report.phrases import LANGUAGES, keys
from analyzer.report.prose import GROUPS, one_line, steps
from analyzer.report.sentences import sentence

SIDES = ("before", "after")
HAN = re.compile("[\u4e00-\u9fff]")


def edit(kind: str, count: int = 1, **more: Any) -> Edit:
    return Edit(kind=kind, path="mini/ops.py", symbol="Sampler.apply", count=count, **more)


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_a_sentence(kind: str, count: int) -> None:
    """Each kind of edit is a whole sentence in both languages, even where its detail is empty."""
    said = sentence(edit(kind, count))
    assert said.en.endswith(".") and said.zh.endswith("。")
    assert not HAN.search(said.en) and HAN.search(said.zh)
    if "dependency" not in kind and "build-flag" not in kind:
        assert "`Sampler.apply`" in said.en and "`Sampler.apply`" in said.zh


@pytest.mark.parametrize("kind", KINDS)
def test_the_number_agrees(kind: str) -> None:
    """A plural never stands with one, nor a singular with many; the count itself is told in both languages."""
    one, many = sentence(edit(kind, 1)), sentence(edit(kind, 3))
    assert not re.search(r"\b1 \w+s\b(?! of stack)", one.en), one.en
    assert not re.search(r"\b3 (?:load|value|call|barrier|index|cast|test|buffer|memory access)\b", many.en), many.en
    assert ("3" in many.en) == ("3" in many.zh)


def test_no_kind_is_missing_a_language() -> None:
    """Both languages have the same keys: no sentence can be told in one of them only."""
    assert keys("en") == keys("zh")
    assert {key.removeprefix("edits.") for key in keys("en") if key.startswith("edits.")} == set(KINDS)


#: Keys of details, each with a value of its type; a side that has nothing is left out of a detail.
DETAIL = {
    **{key: "x" for key in ("call", "condition", "dtype", "kernel", "mask", "operand", "operation", "origin")},
    **{key: "x, y" for key in ("by", "exact", "options", "stages", "target", "unresolved")},
    "parameter": "x",
    **{f"{key}_{side}": "x" for key in ("default", "dtype", "mask", "name", "size", "value") for side in SIDES},
    **{f"{key}_{side}": "x" for key in ("cases", "factor", "operation", "order", "other", "path") for side in SIDES},
    **{f"{key}_{side}": True for key in ("constexpr", "x") for side in SIDES},
    **{"bits": 64, "bits_before": 64, "bits_after": 32, "of": "load", "size": "n", "subject": "logits", "cases": 6},
}


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(KINDS), st.sets(st.sampled_from(sorted(DETAIL))), st.sampled_from([1, 2]))
def test_any_part_of_a_detail_is_enough(kind: str, chosen: set[str], count: int) -> None:
    """Whatever an edit's detail holds or lacks, its sentence is whole: no missing name, no empty code span."""
    needed = (
        {"dtype"} if "of" in chosen else {"parameter"} if chosen & {"constexpr_before", "constexpr_after"} else set()
    )
    if any(key.startswith("default") for key in chosen):
        needed.add("parameter")
    said = sentence(edit(kind, count, detail={key: DETAIL[key] for key in chosen | needed}))
    assert said.en.endswith(".") and said.zh.endswith("。")
    assert "``" not in said.en and "  " not in said.en


OPPOSITES = [
    ("cast-added", "cast-removed"),
    ("copy-added", "copy-removed"),
    ("in-place-introduced", "in-place-removed"),
    ("alias-returned-introduced", "alias-returned-removed"),
    ("low-precision-round-trip-introduced", "low-precision-round-trip-removed"),
    ("dtype-argument-added", "dtype-argument-removed"),
    ("guard-widened", "guard-narrowed"),
    ("contiguity-added", "contiguity-removed"),
    ("index-widened", "index-narrowed"),
    ("stride-assumed", "stride-honoured"),
    ("barrier-added", "barrier-removed"),
]


@pytest.mark.parametrize(("one", "other"), OPPOSITES)
def test_direction_is_told(one: str, other: str) -> None:
    """A kind and its opposite never read the same, in either language."""
    for lang in LANGUAGES:
        assert getattr(sentence(edit(one)), lang) != getattr(sentence(edit(other)), lang)


@pytest.mark.parametrize(
    ("given", "en", "zh"),
    [
        (
            edit("cast-added", 9, detail={"dtype": "float32", "of": "load"}),
            "9 loads of `Sampler.apply` are now cast to float32.",
            "`Sampler.apply` 的 9 处加载现在转换为 float32。",
        ),
        (
            edit("cast-removed", detail={"dtype": "float32", "of": "load"}),
            "1 load of `Sampler.apply` is no longer cast to float32.",
            "`Sampler.apply` 的 1 处加载不再转换为 float32。",
        ),
        (
            edit("copy-removed", detail={"subject": "logits", "dtype": "float32", "size": "numel(logits) × 4 bytes"}),
            "`Sampler.apply` no longer copies `logits` to float32 (`numel(logits) × 4 bytes`).",
            "`Sampler.apply` 不再将 `logits` 复制为 float32（`numel(logits) × 4 bytes`）。",
        ),
        (
            edit(
                "copy-added",
                detail={"subject": "logits", "dtype": "logits.dtype", "condition": "raw", "conditional": True},
            ),
            "`Sampler.apply` now copies `logits` in its own dtype, only where `raw` holds.",
            "`Sampler.apply` 现在仅当 `raw` 成立时按原有 dtype 复制 `logits`。",
        ),
        (
            edit(
                "value-changed", detail={"target": "q", "part": True, "value_before": "a == b", "value_after": "a in c"}
            ),
            "`Sampler.apply` computes `q` otherwise in part: `a == b` → `a in c`.",
            "`Sampler.apply` 计算 `q` 的方式部分改变：`a == b` → `a in c`。",
        ),
        (
            edit(
                "argument-changed",
                detail={"call": "g", "part": True, "value_before": "a == b", "value_after": "a in c"},
            ),
            "`Sampler.apply` calls `g` with an argument that differs in part: `a == b` → `a in c`.",
            "`Sampler.apply` 调用 `g` 的参数部分改变：`a == b` → `a in c`。",
        ),
        (
            edit("result-changed", detail={"part": True, "result_before": "a == b", "result_after": "a in c"}),
            "`Sampler.apply` returns something that differs in part: `a == b` → `a in c`.",
            "`Sampler.apply` 的返回值部分改变：`a == b` → `a in c`。",
        ),
        (
            edit("index-narrowed", 2, detail={"bits": 64, "dtype": "int64"}),
            "2 indices of `Sampler.apply` are no longer cast to 64 bits.",
            "`Sampler.apply` 的 2 处下标不再转换为 64 位。",
        ),
        (
            edit("index-narrowed", detail={"bits": 32, "dtype": "int32"}),
            "1 index of `Sampler.apply` is now cast to 32 bits.",
            "`Sampler.apply` 的 1 处下标现在转换为 32 位。",
        ),
        (
            edit("stride-assumed", detail={"factor_before": "stride", "factor_after": "VOCAB", "row": "row"}),
            "`Sampler.apply` now steps by `VOCAB`, a size, in place of the stride `stride`.",
            "`Sampler.apply` 现在以尺寸 `VOCAB` 代替步长 `stride` 寻址。",
        ),
        (
            edit(
                "launch-changed",
                detail={"kernel": "_k", "options": "num_warps", "num_warps_before": "default", "num_warps_after": "8"},
            ),
            "`Sampler.apply` launches `_k` otherwise: `num_warps` default → `8`.",
            "`Sampler.apply` 启动 `_k` 的方式改变：`num_warps` 默认值 → `8`。",
        ),
        (
            edit("launch-changed", after="tuned(2)", detail={"kernel": "apply", "options": "autotune"}),
            "`Sampler.apply` declares other launch options: nothing → `tuned(2)`.",
            "`Sampler.apply` 声明的启动选项改变：无 → `tuned(2)`。",
        ),
        (
            edit("guard-added", after="n > 0", detail={"allows": "n > 0", "condition": "early"}),
            "`Sampler.apply` now checks `n > 0` where `early` holds.",
            "`Sampler.apply` 现在在 `early` 成立时检查 `n > 0`。",
        ),
        (
            edit("statement-removed", detail={"statement": "a()", "statements": 3, "uncounted": True}),
            "`Sampler.apply` no longer runs `a()` and more.",
            "`Sampler.apply` 不再执行 `a()` 等。",
        ),
        (
            edit("function-extracted", detail={"origin": "Sampler.run"}),
            "`Sampler.apply` is extracted from `Sampler.run`.",
            "从 `Sampler.run` 中提取出 `Sampler.apply`。",
        ),
        (
            edit("default-changed", detail={"parameter": "k", "default_before": "50", "default_after": "20"}),
            "The default of `k` in `Sampler.apply` is now `20` (`50` before).",
            "`Sampler.apply` 中 `k` 的默认值现为 `20`（原为 `50`）。",
        ),
    ],
)
def test_what_the_detail_says(given: Edit, en: str, zh: str) -> None:
    """The detail of an edit is told, and the Chinese says the same."""
    assert sentence(given).en == en
    assert sentence(given).zh == zh


def test_a_conditional_copy_spares_the_argument() -> None:
    """An in-place write beside a conditional copy of the same argument is said with its exception."""
    copy = edit("copy-added", detail={"subject": "logits", "conditional": True, "condition": "raw"})
    write = edit("in-place-introduced", detail={"parameter": "logits"})
    assert (
        sentence(write, [copy, write]).en
        == "`Sampler.apply` now writes its argument `logits` in place, unless `raw` holds."
    )
    assert sentence(write, [write]).en == "`Sampler.apply` now writes its argument `logits` in place."


def test_code_cannot_leave_its_span() -> None:
    """Backticks in a name or in a span of code do not open or close anything."""
    said = sentence(edit("guard-added", after="assert x == '`'").model_copy(update={"symbol": "a`b"}))
    assert said.en == "``a`b`` now checks ``assert x == '`'``."


def test_many_edits_are_counted() -> None:
    """What is not told of a file is counted, and the buffer of a copy is told with the copy alone."""
    edits = tuple(
        edit("constant-changed", detail={"value_after": str(i)}).model_copy(update={"symbol": f"N{i}"})
        for i in range(GROUPS + 5)
    )
    file = FileChange(path="mini/ops.py", status="modified", edits=edits)
    copy = edit("copy-removed", detail={"size": "n × 4 bytes"})
    buffer = edit("allocation-removed", detail={"size": "n × 4 bytes"})
    (step,) = steps(Change(files=(file,)), ())
    assert len(step.sentences) == GROUPS + 1
    assert step.sentences[-1].en == "5 more edits are in report.json."
    (step,) = steps(Change(files=(FileChange(path="a.py", status="modified", edits=(copy, buffer)),)), ())
    assert len(step.sentences) == 1


def test_what_reads_the_same_is_told_once() -> None:
    """Edits of one symbol that differ only in what is not told are added up."""
    edits = tuple(edit("index-narrowed", detail={"bits": 64, "target": name}) for name in ("row", "col"))
    (step,) = steps(Change(files=(FileChange(path="a.py", status="modified", edits=edits),)), ())
    assert [one.en for one in step.sentences] == ["2 indices of `Sampler.apply` are no longer cast to 64 bits."]


def _told(*edits: Edit, names: tuple[str, ...], **more) -> list[str]:
    symbols = tuple(Symbol(name=name, kind="function", change="body") for name in names)
    file = FileChange(path="mini/ops.py", status="modified", added=1, removed=2, symbols=symbols, edits=edits, **more)
    return [one.en for one in steps(Change(files=(file,)), [])[0].sentences]


def test_lines_without_a_known_edit_are_not_called_meaningless() -> None:
    """What changed by no known kind of edit is named, with the number of lines; it is never called nothing."""
    assert _told(names=("draw",)) == ["+1 −2 lines, by no known kind of edit: `draw`."]
    told = _told(edit("barrier-added"), names=("Sampler.apply", "draw"))
    assert told[1:] == ["`draw` changed as well, by no known kind of edit (the file: +1 −2 lines)."]
    assert len(_told(edit("barrier-added"), names=("Sampler.apply",))) == 1


def test_code_of_tests_is_not_said_to_change_by_no_known_kind() -> None:
    """A helper of a test file may gain a parameter or another dtype, which is not looked for there."""
    assert _told(names=("fake",), category="test") == ["+1 −2 lines: `fake`."]
    told = _told(edit("test-added"), names=("Sampler.apply", "fake"), category="test")
    assert told[1:] == ["`fake` changed as well (the file: +1 −2 lines)."]


def test_other_names_of_locals_are_no_unknown_change() -> None:
    """Code that is the same but for names of its locals is called so; its lines are not left for a reader to judge."""
    symbol = Symbol(name="draw", kind="kernel", change="names")
    file = FileChange(path="mini/ops.py", status="modified", added=1, removed=1, symbols=(symbol,))
    ((said,),) = [step.sentences for step in steps(Change(files=(file,)), [])]
    assert said.en == "`draw` runs the same code under other names of local variables."


def test_what_left_a_file_is_no_unknown_change() -> None:
    """A file that a function was moved out of says so; where it went to, the move itself is told."""
    moved = edit("function-moved", detail={"path_before": "mini/old.py", "symbol_before": "Old.draw"})
    old = FileChange(path="mini/old.py", status="modified", removed=9)
    new = FileChange(path="mini/ops.py", status="modified", added=9, edits=(moved,))
    said = {step.path: [one.en for one in step.sentences] for step in steps(Change(files=(old, new)), [])}
    assert said["mini/old.py"] == ["`Old.draw` is moved to another file (this one: +0 −9 lines)."]
    assert len(said["mini/ops.py"]) == 1


def test_a_renamed_parameter_is_told_once() -> None:
    """The edit says that callers have to follow; a note that says the same is not told beside it."""
    detail = {"renamed": True, "kernel": False, "name_before": "a", "name_after": "b"}
    note = Text(en="`Sampler.apply`: parameter `a` is now called `b`.", zh="`Sampler.apply` 的参数 `a` 改名为 `b`。")
    other = Text(en="Not parsed.", zh="未解析。")
    assert _told(edit("parameter-changed", detail=detail), names=(), notes=(note, other)) == [
        "The parameter `a` of `Sampler.apply` is renamed to `b`; calls that name it have to follow.",
        "Not parsed.",
    ]


def test_related_edits_are_one_sentence() -> None:
    """Several parameters or conditions are one sentence; what is said of one symbol goes on after a semicolon."""
    gains = [edit("parameter-added", detail={"parameter": name}) for name in ("a", "b")]
    loses = edit("parameter-removed", detail={"parameter": "c"})
    conditions = [
        edit("condition-narrowed", detail={"test_before": before, "test_after": f"{before} and n"})
        for before in ("x", "y")
    ]
    assert _told(*gains, loses, *conditions, names=()) == [
        "2 conditions of `Sampler.apply` now hold in fewer cases: `x` → `x and n` and `y` → `y and n`.",
        "`Sampler.apply` loses the parameter `c`; it gains the parameters `a` and `b`.",
    ]


def test_the_same_of_several_symbols_is_one_sentence() -> None:
    """Numbers add up over symbols, and a long list of symbols ends in a number."""
    casts = [
        edit("index-widened", 2, detail={"bits": 64, "dtype": "int64"}).model_copy(update={"symbol": name})
        for name in ("_a", "_b", "_c")
    ]
    assert _told(*casts, names=()) == ["6 indices of `_a`, `_b` and `_c` are now cast to 64 bits."]
    tests = [edit("test-added").model_copy(update={"symbol": f"test_{n}"}) for n in range(12)]
    (said,) = _told(*tests, names=())
    assert said.startswith("12 tests are added: `test_0`, ") and said.endswith(" and 6 more.")


def test_numbers_come_before_dispatch_and_names() -> None:
    """The order of kinds: what decides numbers, then launches, then the interface, then what is new, then tests."""
    kinds = ("test-added", "function-added", "parameter-added", "launch-changed", "cast-removed")
    given = [edit(kind).model_copy(update={"symbol": kind}) for kind in kinds]
    told = _told(*given, names=())
    assert [next(kind for kind in kinds if kind in said) for said in told] == list(reversed(kinds))


def test_a_statement_is_told_by_what_it_does() -> None:
    """An allocation that is new is not told a second time as a statement that is new."""
    allocation = edit("allocation-added", detail={"target": "x", "size": "n × 4 bytes"}, head_line=3)
    statement = edit("statement-added", detail={"statement": "x = torch.empty(n)", "statements": 1}, head_line=3)
    assert _told(allocation, statement, names=()) == ["`Sampler.apply` now allocates `x` (`n × 4 bytes`)."]
    elsewhere = statement.model_copy(update={"head_line": 5})
    assert (
        len(_told(allocation, elsewhere, names=())) == 1
        and "; it now runs" in _told(allocation, elsewhere, names=())[0]
    )


def test_an_unknown_kind_is_still_told() -> None:
    """An edit of a kind that has no sentence names its symbol, its kind and both sides."""
    said = sentence(edit("colour-changed", before="red", after="blue"))
    assert said.en == "`Sampler.apply`: colour changed: `red` → `blue`."


def test_sides_that_were_cut_alike_are_not_told_as_different() -> None:
    """Where a detail was cut before its sides differ, the spans tell the difference."""
    long = "f(" + "a, " * 60
    cut = {"value_before": f"{long[:90]}...", "value_after": f"{long[:90]}..."}
    said = sentence(edit("value-changed", detail=cut, before=f"{long}x)", after=f"{long}y)")).en
    assert "x)` → `" in said and "y)`" in said
    assert "→" not in sentence(edit("value-changed", detail=cut)).en


def test_sides_that_begin_where_they_differ_are_told_as_they_are() -> None:
    """Details that were cut at both ends show the difference, whatever the longer spans look like."""
    cut = {"result_before": "...a=1, b=2, c...", "result_after": "...a=1, new=3, b..."}
    said = sentence(edit("result-changed", detail=cut, before="f(\n  a=1, ...", after="f(a=1, ...")).en
    assert said == "`Sampler.apply` returns something else: `...a=1, b=2, c...` → `...a=1, new=3, b...`."


def test_long_sides_show_where_they_differ() -> None:
    """What both sides of a long edit share is left out."""
    load = f"x = tl.load({' + '.join(f'offset_{i}' for i in range(20))})"
    said = sentence(edit("operator-changed", before=load, after=load.replace("= ", "= (\n", 1) + " / t)")).en
    assert "/ t`" in said and "offset_3" not in said


def test_code_comes_before_tests_in_the_one_sentence() -> None:
    """A change whose code has no edit of a known kind is not summed up by the tests that it adds."""
    test = Edit(kind="test-added", path="test_ops.py", symbol="test_draw")
    symbols = (Symbol(name="draw", kind="kernel", change="body"),)
    files = (
        FileChange(path="ops.py", status="modified", category="kernel", added=2, removed=1, symbols=symbols),
        FileChange(path="test_ops.py", status="modified", category="test", edits=(test,)),
    )
    subject = Subject(repository="r", base="a" * 40, head="b" * 40, state="open")
    told = one_line(Plan(subject=subject, change=Change(files=files), profile="generic"))
    assert "`draw`" in told.en and "test_draw" not in told.en


def test_a_statement_that_is_gone_is_told_with_the_one_that_came() -> None:
    """The one sentence does not say that an update is gone where another one came in its place."""
    edits = (
        edit("statement-removed", detail={"statement": "offset += n", "statements": 1}, base_line=4),
        edit("statement-added", detail={"statement": "offset = (offset + n) // 4 * 4", "statements": 1}, head_line=4),
        edit("condition-added", detail={"test": "n > 0"}, head_line=2),
        edit("value-changed", detail={"target": "y", "value_before": "a", "value_after": "b"}),
    )
    symbols = (Symbol(name="Sampler.apply", kind="method", change="body"),)
    files = (FileChange(path="mini/ops.py", status="modified", category="source", symbols=symbols, edits=edits),)
    subject = Subject(repository="r", base="a" * 40, head="b" * 40, state="open")
    told = one_line(Plan(subject=subject, change=Change(files=files), profile="generic"))
    assert "`offset += n`" in told.en and "`offset = (offset + n) // 4 * 4`" in told.en


def test_a_buffer_that_is_gone_is_told_with_the_one_that_came() -> None:
    """The one sentence does not say that a buffer is gone where another one is allocated for it."""
    edits = (
        edit("allocation-removed", detail={"target": "staged", "dtype": "int64", "size": "n"}, base_line=4),
        edit("allocation-added", detail={"target": "direct", "dtype": "int64", "size": "n"}, head_line=4),
        edit("cast-added", detail={"dtype": "float32"}, head_line=9),
    )
    symbols = (Symbol(name="Sampler.apply", kind="method", change="body"),)
    files = (FileChange(path="mini/ops.py", status="modified", category="source", symbols=symbols, edits=edits),)
    subject = Subject(repository="r", base="a" * 40, head="b" * 40, state="open")
    told = one_line(Plan(subject=subject, change=Change(files=files), profile="generic"))
    assert "`staged`" in told.en and "`direct`" in told.en


@pytest.mark.parametrize(
    ("form", "more", "said"),
    [
        ("store", {}, "`Sampler.apply` stores to `b` in place of `a`."),
        ("call", {}, "`Sampler.apply` now runs `b` in place of `a`."),
        ("call", {"call": "go"}, "`Sampler.apply` calls `go` with other arguments: `a` → `b`."),
    ],
)
def test_what_computes_no_value_is_not_called_one(form: str, more: dict, said: str) -> None:
    """A place that is written and a call for its effect are told as such, in both languages."""
    told = sentence(edit("value-changed", detail={"form": form, "value_before": "a", "value_after": "b", **more}))
    assert told.en == said
    assert "`a`" in told.zh and "`b`" in told.zh and "计算" not in told.zh


def test_a_call_of_a_renamed_function_is_named_as_it_is_now() -> None:
    """Where the called function was renamed by the change, its new name stands in both languages."""
    told = sentence(edit("argument-removed", detail={"call_before": "old", "call_after": "new", "value": "x"}))
    assert told.en == "`Sampler.apply` no longer calls `new` with `x`."
    assert "`new`" in told.zh


def _one_line(*files: FileChange) -> str:
    subject = Subject(repository="r", base="a" * 40, head="b" * 40, state="open")
    return one_line(Plan(subject=subject, change=Change(files=files), profile="generic")).en


def test_a_file_that_was_not_compared_is_named_in_the_one_sentence() -> None:
    """A file whose edits are not known is never summed up as one without a change of meaning, alone or with others."""
    note = Text(en="ops.py: comparing its two sides failed; its edits are not listed.", zh="ops.py")
    failed = FileChange(path="ops.py", status="modified", category="kernel", notes=(note,))
    other = FileChange(path="b.py", status="modified", edits=(edit("cast-added", detail={"dtype": "float32"}),))
    assert _one_line(failed) == "What changed in `ops.py` could not be compared."
    assert _one_line(failed, other).endswith("What changed in `ops.py` could not be compared.")


def test_nothing_is_said_of_the_meaning_of_what_no_reader_reads() -> None:
    """Files without an edit changed by no known kind; only a file that is the same program is said to be."""
    data = FileChange(path="table.json", status="modified", category="data")
    alike = FileChange(path="ops.py", status="modified", notes=(TEXT_ALONE,))
    assert _one_line(data) == "1 file changed, by no known kind of edit."
    assert _one_line(data, alike) == "2 files changed, by no known kind of edit."
    assert _one_line(alike) == "1 file changed in comments, docstrings or layout alone."


@pytest.mark.parametrize("kind", ["cast-added", "cast-removed", "allocation-added", "synchronization-removed"])
def test_what_comes_or_goes_with_a_test_is_told_with_it(kind: str) -> None:
    """A cast, a buffer or a wait under a test that came with it is not told as one that always happens."""
    said = [sentence(edit(kind, detail={"dtype": "float32", **more})) for more in ({}, {"condition": "x.wide"})]
    assert "`x.wide`" not in said[0].en + said[0].zh
    assert "where `x.wide` holds" in said[1].en and "在 `x.wide` 成立时" in said[1].zh


@pytest.mark.parametrize("kind", ["cast-added", "cast-removed"])
def test_a_view_of_the_same_bits_is_not_told_as_a_cast(kind: str) -> None:
    """``x.view(torch.uint8)`` computes no other value: it is told as what it is."""
    said = sentence(edit(kind, detail={"dtype": "uint8", "bitcast": True, "of": "value"}))
    assert "reinterprets 1 value as uint8" in said.en and " cast" not in said.en
    assert "按位重新解释为 uint8" in said.zh and "转换" not in said.zh


def test_a_guard_is_told_by_what_it_demands() -> None:
    """``if n <= 0: raise`` is told as the check that it is, not by the test that refuses; before and after alike."""
    added = edit("guard-added", after="n <= 0", detail={"subject": "n", "demands": "n > 0"})
    assert "checks `n > 0`" in sentence(added).en and "n <= 0" not in sentence(added).en + sentence(added).zh
    wider = edit(
        "guard-widened", before="n > 4", after="n > 8",
        detail={"subject": "n", "demands_before": "n <= 4", "demands_after": "n <= 8"},
    )  # fmt: skip
    assert "more values of `n`: `n <= 4` → `n <= 8`." in sentence(wider).en
