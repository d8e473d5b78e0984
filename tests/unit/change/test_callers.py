"""Who calls a changed symbol, decided by the parser."""

from __future__ import annotations

import pytest

from analyzer.change.around.callers import callers, targets
from analyzer.change.around.sites import Sites
from analyzer.change.revisions.sources import SourcePair
from analyzer.change.revisions.tree import RevisionTree
from analyzer.model.change import Caller, Edit, FileChange, Symbol


def changed(path: str, *names: str, kind: str = "function") -> FileChange:
    symbols = tuple(Symbol(name=name, kind=kind, change="body") for name in names)
    return FileChange(path=path, status="modified", symbols=symbols)


def told(repository, *files: FileChange) -> tuple[Caller, ...]:
    with repository.open() as opened:
        head = opened.resolve("main")
        sites = Sites(opened, head, RevisionTree(opened, head))
        return callers(sites.of(targets(files)), sites, files)


def found(repository, *files: FileChange) -> list[tuple[str, str, int, str, bool]]:
    return [(one.path, one.symbol, one.line, one.calls, one.changed) for one in told(repository, *files)]


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


def test_a_caller_with_another_annotation_has_changed(repository):
    """A caller of a changed file that reads otherwise in base is not called unchanged, though nothing is told of it."""
    repository.commit({"ops.py": OPS})
    with repository.open() as opened:
        head = opened.resolve("main")
        pair = SourcePair("ops.py", None, OPS.replace("twice(x)", "twice(x: int)"), OPS)
        sites = Sites(opened, head, RevisionTree(opened, head, [pair]))
        files = (changed("ops.py", "scale"),)
        assert [one.changed for one in callers(sites.of(targets(files)), sites, files)] == [True]


def test_methods(repository):
    """A method is called through self, a subclass, and an attribute that holds an instance, whatever its name."""
    repository.commit(
        {
            "sampler.py": "class Sampler:\n    def prepare(self): pass\n    def draw(self):\n        self.prepare()\n",
            "sub.py": "from sampler import Sampler\nclass Fast(Sampler):\n    def go(self):\n        self.prepare()\n",
            "user.py": (
                "from sampler import Sampler\nclass Engine:\n    def __init__(self):\n        self.first = Sampler()\n"
                "    def go(self):\n        self.first.prepare()\n"
            ),
            "guess.py": "class Engine:\n    def go(self):\n        self.sampler.prepare()\n",
            "other.py": "class Door:\n    def prepare(self): pass\n    def open(self):\n        self.prepare()\n",
        }
    )
    assert found(repository, changed("sampler.py", "Sampler.prepare", kind="method")) == [
        ("sampler.py", "Sampler.draw", 4, "Sampler.prepare", False),
        ("sub.py", "Fast.go", 4, "Sampler.prepare", False),
        ("user.py", "Engine.go", 6, "Sampler.prepare", False),
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
    assert [(one.path, one.note) for one in told(repository, changed("ops.py", "scale"))] == [
        ("ops.py", ""),
        ("a_tests/tests/test_ops.py", "test"),
    ]


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
            "bench.py": "from sampler import Sampler\ndef run(y, s: Sampler):\n    y.prepare()\n    s.prepare()\n",
            "old.py": "class Sampler:\n    def prepare(self): pass\n    def go(self):\n        self.prepare()\n",
        }
    )
    assert found(repository, changed("sampler.py", "Sampler.prepare", kind="method")) == [
        ("bench.py", "run", 4, "Sampler.prepare", False),
        ("sampler.py", "Sampler.draw", 4, "Sampler.prepare", False),
    ]


STATE = "class State:\n    def prepare(self, x): return x\nclass Other:\n    def prepare(self, x): return x\n"


@pytest.mark.parametrize(
    "text, line",
    [
        ("from state import State\ndef f(s: State | None):\n    s.prepare(1)\n", 3),
        ("from state import State\ndef f(s: 'State'):\n    s.prepare(1)\n", 3),
        ("from state import State as S\ndef f():\n    s = S()\n    s.prepare(1)\n", 4),
        ("import state\ndef f():\n    state.State().prepare(1)\n", 3),
        ("from state import State\ndef make() -> State: ...\ndef f():\n    make().prepare(1)\n", 4),
        ("from state import State\nclass Sub(State):\n    def prepare(self, x):\n        super().prepare(x)\n", 4),
        ("from state import State\nclass A:\n    s: State\n    def f(self):\n        self.s.prepare(1)\n", 5),
        ("from pack import State\ndef f():\n    s = State()\n    s.prepare(1)\n", 4),
        ("from state import Other\ndef f(s: Other):\n    s.prepare(1)\n", None),
        ("def f(state):\n    state.prepare(1)\n", None),
        ("from state import State, Other\ndef f(y):\n    s = State() if y else foreign()\n    s.prepare(1)\n", None),
    ],
)
def test_whose_method_it_is(repository, text, line):
    """Annotations, constructors, returned classes, super and re-exports tell a receiver's class."""
    repository.commit({"state.py": STATE, "pack/__init__.py": "from state import State\n", "user.py": text})
    lines = [one.line for one in told(repository, changed("state.py", "State.prepare", kind="method"))]
    assert lines == ([line] if line else [])


