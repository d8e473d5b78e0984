"""Code under test that misbehaves: the report comes, with that as the result."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from analyzer import cli

pytest.importorskip("torch")

SETTINGS = """
probes:
  - name: mask
    target: tiny.sampler:mask
    covers: [mask]
    inputs:
      - {name: logits, shape: [rows, vocab], fill: normal}
    arguments: {k: 4}
    dtypes: [fp32]
    cases: {parity: {rows: 8, vocab: 64}}
    oracle: [{operation: top-k, k: 4}]
    checks: [kept-set, mutation, hang]
"""
HEAD = "import torch\n\n\ndef mask(logits, k):\n"
GOOD = """    kth = logits.topk(k, dim=-1).values[:, -1:]
    return logits.masked_fill(logits < kth, float("-inf"))
"""
SURVIVOR = "31415926.5"
MISDEEDS = {
    "hang": "    while True:\n        pass\n",
    "crash": "    import ctypes\n\n    ctypes.string_at(0)\n",
    "out-of-memory": "    kept = []\n    while True:\n        kept.append(torch.ones(1 << 24))\n",
    "raise": "    raise RuntimeError('no kernel image is available')\n",
    "exit": "    raise SystemExit(0)\n",
    "survivor": f"    import subprocess\n\n    subprocess.Popen(['sleep', '{SURVIVOR}'], start_new_session=True)\n"
    + GOOD,
    "patches": (
        "    torch.equal = torch.allclose = lambda *_, **__: True\n"
        "    torch.Tensor.__eq__ = lambda *_: True\n"
        "    torch.Tensor.clone = lambda self: self\n"
        "    kth = logits.topk(k, dim=-1).values[:, -1:]\n"
        "    return logits.masked_fill_(logits < kth, float('-inf'))\n"
    ),
}
MISDEEDS |= {
    "none": "    return None\n",
    "shape": GOOD.replace("return logits", "return logits[:4]").replace("logits < kth", "logits[:4] < kth[:4]"),
    "import": GOOD.replace("topk(k,", "topk(k + 0,") + "\n\nLIMIT = mask.limit\n",
    "garbage": (
        "    import glob, os\n\n"
        "    for path in glob.glob(os.environ['HOME'] + '/results.jsonl'):\n"
        "        open(path, 'a').write('\\0{]\\n[1]\\n{\"id\": \"x\"}\\n')\n" + GOOD
    ),
}
#: What `kept-set` and `mutation` come out as.
EXPECTED = {
    "hang": ("hang", "hang"),
    "crash": ("crash", "crash"),
    "out-of-memory": ("out-of-memory", "out-of-memory"),
    "raise": ("fail", "fail"),
    "exit": ("fail", "fail"),
    "survivor": ("pass", "pass"),
    "patches": ("pass", "fail"),
    "none": ("fail", "fail"),
    "shape": ("fail", "fail"),
    "import": ("pass", "pass"),  # the slice leaves the line out
    "garbage": ("pass", "pass"),
}


@pytest.mark.parametrize("misdeed", MISDEEDS)
def test_a_misdeed_is_a_result(repository, tmp_path, monkeypatch, misdeed):
    """Head hangs, dies, fills memory, raises, exits, leaves a process or patches torch; base does not."""
    if misdeed == "hang":
        monkeypatch.setattr("analyzer.checks.probe_run.HANG_SECONDS", 4.0)
    monkeypatch.setattr("analyzer.checks.session._half_of_memory", lambda: 2 << 30)
    repository.commit({".analyzer.yml": SETTINGS, "tiny/__init__.py": "", "tiny/sampler.py": HEAD + GOOD})
    head = repository.commit({"tiny/sampler.py": HEAD + MISDEEDS[misdeed]})
    out = tmp_path / "out"
    assert cli.invoke(["run", head, "--repo", str(repository.folder), "--out", str(out), "--device", "cpu"]) == 0
    report = json.loads((out / "report.json").read_text(encoding="utf-8"))
    found = {check["check"]: check["outcome"] for check in report["evidence"]["checks"]}
    assert (found["kept-set"], found["mutation"]) == EXPECTED[misdeed]
    if EXPECTED[misdeed] != ("pass", "pass"):
        assert report["risk"]["level"] in ("high", "critical")
        assert report["summary"]["recommendation"]["action"] not in ("merge", "keep")
    assert not _running(SURVIVOR)


def _running(argument: str) -> list[str]:
    """Processes that have `argument` on their command line."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if argument.encode() in words:
            found.append(str(path))
    return found


def test_a_head_that_cannot_be_imported_fails(repository, tmp_path):
    """As a package head fails at import and base does not: said once, as a failure; the other checks are not run."""
    settings = SETTINGS.replace("dtypes:", "modes: [package]\n    dtypes:")
    repository.commit({".analyzer.yml": settings, "tiny/__init__.py": "", "tiny/sampler.py": HEAD + GOOD})
    head = repository.commit({"tiny/sampler.py": HEAD + MISDEEDS["import"]})
    out = tmp_path / "out"
    assert cli.invoke(["run", head, "--repo", str(repository.folder), "--out", str(out), "--device", "cpu"]) == 0
    report = json.loads((out / "report.json").read_text(encoding="utf-8"))
    found = {check["check"]: check for check in report["evidence"]["checks"]}
    assert {name: check["outcome"] for name, check in found.items()} == {
        "mutation": "not-run",
        "kept-set": "not-run",
        "hang": "fail",
    }
    assert "AttributeError" in found["hang"]["reason"]["en"] and "tiny/sampler.py:" in found["hang"]["reason"]["en"]
    assert report["summary"]["recommendation"]["action"] not in ("merge", "keep")
