"""Analyzes the commits of a cases file and prints each expectation as found, missing or needs-gpu.

``python tests/cases/run.py --repo PATH [--conversations DIR] [--cases FILE] [--only ID] [--device ...] [--out DIR]
[--evidence DIR]``. Conversations are read where the folder has them. With --evidence, DIR has ``<case id>.json`` files
that `analyze check` wrote on another machine for the bundles that `--out` keeps. Exit code 1 where anything is missing.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from expectations import describe, holds

from analyzer import pipeline
from analyzer.bundle import Bundle
from analyzer.history.subject import read_conversation
from analyzer.plan import Request


def main() -> int:
    arguments = _arguments()
    cases = json.loads(arguments.cases.read_text(encoding="utf-8"))["cases"]
    missing = 0
    with tempfile.TemporaryDirectory() as scratch:
        out = arguments.out or Path(scratch)
        for case in cases:
            if arguments.only and case["id"] not in arguments.only:
                continue
            started = time.monotonic()
            report = _analyze(case, arguments, out / case["id"])
            print(f"\n{case['id']}  {case['base']}..{case['head']}  {time.monotonic() - started:.1f} s", flush=True)
            for expectation in case["expect"]:
                verdict = _verdict(expectation, report)
                missing += verdict == "missing"
                print(f"  {verdict:9} {describe(expectation)}")
    print(f"\n{missing} missing")
    return 1 if missing else 0


def _analyze(case: dict[str, Any], arguments: argparse.Namespace, out: Path) -> dict[str, Any]:
    """The case's report.json; from evidence of another machine where that is handed over."""
    conversation = None
    if arguments.conversations and "pr_json" in case and (arguments.conversations / case["pr_json"]).exists():
        conversation = read_conversation(arguments.conversations / case["pr_json"])
    evidence = arguments.evidence / f"{case['id']}.json" if arguments.evidence else None
    if evidence is not None and evidence.exists():
        bundle = Bundle.read(out / "bundle.tar.gz")
        pipeline.report(bundle, pipeline.read_evidence(evidence), conversation, out)
    else:
        request = Request(case["head"], case["base"], {"device": arguments.device, "budget": "30m"}, conversation)
        pipeline.run(arguments.repo, request, out, lambda _: None)
    return json.loads((out / "report.json").read_text(encoding="utf-8"))


def _verdict(expectation: dict[str, Any], report: dict[str, Any]) -> str:
    environment = (report["evidence"] or {}).get("environment", {})
    if holds(expectation, report):
        # That no check failed says nothing where none could run.
        return "needs-gpu" if "no_check" in expectation and not environment.get("gpu") else "found"
    if expectation.get("needs") == "gpu" and not environment.get("gpu"):
        return "needs-gpu"
    return "not-built" if "check" in expectation and report["evidence"] is None else "missing"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repo", type=Path, required=True)
    parser.add_argument("--conversations", type=Path)
    parser.add_argument("--cases", type=Path, default=Path(__file__).parent / "vllm.json")
    parser.add_argument("--only", action="append")
    parser.add_argument("--device", default="auto", choices=["auto", "cuda", "cpu", "none"])
    parser.add_argument("--out", type=Path)
    parser.add_argument("--evidence", type=Path)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
