"""Which other changes this one reverts, relands, is reverted by, or goes with: offline, from Git history.

A relation rests on what a commit message says or on what two diffs hold, and says which (`Related.why`).
"""

from __future__ import annotations

from collections.abc import Iterable

from analyzer.change.revisions.repository import ZEROS, Commit, Entry, Pair, Repository
from analyzer.history.hunks import Comparison, Share
from analyzer.history.log import History, Logged, Touch, inverse, swaps, touches
from analyzer.history.messages import mentioned, pr_of, relanded, reverted
from analyzer.model.base import Text
from analyzer.model.change import Related

#: How many commits of the same files are looked at after a change and before it, and how many of a kind are told.
_AFTER, _BEFORE, _TELL = 100, 30, 5
#: How many of them, of exactly the same files, are compared line by line.
_COMPARE = 25
#: How many files of a list are named.
_NAMES = 3


def relations(repository: Repository, pair: Pair, entries: tuple[Entry, ...]) -> tuple[Related, ...]:
    """All relations, strongest first. Where the pair is not a commit and its parent, from content only."""
    history = History.read(repository)
    found: dict[tuple[str, str | int], Related] = {}

    def add(related: Iterable[Related]) -> None:
        for one in related:
            kind = one.relation.removeprefix("partially-")  # what a message says of a change is not told again in part
            found.setdefault((kind, one.pr or one.commit or ""), one)

    own = Comparison(repository, pair.base, pair.head)
    near = _Neighbours(repository, pair, entries, history, own)
    if not pair.adjacent:
        add(near.inverses())
        return tuple(found.values())
    commit = repository.commit(pair.head)
    add(_by_message(own, commit, history))
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


def _by_message(own: Comparison, commit: Commit, history: History) -> Iterable[Related]:
    here = history.by_sha.get(commit.sha)
    position = here.position if here else -1
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
    """The relation that a message states, as far as content bears it out: whole, in part, or only in words."""
    shares = own.takes_back(other.sha) if relation == "reverts" else own.taken_back_by(other.sha)
    if shares is None:
        yield _related(relation, other, f"{en}; the contents could not be compared", f"{zh}；内容无法比较")
        return
    back, suspect, reverter = (sum(getattr(s, name) for s in shares) for name in ("back", "suspect", "reverter"))
    if back == suspect == reverter:
        yield _related(relation, other, f"{en}, and every changed line goes back", f"{zh}，且每一处改动行都被还原")
        yield _exact(other, suspect)
        return
    said = _parts(shares)
    part = 0 < back < suspect
    yield _related(f"partially-{relation}" if part else relation, other, f"{en}; {said.en}", f"{zh}；{said.zh}")


def _exact(other: Logged, places: int) -> Related:
    en = f"the {places} changed places of the two diffs are the same, with before and after swapped"
    if places == 1:
        en = "the one changed place of the two diffs is the same, with before and after swapped"
    return _related("exact-inverse-of", other, en, f"两份 diff 的 {places} 处改动相同，前后互换")


def _parts(shares: tuple[Share, ...]) -> Text:
    """What goes back of the suspect, and where: files wholly, files in part, files that are left."""
    back, suspect = sum(s.back for s in shares), sum(s.suspect for s in shares)
    beside = [s for s in shares if s.reverter > s.back]
    others = sum(s.reverter - s.back for s in beside)
    if back == suspect:
        en = "its one changed place goes back exactly" if back == 1 else f"all {back} changed places go back exactly"
        zh = f"{back} 处改动全部被原样还原"
    elif not back:
        en = "its one changed place does not go back exactly"
        if suspect != 1:
            en = f"none of its {suspect} changed places goes back exactly"
        zh = f"{suspect} 处改动无一被原样还原"
    else:
        en = f"{back} of {suspect} changed places {'goes' if back == 1 else 'go'} back exactly"
        zh = f"{suspect} 处改动中有 {back} 处被原样还原"
        whole = [_code(s.path) for s in shares if s.suspect and s.back == s.suspect]
        some = [f"{_code(s.path)} ({s.back} of {s.suspect})" for s in shares if 0 < s.back < s.suspect]
        some_zh = [f"{_code(s.path)}（{s.suspect} 处中的 {s.back} 处）" for s in shares if 0 < s.back < s.suspect]
        left = [_code(s.path) for s in shares if s.suspect and not s.back]
        lists = [("wholly in", whole), ("in part in", some), ("nothing in", left)]
        en += ": " + "; ".join(f"{word} {_listed(names, ', ')}" for word, names in lists if names)
        lists = [("完全还原", whole), ("部分还原", some_zh), ("未还原", left)]
        zh += "：" + "；".join(f"{word} {_listed(names, '、')}" for word, names in lists if names)
    if others:
        places = "1 other place changes" if others == 1 else f"{others} other places change"
        where = [_code(s.path) for s in beside]
        en += f"; {places} beside, in {_listed(where, ', ')}"
        zh += f"；另有 {others} 处其他改动，位于 {_listed(where, '、')}"
    return Text(en=en, zh=zh)


