"""The stages, read top to bottom: plan, check, report."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analyzer import plan as planning
from analyzer.bundle import Bundle
from analyzer.change.revisions.repository import Repository
from analyzer.checks import stage
from analyzer.errors import UsageError
from analyzer.history.subject import with_conversation
from analyzer.model.base import load
from analyzer.model.evidence import Evidence
from analyzer.model.report import Report
from analyzer.plan import Request
from analyzer.report.build import build
from analyzer.report.sections import Shape
from analyzer.report.write import write
from analyzer.settings import Settings

Progress = Callable[[str], None]
#: Where a run's report goes when nobody says: below this folder, in one named after the head revision.
REPORTS = Path("reports")


@dataclass(frozen=True)
class Outcome:
    report: Report
    files: tuple[Path, ...]
    settings: Settings


def run(repository: Path, request: Request, out: Path | None, progress: Progress) -> Outcome:
    """The whole job on one machine. `out` gets the report, and the bundle and the evidence that it rests on."""
    with Repository.open(repository) as opened:
        out = writable(out or _own_folder(opened.resolve(request.revision)[:10]))
        bundle, settings = planning.make(opened, request, progress)
    evidence = None
    for name in ("bundle.tar.gz", "evidence.json"):  # an earlier run's do not belong to this report
        (out / name).unlink(missing_ok=True)
    if settings.device != "none":
        bundle.write(out / "bundle.tar.gz")
        evidence = check(bundle, settings, progress)
        evidence.dump(out / "evidence.json")
    progress("writing the report")
    return Outcome(*report(bundle, evidence, request.conversation, out), settings)


def _own_folder(name: str) -> Path:
    """A folder below `REPORTS`, which Git is told to leave alone."""
    writable(REPORTS)
    if not (REPORTS / ".gitignore").exists():
        (REPORTS / ".gitignore").write_text("*\n", encoding="utf-8")
    return REPORTS / name


def plan(repository: Path, request: Request, target: Path, progress: Progress) -> Bundle:
    """Git -> a bundle file."""
    writable_file(target)
    with Repository.open(repository) as opened:
        bundle, _ = planning.make(opened, request, progress)
    bundle.write(target)
    return bundle


def check(bundle: Bundle, settings: Settings, progress: Progress) -> Evidence:
    """A bundle -> what its checks measured on this machine."""
    if settings.device == "none":
        raise UsageError("nothing to check on device none")
    options = stage.CheckOptions(
        device=settings.device,
        architectures=settings.architectures,
        only=settings.only,
        budget=settings.budget,
        cache=Path(settings.cache) if settings.cache else default_cache(),
    )
    return stage.check(bundle, options, progress)


def default_cache() -> Path:
    """Where builds are kept from run to run."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "kernel-change-analyzer"


def report(
    bundle: Bundle, evidence: Evidence | None, conversation: Mapping[str, Any] | None, out: Path
) -> tuple[Report, tuple[Path, ...]]:
    """Plan, evidence and conversation -> report files; evidence of another bundle is refused."""
    if evidence is not None and evidence.bundle != bundle.digest:
        raise UsageError(
            f"the evidence belongs to bundle {evidence.bundle[:12] or '(none)'}, this is bundle {bundle.digest[:12]}"
        )
    subject = with_conversation(bundle.plan.subject, conversation)
    plan = bundle.plan.model_copy(update={"subject": subject})
    built = build(plan, evidence, dict(conversation) if conversation else None)
    return built, tuple(write(built, out, Shape.of(plan.settings)))


def read_evidence(path: Path) -> Evidence:
    """An evidence file; UsageError where it is none."""
    try:
        return load(Evidence, path.read_bytes(), str(path))
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from None


def writable_file(path: Path) -> Path:
    """The file, in a folder that is made if need be; a UsageError where it cannot be written."""
    writable(path.parent)
    if path.is_dir() or (path.exists() and not os.access(path, os.W_OK)):
        raise UsageError(f"cannot write to {path}: {'Is a directory' if path.is_dir() else 'Permission denied'}")
    return path


def writable(folder: Path) -> Path:
    """The folder, made if need be; a UsageError where nothing can be written to it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError as error:
        raise UsageError(f"cannot write to {folder}: {error.strerror or error}") from None
