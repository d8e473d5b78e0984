"""Every kind of edit, one place and three, with and without its detail: whole sentences that say the direction."""

from __future__ import annotations

import re

import pytest

from analyzer.change.reversal import reverse
from analyzer.findings.kinds import KINDS
from analyzer.model.change import Edit
from analyzer.report.sentences import sentence

#: What an extractor may say of each noun. `*_before` and `*_after` only where the kind has two sides.
FULL: dict[str, dict] = {
    "cast": {"dtype": "float32", "of": "value"},
    "dtype-argument": {"call": "softmax", "dtype": "float32"},
    "copy": {"subject": "logits", "dtype": "float32", "size": "n × 4 bytes", "condition": "raw", "conditional": True},
    "in-place": {"parameter": "logits", "by": "temper, mask, .div_()", "condition": "raw"},
    "alias-returned": {"parameter": "logits"},
    "low-precision-round-trip": {"parameter": "logits", "stages": "temper", "exact": "mask", "unresolved": "penalize"},
    "allocation": {"target": "buffer", "dtype": "float32", "size": "n × 4 bytes", "fill": "empty"},
    "guard": {"subject": "x.dtype"},
    "mask": {"operation": "load", "mask": "offsets < n"},
    "barrier": {"operation": "debug_barrier"},
    "atomic": {"operation": "atomic_add"},
    "synchronization": {"operation": "x.item"},
    "contiguity": {"operand": "x", "condition": "x.stride(1) != 1", "conditional": True},
    "parameter": {"parameter": "k", "required": True, "kernel": False},
    "condition": {"test": "k > 0", "guards": 3},
    "loop": {"loop": "for x in xs", "statements": 3},
    "context": {"context": "torch.no_grad()", "form": "with", "statements": 3},
    "argument": {"call": "sort", "argument": "stable", "value": "1"},
    "base-class": {"base": "Base"},
    "global-state": {"target": "COUNT", "value": "0"},
    "decorator": {"decorator": "@cached"},
    "dependency": {"name": "torch", "requirement": "torch>=2.5", "group": "runtime"},
    "build-flag": {"flag": "-O3", "scope": "CXX_FLAGS"},
    "function": {"what": "class", "methods": 3, "origin": "Sampler.run"},
    "test": {"cases": 6},
    "index": {"bits": 64, "dtype": "int64"},
    "stride": {"factor_before": "BEFORE", "factor_after": "AFTER", "row": "row"},
    "tolerance": {"argument": "atol", "value_before": "BEFORE", "value_after": "AFTER"},
    "launch": {"kernel": "_k", "options": "num_warps", "num_warps_before": "BEFORE", "num_warps_after": "AFTER"},
}
#: Detail of a kind with two sides, where it differs from the noun's.
CHANGED: dict[str, dict] = {
    "cast": {"dtype_before": "BEFORE", "dtype_after": "AFTER"},
    "dtype-argument": {"call": "softmax", "dtype_before": "BEFORE", "dtype_after": "AFTER"},
    "copy": {"subject": "logits"},
    "allocation": {"target": "buffer", "dtype_before": "BEFORE", "dtype_after": "AFTER"},
    "mask": {"mask_before": "BEFORE", "mask_after": "AFTER"},
    "atomic": {"operation_before": "BEFORE", "operation_after": "AFTER"},
    "contiguity": {"operand": "x", "condition_before": "BEFORE", "condition_after": "AFTER"},
    "parameter": {"order_before": "BEFORE", "order_after": "AFTER"},
    "condition": {"test_before": "BEFORE", "test_after": "AFTER"},
    "context": {"context_before": "BEFORE", "context_after": "AFTER"},
    "argument": {"call": "sort", "argument": "stable", "value_before": "BEFORE", "value_after": "AFTER"},
    "body": {"same": 3, "statements_before": 13, "statements_after": 21},
    "value": {"target": "x", "value_before": "BEFORE", "value_after": "AFTER"},
    "result": {"result_before": "BEFORE", "result_after": "AFTER"},
    "exception": {"exception_before": "BEFORE", "exception_after": "AFTER"},
    "base-class": {"base_before": "BEFORE", "base_after": "AFTER"},
    "loop": {"loop_before": "BEFORE", "loop_after": "AFTER"},
    "decorator": {"decorator_before": "BEFORE", "decorator_after": "AFTER"},
    "import": {"name": "draw", "from_before": "BEFORE", "from_after": "AFTER"},
    "constant": {"value_before": "BEFORE", "value_after": "AFTER"},
    "default": {"parameter": "k", "default_before": "BEFORE", "default_after": "AFTER"},
    "operator": {"operator_before": "log", "operator_after": "log1p", "operand": "x"},
    "order": {"first_before": "B()", "second_before": "A()", "first_after": "A()", "second_after": "B()"},
    "dependency": {"name": "torch", "requirement_before": "BEFORE", "requirement_after": "AFTER", "group": "runtime"},
    "build-flag": {"flag": "ARCHS", "flag_before": "BEFORE", "flag_after": "AFTER", "scope": "kernels"},
    "test": {"cases_before": "BEFORE", "cases_after": "AFTER"},
    "function": {"symbol_before": "BEFORE", "symbol_after": "AFTER", "what": "function"},
}
TWO_SIDED = ("changed", "widened", "narrowed", "loosened", "tightened", "renamed", "moved", "assumed", "honoured")
BUILD = ("dependency", "build-flag", "import")
#: Words of the trade that stand in Chinese as they are.
TERMS = {"dtype", "float32", "int64", "bool", "GPU", "bytes"}
CODE = re.compile(r"(`+) ?.+? ?\1")


