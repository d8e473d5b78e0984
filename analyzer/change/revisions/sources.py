"""The contents of a diff's files, and the record of each file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from analyzer.change.facts import FileFacts, SourcePair
from analyzer.change.revisions.category import category
from analyzer.change.revisions.decoding import decoded, is_binary
from analyzer.change.revisions.repository import Entry, Repository
from analyzer.model.base import Text
from analyzer.model.change import Category, FileChange

#: A file above this many bytes is data, whatever its name says: neither parsed nor bundled.
LARGE = 4 << 20


_POINTER = b"version https://git-lfs.github.com/spec/v1\n"
_SUBMODULE, _LINK, _NONE = "160000", "120000", "000000"


def blobs(entries: Iterable[Entry]) -> set[str]:
    """The blobs of both sides of every file and link."""
    return {
        blob
        for entry in entries
        for blob, mode in zip((entry.base_blob, entry.head_blob), entry.modes, strict=True)
        if blob and mode != _SUBMODULE
    }


class Sources:
    """The contents of a diff's files, read once."""

    def __init__(self, entries: tuple[Entry, ...], contents: Mapping[str, bytes | None]) -> None:
        self._entries = entries
        self._contents = contents

    @classmethod
    def of(cls, repository: Repository, entries: tuple[Entry, ...]) -> Sources:
        return cls(entries, repository.read_many(blobs(entries)))

    def head(self, entry: Entry) -> bytes:
        """The newest content that there is, empty for a file that could not be read."""
        return self._contents.get(entry.head_blob or entry.base_blob or "") or b""

    def unread(self, entry: Entry) -> Text | None:
        """Why a file's content is not in the analysis, None where it is."""
        if entry.special:
            return self._special(entry)
        for side, blob in (("base", entry.base_blob), ("head", entry.head_blob)):
            if not blob:
                continue
            content = self._contents[blob]
            if content is None:
                return Text(
                    en=f"its content at {side} is not in this clone (blob {blob[:10]})",
                    zh=f"此克隆中没有其 {side} 版本的内容（blob {blob[:10]}）",
                )
            if content.startswith(_POINTER):
                return Text(en="a Git LFS pointer, the content is elsewhere", zh="Git LFS 指针，内容不在仓库中")
            if len(content) > LARGE:
                size = len(content) >> 20
                return Text(
                    en=f"{size} MiB at {side}: too large to be source", zh=f"{side} 版本有 {size} MiB，不像源码"
                )
            if is_binary(content):
                return Text(en="a binary file", zh="二进制文件")
        return None

    def _special(self, entry: Entry) -> Text:
        """What a link or a submodule was and is."""
        sides = list(zip(entry.modes, (entry.base_blob, entry.head_blob), strict=True))
        (before, after) = (None if mode == _NONE else self._kind(mode, blob or "") for mode, blob in sides)
        if before is None or after is None:
            return after or before or Text(en="no file", zh="不是文件")
        return Text(en=f"{before.en}, now {after.en}", zh=f"{before.zh}，现为{after.zh}")

    def _kind(self, mode: str, blob: str) -> Text:
        if mode == _SUBMODULE:
            return Text(en=f"a submodule at {blob[:10]}", zh=f"子模块（提交 {blob[:10]}）")
        if mode != _LINK:
            return Text(en="a regular file", zh="普通文件")
        target = (self._contents.get(blob) or b"").decode("utf-8", "backslashreplace")[:200]
        return Text(en=f"a symbolic link to {target!r}", zh=f"符号链接（指向 {target!r}）")

    def pairs(self) -> list[SourcePair]:
        """The text of both sides of every file that could be read."""
        return [
            SourcePair(
                entry.path,
                entry.previous_path,
                self._text(entry.previous_path or entry.path, entry.base_blob),
                self._text(entry.path, entry.head_blob),
            )
            for entry in self._entries
            if not self.unread(entry)
        ]

    def notes(self, entry: Entry) -> Iterator[Text]:
        """What a reader of a file that could be read has to know beside its edits."""
        base_mode, head_mode = entry.modes
        if base_mode != head_mode and _NONE not in entry.modes:
            yield Text(
                en=f"Its mode changes from {base_mode[-3:]} to {head_mode[-3:]}.",
                zh=f"文件权限由 {base_mode[-3:]} 改为 {head_mode[-3:]}。",
            )
        if entry.path.endswith(".ipynb"):
            yield Text(en="A notebook: its cells are not compared.", zh="Notebook 文件：未比较其单元格。")
        marks = []
        for side, path, blob in (
            ("base", entry.previous_path or entry.path, entry.base_blob),
            ("head", entry.path, entry.head_blob),
        ):
            content = self._contents[blob] or b"" if blob else b""
            text, whole = decoded(content, path.endswith((".py", ".pyi")))
            if not whole:
                yield Text(
                    en=f"Some bytes at {side} are no text in its encoding; they are shown as \ufffd.",
                    zh=f"{side} 版本中有无法按其编码读取的字节，以 \ufffd 表示。",
                )
            marks.append(_conflict(text))
        if marks[1] and not marks[0]:
            yield Text(
                en=f"It holds the markers of an unresolved merge conflict (line {marks[1]}).",
                zh=f"含有未解决的合并冲突标记（第 {marks[1]} 行）。",
            )

    def _text(self, path: str, blob: str | None) -> str | None:
        return decoded(self._contents[blob] or b"", path.endswith((".py", ".pyi")))[0] if blob else None


def _conflict(text: str) -> int:
    """The line of the first complete set of conflict markers, 0 where there is none."""
    start = text.find("<<<<<<< ") if text.startswith("<<<<<<< ") else text.find("\n<<<<<<< ") + 1
    if not text.startswith("<<<<<<< ", start):
        return 0
    middle = re.search(r"^=======\r?$", text[start:], re.MULTILINE)
    if not middle or text.find("\n>>>>>>> ", start + middle.start()) < 0:
        return 0
    return text.count("\n", 0, start) + 1


def file_change(
    entry: Entry, sources: Sources, facts: FileFacts | None, module: Text, known: Category | None
) -> FileChange:
    """One file of the diff. `known`: the category that a profile gives it, None where it gives none."""
    unread = sources.unread(entry)
    return FileChange(
        path=entry.path,
        previous_path=entry.previous_path,
        status=entry.status,
        module=module,
        category=known or category(entry.path, sources.head(entry)),
        added=entry.added,
        removed=entry.removed,
        symbols=facts.symbols if facts else (),
        edits=facts.edits if facts else (),
        notes=(*(facts.notes if facts else ()), *(() if unread else sources.notes(entry))),
        unread=unread,
    )
