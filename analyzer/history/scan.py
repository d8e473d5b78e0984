"""The change facts of a whole history: what each commit of a branch did to its first parent.

Runs of commits go to worker processes that read Git in batches; what they find is kept on disk. Calls are followed
within the files of a commit, not into the rest of its tree, which the report of a single change does.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from analyzer.change.facts import NoTree, change_edits
from analyzer.change.revisions.diffs import ZEROS, Entry
from analyzer.change.revisions.repository import Repository
from analyzer.change.revisions.sources import Sources, blobs, file_change
from analyzer.errors import AnalyzerError
from analyzer.history.facts_store import FactsStore
from analyzer.model.base import Record, Text
from analyzer.model.change import FileChange

Progress = Callable[[int, int], None]
#: (commit, its first parent; 40 zeros for a root)
Pair = tuple[str, str]
#: Commits that one task reads together: enough to share the processes that read them, few enough to share the work.
RUN = 32
#: Tasks that wait for each worker; more would only fill memory.
AHEAD = 4
NOWHERE = Text(en="", zh="")


class CommitFacts(Record):
    """What `commit` did to `parent` (40 zeros for a root: the empty tree). `note`: why there are no files."""

    commit: str
    parent: str
    files: tuple[FileChange, ...] = ()
    note: str = ""


def scan(path: Path, revision: str = "HEAD", limit: int | None = None, **options: Any) -> Iterator[CommitFacts]:
    """The facts of the last `limit` first-parent commits of `revision`, newest first; `options` as of `facts_of`."""
    with Repository.open(path) as repository:
        lines = repository.log(
            "--first-parent", "--format=%H %P", *([f"-n{limit}"] if limit else []), repository.resolve(revision)
        )
    pairs = [(words[0], words[1] if len(words) > 1 else ZEROS) for line in lines if (words := line.split())]
    yield from facts_of(path, pairs, **options)


def facts_of(
    path: Path,
    pairs: Sequence[Pair],
    *,
    workers: int | None = None,
    store: Path | None = None,
    progress: Progress = lambda done, total: None,
) -> Iterator[CommitFacts]:
    """The facts of each (commit, parent) in turn; neighbours of a history are read together.

    `workers`: processes, as many as there are cores where None; 0: all work in this process. `store`: the file in
    which facts are kept from scan to scan. `progress` is told the commits done and all. AnalyzerError where a worker
    dies (memory, a signal).
    """
    workers = os.cpu_count() or 1 if workers is None else workers
    with ExitStack() as stack:
        kept = stack.enter_context(FactsStore.open(store))
        submit = _workers(stack, path, workers)
        waiting: deque[tuple[Sequence[Pair], dict[str, bytes], Future | None]] = deque()
        starts = deque(range(0, len(pairs), RUN))
        done = 0
        while starts or waiting:
            while starts and len(waiting) <= AHEAD * workers:
                start = starts.popleft()
                run = pairs[start : start + RUN]
                known = kept.get([commit for commit, _ in run])
                missing = [pair for pair in run if pair[0] not in known]
                waiting.append((run, known, submit(missing) if missing else None))
            run, known, future = waiting.popleft()
            if future is not None:
                found = _result(future)
                kept.put(found.items())
                known |= found
            for commit, _ in run:
                yield CommitFacts.model_validate_json(known[commit])
            done += len(run)
            progress(done, len(pairs))


def _workers(stack: ExitStack, path: Path, count: int) -> Callable[[Sequence[Pair]], Future]:
    """How a run of commits is handed to a worker; the workers end with `stack`."""
    if count == 0:
        repository = stack.enter_context(Repository.open(path))

        def here(pairs: Sequence[Pair]) -> Future:
            future: Future = Future()
            future.set_result(_facts(repository, pairs))
            return future

        return here
    # A forked copy of a process with threads may hang; a spawned one starts from nothing.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(count, mp_context=context, initializer=_start, initargs=(path,))
    stack.callback(pool.shutdown, wait=True, cancel_futures=True)
    return lambda pairs: pool.submit(_work, pairs)


def _result(future: Future) -> dict[str, bytes]:
    try:
        return future.result()
    except BrokenProcessPool:
        raise AnalyzerError("a worker of the history scan died: fewer workers need less memory") from None


_opened = ExitStack()
_repository: Repository


def _start(path: Path) -> None:
    """A worker's one repository, open until the process ends."""
    global _repository
    _repository = _opened.enter_context(Repository.open(path))
    gc.disable()  # syntax trees are large and alive; what is left of them is collected after each run


def _work(pairs: Sequence[Pair]) -> dict[str, bytes]:
    try:
        return _facts(_repository, pairs)
    finally:
        gc.collect()


def _facts(repository: Repository, pairs: Sequence[Pair]) -> dict[str, bytes]:
    """The packed facts of each commit."""
    diffs = list(repository.diffs((parent, commit) for commit, parent in pairs))
    contents = repository.read_many({blob for entries in diffs if entries for blob in blobs(entries)})
    found = {}
    for (commit, parent), entries in zip(pairs, diffs, strict=True):
        if entries is None:
            told = CommitFacts(commit=commit, parent=parent, note="its trees are not all in this clone")
        else:
            told = CommitFacts(commit=commit, parent=parent, files=_files(entries, contents))
        found[commit] = told.model_dump_json(exclude_defaults=True).encode()
    return found


def _files(entries: tuple[Entry, ...], contents: dict[str, bytes | None]) -> tuple[FileChange, ...]:
    sources = Sources(entries, contents)
    facts = change_edits(sources.pairs(), NoTree())
    return tuple(file_change(entry, sources, facts.get(entry.path), NOWHERE, None) for entry in entries)
