"""Who calls a changed symbol, decided by the parser."""

from __future__ import annotations

import pytest

from analyzer.change.callers import callers
from analyzer.model.change import FileChange, Symbol


def changed(path: str, *names: str, kind: str = "function") -> FileChange:
    symbols = tuple(Symbol(name=name, kind=kind, change="body") for name in names)
    return FileChange(path=path, status="modified", symbols=symbols)


def found(repository, *files: FileChange) -> list[tuple[str, str, int, str, bool]]:
    with repository.open() as opened:
        told = callers(opened, opened.resolve("main"), files)
    return [(one.path, one.symbol, one.line, one.calls, one.changed) for one in told]


OPS = "def scale(x):\n    return x\n\ndef twice(x):\n    return scale(scale(x))\n"


def test_functions(repository):
    """Calls through an import, an alias and a module count; another function of the same name does not."""
    repository.commit(
        {
            "ops.py": OPS,
            "direct.py": "from ops import scale\ndef f(x):\n    return scale(x)\n",
            "alias.py": "from ops import scale as s\nresult = s(1)\n",
            "module.py": "import ops\nclass A:\n    def g(self):\n        def inner():\n            ops.scale(1)\n",
            "other.py": "def scale(x): pass\ndef h(): scale(1)\n",
            "method.py": "class B:\n    def scale(self): pass\n    def k(self): self.scale()\n",
            "foreign.py": "import torch\nimport numpy as np\ntorch.scale(1)\nnp.scale(1)\n",
            "mention.py": "# scale(1)\ntext = 'scale(1)'\n",
        }
    )
    assert found(repository, changed("ops.py", "scale")) == [
        ("alias.py", "<module>", 2, "scale", False),
        ("direct.py", "f", 3, "scale", False),
        ("module.py", "A.g.inner", 5, "scale", False),
        ("ops.py", "twice", 5, "scale", False),
    ]


def test_changed_caller(repository):
    """A caller that changed as well is marked."""
    repository.commit({"ops.py": OPS})
    assert found(repository, changed("ops.py", "scale", "twice")) == [("ops.py", "twice", 5, "scale", True)]


def test_methods(repository):
    """A method is called through self, through a subclass, and through an object that is named like its class."""
    repository.commit(
        {
            "sampler.py": "class Sampler:\n    def prepare(self): pass\n    def draw(self):\n        self.prepare()\n",
            "sub.py": "from sampler import Sampler\nclass Fast(Sampler):\n    def go(self):\n        self.prepare()\n",
            "user.py": "class Engine:\n    def go(self):\n        self.sampler.prepare()\n",
            "other.py": "class Door:\n    def prepare(self): pass\n    def open(self):\n        self.prepare()\n",
        }
    )
    assert found(repository, changed("sampler.py", "Sampler.prepare", kind="method")) == [
        ("sampler.py", "Sampler.draw", 4, "Sampler.prepare", False),
        ("sub.py", "Fast.go", 4, "Sampler.prepare", False),
        ("user.py", "Engine.go", 3, "Sampler.prepare", False),
    ]


def test_kernel_launch(repository):
    """A kernel is called by its launch."""
    repository.commit(
        {"kernels.py": "import triton\n@triton.jit\ndef kernel(x): pass\ndef launch(x):\n    kernel[(1,)](x)\n"}
    )
    assert found(repository, changed("kernels.py", "kernel", kind="kernel")) == [
        ("kernels.py", "launch", 5, "kernel", False)
    ]


def test_tests_come_last(repository):
    """Callers in tests are told after those in source, and marked."""
    repository.commit(
        {
            "a_tests/tests/test_ops.py": "from ops import scale\ndef test(): scale(1)\n",
            "ops.py": OPS,
        }
    )
    with repository.open() as opened:
        told = callers(opened, opened.resolve("main"), [changed("ops.py", "scale")])
    assert [(one.path, one.note) for one in told] == [("ops.py", ""), ("a_tests/tests/test_ops.py", "test")]


@pytest.mark.parametrize("name", ["Sampler.__call__", "Sampler.forward", "Sampler.get"])
def test_common_names_are_left_out(repository, name):
    """A call of a name that every class has says nothing, so none is claimed."""
    last = name.rpartition(".")[2]
    repository.commit(
        {
            "sampler.py": f"class Sampler:\n    def {last}(self): pass\n",
            "user.py": f"def f(thing): thing.{last}()\n",
        }
    )
    assert found(repository, changed("sampler.py", name, kind="method")) == []


def test_source_that_does_not_parse(repository):
    """A file that is no Python is passed over; the others are still found."""
    repository.commit({"ops.py": OPS, "broken.py": "from ops import scale\ndef f(:\n  scale(\n"})
    assert found(repository, changed("ops.py", "scale")) == [("ops.py", "twice", 5, "scale", False)]


def test_a_method_that_many_classes_have(repository):
    """A method of a name that several classes define is called only where the receiver is known to be its class."""
    repository.commit(
        {
            "sampler.py": "class Sampler:\n    def prepare(self): pass\n    def draw(self):\n        self.prepare()\n",
            "norm.py": "class Norm:\n    def prepare(self): pass\n",
            "bench.py": "def run(layer, sampler):\n    layer.prepare()\n    sampler.prepare()\n",
            "old.py": "class Sampler:\n    def prepare(self): pass\n    def go(self):\n        self.prepare()\n",
        }
    )
    assert found(repository, changed("sampler.py", "Sampler.prepare", kind="method")) == [
        ("bench.py", "run", 3, "Sampler.prepare", False),
        ("sampler.py", "Sampler.draw", 4, "Sampler.prepare", False),
    ]
