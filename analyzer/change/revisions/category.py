"""What sort of file a path is, where a project's profile does not say otherwise."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from analyzer.change.build_files.edits import is_build_file
from analyzer.model.change import Category

_KERNEL = (".cu", ".cuh", ".hip", ".ptx", ".metal")
_SOURCE = (".py", ".pyi", ".c", ".cc", ".cpp", ".cxx", ".h", ".hpp", ".rs", ".go", ".js", ".ts", ".sh", ".pyx")
_DOCS = (".md", ".rst", ".txt", ".adoc")
_CI = (".github", ".gitlab", ".circleci", ".buildkite", ".ci")
_JIT = re.compile(rb"^\s*@(?:\w+\.)*(?:jit|autotune|heuristics)\b", re.MULTILINE)
_TRITON = re.compile(rb"^\s*(?:import|from)\s.*\b(?:triton|tl)\b", re.MULTILINE)


_CPP = frozenset({".cu", ".cuh", ".hip", ".h", ".hpp", ".c", ".cc", ".cpp", ".cxx"})


def is_cpp(path: str) -> bool:
    """Whether a path is read as CUDA or C++."""
    return PurePosixPath(path).suffix in _CPP


def is_test(path: str) -> bool:
    """Whether a path is a test's: below a tests folder, or called like one. What ships for tests to use is none."""
    pure = PurePosixPath(path)
    return bool({"test", "tests"} & set(pure.parts[:-1])) or bool(
        re.fullmatch(r"test_.*|.*_test\.\w+|conftest\.py", pure.name)
    )


def category(path: str, content: bytes = b"") -> Category:
    """The category of a file; `content` tells a Python file with Triton kernels from one without."""
    pure = PurePosixPath(path.lower())
    if any(part in _CI for part in pure.parts):
        return "ci"
    if is_build_file(path):
        return "build"
    if is_test(path):
        return "test"
    if pure.suffix in _KERNEL or (pure.suffix == ".py" and _JIT.search(content) and _TRITON.search(content)):
        return "kernel"
    if pure.suffix in _DOCS or pure.parts[0] in ("docs", "doc"):
        return "docs"
    return "source" if pure.suffix in _SOURCE else "data"
