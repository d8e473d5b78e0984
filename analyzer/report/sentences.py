"""One sentence for edits that say the same, of one symbol or of several, in both languages."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from analyzer.model.base import Text
from analyzer.model.change import Edit
from analyzer.report.markdown import Markdown, code, line
from analyzer.report.phrases import known, phrase, phrase_if_known, phrase_in

#: Longest span of code shown within a sentence, and how much of it may be what both sides share.
SPAN = 100
SHARED = 30
#: Names, and spans of code, listed in one sentence; the rest is counted.
NAMES = 6
SPANS = 3
NOTHING = Text(en="nothing", zh="无")
ALWAYS = Text(en="always", zh="无条件")
MODULE = Text(en="the module", zh="模块级代码")
#: Where a Chinese clause goes on about the symbol that the sentence began with.
_SAME = "\ue000"
#: Details that hold several names.
_LISTS = ("by", "stages", "exact", "unresolved")
#: Noun -> the detail that says what came, went or changed, where a sentence can list several; else the span.
_ITEM = {
    "guard": "demands", "condition": "test", "cast": "", "dtype-argument": "", "parameter": "parameter", "test": "",
    "decorator": "decorator", "allocation": "target", "contiguity": "operand", "import": "name",
    "dependency": "requirement", "build-flag": "flag", "argument": "value", "loop": "loop", "context": "context",
    "base-class": "base",
}  # fmt: skip
#: Noun -> the detail whose two sides a sentence can list for several edits.
_SIDED = {"parameter": "name", "condition": "test", "loop": "loop"}
#: Words in both languages for what is added or removed other than a function.
_WHAT = {
    "class": ("class", "类"),
    "kernel": ("kernel", "内核"),
    "macro": ("macro", "宏"),
    "template": ("template", "模板"),
}


@dataclass(frozen=True)
class Told:
    """Edits of one kind that one sentence tells; all about the same symbol, or each the same about another symbol."""

    edits: tuple[Edit, ...]

    @property
    def first(self) -> Edit:
        return self.edits[0]

    @property
    def kind(self) -> str:
        return self.first.kind

    @property
    def noun(self) -> str:
        return self.kind.rpartition("-")[0]

    @property
    def symbols(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(edit.symbol for edit in self.edits))

    @property
    def items(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(item for edit in self.edits for item in items_of(edit)))


def sentence(edit: Edit | Told, among: Iterable[Edit] = (), *, goes_on: bool = False) -> Text:
    """What edits do. `among`: the edits around them, for what they say about each other.

    `goes_on`: a clause after one about the same symbol, which it does not name again.
    """
    told = edit if isinstance(edit, Told) else Told((edit,))
    who = Text(en="it", zh=_SAME) if goes_on else _names(told.symbols)
    key, data = _data(told, among, who, len(told.symbols), sum(each.count for each in told.edits), told.items)
    said = phrase(key, **data)
    if goes_on:
        return Text(en=said.en, zh=_without_subject(said.zh))
    return Text(en=said.en[0].upper() + said.en[1:], zh=said.zh)


def reading(edit: Edit, among: Iterable[Edit] = (), *, whole: bool = False) -> str:
    """An edit's sentence without its symbol, its number, and (unless `whole`) without what a sentence can list."""
    listable = not whole and not (
        edit.kind.startswith(("condition-", "context-", "loop-")) and {"guards", "statements"} & edit.detail.keys()
    )
    told = Told((edit,))
    items = () if listable else told.items
    detail = dict(edit.detail)
    if edit.kind.startswith("allocation-") and not ("size_before" in detail and "dtype_before" not in detail):
        detail = {name: value for name, value in detail.items() if not name.startswith("size")}
    blank = {}
    if listable and told.items and (stem := _SIDED.get(edit.kind.rpartition("-")[0])):
        detail = {name: value for name, value in detail.items() if not name.startswith(f"{stem}_")}
        blank = {"before": "", "after": ""}
    if edit.kind.startswith(("test-", "function-")):
        detail = {name: value for name, value in detail.items() if name not in ("cases", "methods")}
    told = Told((edit.model_copy(update={"detail": detail} | blank),))
    key, data = _data(told, among, Text(en="", zh=""), 1, 1, items)
    return f"{edit.kind}: {phrase_in('en', key, **data)}"


