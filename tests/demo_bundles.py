"""The demo's bundles, rebuilt; and how their evidence is recorded on a GPU.

``python tests/demo_bundles.py DIR`` writes them to DIR, and beside them measured.json: what code is called, and how. On
a machine with a GPU, ``analyze check DIR/N.tar.gz -o N.json`` for each; all these files belong in
``tests/data/demo_evidence``.
"""

from __future__ import annotations

import hashlib
import json
import sys
import tempfile
from pathlib import Path

from analyzer import demo, plan
from analyzer.bundle import Bundle
from analyzer.change.revisions.repository import Repository
from analyzer.plan import Request

EVIDENCE = Path(__file__).parent / "data" / "demo_evidence"
MEASURED = "measured.json"
_SPEC = ("name", "shape", "dtype", "fill", "parameters")


def bundles() -> list[Bundle]:
    """The bundle of each change of the demo, oldest first."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / demo.NAME
        commits = demo.build(folder, demo.steps())
        with Repository.open(folder) as repository:
            return [plan.make(repository, Request(commit, flags={}), lambda _: None)[0] for commit in commits[1:]]


def measured(bundle: Bundle) -> str:
    """A digest of what evidence is about: the code of both revisions and how it is called.

    What is said of the change (facts, findings, prose) may become another without a new measurement.
    """
    calls = [
        {
            **{key: probe[key] for key in ("name", "target", "arguments", "cases", "dtypes")},
            "inputs": [{key: spec[key] for key in _SPEC} for spec in probe["inputs"]],
        }
        for probe in (probe.model_dump(mode="json") for probe in bundle.plan.probes)
    ]
    about = {"revisions": [one.files for one in bundle.plan.revisions], "probes": calls, "seed": bundle.plan.seed}
    return hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    about = {}
    for number, bundle in enumerate(bundles(), start=1):
        bundle.write(folder / f"{number}.tar.gz")
        about[str(number)] = measured(bundle)
        print(folder / f"{number}.tar.gz", bundle.digest)
    (folder / MEASURED).write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
