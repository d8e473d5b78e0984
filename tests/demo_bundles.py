"""The demo's bundles, rebuilt; and how their evidence is recorded on a GPU.

``python tests/demo_bundles.py DIR`` writes them to DIR. On a machine with a GPU, ``analyze check DIR/N.tar.gz -o
N.json`` for each; the files belong in ``tests/data/demo_evidence``.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from analyzer import demo, plan
from analyzer.bundle import Bundle
from analyzer.change.revisions.repository import Repository
from analyzer.plan import Request

EVIDENCE = Path(__file__).parent / "data" / "demo_evidence"


def bundles() -> list[Bundle]:
    """The bundle of each change of the demo, oldest first."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / demo.NAME
        commits = demo.build(folder, demo.steps())
        with Repository.open(folder) as repository:
            return [plan.make(repository, Request(commit, flags={}), lambda _: None)[0] for commit in commits[1:]]


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for number, bundle in enumerate(bundles(), start=1):
        bundle.write(folder / f"{number}.tar.gz")
        print(folder / f"{number}.tar.gz", bundle.digest)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