def test_instances_that_are_called(repository):
    """An instance of a torch module runs its ``forward``; a class that is called runs its ``__init__``."""
    layer = "from torch import nn\nclass Layer(nn.Module):\n    def __init__(self): pass\n"
    layer += "    def forward(self, x): return x\n"
    user = "from layer import Layer as L\nclass M:\n    def __init__(self):\n        self.first = L()\n"
    user += "    def go(self, other):\n        other(1)\n        return self.first(1)\n"
    repository.commit({"layer.py": layer, "user.py": user})
    assert found(repository, changed("layer.py", "Layer.__init__", "Layer.forward", kind="method")) == [
        ("user.py", "M.__init__", 4, "Layer.__init__", False),
        ("user.py", "M.go", 7, "Layer.forward", False),
    ]


@pytest.mark.parametrize(
    "body, line, how",
    [
        ("g = functools.partial(scale, 2)\n    g()", 5, "calls"),
        ("run(scale)", 4, "passes-on"),
        ("g = scale if y else twice\n    g(1)", 5, "calls"),
        ("g = kernel\n    g[(1,)](1)", 5, "launches"),
        ("scale = y\n    scale(1)", None, ""),
    ],
)
def test_names_that_stand_for_functions(repository, body, line, how):
    """A local can hold a function or a partial application; one that is only handed on is not called there."""
    ops = OPS + "import triton\n@triton.jit\ndef kernel(x): pass\n"
    user = f"import functools\nfrom ops import scale, twice, kernel\ndef f(y):\n    {body}\n"
    repository.commit({"ops.py": ops, "user.py": user})
    its = [one for one in told(repository, changed("ops.py", "scale", "kernel")) if one.path == "user.py"]
    assert [(one.line, one.how) for one in its] == ([(line, how)] if line else [])


def test_a_kernel_that_another_kernel_calls(repository):
    """A device function is called by the kernel that names it."""
    text = "import triton\n@triton.jit\ndef part(x): return x\n@triton.jit\ndef whole(x): part(x)\n"
    repository.commit({"k.py": text})
    assert found(repository, changed("k.py", "part", kind="kernel")) == [("k.py", "whole", 5, "part", False)]


def overwriting(parameter: str) -> FileChange:
    edit = Edit(kind="in-place-introduced", path="ops.py", symbol="halve", detail={"parameter": parameter})
    return changed("ops.py", "halve").model_copy(update={"edits": (edit,)})


@pytest.mark.parametrize(
    "body, after",
    [
        ("y = halve(x)\n    return y", "does not use `x` afterwards"),
        ("halve(x)\n    return x", "afterwards returns `x` at line 4"),
        ("x = halve(x)\n    return x", "keeps only the result, as `x`"),
        ("y = halve(x)\n    z = x + y\n    return z", "afterwards reads `x` at line 4"),
        ("y = halve(x)\n    return y, x.shape, x is None", "does not use `x` afterwards"),
        ("y = halve(x)\n    if flag:\n        keep(x)", "afterwards passes on `x` at line 5 where `flag` holds"),
        ("y = halve(x)\n    keep(y if flag else x)", "afterwards passes on `x` at line 4 where `not flag` holds"),
        ("if flag:\n        return halve(x)\n    return x", "does not use `x` afterwards"),
        ("if flag:\n        halve(x)\n    if not flag:\n        keep(x)", "does not use `x` afterwards"),
        ("raw = x\n    halve(x)\n    return raw", "afterwards returns `raw` at line 5"),
        ("raw = x.view(-1)\n    halve(x)\n    return raw", "afterwards returns `raw` at line 5"),
        ("raw = x\n    x = x.clone()\n    halve(x)\n    return raw", "does not use `x` afterwards"),
        ("for i in flag:\n        keep(x)\n        halve(x)", "afterwards passes on `x` at line 4"),
        ("for i in flag:\n        x = make()\n        halve(x)", "does not use `x` afterwards"),
        ("halve(x.clone())\n    return x", None),
        ("halve(self.x)\n    return None", None),
        ("halve(self.x)\n    return self.x", "afterwards returns `self.x` at line 4"),
        ("halve(x)\n    def later():\n        return x\n    return later", None),
        ("x.zero_()\n    halve(x)\n    x[0] = 1", "does not use `x` afterwards"),
    ],
)
def test_what_a_caller_does_with_an_overwritten_tensor(repository, body, after):
    """The value that was handed over is followed by name, view and alias; another value under the name is not it."""
    repository.commit(
        {
            "ops.py": "def halve(t):\n    t.div_(2)\n    return t\n",
            "user.py": f"from ops import halve\ndef f(self, x, flag):\n    {body}\n",
        }
    )
    (one,) = told(repository, overwriting("t"))
    assert (one.after and one.after.en) == after


