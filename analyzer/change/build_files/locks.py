"""Lock files: the versions that a resolver chose."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from packaging.utils import canonicalize_name

from analyzer.change.build_files.fact import BuildFact

NAMES = frozenset({"uv.lock", "poetry.lock", "pdm.lock", "cargo.lock"})
#: Libraries whose version decides what a kernel computes and how fast: told one by one.
_APART = re.compile(
    r"torch(?:vision|audio)?|(?:pytorch-)?triton(?:-[a-z]+)?|numpy|xformers|flash-attn|jax|jaxlib"
    r"|cupy(?:-[a-z0-9-]+)?|nvidia-(?:cublas|cudnn|nccl|cuda-(?:runtime|nvcc))(?:-cu\d+)?|nvidia-cutlass-dsl|cudarc"
)
_PACKAGE = re.compile(r"^\[\[package\]\]\s*\nname = \"([^\"\n]+)\"\nversion = \"([^\"\n]+)\"", re.MULTILINE)


def lock_file(text: str) -> Iterator[BuildFact]:
    """Each package of a lock file in TOML with its version."""
    line, seen = 1, 0
    for match in _PACKAGE.finditer(text):
        line += text.count("\n", seen, match.start())
        seen = match.start()
        yield from locked([BuildFact("dependency", "", match[1], match[2], f"=={match[2]}", line, match[0])])


def locked(facts: Iterable[BuildFact]) -> Iterator[BuildFact]:
    """The facts as those of a lock: most of them only count."""
    for fact in facts:
        name = canonicalize_name(fact.name)
        yield replace(fact, name=name, group="lock", apart=bool(_APART.fullmatch(name)))