def _code(path: str) -> str:
    return f"`{path}`"


def _listed(names: list[str], comma: str) -> str:
    """The first few of many."""
    more = len(names) - _NAMES
    return comma.join(names[:_NAMES]) + (f" (+{more})" if more > 0 else "")


# By content


class _Neighbours:
    """The commits of the default branch that touch the same files, before and after."""

    def __init__(
        self, repository: Repository, pair: Pair, entries: tuple[Entry, ...], history: History, own: Comparison
    ) -> None:
        self._files = swaps(entries)
        self._history = history
        self._head = pair.head
        self._adjacent = pair.adjacent
        self._own = own
        paths = sorted({path for path, _, _ in self._files})
        tip = repository.default_branch()
        self._after = touches(repository, paths, _AFTER, tip, f"^{pair.head}") if tip else []
        before = () if pair.base == ZEROS else (pair.base,)
        self._before = touches(repository, paths, _BEFORE, *before) if before and pair.adjacent else []

    def _logged(self, touched: Iterable[Touch]) -> list[tuple[Touch, Logged]]:
        known = self._history.by_sha
        return [(touch, known[touch.sha]) for touch in touched if touch.sha in known and touch.sha != self._head]

    def inverses(self) -> Iterable[Related]:
        """Commits that this change takes back, or that take it back, whatever their messages say.

        Whole: every file has the content of before, or, where exactly the same files changed, every changed place goes
        back. In part: at least half of the files of one of the two have the content of before.
        """
        named = self._adjacent and self._head in self._history.by_sha
        ours = {path for path, _, _ in self._files}
        for touched, relation in ((self._after, "reverted-by"), (self._before, "reverts")):
            parts: list[Related] = []
            compared = 0
            for touch, commit in self._logged(touched):
                back = touch.files & inverse(self._files)
                shares: tuple[Share, ...] | None = None
                if (
                    len(back) < len(self._files)
                    and {path for path, _, _ in touch.files} == ours
                    and compared < _COMPARE
                ):
                    compared += 1
                    shares = self._shares(relation, commit)
                if len(back) == len(touch.files) == len(self._files):
                    en = f"the same {len(back)} files go the other way, content for content"
                    if len(back) == 1:
                        en = "the same file goes the other way, content for content"
                    zh = f"同样的 {len(back)} 个文件内容完全反向"
                    if named:
                        yield _related(relation, commit, en, zh)
                    yield _related("exact-inverse-of", commit, en, zh)
                elif shares and all(one.back == one.suspect == one.reverter for one in shares):
                    exact = _exact(commit, sum(one.back for one in shares))
                    if named:
                        yield exact.model_copy(update={"relation": relation})
                    yield exact
                elif named and back and 2 * len(back) >= min(len(touch.files), len(self._files)):
                    said = self._partly(touch, {path for path, _, _ in back}, relation)
                    parts.append(_related(f"partially-{relation}", commit, said.en, said.zh))
            yield from parts[:_TELL]

    def _shares(self, relation: str, commit: Logged) -> tuple[Share, ...] | None:
        return self._own.takes_back(commit.sha) if relation == "reverts" else self._own.taken_back_by(commit.sha)

    def _partly(self, touch: Touch, back: set[str], relation: str) -> Text:
        """Which files have the content of before, and which of the suspect's have not."""
        suspect = touch.files if relation == "reverts" else self._files
        left = sorted({path for path, _, _ in suspect} - back)
        names = [_code(path) for path in sorted(back)]
        en = f"{_listed(names, ', ')} {'goes' if len(back) == 1 else 'go'} the other way, content for content"
        zh = f"{_listed(names, '、')} 内容完全反向"
        if left:
            en += f"; not {_listed([_code(path) for path in left], ', ')}"
            zh += f"；{_listed([_code(path) for path in left], '、')} 则不是"
        return Text(en=en, zh=zh)

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
