"""What sort of file a path is."""

import pytest

from analyzer.change.revisions.category import category, is_test

KERNEL = b"import triton\n\n@triton.jit\ndef kernel(x): pass\n"


@pytest.mark.parametrize(
    ("path", "content", "expected"),
    [
        ("package/ops.py", b"def f(): pass\n", "source"),
        ("package/ops.py", KERNEL, "kernel"),
        ("package/numba_ops.py", b"from numba import jit\n@jit\ndef f(): pass\n", "source"),
        ("csrc/topk.cu", b"", "kernel"),
        ("csrc/binding.cpp", b"", "source"),
        ("tests/test_ops.py", KERNEL, "test"),
        ("package/test_ops.py", b"", "test"),
        ("package/contest.py", b"", "source"),
        ("docs/usage.md", b"", "docs"),
        ("README.md", b"", "docs"),
        ("requirements/cuda.txt", b"", "build"),
        ("requirements.txt", b"", "build"),
        ("pyproject.toml", b"", "build"),
        ("requirements/test/cuda.in", b"", "build"),
        ("docker/Dockerfile.rocm", b"", "build"),
        ("docs/dockerfile.md", b"", "docs"),
        ("rust/Cargo.lock", b"", "build"),
        ("package/testing/checks.py", b"", "source"),
        ("csrc/topk_test.cu", b"", "test"),
        ("CMakeLists.txt", b"", "build"),
        (".github/workflows/test.yml", b"", "ci"),
        ("configs/H200.json", b"", "data"),
    ],
)
def test_category(path, content, expected):
    """The category follows from the path, and from the content where a Python file may hold kernels."""
    assert category(path, content) == expected


def test_is_test():
    """A test is below a tests folder or named like one; a word that merely contains it is not."""
    assert is_test("tests/helpers.py") and is_test("a/b_test.py") and is_test("conftest.py")
    assert not is_test("latest/ops.py") and not is_test("attest.py")