def _data(
    told: Told, among: Iterable[Edit], who: Text, several: int, count: int, items: Sequence[str]
) -> tuple[str, dict]:
    """The key of a sentence, and what it is made of (templates/edits.en.yml)."""
    first = told.first
    detail = _detail(told)
    before, after = spans(first.before, first.after)
    key = f"edits.{first.kind}"
    return key if known(key) else "other-edit", dict(
        kind=first.kind.replace("-", " "),
        who=who,
        several=several,
        count=count,
        before=before,
        after=after,
        change=_change(before, after, any(edit.count > 1 for edit in told.edits) and count > 1),
        listed=listed(
            items,
            NAMES if _ITEM.get(told.noun) and told.noun not in ("condition", "loop") else SPANS,
            total=count if "names" in detail else 0,
        ),
        items=max(count if "names" in detail else len(items), 1),
        d=detail,
        keyword=_is_name(detail.get("argument")),
        group=_group(str(detail.get("group", ""))),
        pairs=_pairs(first),
        lists={name: listed(_split(detail[name])) for name in _LISTS if name in detail},
        options=_options(first),
        spared=_spared(first, among),
        as_what=_as_what(first, several),
    )


def items_of(edit: Edit) -> tuple[str, ...]:
    """What came, went or changed by an edit, where a sentence can list several: names, or a span of code."""
    names = [name for name in _split(edit.detail.get("names", "")) if name != "…"]
    return tuple(names) if names else tuple(item for item in [_item_of(edit)] if item)


def _item_of(edit: Edit) -> str:
    noun, _, way = edit.kind.rpartition("-")
    if noun in _SIDED and way in ("changed", "widened", "narrowed"):
        pair = _pairs(edit).get(_SIDED[noun])
        return Markdown(pair.en) if pair and pair.en == pair.zh else ""
    if noun not in _ITEM or (noun == "test" and way not in ("skipped", "unskipped")):
        return ""
    if noun == "argument" and _is_name(edit.detail.get("argument")) and "value" in edit.detail:
        return line(f"{edit.detail['argument']}={edit.detail['value']}")
    named = edit.detail.get(_ITEM[noun]) or (edit.detail.get("name") if noun == "dependency" else "")
    if named:
        return line(str(named))
    span = edit.before if way in ("removed", "unskipped") else edit.after if way in ("added", "skipped") else ""
    return "" if noun in ("allocation", "contiguity", "import") else _shown(span)


def chained(sentences: Sequence[Text]) -> Text:
    """Clauses about one symbol as one sentence."""
    return Text(
        en="; ".join([*(one.en.removesuffix(".") for one in sentences[:-1]), sentences[-1].en]),
        zh="；".join([*(one.zh.removesuffix("。") for one in sentences[:-1]), sentences[-1].zh]),
    )


def _names(symbols: Sequence[str]) -> Text:
    named = [symbol for symbol in symbols if symbol]
    return listed(named) if named else MODULE


def listed(names: Iterable[str], limit: int = NAMES, total: int = 0) -> Text:
    """Names as code: ``a, b and 3 more``; ``a、b 等 5 个``."""
    names = list(names)
    shown = [
        name if isinstance(name, Markdown) else code(_short(name))
        for name in (names if len(names) <= limit + 1 else names[:limit])
    ]
    total = max(total, len(names))
    more = total - len(shown)
    if more:
        return Text(en=f"{', '.join(shown)} and {more} more", zh=f"{'、'.join(shown)} 等 {total} 个")
    return Text(en=" and ".join([", ".join(shown[:-1]), shown[-1]] if shown[1:] else shown), zh="、".join(shown))


def _split(text: object) -> list[str]:
    return [name for name in str(text).split(", ") if name]


def _detail(told: Told) -> dict:
    """The detail that holds for all edits that are told together, its texts cut to what a sentence can hold."""
    detail = dict(told.first.detail)
    if any(edit.detail.get("size") != detail.get("size") for edit in told.edits):
        detail = {name: value for name, value in detail.items() if not name.startswith("size")}
    if len(told.edits) > 1:
        detail.pop("cases", None)
    if told.noun == "operator" and all(_is_name(detail.get(f"operator_{side}")) for side in ("before", "after")):
        detail |= {f"call_{side}": detail[f"operator_{side}"] for side in ("before", "after")}
    return {
        name: _short(value) if isinstance(value, str) and name not in _LISTS else value
        for name, value in detail.items()
    }


def _is_name(text: object) -> bool:
    return isinstance(text, str) and text.replace(".", "_").isidentifier()


def _change(before: str, after: str, several: bool) -> Text:
    """Both sides of what changed; `several`: they are those of one of several places."""
    if not (before or after) or before == after:
        return Text(en="", zh="")
    sides = Text(
        en=f"{before or NOTHING.en} → {after or NOTHING.en}", zh=f"{before or NOTHING.zh} → {after or NOTHING.zh}"
    )
    if several:
        return Text(en=f", among them {sides.en}", zh=f"，其中一处为 {sides.zh}")
    return Text(en=f": {sides.en}", zh=f"：{sides.zh}")


