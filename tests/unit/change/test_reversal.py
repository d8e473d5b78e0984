"""The law of direction on sources that nobody wrote: the edits of the reversed diff are the reversed edits."""

from __future__ import annotations

import ast
import re

from edit_pairs import CASES, CPP_PRELUDE, PRELUDE, edits_of, flipped, in_order
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from analyzer.change.facts import SourcePair
from analyzer.change.reversal import reverse

SOURCES = sorted(
    {
        PRELUDE + text
        for case in CASES
        if case.values[0].get("path", ".py").endswith(".py")
        for sides in (case.values[0].get("files") or {"": case.values[0]}).values()
        for text in (sides["base"], sides["head"])
    }
)
CPP_SOURCES = sorted(
    {
        CPP_PRELUDE + case.values[0][side]
        for case in CASES
        if case.values[0].get("path", ".py").endswith((".cu", ".cpp"))
        for side in ("base", "head")
    }
)
EXCHANGES = [
    ("float32", "bfloat16"), ("<", "<="), (">", ">="), ("==", "!="), (".float()", ""), ("1024", "512"),
    ("mask=", "other="), (".clone()", ""), ("tl.store", "tl.atomic_add"), (".to(tl.int64)", ""), ("max", "min"),
    (" + ", " - "), ("_(", "("),
]  # fmt: skip


CPP_EXCHANGES = [
    ("float", "half"), ("<", "<="), ("int ", "int64_t "), ("__syncthreads", "__syncwarp"), ("==", "!="), ("2", "4"),
    ("atomicAdd", "atomicMax"), (";", ""), ("{", ""), (" + ", " - "), ("#endif", ""), ("const ", ""), ("(float)", ""),
    ("if ", "while "), ("TORCH_CHECK", "assert"), (")", ""),
]  # fmt: skip


@st.composite
def mutated(draw, sources=SOURCES, exchanges=EXCHANGES) -> tuple[str, str]:
    """A source and the same after a few random edits of its lines and tokens."""
    text = draw(st.sampled_from(sources))
    lines = text.split("\n")
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(min(6, len(lines) - 2), len(lines) - 1)) if len(lines) > 7 else len(lines) - 1
        what = draw(st.sampled_from(["delete", "repeat", "exchange", "swap"]))
        if what == "delete" and len(lines) > 8:
            del lines[at]
        elif what == "repeat":
            lines.insert(at, lines[at])
        elif what == "swap" and at + 1 < len(lines):
            lines[at], lines[at + 1] = lines[at + 1], lines[at]
        else:
            old, new = draw(st.sampled_from(exchanges))
            lines[at] = re.sub(re.escape(old), new, lines[at], count=1)
    return text, "\n".join(lines)


def parses(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


def check(base: str, head: str, path: str = "code.py") -> None:
    pairs = [SourcePair(path, None, base, head)]
    assert in_order(map(reverse, edits_of(pairs))) == edits_of(flipped(pairs))


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.filter_too_much], derandomize=True)
@given(mutated())
def test_reversal_holds_for_mutated_sources(sources):
    """Random edits of a source give the same statements from both ends."""
    base, head = sources
    assume(parses(head))
    check(base, head)


@settings(max_examples=80, deadline=None, derandomize=True)
@given(st.sampled_from(SOURCES), st.sampled_from(SOURCES))
def test_reversal_holds_for_unrelated_sources(base, head):
    """Two sources that have nothing to do with each other give the same statements from both ends."""
    check(base, head)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(mutated(CPP_SOURCES, CPP_EXCHANGES))
def test_reversal_holds_for_mutated_cpp(sources):
    """The same of CUDA and C++, with code among it that cannot be parsed."""
    check(*sources, "kernel.cu")


@settings(max_examples=80, deadline=None, derandomize=True)
@given(st.sampled_from(CPP_SOURCES), st.sampled_from(CPP_SOURCES))
def test_reversal_holds_for_unrelated_cpp(base, head):
    """The same of two C++ sources that have nothing to do with each other."""
    check(base, head, "kernel.cu")
