"""Compiler flags: telling them apart, and which of them change what is computed."""

from __future__ import annotations

import re
from collections.abc import Iterator

from analyzer.change.build_files.fact import BuildFact

#: Flags whose value is the next word.
_WITH_NEXT = frozenset(
    {"-gencode", "--generate-code", "-arch", "--gpu-architecture", "-code", "--gpu-code", "-Xptxas", "--ptxas-options",
     "-Xcompiler", "--compiler-options", "-Xcudafe", "-Xclang", "-isystem", "-include", "-I", "-L", "-x"}
)  # fmt: skip
#: Warnings and search paths say nothing about what is computed.
_SILENT = re.compile(r"-{1,2}(?:W(?!l,|p,|a,)|w$|I|L|isystem|pedantic|fdiagnostics|Xcudafe|j\W|j\d|threads)")
#: Flags of nvcc, hipcc, GCC, Clang and icpx that change the numbers a program computes.
_NUMERICS = re.compile(
    r"-(?:D\w*FAST_MATH\w*|use_fast_math|fmad|ftz|prec-div|prec-sqrt|ffast-math|fno-fast-math|Ofast|ffp-contract|ffp-model"
    r"|fp-model|f(?:no-)?(?:unsafe-math-optimizations|associative-math|reciprocal-math|finite-math-only|signed-zeros"
    r"|rounding-math|gpu-flush-denormals-to-zero|cuda-flush-denormals-to-zero|gpu-approx-transcendentals)"
    r"|mdaz-ftz|funsafe-math|cl-fast-relaxed-math|cl-mad-enable)(?:[=\s]|$)"
)
_ARCHITECTURE = re.compile(
    r"(?:\d{1,2}\.\d[af]?|gfx[0-9a-f]{3,5}|(?:sm_|compute_)?\d{2,3}[af]?)(?:\+PTX|-real|-virtual)?"
)
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_GENERATOR = re.compile(r"\$<(\$<.+>|[\w:.]+):(.+)>")


def changes_numbers(flag: str) -> bool:
    """Whether a flag is one that changes rounding, contraction, denormals or the order of operations."""
    return bool(_NUMERICS.match(_one_dash(flag)))


def architectures(value: str, *, declared: bool = False) -> list[str]:
    """The GPU architectures that a text lists; empty where it is no such list.

    A single number is none, unless the place says (`declared`) that it holds architectures.
    """
    words = [word for word in re.split(r"[;,\s]+", value) if word]
    if not all(_ARCHITECTURE.fullmatch(word) for word in words):
        return []
    if not declared and all(_NUMBER.fullmatch(word) for word in words):
        plausible = len(words) > 1 and all("." in word and 5 <= float(word) < 20 for word in words)
        return list(dict.fromkeys(words)) if plausible else []
    return list(dict.fromkeys(words))


def architecture_facts(
    symbol: str, value: str, line: int, condition: str = "", *, declared: bool = False
) -> list[BuildFact]:
    """That `symbol` is compiled for each of the architectures in `value`; nothing where it lists none."""
    return [
        BuildFact("build-flag", symbol, one, one, one, line, one, condition=condition, architecture=one)
        for one in architectures(value, declared=declared)
    ]


def flag_facts(symbol: str, text: str, line: int, condition: str = "") -> Iterator[BuildFact]:
    """The flags in a text, as it stands in a command line or a list."""
    for where, flag in split(text):
        if _SILENT.match(flag):
            continue
        both = " and ".join(one for one in (condition, where) if one)
        target = re.search(r"(?:.*\b)((?:sm|compute)_\d+[af]?|gfx[0-9a-f]{3,5})\b", flag)
        yield BuildFact(
            "build-flag", symbol, _key(flag), _one_dash(flag), flag, line, flag, condition=both,
            architecture=target[1] if target else "",
        )  # fmt: skip


def split(text: str) -> Iterator[tuple[str, str]]:
    """(the generator expression's condition, flag) of each flag in a text."""
    words = _words(text)
    place = 0
    while place < len(words):
        word = words[place]
        place += 1
        condition = ""
        while match := _GENERATOR.fullmatch(word):
            condition, word = " and ".join(x for x in (condition, match[1]) if x), match[2].strip("\"'")
        if condition:
            yield from ((condition, flag) for _, flag in split(word))
            continue
        if not re.match(r"--?[A-Za-z]", word):
            continue
        if word in _WITH_NEXT and place < len(words):
            word += f" {words[place]}"
            place += 1
        yield "", word


def _words(text: str) -> list[str]:
    """Words at blanks and semicolons, but not within quotes and generator expressions."""
    words, word, depth, quote = [], "", 0, ""
    for at, sign in enumerate(text):
        if quote:
            quote = "" if sign == quote else quote
            word += sign if quote else ""
            continue
        if sign in "\"'":
            quote = sign
            continue
        if text.startswith("$<", at):
            depth += 1
        elif sign == ">" and depth:
            depth -= 1
        if depth == 0 and (sign.isspace() or sign == ";"):
            words.append(word)
            word = ""
        else:
            word += sign
    return [word for word in [*words, word] if word]


def _one_dash(flag: str) -> str:
    """nvcc takes one dash and two for the same flag."""
    return flag[1:] if flag.startswith("--") else flag


def _key(flag: str) -> str:
    """What stays of a flag when its value changes: ``-O`` of ``-O3``, ``-DX`` of ``-DX=1``."""
    flag = _one_dash(flag)
    if re.fullmatch(r"-O\w?", flag):
        return "-O"
    if flag.split(" ")[0] in ("-gencode", "-generate-code"):
        return flag  # each is one more target, none takes the place of another
    if flag.startswith("-X"):
        return flag.partition("=")[0]
    return re.split(r"[=\s]", flag, maxsplit=1)[0]