def edit(kind: str, count: int, full: bool) -> Edit:
    noun, _, way = kind.rpartition("-")
    detail: dict = {}
    if full:
        detail = CHANGED.get(noun, FULL.get(noun, {})) if way in TWO_SIDED else FULL.get(noun, {})
    before = "" if way in ("added", "introduced", "skipped", "extracted") else "x == BEFORE"
    after = "" if way in ("removed", "inlined", "unskipped") else "x == AFTER"
    spans = {"before": before, "after": after} if full else {}
    symbol = detail.get("symbol_after", "Sampler.apply")
    return Edit(kind=kind, path="mini/ops.py", symbol=symbol, count=count, detail=detail, **spans)


CASES = [(kind, count, full) for kind in KINDS for count in (1, 3) for full in (False, True)]


@pytest.mark.parametrize(("kind", "count", "full"), CASES)
def test_a_whole_sentence_in_both_languages(kind: str, count: int, full: bool) -> None:
    """One full stop at the end, a capital at the start, no leftovers of a template, nothing foreign in Chinese."""
    said = sentence(edit(kind, count, full))
    english, chinese = CODE.sub("CODE", said.en), CODE.sub("", said.zh)
    assert not english[0].islower() and english.endswith(".") and chinese.endswith("。")
    assert english.count(".") == 1 and chinese.count("。") == 1
    for text in (said.en, said.zh):
        assert not re.search(
            r"  |\.\.|。。|–|None|True|False|``|\( | \)|（）|\(\)(?!`)|：。|: ?\.| ,|，，|\ue000", text
        ), text
    assert not re.search("[\u4e00-\u9fff]", said.en)
    assert set(re.findall("[A-Za-z][A-Za-z0-9]+", chinese)) <= TERMS, chinese
    if kind.rpartition("-")[0] not in BUILD:
        assert f"`{edit(kind, count, full).symbol}`" in said.en
    assert sorted(CODE.findall(said.en)) == sorted(CODE.findall(said.zh))


@pytest.mark.parametrize(("kind", "count", "full"), CASES)
def test_number_agrees(kind: str, count: int, full: bool) -> None:
    """One thing takes the singular, three take the plural; both languages tell the same numbers."""
    said = sentence(edit(kind, count, full))
    words = CODE.sub("CODE", said.en)
    assert not re.search(r"\b1 (?!value\b)\w+(?<!s)s\b(?! bytes)(?<!\baccess)", words) or "1 memory access" in words, (
        words
    )
    assert not re.search(r"\b3 \w+ (?:is|has|states|gains|loses|holds|runs|comes)\b", words), words
    assert not re.search(r"\b1 \w+ (?:are|have|state|gain|lose|hold|run|come)\b", words), words
    assert not re.search(r"^CODE (?:now |no longer )?(?:cast|copy|write|check|allocate|make|run|compute)\b", words)
    assert sorted(re.findall(r"\d+", words)) == sorted(re.findall(r"\d+", CODE.sub("", said.zh)))


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_the_reversed_edit_reads_as_the_opposite(kind: str, full: bool) -> None:
    """What was before the change is told before what is after it; the reversed edit reads the other way."""
    given = edit(kind, 1, full)
    back = reverse(given)
    for lang in ("en", "zh"):
        there, home = (getattr(sentence(one), lang) for one in (given, back))
        if back.kind != kind or (full and kind.endswith(TWO_SIDED) and not kind.startswith("test-")):
            assert there != home
        for text, first, second in ((there, "BEFORE", "AFTER"), (home, "AFTER", "BEFORE")):
            if first in text and second in text and "→" in text:
                assert text.index(first) < text.index(second)
    assert sentence(reverse(back)) == sentence(given)


def test_which_side_is_the_new_one() -> None:
    """Where no arrow tells it, words do: what holds now comes first, what held is called so."""
    assert sentence(edit("default-changed", 1, True)).en == (
        "The default of `k` in `Sampler.apply` is now `AFTER` (`BEFORE` before)."
    )
    assert sentence(edit("order-changed", 1, True)).en == (
        "`Sampler.apply` now runs `A()` before `B()`, the other way round than before."
    )
    assert sentence(edit("operator-changed", 1, True)).en == (
        "`Sampler.apply` now calls `log1p` in place of `log`: `x == BEFORE` → `x == AFTER`."
    )
    assert sentence(edit("stride-honoured", 1, True)).en == (
        "`Sampler.apply` now steps by the stride `AFTER` in place of `BEFORE`, a size."
    )
    assert sentence(edit("condition-removed", 1, True)).zh == (
        "`Sampler.apply` 的 3 条语句不再仅当 `k > 0` 成立时执行。"
    )
