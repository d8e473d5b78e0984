"""Bytes and modes that nobody wrote: a file's record can always be made, and the law of direction holds."""

from __future__ import annotations

from edit_pairs import CASES, in_order
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from analyzer.change.facts import NoTree, change_edits
from analyzer.change.reversal import reverse
from analyzer.change.revisions.decoding import decoded, is_binary
from analyzer.change.revisions.diffs import Entry
from analyzer.change.revisions.sources import Sources, file_change
from analyzer.model.base import Text

NOWHERE = Text(en="", zh="")
SIDES = sorted(
    {
        (path, sides["base"], sides["head"])
        for case in (case.values[0] for case in CASES)
        for path, sides in (case.get("files") or {case.get("path", "code.py"): case}).items()
    }
)
SPLICES = [
    b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"\r", b"\f", b"\xe9", b"\\", b"\n", b"(", b")", b"'''", b'"', b"#",
    b"<<<<<<< a\n", b"=======\n", b">>>>>>> b\n", b"# coding: latin-1\n", b"# coding: rot13\n", b"[", b"]]", b"${",
    b"version https://git-lfs.github.com/spec/v1\n", b"\t", b"$", b"=",
]  # fmt: skip
MODES = ["100644", "100755", "120000", "160000"]


@st.composite
def torn(draw, text: str) -> bytes:
    """The bytes of a source with some cut out, repeated or put in."""
    content = text.encode()
    for _ in range(draw(st.integers(0, 3))):
        at, to = sorted(draw(st.integers(0, len(content))) for _ in range(2))
        middle = draw(st.sampled_from([b"", content[at:to] * 2, *SPLICES]))
        content = content[:at] + middle + content[min(to, at + draw(st.integers(0, 40))) :]
    return content


@st.composite
def changes(draw) -> tuple[str, list[bytes], tuple[str, str]]:
    path, base, head = draw(st.sampled_from(SIDES))
    modes = draw(st.sampled_from([(x, y) for x in MODES for y in MODES]) | st.just(("100644", "100644")))
    return path, [draw(torn(base)), draw(torn(head))], modes


def record(path: str, contents: list[bytes], modes: tuple[str, str]):
    """The record of a file as the plan stage makes it."""
    blobs = [str(number) * 40 for number in (1, 2)]
    entry = Entry(path, None, "modified", *blobs, modes=modes)
    sources = Sources((entry,), dict(zip(blobs, contents, strict=True)))
    facts = change_edits(sources.pairs(), NoTree())
    return file_change(entry, sources, facts.get(path), NOWHERE, None)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(changes())
def test_any_bytes_have_a_record(change):
    """No bytes and no modes end the analysis, the record is one that can be written, and reversal holds."""
    path, contents, modes = change
    forward = record(path, contents, modes)
    backward = record(path, contents[::-1], modes[::-1])
    assert forward.model_dump_json()
    assert (forward.unread is None) == (backward.unread is None)
    assert in_order(map(reverse, forward.edits)) == in_order(backward.edits)


@given(st.binary(max_size=200), st.booleans())
def test_any_bytes_are_text_or_binary(content, python):
    """Decoding never fails, and what it gives can be written."""
    text, whole = decoded(content, python)
    assert text.encode() is not None and (whole or "\ufffd" in text)
    assert is_binary(content) in (True, False)
