"""The key spans of a change: the code around the edits that matter most, with what was edited said beside it."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

from analyzer.change.facts import FileFacts, SourcePair
from analyzer.change.revisions.category import is_cpp, is_test
from analyzer.change.source import Function, Module, parse
from analyzer.model.base import Text
from analyzer.model.change import Edit, Snippet

#: Lines of one snippet, and around each edit.
LINES = 30
AROUND = 3
#: A removed expression up to this long is quoted.
QUOTED = 100

#: Suffix -> the name of its language in a fence; the others are Python.
LANGUAGES = dict.fromkeys((".cu", ".cuh"), "cuda") | dict.fromkeys((".cc", ".cpp", ".cxx", ".h", ".hpp"), "cpp")

#: A longer line of code is cut.
_WIDTH = 400
#: How much an edit of a noun says about a change; what is not listed counts 1.
WEIGHT = {
    "low-precision-round-trip": 9, "in-place": 8, "copy": 7, "index": 6, "stride": 6, "barrier": 6, "order": 6,
    "guard": 4, "cast": 4, "mask": 5, "atomic": 5, "comparison": 4, "operator": 4, "dtype-argument": 4, "contiguity": 4,
    "allocation": 3, "launch": 3, "seed-or-rng": 4, "constant": 2, "alias-returned": 3, "synchronization": 3,
    "condition": 3, "loop": 3, "value": 3, "global-state": 3, "result": 2, "context": 2, "argument": 2, "exception": 1,
}  # fmt: skip
#: What shows nothing in a piece of code: names that come from elsewhere, lists of dependencies and options.
_LISTS = ("import", "dependency", "build-flag")

#: Noun -> its name in both languages.
NOUNS = {
    "cast": ("cast", "类型转换"), "dtype-argument": ("dtype argument", "dtype 参数"), "copy": ("copy", "副本"),
    "in-place": ("in-place write of an argument", "对入参的原地写入"),
    "alias-returned": ("result that aliases an argument", "与入参共享内存的返回值"),
    "low-precision-round-trip": ("low-precision round trip", "低精度往返"), "allocation": ("allocation", "内存分配"),
    "guard": ("guard", "断言或前置检查"), "contiguity": ("call of contiguous()", "contiguous() 调用"),
    "mask": ("mask", "掩码"), "barrier": ("barrier", "屏障"), "atomic": ("atomic operation", "原子操作"),
    "synchronization": ("synchronisation", "同步"), "index": ("index width", "索引位宽"),
    "stride": ("stride of a tensor", "张量步长"), "launch": ("kernel launch", "内核启动参数"),
    "constant": ("constant", "常量"), "default": ("default value", "默认值"), "comparison": ("comparison", "比较运算"),
    "operator": ("operator", "运算符"), "parameter": ("parameter", "参数"), "function": ("function", "函数"),
    "test": ("test", "测试"), "tolerance": ("tolerance", "容差"),
    "seed-or-rng": ("random draw or seed", "随机数或种子"), "condition": ("condition", "条件"),
    "loop": ("loop", "循环"),
    "order": ("order of statements", "语句次序"), "decorator": ("decorator", "装饰器"), "import": ("import", "导入"),
    "dependency": ("dependency", "依赖"), "build-flag": ("build flag", "构建选项"), "value": ("computed value", "计算"),
    "argument": ("argument of a call", "调用参数"), "result": ("returned value", "返回值"),
    "context": ("context", "上下文"), "exception": ("exception", "异常"), "body": ("body", "函数体"),
    "base-class": ("base class", "基类"), "global-state": ("write to global state", "对全局状态的写入"),
    "statement": ("statement", "语句"),
}  # fmt: skip
WAYS = {
    "added": ("added", "新增"), "removed": ("removed", "移除"), "changed": ("changed", "更改"),
    "introduced": ("introduced", "引入"), "widened": ("widened", "放宽"), "narrowed": ("narrowed", "收窄"),
    "renamed": ("renamed", "重命名"), "moved": ("moved", "移动"), "extracted": ("extracted", "提取"),
    "inlined": ("inlined", "内联"), "assumed": ("no longer used: a size stands in", "以尺寸代替"),
    "honoured": ("used in place of a size", "改用"),
    "loosened": ("loosened", "放宽"), "tightened": ("tightened", "收紧"),
    "skipped": ("skipped", "跳过"), "unskipped": ("no longer skipped", "恢复运行的"),
}  # fmt: skip


def snippets(files: Sequence[SourcePair], facts: Mapping[str, FileFacts], limit: int) -> tuple[Snippet, ...]:
    """At most `limit` snippets, the most telling functions first; code of tests only where there is nothing else."""
    ranked = []
    for pair in files:
        by_symbol: dict[str, list[Edit]] = {}
        for edit in facts[pair.path].edits if pair.path in facts else ():
            by_symbol.setdefault(edit.symbol, []).append(edit)
        for symbol, edits in by_symbol.items():
            nouns = [edit.kind.rpartition("-")[0] for edit in edits]
            if all(noun in _LISTS for noun in nouns):
                continue
            weights = [WEIGHT.get(noun, 1) for noun in nouns]
            # The weightiest edit decides: many small ones do not outweigh it.
            ranked.append((is_test(pair.path), -max(weights), -sum(weights), pair.path, symbol, pair, edits))
    ranked.sort(key=lambda item: item[:5])
    if any(not item[0] for item in ranked):
        ranked = [item for item in ranked if not item[0]]
    parsed: dict[tuple[str, str | None], Module] = {}
    found = []
    for *_, symbol, pair, edits in ranked:
        snippet = _snippet(pair, symbol, edits, parsed)
        if snippet is not None:
            found.append(snippet)
        if len(found) == limit:
            break
    return tuple(found)


def note(edit: Edit) -> Text:
    """What an edit is, in a few words: ``cast to float32 added, 9 times``."""
    noun, _, way = edit.kind.rpartition("-")
    en, zh = NOUNS.get(noun, (noun, noun))
    way_en, way_zh = WAYS.get(way, (way, way))
    if noun == "cast" and "dtype" in edit.detail:
        en, zh = f"cast to {edit.detail['dtype']}", f"到 {edit.detail['dtype']} 的类型转换"
        if "bitcast" in edit.detail:
            en, zh = f"reinterpretation as {edit.detail['dtype']}", f"按 {edit.detail['dtype']} 的重新解释"
    if noun in ("copy", "allocation", "dtype-argument") and "dtype" in edit.detail:
        en, zh = f"{en} ({edit.detail['dtype']})", f"{zh}（{edit.detail['dtype']}）"
    times = (f", {edit.count} times", f"，共 {edit.count} 处") if edit.count > 1 else ("", "")
    gone = " ".join(edit.before.split()) if way == "removed" and noun not in ("function", "test") else ""
    if gone and noun == "condition":  # of an `else` it is the opposite of what the code has
        gone = str(edit.detail.get("test", ""))
    if gone and len(gone) <= QUOTED:
        times = (f"{times[0]}: `{gone}`", f"{times[1]}：`{gone}`")
    gap = " " if zh[0].isascii() else ""
    return Text(en=f"{en} {way_en}{times[0]}", zh=f"{way_zh}{gap}{zh}{times[1]}")


def _within_copy(edit: Edit, edits: Sequence[Edit]) -> bool:
    """Whether an edit is the allocation that a copy of the same edits fills: the copy says it."""
    noun, _, way = edit.kind.rpartition("-")
    return noun == "allocation" and any(
        other.kind == f"copy-{way}" and other.detail.get("size") == edit.detail.get("size") for other in edits
    )


def _read(path: str, text: str) -> Module:
    if not is_cpp(path):
        return parse(path, text)
    from analyzer.change.cuda.parsing import parse_both  # its parser is not there for Python alone

    return parse_both(path, text, path, None)[0]


def _snippet(pair: SourcePair, symbol: str, edits: list[Edit], parsed: dict) -> Snippet | None:
    """The symbol on the side that shows the edits: after, or before where it is gone."""
    for text, path, line_of in (
        (pair.head, pair.path, lambda e: e.head_line),
        (pair.base, pair.previous_path or pair.path, lambda e: e.base_line),
    ):
        if text is None:
            continue
        if (path, text) not in parsed:
            parsed[path, text] = _read(path, text)
        module = parsed[path, text]
        lines = sorted({line for e in edits if (line := line_of(e))})
        if lines:
            code = _excerpt(module, module.functions.get(symbol), lines)
            notes = tuple(dict.fromkeys(note(e) for e in edits if not _within_copy(e, edits)))
            return Snippet(
                path=pair.path,
                symbol=symbol,
                language=LANGUAGES.get(PurePosixPath(path).suffix, "python"),
                code=code,
                notes=notes,
            )
    return None


def _excerpt(module: Module, function: Function | None, lines: list[int]) -> str:
    """The definition's line and the lines around the edits, at most `LINES`; "..." stands for what is left out."""
    first, last = (function.line, function.node.end_lineno) if function else (1, len(module.lines))
    wanted: set[int] = {first} if function else set()
    for line in lines:
        window = [n for n in range(line - AROUND, line + AROUND + 1) if first <= n <= last]
        if len(wanted | set(window)) > LINES - 2:
            break
        wanted |= set(window)
    shown: list[str] = []
    previous = first - 1 if function else None
    for number in sorted(wanted):
        text = module.lines[number - 1]
        if previous is not None and number > previous + 1:
            shown.append(" " * (len(text) - len(text.lstrip())) + "...")
        shown.append(text)
        previous = number
    if previous is not None and function and previous < last:
        shown.append(" " * (len(module.lines[previous - 1]) - len(module.lines[previous - 1].lstrip())) + "...")
    lines = textwrap.dedent("\n".join(shown)).split("\n")
    return "\n".join(line if len(line) <= _WIDTH else f"{line[:_WIDTH]} ..." for line in lines)
