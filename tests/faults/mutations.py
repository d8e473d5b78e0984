"""Faults made mechanically: small edits of the zoo's PyTorch samplers, each by a listed operator.

Whether a mutant is a fault is not for the checks to say: it is one where a caller sees another result on one of the
small inputs (observe.py).
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from faults import inputs, observe
from faults.zoo import Case, samplers

#: At most so many places of a sampler, the first ones, by each operator.
PLACES = 2


@dataclass(frozen=True)
class Operator:
    """What is looked for (a regular expression), and what stands in its place; the kind of what it breaks."""

    name: str
    find: str
    replace: str
    kind: str = "numerics"


OPERATORS = (
    Operator("at least becomes more than", r" >= ", " > "),
    Operator("less than becomes at most", r" < ", " <= "),
    Operator("more than becomes at least", r" > ", " >= "),
    Operator("less than becomes more than", r" < ", " > "),
    Operator("and becomes or", r" & ", " | "),
    Operator("fp32 is left out", r", dtype=torch\.float32\)", ")"),
    Operator("a cast to fp32 is left out", r"\.to\(torch\.float32\)|\.float\(\)", ""),
    Operator("values pass through bf16", r"\.to\(torch\.float32\)|\.float\(\)", ".to(torch.bfloat16).float()"),
    Operator("falling becomes rising", r"descending=True", "descending=False"),
    Operator("one less is left out", r" - 1\b", ""),
    Operator("one more is left out", r" \+ 1\b|\b1 \+ ", ""),
    Operator("plus becomes minus", r" \+ (?!1\b)", " - "),
    Operator("minus becomes plus", r" - (?!1\b)", " + "),
    Operator("a product becomes a quotient", r" \* ", " / "),
    Operator("a quotient becomes a product", r" / ", " * "),
    Operator("minus infinity becomes a large number", r'float\("-inf"\)', "-1e4"),
    Operator("a lower bound is left out", r"\.clamp\(min=[^()]*\)", ""),
    Operator("an upper bound is left out", r"\.clamp\(max=[^()]*\)", ""),
    Operator("a condition always holds", r"torch\.where\(([^(),]+), ", "torch.where(torch.ones_like(\\1), "),
    Operator("a condition is turned round", r"torch\.where\(([^(),]+), ", "torch.where(~(\\1), "),
    Operator("of the last dimension becomes of the first", r"dim=-1", "dim=0"),
    Operator("largest becomes smallest", r"\.argmax\(", ".argmin("),
    Operator("a running sum becomes the values", r"\.cumsum\(dim=-1\)", ""),
    Operator("a logarithm is left out", r"torch\.log1?p?\(", "("),
    Operator("out of place becomes in place", r"\.masked_fill\(", ".masked_fill_(", "aliasing"),
    Operator("a new tensor becomes the input", r"torch\.empty_like\(logits\)", "logits", "aliasing"),
    Operator("a copy is left out", r"\.clone\(\)", "", "aliasing"),
)  # fmt: skip


def mutants() -> Iterator[Case]:
    """Every operator at the first places of every PyTorch sampler where it applies."""
    for sampler in samplers().values():
        if sampler.kind != "torch":
            continue
        code = sampler.source
        for operator in OPERATORS:
            places = [place for place in re.finditer(operator.find, code) if not _in_words(code, place.start())]
            for number, place in enumerate(places[:PLACES]):
                text = code[: place.start()] + place.expand(operator.replace) + code[place.end() :]
                name = f"{sampler.name}: {operator.name}, place {number + 1}"
                yield Case(name=name, sampler=sampler, says=operator.name, edits=(), kind=operator.kind, text=text)


def visible(case: Case) -> bool:
    """Whether a caller sees a difference on one of the sampler's small inputs."""
    with tempfile.TemporaryDirectory() as folder:
        for name in inputs.names(case.sampler.name):
            try:
                seen = [observe.observe(text, case.sampler, name, Path(folder)) for text in (case.base, case.head)]
            except Exception:  # a mutant that cannot be imported is found by everything, and proves nothing
                return False
            if observe.difference(*seen, case.sampler, tolerance=1e-6):
                return True
    return False


def _in_words(code: str, place: int) -> bool:
    """Whether a place is in a docstring or a comment."""
    before = code[:place]
    line = before[before.rfind("\n") + 1 :]
    return before.count('"""') % 2 == 1 or "#" in line
