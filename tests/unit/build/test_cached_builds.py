"""What the folder of builds holds is read without trust: others write there too."""

from __future__ import annotations

import json

import pytest

from analyzer.build.compiler import _stored

WHOLE = {"data": {"launches": []}, "failure": None, "error": ""}


def test_a_whole_result(tmp_path):
    """What was stored is what is read; an absent file is no result."""
    (tmp_path / "a.json").write_text(json.dumps(WHOLE))
    found = _stored(tmp_path / "a.json")
    assert found is not None and found.ok and found.data == {"launches": []}
    assert _stored(tmp_path / "b.json") is None


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff", b'{"data": 1, "failure": null, "error": ""}'])
def test_a_broken_result(tmp_path, content):
    """A file that another run left half written, or that holds something else, counts as absent."""
    (tmp_path / "a.json").write_bytes(content)
    assert _stored(tmp_path / "a.json") is None
