"""The fault report (`make fault-report`).

For each fault the checks that found it and by how much, for each harmless change whether anything was accused, and what
usual comparisons say of the same outputs.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import torch
from faults import zoo
from faults.measure import Measured, accused, measure
from faults.mutations import mutants, visible
from faults.peers import PEERS


def cases(device: str, only: Sequence[str]) -> list[tuple[str, zoo.Case]]:
    """What a device can run: ("fault" or "harmless", case)."""
    every = [("fault", case) for case in zoo.faults()] + [("harmless", case) for case in zoo.equivalents()]
    every += [("fault", case) for case in mutants()]
    every = [(what, case) for what, case in every if device == "cuda" or case.sampler.kind == "torch"]
    return [(what, case) for what, case in every if not only or case.name in only or case.sampler.name in only]


def one(what: str, name: str, device: str, seeds: int) -> dict[str, Any]:
    """Measure one case; a row of the report."""
    torch.set_num_threads(1)
    case = next(case for its, case in cases(device, ()) if (its, case.name) == (what, name))
    started = time.monotonic()
    turns = range(seeds) if what == "harmless" else range(1)
    return row(what, measure(case, device, turns, processes=device == "cuda"), time.monotonic() - started)


def row(what: str, found: Measured, seconds: float) -> dict[str, Any]:
    worst: dict[str, Any] = {}
    for seed, dtype, record in found.records:
        if accused(record, not found.case.kind) and record.check not in worst:
            worst[record.check] = {
                "outcome": record.outcome, "dtype": dtype, "seed": seed, "margin": record.margin,
                "reason": record.reason.en,
            }  # fmt: skip
    return {
        "what": what,
        "name": found.case.name,
        "sampler": found.case.sampler.name,
        "kind": found.case.kind,
        "model": found.case.model,
        "found_by": worst,
        "named": bool(worst) and (what == "harmless" or found.named),
        "peers": found.peers,
        "error": found.error,
        "records": len(found.records),
        "seconds": round(seconds, 1),
    }


def table(rows: Sequence[dict[str, Any]]) -> str:
    """The report as text."""
    lines = []
    for its in sorted(rows, key=lambda its: (its["what"], its["sampler"], its["name"])):
        found = ", ".join(
            check + ("" if of["margin"] is None else f" ({of['margin']:.3g})") for check, of in its["found_by"].items()
        )
        good = its["named"] if its["what"] == "fault" else not its["found_by"] and not its["error"]
        mark = "ok  " if good else "MISS" if its["what"] == "fault" else "FALSE"
        lines.append(f"{mark:5} {its['what']:8} {its['kind']:16} {its['name']:48} {its['error'] or found or '-'}")
    faults = [its for its in rows if its["what"] == "fault"]
    harmless = [its for its in rows if its["what"] == "harmless"]
    lines += [
        "",
        f"{sum(its['named'] for its in faults)} of {len(faults)} faults found by a check that names their kind"
        f" ({sum(bool(its['found_by']) for its in faults)} by any check)",
        f"{sum(bool(its['found_by']) for its in harmless)} false alarms on {len(harmless)} harmless changes"
        f" ({sum(its['records'] for its in harmless):,} records)",
    ]
    for peer in PEERS:
        hit, wrong = (Counter(peer in its["peers"] for its in group)[True] for group in (faults, harmless))
        lines.append(f"{peer:14} {hit} of {len(faults)} faults, {wrong} false alarms")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--seeds", type=int, default=20, help="seeds for each harmless change")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, help="write the rows as JSON too")
    parser.add_argument("only", nargs="*", help="names of cases or samplers")
    parser.add_argument("--mutants", action="store_true", help="mechanical faults of the PyTorch samplers as well")
    options = parser.parse_args()
    rows: list[dict[str, Any]] = []
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:
        waiting = {
            pool.submit(one, what, case.name, options.device, options.seeds): case.name
            for what, case in cases(options.device, options.only)
            if not case.text or (options.mutants and visible(case))
        }
        for done in as_completed(waiting):
            rows.append(done.result())
            if options.out:  # what is there when the time is over
                with options.out.with_suffix(".jsonl").open("a", encoding="utf-8") as file:
                    file.write(json.dumps(rows[-1]) + "\n")
            if sys.stderr.isatty():
                print(f"\r{len(rows)} of {len(waiting)}", end="", file=sys.stderr, flush=True)
    environment = {
        "device": torch.cuda.get_device_name() if options.device == "cuda" else platform.processor() or "cpu",
        "torch": torch.__version__,
        "python": platform.python_version(),
        "seeds": options.seeds,
    }
    print(table(rows))
    print(", ".join(f"{key} {value}" for key, value in environment.items()))
    if options.out:
        options.out.write_text(
            json.dumps({"environment": environment, "rows": rows}, indent=1) + "\n", encoding="utf-8"
        )


if __name__ == "__main__":
    main()
