"""The check stage: a bundle in, evidence out. Needs no repository, no Git and no network."""

from __future__ import annotations

import importlib.util
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import yaml

from analyzer.bundle import Bundle
from analyzer.checks.choose import choose
from analyzer.errors import UsageError
from analyzer.findings.checks import rate
from analyzer.model.base import Text
from analyzer.model.evidence import Check, Evidence, Specialization
from analyzer.model.plan import PlannedCheck, Probe
from analyzer.profiles import Profile

__all__ = ["CheckOptions", "check", "choose"]

_BACKENDS = Text(en="backends other than CUDA (ROCm, XPU, CPU, TPU)", zh="CUDA 以外的后端（ROCm、XPU、CPU、TPU）")


@dataclass(frozen=True)
class CheckOptions:
    """`architectures`: what to compile for (the GPU that is there, else sm_90, where empty). `budget`: seconds.
    `cache`: a folder for builds that may be shared between runs; None for none. `memory_bytes`: a child's limit."""

    device: Literal["auto", "cuda", "cpu"] = "auto"
    architectures: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    budget: float = 600.0
    cache: Path | None = None
    memory_bytes: int | None = None


def check(bundle: Bundle, options: CheckOptions, progress: Callable[[str], None]) -> Evidence:
    """Build both revisions, run every planned check, and say what was measured and what was not."""
    started = time.monotonic()
    if importlib.util.find_spec("torch") is None:
        reason = Text(
            en="torch is not installed: pip install torch triton numpy scipy",
            zh="未安装 torch：pip install torch triton numpy scipy",
        )
        return Evidence(
            bundle=bundle.digest,
            checks=tuple(
                not_run(planned, planned_probe(bundle, planned), "", reason) for planned in bundle.plan.checks
            ),
            not_measured=(reason,),
        )
    from analyzer.checks.session import Session

    with tempfile.TemporaryDirectory(prefix="analyzer-", ignore_cleanup_errors=True) as folder:
        session = Session(bundle, profile(bundle), Path(folder), options, started + options.budget, progress)
        try:
            checks = tuple(rate(record) for record in session.run())
            bridges = session.workspace.bridges()
        finally:
            session.close()
        return Evidence(
            bundle=bundle.digest,
            environment=session.environment,
            isolation=session.isolation,
            bridges=bridges,
            builds=tuple(session.compiler.builds.values()),
            checks=checks,
            not_measured=(_BACKENDS, *session.profile.not_measured),
            seconds=round(time.monotonic() - started, 1),
        )


def profile(bundle: Bundle) -> Profile:
    """The profile that travelled in the bundle, not the installed one; a UsageError where it is none."""
    try:
        return Profile.model_validate({"name": bundle.plan.profile, **(yaml.safe_load(bundle.profile) or {})})
    except (yaml.YAMLError, ValueError, TypeError, RecursionError) as error:
        raise UsageError(f"the bundle's profile cannot be read: {str(error).splitlines()[0]}") from None


def planned_probe(bundle: Bundle, planned: PlannedCheck) -> Probe | None:
    return next((probe for probe in bundle.plan.probes if probe.name == planned.probe), None)


def not_run(planned: PlannedCheck, probe: Probe | None, dtype: str, reason: Text) -> Check:
    """The record of a planned check that did not run."""
    return Check(
        check=planned.check,
        probe=planned.probe,
        symbol=planned.symbols[0] if planned.symbols else (probe.covers[0] if probe else ""),
        specialization=Specialization(dtype=dtype),
        outcome="not-run",
        reason=reason,
    )
