"""How fast change facts come: this program and PyDriller side by side on the same commits, then the whole history.

Prints seconds and ratios; nothing here passes or fails. ``make bench-facts REPO=PATH [COMMITS=N] [WHOLE=1]``.

PyDriller finds its diffs (`diff_parsed`) and methods (`changed_methods`).
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from analyzer.change.revisions.diffs import ZEROS
from analyzer.change.revisions.repository import Repository
from analyzer.history.scan import facts_of

#: The sample is taken in this many runs of neighbouring commits, spread evenly over the history.
RUNS = 12


def ours(repository: Path, pairs: list[tuple[str, str]], workers: int, store: Path | None) -> tuple[int, int]:
    """(commits, edits) as this program finds them."""
    commits = edits = 0
    for facts in facts_of(repository, pairs, workers=workers, store=store):
        commits += 1
        edits += sum(len(file.edits) for file in facts.files)
    return commits, edits


def theirs(repository: Path, shas: list[str], workers: int) -> tuple[int, int]:
    """(commits, changed methods) as PyDriller's own traversal finds them, with as many workers of its own.

    Commits whose content is missing are passed over.
    """
    from pydriller import Repository

    found = [_methods(commit) for commit in Repository(str(repository), only_commits=shas, num_workers=workers)
             .traverse_commits()]  # fmt: skip
    return sum(one is not None for one in found), sum(one or 0 for one in found)


def theirs_spread(repository: Path, shas: list[str], workers: int) -> tuple[int, int]:
    """The same, commit by commit in processes as this program has them, which PyDriller does not do itself."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(workers, _open, (str(repository), context.Lock())) as pool:
        found = pool.map(_methods_of, shas, chunksize=8)
    return sum(one is not None for one in found), sum(one or 0 for one in found)


def _open(repository: str, lock: Any) -> None:
    from pydriller import Git

    global _git
    with lock:  # it writes to the repository's configuration
        _git = Git(repository)


def _methods_of(sha: str) -> int | None:
    return _methods(_git.get_commit(sha))


def _methods(commit: Any) -> int | None:
    try:
        count = 0
        for file in commit.modified_files:
            _ = file.diff_parsed
            count += len(file.changed_methods)
        return count
    except Exception:
        return None


def timed(work: Callable[[], tuple[int, int]]) -> tuple[float, int, int]:
    start = time.perf_counter()
    commits, found = work()
    return time.perf_counter() - start, commits, found


def row(name: str, seconds: float, commits: int, found: str) -> None:
    print(f"{name:<34}{seconds:9.2f} s{commits:8} commits{1000 * seconds / max(commits, 1):9.2f} ms a commit   {found}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repo", type=Path, required=True)
    parser.add_argument("--commits", type=int, default=192, help="size of the sample (default: 192)")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--whole", action="store_true", help="scan the whole history as well, twice")
    options = parser.parse_args()

    with Repository.open(options.repo) as repository:
        lines = repository.log("--first-parent", "--format=%H %P", repository.resolve("HEAD"))
    history = [(words[0], words[1] if len(words) > 1 else ZEROS) for line in lines if (words := line.split())]
    each = max(options.commits // RUNS, 1)
    sample = [pair for run in range(RUNS) for pair in history[len(history) * run // RUNS :][:each]]
    print(f"{len(history)} commits, a sample of {len(sample)}, {options.workers} workers")

    mine, commits, edits = timed(lambda: ours(options.repo, sample, options.workers, None))
    row("change facts", mine, commits, f"{edits} edits")
    shas = [sha for sha, _ in sample]
    for name, work in (("PyDriller", theirs), ("PyDriller in processes of ours", theirs_spread)):
        seconds, told, methods = timed(lambda work=work: work(options.repo, shas, options.workers))
        row(name, seconds, told, f"{methods} changed methods")
        print(f"{'':<34}{(seconds / max(told, 1)) / (mine / max(commits, 1)):9.1f} times the time a commit")

    if options.whole:
        with tempfile.TemporaryDirectory() as folder:
            store = Path(folder) / "facts.sqlite"
            for name in ("whole history", "whole history, kept facts"):
                seconds, commits, edits = timed(lambda: ours(options.repo, history, options.workers, store))
                row(name, seconds, commits, f"{edits} edits")
            size = store.stat().st_size / 2**20
        usage = (resource.getrusage(who).ru_maxrss / 1024 for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        own, child = usage
        print(f"peak memory {own:.0f} MiB and at most {child:.0f} MiB a worker; {size:.0f} MiB on disk")


if __name__ == "__main__":
    main()
