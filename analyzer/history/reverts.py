"""Which other changes this one reverts, relands, is reverted by, or goes with: offline, from Git history.

A relation rests on what a commit message says or on what two diffs hold, and says which (`Related.why`).
"""

from __future__ import annotations

from collections.abc import Iterable

from analyzer.change.repository import ZEROS, Commit, Entry, Pair, Repository
from analyzer.history.hunks import Comparison
from analyzer.history.log import History, Logged, Touch, inverse, swaps, touches
from analyzer.history.messages import mentioned, pr_of, relanded, reverted
from analyzer.model.base import Text
from analyzer.model.change import Related

#: How many commits of the same files are looked at after a change and before it, and how many of a kind are told.
_AFTER, _BEFORE, _TELL = 100, 30, 5


def relations(repository: Repository, pair: Pair, entries: tuple[Entry, ...]) -> tuple[Related, ...]:
    """All relations, strongest first. Where the pair is not a commit and its parent, from content only."""
    history = History.read(repository)
    found: dict[tuple[str, str | int], Related] = {}

    def add(related: Iterable[Related]) -> None:
        for one in related:
            found.setdefault((one.relation, one.pr or one.commit or ""), one)

    near = _Neighbours(repository, pair, entries, history)
    if not pair.adjacent:
        add(near.inverses())
        return tuple(found.values())
    commit = repository.commit(pair.head)
    add(_by_message(repository, pair, commit, history))
    add(near.inverses())
    add(near.same_content())
    told = {one.pr or one.commit for one in found.values()}
    add(_mentions(commit, history, told))
    add(near.same_files(told))
    return tuple(found.values())


def _related(relation: str, commit: Logged, en: str, zh: str) -> Related:
    """A relation to a commit of the branch, with the fact that it rests on."""
    return Related(relation=relation, commit=commit.sha, pr=commit.pr, title=commit.title, why=Text(en=en, zh=zh))


# By message


def _by_message(repository: Repository, pair: Pair, commit: Commit, history: History) -> Iterable[Related]:
    here = history.by_sha.get(pair.head)
    position = here.position if here else -1
    own = Comparison(repository, pair.base, pair.head)
    if (targets := reverted(commit.message)) is not None:
        for target in history.find(targets, position):
            yield from _compared(own, target, "reverts", "its own message says so", "其自身的提交说明如此说")
            again = reverted(target.message)
            for first in history.find(again, target.position) if again else ():
                en, zh = (
                    f"it reverts {_name(target)}, which had reverted this",
                    f"它回退了 {_name(target)}，而后者曾回退此改动",
                )
                yield _related("relands", first, en, zh)
    if (targets := relanded(commit.message)) is not None:
        for target in history.find(targets, position):
            yield _related("relands", target, "its own message says so", "其自身的提交说明如此说")
    if not here:
        return
    for later in reversed(history.commits[:position]):
        if not (targets := reverted(later.message)) and not (targets := relanded(later.message)):
            continue
        if here not in history.find(targets, later.position):
            continue
        if reverted(later.message) is None:
            yield _related("relanded-by", later, "that change's message says so", "该改动的提交说明如此说")
        else:
            yield from _compared(own, later, "reverted-by", "that change's message says so", "该改动的提交说明如此说")


def _name(commit: Logged) -> str:
    return f"#{commit.pr}" if commit.pr else commit.sha[:10]


def _compared(own: Comparison, other: Logged, relation: str, en: str, zh: str) -> Iterable[Related]:
    """The relation as far as content bears it out: whole, in part, or only in words."""
    shares = own.with_commit(other.sha)
    if shares is None:
        yield _related(relation, other, f"{en}; the contents could not be compared", f"{zh}；内容无法比较")
        return
    shared, ours, theirs = shares
    if shared == ours == theirs:
        yield _related(relation, other, f"{en}, and every changed line goes back", f"{zh}，且每一处改动行都被还原")
        en = f"the {shared} changed places of the two diffs are the same, with before and after swapped"
        yield _related("exact-inverse-of", other, en, f"两份 diff 的 {shared} 处改动相同，前后互换")
        return
    suspect, reverter = (theirs, ours) if relation == "reverts" else (ours, theirs)
    yield _related(
        f"partially-{relation}" if 0 < shared < suspect else relation,
        other,
        f"{en}; {shared} of {suspect} changed places go back exactly, {reverter - shared} others change beside them",
        f"{zh}；{suspect} 处改动中有 {shared} 处被原样还原，另有 {reverter - shared} 处其他改动",
    )


