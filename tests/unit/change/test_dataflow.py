"""What functions and kernels do to the tensors they are handed."""

from __future__ import annotations

import pytest

from analyzer.change.around.resolve import Resolver
from analyzer.change.facts import file_facts
from analyzer.change.source import parse
from analyzer.change.tensors.dataflow import Analysis

HEAD = "import torch\nimport triton\nimport triton.language as tl\n\n\n"


class Tree:
    """A tree of a few files."""

    def __init__(self, **files: str) -> None:
        self.parsed = {}
        self.files = {f"{name}.py": text for name, text in files.items()}

    def file(self, side: str, path: str) -> str | None:
        return self.files.get(path)


def summary(text: str, function: str, tree: Tree | None = None):
    module = parse("code.py", HEAD + text)
    assert not module.notes
    return Analysis(Resolver("head", {"code.py": module}, tree or Tree())).summary(module.functions[function])


def kernel(*body: str) -> str:
    lines = ["at = tl.arange(0, BLOCK)", *body]
    return "@triton.jit\ndef k(x, y, n, BLOCK: tl.constexpr):\n    " + "\n    ".join(lines) + "\n"


@pytest.mark.parametrize(
    "body, rounds",
    [
        (["v = tl.load(x + at)", "tl.store(x + at, v / n)"], True),
        (["v = tl.load(x + at).to(tl.float32)", "v += tl.load(y + at)", "tl.store(x + at, v)"], True),
        (["row = x + n * 8", "v = tl.load(row + at)", "tl.store(row + at, tl.exp(v))"], True),
        (["v = tl.load(x + at)", "v *= tl.where(v > 0, 1 / n, n)", "tl.store(x + at, v)"], True),
        (["tl.atomic_add(x + at, n)"], True),
        (["v = tl.load(x + at)", "if n > 0:", "    v = v - n", "tl.store(x + at, v)"], True),
        (["v = tl.load(x + at)", "tl.store(x + at, v)"], False),
        (["tl.store(x + at, -float('inf'))"], False),
        (["v = tl.load(x + at).to(tl.float32)", "tl.store(x + at, tl.where(v < n, float('-inf'), v))"], False),
        (["m = tl.max(tl.load(x + at)) * n", "v = tl.load(x + at)", "tl.store(x + at, v, mask=v > m)"], False),
        (["v = tl.load(y + at) * n", "tl.store(x + at, v)"], False),
        (["v = tl.load(x + at)", "v = tl.exp(v)", "v = tl.load(x + at)", "tl.store(x + at, v)"], False),
    ],
)
def test_a_kernel_rounds_what_it_computes_and_stores_back(body, rounds):
    """A computed value stored where its operand came from rounds; selections, constants and reloads do not."""
    writes = [w for w in summary(kernel(*body), "k").writes if w.parameter == "x"]
    assert writes and any(w.rounds for w in writes) is rounds


def test_a_helper_kernel_is_followed():
    """What a device function computes counts as computed."""
    text = "@triton.jit\ndef half(v):\n    return v / 2\n\n\n" + kernel("tl.store(x + at, half(tl.load(x + at)))")
    assert [w.rounds for w in summary(text, "k").writes if w.parameter == "x"] == [True]


@pytest.mark.parametrize(
    "body, written",
    [
        ("x.div_(2)", True),
        ("y = x.view(-1)\n    y.zero_()", True),
        ("y = x[0]\n    y += 1", True),
        ("torch.neg(x, out=x)", True),
        ("x = x.clone()\n    x.div_(2)", False),
        ("x = x + 1\n    x.div_(2)", False),
        ("y = torch.empty_like(x).copy_(x)\n    y.div_(2)", False),
        ("if flag:\n        x = x.clone()\n    x.div_(2)", True),
        ("if flag:\n        return x\n    x = x.clone()\n    x.div_(2)", False),
    ],
)
def test_writes_of_a_parameter(body, written):
    """Views are the parameter, copies are not, and a copy on one branch only protects that branch."""
    found = summary(f"def f(x: torch.Tensor, flag):\n    {body}\n    return None\n", "f").writes
    assert any(w.aliased and w.parameter == "x" for w in found) is written


def test_methods_of_attributes_are_found_through_their_constructor():
    """``self.state.apply(x)`` leads to the class that ``__init__`` builds, in another file."""
    state = "class State:\n    def apply(self, x):\n        x.mul_(2)\n\n\n"
    state += "class Other:\n    def apply(self, x):\n        pass\n"
    text = (
        "from state import State\n\n\nclass Run:\n    def __init__(self):\n        self.state = State()\n\n"
        "    def go(self, x: torch.Tensor):\n        self.state.apply(x)\n        return x\n"
    )
    found = summary(text, "Run.go", Tree(state=state))
    assert [(w.parameter, w.via, w.rounds, w.aliased) for w in found.writes] == [("x", "apply", True, True)]
    assert found.returned.alias == {"x"} and not found.unresolved


def test_what_cannot_be_found_is_said():
    """A call into nowhere is listed as unresolved and claims no write."""
    found = summary("def f(x: torch.Tensor):\n    nowhere.go(x)\n", "f")
    assert found.writes == [] and found.unresolved == [("x", "go", True)]


def test_recursion_ends():
    """Functions that call each other are looked at once."""
    text = "def f(x: torch.Tensor):\n    g(x)\n\n\ndef g(x: torch.Tensor):\n    f(x)\n    x.zero_()\n"
    assert [w.via for w in summary(text, "f").writes] == ["g"]


OP = "def impl(x: torch.Tensor, y: torch.Tensor) -> None:\n    x.mul_(y)\n    y.zero_()\n\n\n"
RUN = "def f(a: torch.Tensor, b: torch.Tensor):\n    {}(a, b)\n"


