"""The plan stage: Git -> a bundle. Nothing of the change is imported or run here."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from analyzer import profiles, settings
from analyzer.bundle import Bundle, safe_path, sha256
from analyzer.change.around.callers import callers, targets
from analyzer.change.around.coverage import coverage
from analyzer.change.around.sites import Sites
from analyzer.change.facts import change_edits, groups
from analyzer.change.revisions.repository import Entry, Pair, Repository
from analyzer.change.revisions.sources import LARGE, Sources, file_change
from analyzer.change.revisions.tree import RevisionTree
from analyzer.change.snippets import snippets
from analyzer.checks.stage import choose
from analyzer.findings.engine import find, load_rules
from analyzer.findings.waivers import stale
from analyzer.history.messages import reverted
from analyzer.history.reverts import relations
from analyzer.history.subject import describe, with_conversation
from analyzer.model.base import Text
from analyzer.model.change import Change, Related, Subject
from analyzer.model.plan import Plan, Revision
from analyzer.settings import Settings

Progress = Callable[[str], None]
_SNIPPETS = 6


@dataclass(frozen=True)
class Request:
    """What to analyze. `flags`: settings from the command line, None where not given."""

    revision: str
    base: str | None = None
    flags: Mapping[str, object] | None = None
    conversation: Mapping[str, Any] | None = None


def make(repository: Repository, request: Request, progress: Progress) -> tuple[Bundle, Settings]:
    """Everything that can be said of a change without running it, and what the check stage needs to run it."""
    progress("reading the change")
    pair = repository.pair(request.revision, request.base)
    entries = repository.diff(pair.base, pair.head)
    chosen, noted = _settings(repository, pair, request)
    profile = profiles.load(chosen.profile) if chosen.profile else profiles.detect(repository.blobs(pair.head))

    with _no_collection(), ThreadPoolExecutor(1) as beside:  # history is Git's work, edits are ours: side by side
        history = beside.submit(relations, repository, pair, entries)
        progress("finding what the change means")
        sources = Sources.of(repository, entries)
        tree = RevisionTree(repository, pair.head, sources.pairs())
        facts = change_edits(sources.pairs(), tree)
        files = tuple(
            file_change(entry, sources, facts.get(entry.path), profile.module(entry.path), profile.category(entry.path))
            for entry in entries
        )
        progress("finding callers and related changes")
        sites = Sites(repository, pair.head, tree)
        called = sites.of(targets(files))
        change = Change(
            files=files,
            callers=callers(called, sites, files),
            coverage=coverage(called, sites, files, sources.pairs()),
            snippets=snippets(sources.pairs(), facts, _SNIPPETS),
        )
        related = history.result()
    findings = find(load_rules(chosen.rules), change, chosen)
    probes, checks, kernels = choose((*profile.probes, *chosen.probes), change, chosen.only)

    subject = describe(repository, pair, related)
    notes = (
        *subject.notes,
        *noted,
        *_settings_edited(entries),
        *_stale(repository, pair, chosen),
        *_in_groups(sources),
    )
    subject = with_conversation(subject.model_copy(update={"notes": notes}), request.conversation)
    contents: dict[str, bytes] = {}
    revisions: tuple[Revision, ...] = ()
    if chosen.device != "none" and (checks or kernels):
        progress("packing the sources of both revisions")
        revisions, contents = _revisions(repository, pair, profile.sources)
    plan = Plan(
        subject=subject,
        change=change,
        findings=findings,
        related=related,
        profile=profile.name,
        probes=probes,
        checks=checks,
        changed_kernels=kernels,
        revisions=revisions,
        seed=chosen.seed,
        is_revert=_is_revert(subject, related),
        settings=chosen.model_dump(mode="json", exclude={"probes", "rules"}),
    )
    declared = (profiles.FOLDER / profile.name / "profile.yml").read_text(encoding="utf-8")
    return Bundle.make(plan, contents, declared, profile.python()), chosen


@contextmanager
def _no_collection() -> Iterator[None]:
    """Syntax trees are large, alive and without waste: looking for cycles in them takes a tenth of the time."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def _settings(repository: Repository, pair: Pair, request: Request) -> tuple[Settings, tuple[Text, ...]]:
    """The settings as the base revision has them (a change cannot switch off what would find it), and what to note."""
    blob = repository.blobs(pair.base, [settings.FILE]).get(settings.FILE)
    content = repository.read_many([blob])[blob] if blob else None
    notes: tuple[Text, ...] = ()
    if blob and content is None:
        notes = (
            Text(
                en=f"{settings.FILE} of the base revision is not in this clone; default settings were used.",
                zh=f"此克隆中没有 base 版本的 {settings.FILE}；分析使用的是默认设置。",
            ),
        )
    return settings.settle(content, f"{settings.FILE} at {pair.base[:10]}", request.flags), notes


def _settings_edited(entries: tuple[Entry, ...]) -> tuple[Text, ...]:
    if not any(settings.FILE in (entry.path, entry.previous_path) for entry in entries):
        return ()
    return (
        Text(
            en=f"The change edits {settings.FILE}; its base revision's settings were used.",
            zh=f"本次改动修改了 {settings.FILE}；分析使用的是 base 版本的设置。",
        ),
    )


def _stale(repository: Repository, pair: Pair, chosen: Settings) -> tuple[Text, ...]:
    """Notes on waivers that are over or name no file of head."""
    return stale(chosen.waivers, repository.blobs(pair.head)) if chosen.waivers else ()


def _in_groups(sources: Sources) -> tuple[Text, ...]:
    count = len(groups(sources.pairs()))
    if count == 1:
        return ()
    return (
        Text(
            en=f"The change is large: its files were read in {count} groups. A function that moved from one to another "
            "is told as gone and new.",
            zh=f"改动较大：文件分 {count} 组读取，跨组移动的函数显示为一删一增。",
        ),
    )


def _is_revert(subject: Subject, related: tuple[Related, ...]) -> bool:
    """Whether the change takes an earlier one back: by its title, wholly, or in part where its message says so."""
    kinds = {one.relation for one in related}
    partly = "partially-reverts" in kinds and reverted(subject.message) is not None
    return subject.title.startswith('Revert "') or "reverts" in kinds or partly


def _revisions(
    repository: Repository, pair: Pair, globs: tuple[str, ...]
) -> tuple[tuple[Revision, ...], dict[str, bytes]]:
    """Both revisions with the files that match, and each distinct content once."""
    trees = {
        "base": (pair.base, repository.blobs(pair.base, globs)),
        "head": (pair.head, repository.blobs(pair.head, globs)),
    }
    contents = repository.read_many(blob for _, tree in trees.values() for blob in tree.values())
    hashes = {
        blob: sha256(content) for blob, content in contents.items() if content is not None and len(content) <= LARGE
    }
    revisions = []
    for name, (commit, tree) in trees.items():
        files = {path: hashes[blob] for path, blob in tree.items() if blob in hashes and safe_path(path)}
        missing = tuple(sorted(path for path in tree if path not in files))
        revisions.append(Revision(name=name, commit=commit, files=files, missing=missing))
    used = {sha for revision in revisions for sha in revision.files.values()}
    return tuple(revisions), {
        sha: content for blob, sha in hashes.items() if sha in used and (content := contents[blob]) is not None
    }
