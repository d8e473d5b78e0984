"""Parsing only what differs gives the facts of parsing everything."""

from __future__ import annotations

import ast
import re

import pytest
from edit_pairs import CASES, PRELUDE
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.change import facts
from analyzer.change.facts import NoTree, SourcePair, change_edits
from analyzer.change.source import parse
from analyzer.change.trim import LINES, parse_both, trimmed

#: What stands around the code of a test: long enough that a file is worth trimming.
AROUND = [
    "".join(f"def helper_{n}(x):\n    x.add_({n})\n    return x\n\n\n" for n in range(LINES // 4)),
    """
@decorate(
    "a",
)
class Calm(Base):
    'Says something.'

    size: int = 3

    @property
    def one(self):
        return 1

    # a comment
    async def two(self, x: "int" = (
        3
    )):
        return x


if Calm:
    def guarded():
        return helper_1
else:
    guarded = None


""",
]
FILLED = "".join(AROUND)


def whole(base_path, base, head_path, head):
    return parse(base_path, base), parse(head_path, head)


def both_ways(base: str, head: str, monkeypatch_context) -> tuple:
    """The facts as they come, and with every file parsed whole."""
    pairs = [SourcePair("code.py", None, base, head)]
    quick = change_edits(pairs, NoTree())
    with monkeypatch_context() as patch:
        patch.setattr(facts, "parse_both", whole)
        return quick, change_edits(pairs, NoTree())


SOURCES = [
    case.values[0]
    for case in CASES
    if "files" not in case.values[0] and case.values[0].get("path", "code.py").endswith(".py")
]


@pytest.mark.parametrize("case", SOURCES, ids=lambda case: case["says"])
def test_a_trimmed_file_has_the_same_facts(case, monkeypatch):
    """Every labelled change of host code, in the middle of a file whose other definitions stay, reads the same."""
    base, head = (PRELUDE.replace("jit", "") + FILLED + case[side] + FILLED.replace("helper", "tail") for side in
                  ("base", "head"))  # fmt: skip
    quick, slow = both_ways(base, head, monkeypatch.context)
    assert quick == slow


def test_shared_definitions_are_blanked_where_they_stand():
    """Only the changed function and what is no definition is left, at its own lines."""
    base = FILLED + "def changed(x):\n    return x\n"
    head = FILLED.replace("helper_3(", "helper_4(", 1) + "def changed(x):\n    return x + 1\n"
    left, right = trimmed(base, head)
    assert [len(text.split("\n")) for text in (left, right)] == [len(text.split("\n")) for text in (base, head)]
    names = {node.name for node in ast.parse(left).body if hasattr(node, "name")}
    assert names == {"changed", "helper_3", "helper_4"}  # helper_3 is gone in head, helper_4 stands there twice
    assert left.split("\n").index("def changed(x):") == base.split("\n").index("def changed(x):")


def test_methods_of_a_changed_class_are_blanked():
    """A class of which one method differs keeps that method and its own statements; an empty one keeps a body."""
    methods = "".join(f"    def same_{n}(self):\n        return {n}\n\n" for n in range(LINES))
    base = f"class Big(Base):\n    limit = 1\n\n{methods}    @cached\n    def other(self):\n        return 1\n"
    left, _ = trimmed(base, base.replace("return 1\n", "return 10\n"))
    kept = [n.name for n in ast.walk(ast.parse(left)) if isinstance(n, ast.FunctionDef)]
    assert kept == ["same_1", "other"]
    left, right = trimmed(f"class Big(Base):\n{methods}", f"class Big(Other):\n{methods}")
    assert [type(n) for n in ast.parse(right).body[0].body] == [ast.Pass] * LINES
    assert "def" not in left


def test_a_class_on_one_line_has_no_methods():
    """A class whose body stands behind its colon, changed, is kept as it is."""
    left, right = trimmed(FILLED + "class Small(Base): size = 1\n", FILLED + "class Small(Base): size = 2\n")
    assert "class Small(Base): size = 1" in left and "class Small(Base): size = 2" in right


@pytest.mark.parametrize(
    "text",
    [
        FILLED + "@triton.jit\ndef kernel():\n    pass\n",
        "def f():\n    return 1\n",
        FILLED + 'def f():\n    return """\ndef g(\n"""\n',
    ],
    ids=["a kernel", "a short file", "a string that looks like code"],
)
def test_what_may_mislead_is_parsed_whole(text):
    """Files with kernels, short files, and files in which a string may hold a definition."""
    assert trimmed(text, text + "x = 1\n") is None


def test_the_whole_file_is_there_when_it_is_asked_for():
    """A partial module leads to the file as it is; functions that it has are the same objects there."""
    base = FILLED + "def changed(x):\n    return helper_3(x)\n"
    module, _ = parse_both("a.py", base, "a.py", base.replace("return helper_3(x)", "return helper_2(x)"))
    assert module.partial and "helper_3" not in module.functions
    assert module.whole.functions["helper_3"].text.startswith("def helper_3")
    assert module.whole.functions["changed"] is module.functions["changed"]
    assert module.whole.whole is module.whole


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.data())
def test_random_line_edits_read_the_same(data):
    """Lines deleted, doubled or exchanged anywhere in a long file: trimming changes no fact, and never fails."""
    base = FILLED + "class Work:\n" + re.sub(r"(?m)^(?=.)", "    ", AROUND[0])
    lines = base.split("\n")
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(lines) - 2))
        what = data.draw(st.sampled_from(["delete", "double", "swap", "number"]))
        if what == "delete":
            del lines[at]
        elif what == "double":
            lines.insert(at, lines[at])
        elif what == "swap":
            lines[at], lines[at + 1] = lines[at + 1], lines[at]
        else:
            lines[at] = re.sub(r"\d+", "77", lines[at])
    head = "\n".join(lines)
    try:
        ast.parse(head)
    except SyntaxError:
        return
    quick, slow = both_ways(base, head, pytest.MonkeyPatch.context)
    assert quick == slow
