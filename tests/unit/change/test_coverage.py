"""Which tests name what changed."""

from __future__ import annotations

from analyzer.change.around.callers import targets
from analyzer.change.around.coverage import coverage
from analyzer.change.around.sites import Sites
from analyzer.change.facts import SourcePair
from analyzer.change.revisions.tree import RevisionTree
from analyzer.model.change import Coverage, FileChange, Symbol

KERNELS = (
    "import triton\n@triton.jit\ndef kernel(x): pass\ndef launch(x):\n    kernel[(1,)](x)\ndef other(x): return x\n"
)


def file(path: str, *symbols: tuple[str, str, str], category: str = "source") -> FileChange:
    its = tuple(Symbol(name=name, kind=kind, change=change) for name, kind, change in symbols)
    return FileChange(path=path, status="modified", category=category, symbols=its)


CHANGED = file("kernels.py", ("kernel", "kernel", "body"), ("launch", "function", "body"))


def covered(repository, *files: FileChange, pairs: tuple[SourcePair, ...] = ()) -> dict[str, Coverage]:
    with repository.open() as opened:
        head = opened.resolve("main")
        sites = Sites(opened, head, RevisionTree(opened, head))
        found = coverage(sites.of(targets(files)), sites, files, pairs)
    return {one.symbol: one for one in found}


def test_tests_by_whether_they_changed(repository):
    """A test that calls the symbol counts as changed where it is among the change's symbols, else as unchanged."""
    tests = "from kernels import launch\ndef test_old(): launch(1)\ndef test_new(): launch(2)\ndef test_not(): pass\n"
    repository.commit({"kernels.py": KERNELS, "tests/test_k.py": tests})
    its = covered(repository, CHANGED, file("tests/test_k.py", ("test_new", "function", "added"), category="test"))
    assert its["launch"].changed == ("tests/test_k.py::test_new",)
    assert its["launch"].unchanged == ("tests/test_k.py::test_old",)


def test_one_level_of_callers(repository):
    """A kernel that no test names is told with the function that launches it and that function's tests."""
    tests = "from kernels import launch\ndef test_a(): launch(1)\ndef test_b(): launch(2)\n"
    repository.commit({"kernels.py": KERNELS, "tests/test_k.py": tests})
    kernel = covered(repository, CHANGED)["kernel"]
    assert (kernel.named, kernel.through, kernel.launches) == (False, "launch", True)
    assert kernel.through_unchanged == ("tests/test_k.py::test_a", "tests/test_k.py::test_b")


def test_helpers_and_fixtures(repository):
    """A test that reaches the symbol through a helper or a fixture of its own file names it."""
    tests = (
        "import pytest\nfrom kernels import launch\ndef run(x): launch(x)\n@pytest.fixture\ndef made(): run(1)\n"
        "def test_helper(): run(1)\ndef test_fixture(made): pass\ndef test_neither(): pass\n"
        "class TestIt:\n    def check(self): launch(1)\n    def test_method(self): self.check()\n"
    )
    repository.commit({"kernels.py": KERNELS, "tests/test_k.py": tests})
    assert covered(repository, CHANGED)["launch"].unchanged == (
        "tests/test_k.py::TestIt.test_method",
        "tests/test_k.py::test_fixture",
        "tests/test_k.py::test_helper",
    )


def test_handing_on_names_it_and_a_comment_does_not(repository):
    """A parametrized function is named by its test; a word in a comment is not code."""
    tests = "from kernels import launch\ndef test_a(): check(launch)\ndef test_b():\n    # kernel\n    pass\n"
    repository.commit({"kernels.py": KERNELS, "tests/test_k.py": tests})
    its = covered(repository, CHANGED)
    assert its["launch"].unchanged == ("tests/test_k.py::test_a",)
    assert not its["kernel"].named


def test_nothing_is_said_of_what_cannot_be_followed(repository):
    """Where a test holds the word and cannot be followed to the symbol, neither a test nor its absence is claimed."""
    tests = "import kernels\ndef test_a(): getattr(kernels, 'launch')(1)\ndef test_b(thing): thing.kernel(1)\n"
    repository.commit({"kernels.py": KERNELS, "tests/test_k.py": tests})
    assert covered(repository, CHANGED) == {}


def test_a_test_changes_with_the_function_inside_it(repository):
    """A test of which only a nested function changed is a test that changed."""
    tests = "from kernels import launch\ndef test_a():\n    def run(): launch(1)\n    run()\n"
    repository.commit({"kernels.py": KERNELS, "tests/test_k.py": tests})
    its = covered(repository, CHANGED, file("tests/test_k.py", ("test_a.run", "function", "body"), category="test"))
    assert its["launch"].changed == ("tests/test_k.py::test_a",)
    assert its["launch"].unchanged == ()


def test_removed_tests(repository):
    """A test that is gone and whose text held the symbol's name is told."""
    repository.commit({"kernels.py": KERNELS, "tests/test_k.py": "a = 1\n"})
    gone = file("tests/test_k.py", ("test_a", "function", "removed"), category="test")
    pair = SourcePair("tests/test_k.py", None, "from kernels import launch\ndef test_a(): launch(1)\n", "a = 1\n")
    its = covered(repository, CHANGED, gone, pairs=(pair,))
    assert its["launch"].removed == ("tests/test_k.py::test_a",)
    assert its["kernel"].removed == ()


def test_what_is_told_of(repository):
    """Code that is gone, constants, nested functions and names that every class has are left out; tests too."""
    repository.commit({"kernels.py": KERNELS})
    its = covered(
        repository,
        file(
            "kernels.py",
            ("gone", "function", "removed"),
            ("SIZE", "constant", "body"),
            ("A.forward", "method", "body"),
            ("launch.inner", "function", "body"),
            ("other", "function", "body"),
        ),
        file("tests/test_k.py", ("test_a", "function", "body"), category="test"),
        file("ops.cu", ("scale", "kernel", "body"), category="kernel"),
    )
    assert list(its) == ["other"]


def test_a_word_that_many_test_files_hold(repository, monkeypatch):
    """Where too many test files hold a word to read them all, it is not said that no test names the symbol."""
    monkeypatch.setattr("analyzer.change.around.coverage.FILES", 2)
    monkeypatch.setattr("analyzer.change.around.sites.FILES", 2)
    files = {f"tests/test_{n}.py": f"def test_a(thing): thing.other({n})\n" for n in range(4)}
    repository.commit({"kernels.py": KERNELS, **files})
    assert covered(repository, file("kernels.py", ("other", "function", "body"))) == {}
