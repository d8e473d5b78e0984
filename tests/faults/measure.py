"""Runs the checks over the zoo: which check finds which fault, and whether a harmless change is ever accused."""

from __future__ import annotations

import tempfile
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from faults.local import local_workers, pair_run, process_workers
from faults.peers import PEERS, accused_by
from faults.zoo import Case, Sampler

from analyzer.checks import probe_run
from analyzer.checks.masked import output
from analyzer.checks.probe_run import ProbeRun
from analyzer.checks.session import CHECKS, ORDER
from analyzer.model.evidence import BAD_OUTCOMES, Check
from analyzer.model.plan import Probe

DECLARED = Path(__file__).with_name("probes.yml")
#: The samplers' calls take milliseconds.
ZOO_HANG_SECONDS = 8.0
#: Checks that need a GPU.
GPU_ONLY = ("latency", "index-width", "peak-memory")
#: Checks that take long, or the GPU for themselves: of faults only those of this kind, of harmless changes the kernels.
COSTLY = ("latency", "index-width")
#: Checks that judge a harmless change over many seeds; the others do not look at what a seed draws, or start processes.
SEEDED = ("kept-set", "distribution-distance", "oracle", "token-flips", "mutation", "special-values",
          "batch-invariance", "layout", "sampling")  # fmt: skip
#: What a fault of a kind may be found by. Any check names a crash or a hang.
NAMED_BY = {
    "numerics": {"oracle", "kept-set", "distribution-distance", "sampling", "token-flips", "special-values"},
    "kept-set": {"kept-set", "distribution-distance", "special-values", "oracle", "batch-invariance"},
    "distribution": {"sampling", "distribution-distance", "oracle", "token-flips", "kept-set", "special-values"},
    "randomness": {"sampling", "token-flips", "determinism", "batch-invariance", "oracle"},
    "aliasing": {"mutation"},
    "memory": {"peak-memory"},
    "index-width": {"index-width", "oracle"},
    "layout": {"layout", "sampling"},
    "batch-dependence": {"batch-invariance"},
    "determinism": {"determinism"},
    "special-values": {"special-values", "oracle", "kept-set", "token-flips"},
    "hang": {"hang"},
    "crash": {"hang", "determinism", "batch-invariance", "special-values", "layout"},
    "latency": {"latency", "hang"},
    "API": {"hang", "mutation", "oracle", "kept-set", "layout", "determinism", "special-values", "token-flips"},
}


@dataclass
class Measured:
    """A case with the records of its checks, and what went wrong in measuring it."""

    case: Case
    records: list[tuple[int, str, Check]] = field(default_factory=list)
    error: str = ""
    peers: list[str] = field(default_factory=list)

    @property
    def found(self) -> list[Check]:
        """What counts against head."""
        return [record for _, _, record in self.records if accused(record, not self.case.kind)]

    @property
    def by(self) -> list[str]:
        return sorted({record.check for record in self.found}, key=ORDER.index)

    @property
    def named(self) -> bool:
        """Whether a check that stands for the fault's kind found it."""
        ended = any(record.outcome in ("crash", "hang", "out-of-memory") for record in self.found)
        return bool(NAMED_BY[self.case.kind] & set(self.by)) or (self.case.kind in ("hang", "crash") and ended)


def accused(record: Check, harmless: bool = False) -> bool:
    """Whether a record counts against head. More memory or time is a change that is told, and no accusation."""
    if harmless:
        return record.outcome in BAD_OUTCOMES
    if record.check == "peak-memory":
        return record.outcome == "changed" and record.delta.get("bytes", 0) > 0
    if record.check == "latency":
        return record.outcome == "changed" and record.delta.get("ratio", 1.0) > 1
    return record.outcome in BAD_OUTCOMES


@cache
def _declared() -> dict[str, Any]:
    return yaml.safe_load(DECLARED.read_text(encoding="utf-8"))


def probes(sampler: Sampler) -> list[Probe]:
    """The probes of a sampler: what samplers.yml says of its inputs, and probes.yml of the rest."""
    declared = _declared()
    made = []
    for name in (key for key in declared if key.partition("/")[0] == sampler.name):
        more = {**declared["defaults"], **declared[name]}
        changed = more.pop("inputs", {})
        inputs = [
            {key: value for key, value in {**spec, **changed.get(spec["name"], {})}.items() if key != "fill_words"}
            for spec in sampler.inputs
        ]
        made.append(
            Probe.model_validate(
                {
                    "name": name.replace("/", "-"),
                    "target": f"{Path(sampler.file).stem}:{sampler.entry}",
                    "covers": [sampler.entry],
                    "launches": list(sampler.launches),
                    "inputs": inputs,
                    "arguments": sampler.arguments,
                    "may_write": list(sampler.may_write),
                    **more,
                }
            )
        )
    return made


def measure(
    case: Case, device: str, seeds: Iterable[int] = (0,), processes: bool = False, only: Container[str] = CHECKS
) -> Measured:
    """The checks (`only` those) of a case's probes at the first seed; at the others those that a seed can change."""
    found = Measured(case)
    probe_run.HANG_SECONDS = ZOO_HANG_SECONDS
    with tempfile.TemporaryDirectory(prefix="zoo-", ignore_cleanup_errors=True) as folder:
        workers = (process_workers if processes else local_workers)(
            Path(folder), Path(case.sampler.file).stem, {"base": case.base, "head": case.head}, device
        )
        try:
            for turn, seed in enumerate(seeds):
                for probe in probes(case.sampler):
                    for dtype in probe.dtypes:
                        run = pair_run(workers, probe, dtype, seed, device)
                        found.records += [(seed, dtype, record) for record in _records(run, case, turn, only)]
                        found.peers += [peer for peer in _peers(run) if peer not in found.peers]
                        for worker in list(workers.values()):
                            worker.clear()
        except Exception as error:
            found.error = f"{type(error).__name__}: {error}"
        finally:
            for worker in workers.values():
                worker.close()
    return found


def _records(run: ProbeRun, case: Case, turn: int, only: Container[str]) -> Iterator[Check]:
    for name in sorted(run.probe.checks, key=ORDER.index):
        if name not in only:
            continue
        if (run.device == "cpu" and name in GPU_ONLY) or (turn and name not in SEEDED):
            continue
        harmless_kernel = not case.kind and case.sampler.kind == "triton" and name == "index-width"
        if name in COSTLY and case.kind != name and not harmless_kernel:
            continue
        yield from CHECKS[name](run)


def _peers(run: ProbeRun) -> list[str]:
    """The usual comparisons that call this run's outputs different; a call that fails is seen by all."""
    base, head = run.calls
    if not base.ok or not head.ok:
        return [] if head.ok else list(PEERS)
    return accused_by(output(run, base, run.base), output(run, head, run.head), run.probe.output)