def _pairs(edit: Edit) -> dict[str, Text]:
    """``before → after`` of each detail that has two sides; a side that has nothing says so.

    A text that was cut before it differs says nothing: the spans of the edit stand for it, or no pair at all.
    """
    stems = dict.fromkeys(name.rpartition("_")[0] for name in edit.detail if name.endswith(("_before", "_after")))
    found = {}
    for stem in stems:
        texts = [str(edit.detail.get(f"{stem}_{side}", "")) for side in ("before", "after")]
        cut = all(text.endswith(("...", "…")) for text in texts) and not all(text.startswith("...") for text in texts)
        if texts[0] == texts[1] or cut:
            texts = [edit.before, edit.after]
        before, after = spans(*texts)
        if before == after:
            continue
        none = ALWAYS if stem == "condition" else NOTHING
        found[stem] = Text(
            en=f"{before or none.en} → {after or none.en}", zh=f"{before or none.zh} → {after or none.zh}"
        )
    return found


def _options(edit: Edit) -> list[dict[str, object]]:
    """What a launch changes: each option's name and its text on both sides."""
    names = [n for n in _split(edit.detail.get("options", "")) if {f"{n}_before", f"{n}_after"} & edit.detail.keys()]

    def side(text: object) -> Text:
        if text == "default":
            return Text(en="default", zh="默认值")
        shown = code(_short(str(text))) if text != "" else ""
        return Text(en=shown or NOTHING.en, zh=shown or NOTHING.zh)

    return [
        {"name": name, **{way: side(edit.detail.get(f"{name}_{way}", "")) for way in ("before", "after")}}
        for name in names
    ]


def _group(group: str) -> Text:
    """Which dependencies a requirement belongs to: ``runtime``, ``extra `x```."""
    kind, _, name = group.partition(" ")
    known = (
        phrase_if_known(f"groups.{kind}", name=name)
        if kind in ("extra", "group")
        else phrase_if_known(f"groups.{group}")
    )
    return known or Text(en=code(group), zh=code(group))


def _as_what(edit: Edit, several: int) -> Text:
    """``the class``: what was added or removed, where it is not just a function."""
    en, zh = _WHAT.get(str(edit.detail.get("what", "")), ("", ""))
    if not en:
        return Text(en="", zh="")
    return Text(en=f"the {en} " if several == 1 else f"the {en}{'es' if en.endswith('s') else 's'} ", zh=zh)


def _spared(edit: Edit, among: Iterable[Edit]) -> str:
    """The condition under which a copy keeps the argument from being written, empty where there is none."""
    if not edit.kind.startswith("in-place-"):
        return ""
    copy = "copy-added" if edit.kind == "in-place-introduced" else "copy-removed"
    for other in among:
        same = other.kind == copy and other.symbol == edit.symbol and other.path == edit.path
        if same and other.detail.get("conditional") and other.detail.get("subject") == edit.detail.get("parameter"):
            return str(other.detail.get("condition", ""))
    return ""


def _without_subject(zh: str) -> str:
    """A Chinese clause whose subject is that of the clause before."""
    zh = zh.replace(f"{_SAME} 的 ", "其 ").replace(f"{_SAME} 的", "其").replace(f"{_SAME} 中", "其中")
    return zh.removeprefix(f"{_SAME} ").replace(f"{_SAME} ", "它").replace(_SAME, "它")


def _short(text: str) -> str:
    return text if len(text) <= SPAN else text[: SPAN - 1] + "…"


def _shown(text: str) -> str:
    """A span of code on one line; what stood on several is laid out anew."""
    return _plain(text) if "\n" in text else line(text)


def _plain(text: str) -> str:
    """Code in the parser's own layout, without parentheses that say nothing; other text on one line."""
    try:
        return line(ast.unparse(ast.parse(text)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return line(text)


def spans(before: str, after: str) -> tuple[str, str]:
    """Both sides of an edit as code; what long ones share at their beginning is left out, so that they differ."""
    texts = [_shown(before), _shown(after)]
    if texts[0] == texts[1] or ("\n" in before) != ("\n" in after):
        texts = [_plain(text) for text in (before, after)]  # one layout, so that only what differs differs
    shared = 0
    if all(texts) and max(map(len, texts)) > SPAN:
        texts = [_plain(text) for text in texts]
        shared = next((i for i, (x, y) in enumerate(zip(*texts, strict=False)) if x != y), min(map(len, texts)))
    skipped = max(shared - SHARED, 0)
    shown = ["…" + text[skipped:] if skipped else text for text in texts]
    return tuple(code(_short(text)) for text in shown)