def removed(path: str, *names: str, kind: str = "function") -> FileChange:
    symbols = tuple(Symbol(name=name, kind=kind, change="removed") for name in names)
    return FileChange(path=path, status="modified", symbols=symbols)


@pytest.mark.parametrize(
    "ops, user, where",
    [
        ("a = 1\n", "from ops import scale\nscale(1)\n", [("<module>", 1, "imports")]),
        ("def f(): return scale(1)\n", "", [("f", 1, "calls")]),
        ("from other import scale\n", "from ops import scale\nscale(1)\n", []),
        ("from other import *\n", "from ops import scale\nscale(1)\n", []),
        ("scale = 1\n", "from ops import scale\nscale(1)\n", []),
        ("def __getattr__(name): ...\n", "from ops import scale\n", []),
        ("a = 1\n", "try:\n    from ops import scale\nexcept ImportError:\n    scale = None\n", []),
        ("a = 1\n", "from elsewhere import scale\nscale(1)\n", []),
        ("def f(scale): return scale(1)\n", "", []),
        (None, "from ops import scale\n", [("<module>", 1, "imports")]),
    ],
)
def test_functions_that_are_gone(repository, ops, user, where):
    """A removed function is missed only where no definition, import, assignment or guard can stand in for it."""
    files = {"ops.py": ops, "user.py": user, "other.py": "def scale(x): return x\n"}
    repository.commit({path: text for path, text in files.items() if text is not None})
    its = told(repository, removed("ops.py", "scale"))
    assert [(one.symbol, one.line, one.how) for one in its if one.gone] == where


@pytest.mark.parametrize(
    "text, missed",
    [
        ("class A:\n    def go(self): self.scale()\n", True),
        ("class Base:\n    def scale(self): pass\nclass A(Base):\n    def go(self): self.scale()\n", False),
        ("from unknown import Base\nclass A(Base):\n    def go(self): self.scale()\n", False),
        ("class A:\n    def __init__(self): self.scale = print\n    def go(self): self.scale()\n", False),
        ("class A:\n    def __getattr__(self, n): pass\n    def go(self): self.scale()\n", False),
        ("class A:\n    pass\ndef go(a): a.scale()\n", False),
        ("class A:\n    pass\ndef go(a: A): a.scale()\n", True),
    ],
)
def test_methods_that_are_gone(repository, text, missed):
    """A removed method is missed only on an instance of its class, where no base, attribute or hook can give it."""
    repository.commit({"a.py": text})
    assert any(one.gone for one in told(repository, removed("a.py", "A.scale", kind="method"))) is missed


def test_a_property_is_called_where_it_is_read(repository):
    """Reading a property runs it: no mention that hands it on."""
    text = "class A:\n    @property\n    def size(self): return 1\n    def go(self): return self.size\n"
    repository.commit({"a.py": text})
    (one,) = told(repository, changed("a.py", "A.size", kind="method"))
    assert (one.symbol, one.line, one.how) == ("A.go", 4, "calls")


def test_a_name_that_many_files_hold(repository, monkeypatch):
    """A method of a common word is looked for where its class is named, a function where its module is."""
    monkeypatch.setattr("analyzer.change.around.sites.FILES", 3)
    files = {f"other{n}.py": "def draw(): pass\ndraw()\n" for n in range(5)}
    files["state.py"] = "class State:\n    def draw(self): pass\n"
    files["ops.py"] = "def draw(): pass\n"
    files["user.py"] = "from state import State\ndef f(s: State): s.draw()\n"
    files["more.py"] = "import ops\ndef g(): ops.draw()\n"
    repository.commit(files)
    assert found(repository, changed("state.py", "State.draw", kind="method"), changed("ops.py", "draw")) == [
        ("more.py", "g", 2, "draw", False),
        ("user.py", "f", 2, "State.draw", False),
    ]
