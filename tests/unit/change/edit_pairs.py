"""The labelled pairs of tests/data/edits, read and run; what the tests of edits share."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from analyzer.change.edits import sort_key
from analyzer.change.facts import NoTree, SourcePair, change_edits
from analyzer.change.revisions.category import is_cpp

FOLDER = Path(__file__).parents[2] / "data" / "edits"
PRELUDE = "import torch\nimport triton\nimport triton.language as tl\nimport external, elsewhere\n\n\n"
CPP_PRELUDE = "#include <torch/all.h>\n#include <external.h>\n\n"
CASES = [
    pytest.param(case, id=f"{path.stem}: {case['says']}")
    for path in sorted(FOLDER.glob("*.yml"))
    for case in yaml.safe_load(path.read_text(encoding="utf-8"))
]


def pairs_of(case: dict) -> list[SourcePair]:
    files = case.get("files") or {case.get("path", "code.py"): {"base": case["base"], "head": case["head"]}}
    prelude = {path: PRELUDE if path.endswith(".py") and path != "setup.py" else "" for path in files}
    prelude |= {path: CPP_PRELUDE for path in files if is_cpp(path)}
    return [SourcePair(path, None, prelude[path] + s["base"], prelude[path] + s["head"]) for path, s in files.items()]


def flipped(pairs: list[SourcePair]) -> list[SourcePair]:
    return [SourcePair(p.path, p.previous_path, p.head, p.base) for p in pairs]


def in_order(edits) -> list:
    return sorted(edits, key=lambda e: (sort_key(e), e.kind))


def edits_of(pairs: list[SourcePair]) -> list:
    return in_order(e for facts in change_edits(pairs, NoTree()).values() for e in facts.edits)
