"""Sentences from data: templates/*.en.yml and *.zh.yml, sandboxed Jinja snippets under the same keys.

A snippet gets data and the number formats below, and fails on a name that it was not given.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import yaml
from jinja2 import StrictUndefined, Template, UndefinedError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from analyzer.model.base import Text
from analyzer.report.markdown import code

LANGUAGES = ("en", "zh")
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
#: Where a Chinese character touches code, a Latin letter or a figure: a space belongs there.
_HAN_LATIN = re.compile(
    r"(?<=[\u4e00-\u9fff])(?=`[^`]|[A-Za-z0-9+\u2212])|(?<=[A-Za-z0-9%`])(?=[\u4e00-\u9fff])(?<!\s`)"
)
DASH = Text(en="–", zh="–")


def phrase(key: str, /, **data: Any) -> Text:
    """The sentence under a dotted key, in both languages. A KeyError for an unknown key.

    A `Text` among the data is handed to each language in its own words.
    """
    return Text(**{lang: phrase_in(lang, key, **data) for lang in LANGUAGES})


def phrase_in(lang: str, key: str, /, **data: Any) -> str:
    """The sentence under a dotted key in one language."""
    words = " ".join(_template(lang, key).render(spoken(data, lang)).split())
    return _HAN_LATIN.sub(" ", words).replace("） ", "）") if lang == "zh" else words


def phrase_if_known(key: str, /, **data: Any) -> Text | None:
    """As `phrase`; None where there is no such key, a figure that it needs is missing or of no use, or it is empty."""
    try:
        text = phrase(key, **data)
    except (KeyError, UndefinedError, TypeError, ArithmeticError):
        return None
    return text if text.en else None


def known(key: str) -> bool:
    """Whether there is a sentence under a dotted key."""
    return all(key in _texts(lang) for lang in LANGUAGES)


def keys(lang: str) -> set[str]:
    """All dotted keys of a language."""
    return set(_texts(lang))


def sandbox() -> ImmutableSandboxedEnvironment:
    """The environment that phrases and reports are rendered in."""
    environment = ImmutableSandboxedEnvironment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters.update(
        code=code,
        count=count,
        share=share,
        gib=gib,
        figure=figure,
        signed=signed,
        all_of=all_of,
        some_of=some_of,
        times=times,
        of=number_of,
        verb=agreeing,
    )
    return environment


def count(value: float) -> str:
    """``7280`` -> ``7,280``."""
    return f"{value:,.0f}"


def share(part: float, whole: float = 1.0, digits: int = 2) -> str:
    """A percentage with that many significant digits below 10%, whole ones above: ``5.1%``, ``0.39%``, ``42%``."""
    percent = 100.0 * part / whole if whole else 0.0
    return f"{percent:.0f}%" if percent >= 10 or percent == 0 else f"{figure(percent, digits)}%"


def gib(size: float) -> str:
    """Bytes as GiB with three decimals; four below a thousandth: ``4.121 GiB``, ``0.0001 GiB``."""
    value = size / 2**30
    return f"{value:.4f} GiB" if 0 < abs(value) < 0.001 else f"{value:.3f} GiB"


def figure(value: float, digits: int = 2) -> str:
    """A number with that many significant digits, never in exponent form above 1e-4."""
    if value == 0 or abs(value) >= 1e15:
        return f"{value:g}"
    if abs(value) < 1e-4:
        return f"{value:.{max(digits - 1, 0)}e}"
    text = f"{float(f'{value:.{digits}g}'):.10f}".rstrip("0").rstrip(".")
    return text


def signed(value: float, digits: int = 1) -> str:
    """With a real minus sign: ``−4.0``, ``+4.0``."""
    return f"{value:+.{digits}f}".replace("-", "−")


def times(ratio: float) -> str:
    """A ratio of at least one with two significant digits: ``1.7``; three below 1.1: ``1.03``."""
    return figure(ratio, 3 if ratio < 1.1 else 2)


def all_of(items: Iterable[str], joiner: str = ", ") -> str:
    """Names as code spans."""
    return joiner.join(code(item) for item in items)


def some_of(items: Sequence[str], more: str = " and {} more", joiner: str = ", ", most: int = 3) -> str:
    """The first names as code spans, and how many more there are; one more is named too."""
    left = len(items) - most
    return all_of(items, joiner) if left <= 1 else all_of(items[:most], joiner) + more.format(left)


def number_of(number: int, one: str, many: str = "") -> str:
    """``1 load``, ``3 loads``; `many` where the plural is not made with an s."""
    return f"{number} {one if number == 1 else many or one + 's'}"


#: Verbs and the like whose plural is not made by taking an s away.
_PLURALS = {"is": "are", "has": "have", "its": "their", "copies": "copy", "launches": "launch"}


def agreeing(number: int, verb: str) -> str:
    """A verb of the third person, for one or for several: ``casts``, ``cast``."""
    return verb if number == 1 else _PLURALS.get(verb, verb.removesuffix("s"))


def spoken(node: Any, lang: str) -> Any:
    """Data with every text of two languages (a `Text`, or an ``{en, zh}`` mapping) as its words in `lang`."""
    if isinstance(node, Text):
        return getattr(node, lang)
    if isinstance(node, dict):
        if node.keys() == {"en", "zh"}:
            return node[lang]
        return {key: spoken(value, lang) for key, value in node.items()}
    if isinstance(node, list | tuple):
        return [spoken(value, lang) for value in node]
    return node


@cache
def _texts(lang: str) -> dict[str, str]:
    sources = [item for item in files("analyzer.templates").iterdir() if item.name.endswith(f".{lang}.yml")]
    loaded = [yaml.load(item.read_text(encoding="utf-8"), Loader=_LOADER) for item in sources]
    return {key: text for raw in loaded for key, text in _flat(raw, "")}


def _flat(node: dict, prefix: str) -> Iterable[tuple[str, str]]:
    for key, value in node.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", str(value)


@cache
def _template(lang: str, key: str) -> Template:
    return _environment().from_string(_texts(lang)[key])


@cache
def _environment() -> ImmutableSandboxedEnvironment:
    return sandbox()
