"""Snippets: the telling functions, cut to size, with what was edited beside them."""

from __future__ import annotations

import ast
import re

import pytest

from analyzer.change.facts import NoTree, SourcePair, change_edits
from analyzer.change.snippets import LINES, NOUNS, WAYS, snippets
from analyzer.change.source import parse
from analyzer.findings.kinds import KINDS

LONG = "".join(f"    x = external.step_{n}(x)\n" for n in range(60))
BASE = f"def quiet(x, n=1):\n    return x\n\n\ndef loud(x):\n    x = x.clone()\n{LONG}    return x.float()\n"
HEAD = f"def quiet(x, n=2):\n    return x\n\n\ndef loud(x):\n{LONG}    return x\n"


def made(base: str, head: str, path: str = "code.py", limit: int = 3):
    pairs = [SourcePair(path, None, base, head)]
    return snippets(pairs, change_edits(pairs, NoTree()), limit)


def test_the_most_telling_function_comes_first():
    """A copy that goes outweighs a default, and the limit holds."""
    assert [s.symbol for s in made(BASE, HEAD)] == ["loud", "quiet"]
    assert [s.symbol for s in made(BASE, HEAD, limit=1)] == ["loud"]


def test_one_weighty_edit_comes_before_many_small_ones():
    """A barrier that goes is shown before a function with a dozen other defaults; lists of names are not shown."""
    wide = "def wide({}):\n    return 0\n\n\n"
    kernel = "@triton.jit\ndef kernel(p):\n    tl.store(p, 1)\n{}    tl.store(p, 2)\n"
    imports = "import triton\nimport triton.language as tl\n\n\n"
    names = [f"a{n}" for n in range(12)]
    base = imports + wide.format(", ".join(f"{n}=1" for n in names)) + kernel.format("    tl.debug_barrier()\n")
    head = imports + wide.format(", ".join(f"{n}=2" for n in names)) + kernel.format("")
    assert [s.symbol for s in made(base, head)] == ["kernel", "wide"]


def test_every_noun_has_a_name_in_both_languages():
    """A note never falls back to the vocabulary's own word in Chinese."""
    nouns = {kind.rpartition("-")[0] for kind in KINDS}
    assert nouns <= NOUNS.keys()
    assert all(re.search("[\u4e00-\u9fff]", zh) for _, zh in NOUNS.values())
    assert {kind.rpartition("-")[2] for kind in KINDS} <= WAYS.keys()


def test_lists_of_dependencies_are_no_snippets():
    """A requirement that is new is told, its file is not shown."""
    assert made("torch==2.6.0\n", "torch==2.7.0\n", path="requirements/cuda.txt") == ()


def test_long_functions_are_cut_around_the_edits():
    """The definition and the edited lines stay, the rest is elided, in at most LINES lines."""
    (first, *_) = made(BASE, HEAD)
    lines = first.code.split("\n")
    assert lines[0] == "def loud(x):" and "..." in first.code and len(lines) <= LINES
    assert "step_30" not in first.code and "return x" in first.code


def test_notes_quote_what_was_removed_in_both_languages():
    """A removed expression is not in the code shown, so the note quotes it."""
    (first, *_) = made(BASE, HEAD)
    assert any(n.en.startswith("copy") and "`x.clone()`" in n.en and "`x.clone()`" in n.zh for n in first.notes)


def test_the_note_of_an_else_that_is_gone_says_when_it_ran():
    """What ran in the `else` ran where the opposite of the test held."""
    base = "def f(a, b):\n    if a is not None:\n        b.one(a)\n    else:\n        b.count = 0\n    return b\n"
    head = "def f(a, b):\n    b.count = 0\n    if a is not None:\n        b.one(a)\n    return b\n"
    (snippet,) = made(base, head)
    assert "condition removed: `a is None`" in [note.en for note in snippet.notes]


def test_a_function_that_is_gone_is_shown_as_it_was():
    """The before-side where there is no after-side."""
    (only,) = made(BASE, "def quiet(x, n=1):\n    return x\n")
    assert only.symbol == "loud" and "x.clone()" in only.code


def test_tests_are_shown_only_where_there_is_nothing_else():
    """Code of tests steps back behind code."""
    test = [SourcePair("tests/test_a.py", None, "def test_a():\n    pass\n", None)]
    code = [SourcePair("code.py", None, BASE, HEAD)]
    both = [*test, *code]
    assert {s.path for s in snippets(both, change_edits(both, NoTree()), 5)} == {"code.py"}
    assert [s.path for s in snippets(test, change_edits(test, NoTree()), 5)] == ["tests/test_a.py"]


@pytest.mark.parametrize(
    ("tests", "condition"),
    [
        ("if x is None:\n  return\n else:\n  y()", "x is not None"),
        ("if x == 1:\n  return\n else:\n  y()", "x != 1"),
        ("if not x:\n  return\n else:\n  y()", "x"),
        ("if x < 1:\n  return\n else:\n  y()", "not x < 1"),
        ("if x:\n  if a or b:\n   y()", "x and (a or b)"),
    ],
)
def test_conditions_as_they_would_be_written(tests: str, condition: str) -> None:
    function = parse("a.py", f"def f():\n {tests}\n").functions["f"]
    assert next(s for s in function.statements if ast.unparse(s.node) == "y()").condition == condition