# By content


class _Neighbours:
    """The commits of the default branch that touch the same files, before and after."""

    def __init__(self, repository: Repository, pair: Pair, entries: tuple[Entry, ...], history: History) -> None:
        self._files = swaps(entries)
        self._history = history
        self._head = pair.head
        self._adjacent = pair.adjacent
        paths = sorted({path for path, _, _ in self._files})
        tip = repository.default_branch()
        self._after = touches(repository, paths, _AFTER, tip, f"^{pair.head}") if tip else []
        before = () if pair.base == ZEROS else (pair.base,)
        self._before = touches(repository, paths, _BEFORE, *before) if before and pair.adjacent else []

    def _logged(self, touched: Iterable[Touch]) -> list[tuple[Touch, Logged]]:
        known = self._history.by_sha
        return [(touch, known[touch.sha]) for touch in touched if touch.sha in known and touch.sha != self._head]

    def inverses(self) -> Iterable[Related]:
        """Commits whose every file goes the other way, whatever their messages say."""
        for touched, relation in ((self._after, "reverted-by"), (self._before, "reverts")):
            for touch, commit in self._logged(touched):
                if touch.files != inverse(self._files):
                    continue
                count = len(touch.files)
                en = f"the same {count} files go the other way, content for content"
                zh = f"同样的 {count} 个文件内容完全反向"
                if self._adjacent and self._head in self._history.by_sha:
                    yield _related(relation, commit, en, zh)
                yield _related("exact-inverse-of", commit, en, zh)

    def same_content(self) -> Iterable[Related]:
        """Commits of the branch that make the very same change as this one, which is on the branch too."""
        if self._head not in self._history.by_sha:
            return
        for touched, relation in ((self._after, "relanded-by"), (self._before, "relands")):
            for touch, commit in self._logged(touched):
                if touch.files == self._files:
                    yield _related(relation, commit, "its diff is the same", "其 diff 相同")

    def same_files(self, told: set[str | int | None]) -> Iterable[Related]:
        """The last changes of the same files before this one."""
        ours = {path for path, _, _ in self._files}
        rest = [
            (touch, commit) for touch, commit in self._logged(self._before) if (commit.pr or commit.sha) not in told
        ]
        for touch, commit in rest[:_TELL]:
            shared = sorted(ours & {path for path, _, _ in touch.files})
            more = f" (+{len(shared) - 1})" if len(shared) > 1 else ""
            day = commit.date[:10]
            en, zh = f"changed {shared[0]}{more} on {day}", f"于 {day} 改动过 {shared[0]}{more}"
            yield _related("same-file", commit, en, zh)


def _mentions(commit: Commit, history: History, told: set[str | int | None]) -> Iterable[Related]:
    """PRs that the message names, and later changes whose message names this one's PR."""
    for number in [number for number in mentioned(commit.message) if number not in told][:_TELL]:
        known = history.by_pr.get(number)
        why = Text(en="its message names it", zh="其提交说明提到它")
        sha, title = (known.sha, known.title) if known else (None, "")
        yield Related(relation="mentions", commit=sha, pr=number, title=title, why=why)
    here = history.by_sha.get(commit.sha)
    own = pr_of(commit.message)
    if not here or own is None:
        return
    naming = [later for later in reversed(history.commits[: here.position]) if own in mentioned(later.message)]
    for later in [later for later in naming if (later.pr or later.sha) not in told][:_TELL]:
        yield _related("mentioned-by", later, "its message names this PR", "其提交说明提到本 PR")