@pytest.mark.parametrize(
    "text, written, unknown",
    [
        (OP + "register(op_name='go', op_func=impl, mutates_args=['x'])\n" + RUN.format("torch.ops.mine.go"), "a", ""),
        (OP + "register(op_name='go', op_func=impl, mutates_args=[])\n" + RUN.format("torch.ops.mine.go"), "", ""),
        (OP + "register(op_name='go', op_func=impl)\n" + RUN.format("torch.ops.mine.go.default"), "ab", ""),
        ("@torch.library.custom_op('mine::go', mutates_args=('x',))\n" + OP + RUN.format("impl"), "a", ""),
        ("@torch.library.custom_op('mine::go', mutates_args=('x',))\n" + OP + RUN.format("torch.ops.mine.go"), "a", ""),
        ("@torch.library.custom_op('mine::go', mutates_args='unknown')\n" + OP + RUN.format("impl"), "ab", ""),
        (RUN.format("torch.ops.mine.go"), "", "ab"),
    ],
)
def test_operators_write_what_they_declare(text, written, unknown):
    """``mutates_args`` says what is written; without it the body does; an operator of elsewhere is not known."""
    found = summary(text, "f")
    assert "".join(sorted({w.parameter for w in found.writes if w.aliased})) == written
    assert "".join(sorted({parameter for parameter, _, _ in found.unresolved})) == unknown


def test_an_output_is_no_operand():
    """What goes into ``out=`` is rounded by it only where it is among the operands."""
    found = summary("def f(x: torch.Tensor, y: torch.Tensor):\n    torch.mul(y, 2, out=x)\n", "f")
    assert [(w.parameter, w.rounds) for w in found.writes] == [("x", False)]
    found = summary("def f(x: torch.Tensor):\n    torch.mul(x, 2, out=x)\n", "f")
    assert [(w.parameter, w.rounds) for w in found.writes] == [("x", True)]


@pytest.mark.parametrize(
    "shape, size",
    [
        ("n, 1 + m", "n × (1 + m) × 4 bytes"),
        ("(n, 2 * m)", "n × 2 * m × 4 bytes"),
        ("n, *x.shape[1:]", "n × prod(x.shape[1:]) × 4 bytes"),
        ("x.shape", "numel(x) × 4 bytes"),
        ("its", "n × m × 4 bytes"),
    ],
)
def test_a_size_is_a_product(shape, size):
    """Dimensions are multiplied as they are: a sum stays one, a name of a shape is what it was given."""
    head = f"def f(x, n, m):\n    its = (n, m)\n    return torch.empty({shape}, dtype=torch.float32)\n"
    base = "def f(x, n, m):\n    its = (n, m)\n    return None\n"
    (edit,) = [e for e in file_facts("code.py", HEAD + base, HEAD + head).edits if e.kind == "allocation-added"]
    assert edit.detail["size"] == size


@pytest.mark.parametrize(
    "base, head, kinds",
    [
        ("x", "x, out=None", []),
        ("x, out=None", "x, out=None", ["alias-returned-introduced", "in-place-introduced"]),
    ],
)
def test_a_new_output_argument_was_never_spared(base, head, kinds):
    """An argument that only one side takes was not spared by the other: no edit."""
    before = f"def f({base}):\n    y = x.exp()\n    return y\n"
    after = f"def f({head}):\n    y = x.exp()\n    torch.exp(x, out=out)\n    out.mul_(2)\n    return out\n"
    edits = file_facts("code.py", HEAD + before, HEAD + after).edits
    found = [e.kind for e in edits if e.kind.startswith(("in-place", "alias"))]
    assert sorted(set(found)) == kinds


def test_an_alias_that_is_returned_under_a_test():
    """Where a parameter is handed back in one place under a test, the edit says under which."""
    before = "def f(x: torch.Tensor, n):\n    x = x.clone()\n    return x\n"
    after = "def f(x: torch.Tensor, n):\n    if n == 0:\n        return x\n    x = x.clone()\n    return x\n"
    (edit,) = [e for e in file_facts("code.py", HEAD + before, HEAD + after).edits if e.kind.startswith("alias")]
    assert (edit.kind, edit.detail) == ("alias-returned-introduced", {"parameter": "x", "condition": "n == 0"})


@pytest.mark.parametrize(
    "before, after",
    [
        ("if n:\n        x[:] = 1", "if n > 2:\n        x.zero_()"),
        ("if n:\n        x.zero_()\n    else:\n        n(x)", "n(x)"),
    ],
)
def test_no_edit_where_both_may_write(before, after):
    """Writes under other tests, and calls that cannot be followed, leave open which side spares the argument."""
    sides = [HEAD + f"def f(x: torch.Tensor, n):\n    {body}\n" for body in (before, after)]
    assert [e.kind for e in file_facts("code.py", *sides).edits if e.kind.startswith("in-place")] == []


@pytest.mark.parametrize(
    "given, size",
    [
        ("n", "n × 8 bytes"),
        ("n + 1", "(n + 1) × 8 bytes"),
        ("0, n", "n × 8 bytes"),
        ("m, n", "(n - m) × 8 bytes"),
        ("0, n, 2", "n / 2 × 8 bytes"),
        ("5", "5 × 8 bytes"),
    ],
)
def test_the_size_of_a_range(given, size):
    """A range has as many values as it has steps."""
    made = f"torch.arange({given}, dtype=torch.int64)"
    sides = [HEAD + f"def f(n, m):\n    return {value}\n" for value in ("None", made)]
    (edit,) = [e for e in file_facts("code.py", *sides).edits if e.kind == "allocation-added"]
    assert edit.detail["size"] == size
