"""Slices of small trees: what is taken, what is left out, and that what is taken runs at its own lines."""

import importlib
import inspect
import sys
import textwrap

import pytest

from analyzer.build.slices import Slice, cut


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Import a slice of a tree as a child process would: from its own files alone. Returns (slice, module)."""
    before = set(sys.modules)

    def forget():
        for name in set(sys.modules) - before:
            if str(tmp_path) in (getattr(sys.modules[name], "__file__", None) or ""):
                del sys.modules[name]

    def load(tree: dict[str, str], module: str, *names: str, stubs: dict[str, str] | None = None):
        forget()
        tree = {path: textwrap.dedent(source).lstrip("\n") for path, source in tree.items()}
        result = cut(tree.get, module, list(names), stubs or {})
        for path, source in result.files.items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(source, encoding="utf-8")
        monkeypatch.setattr(sys, "dont_write_bytecode", True)
        monkeypatch.syspath_prepend(str(tmp_path))
        return result, importlib.import_module(module)

    yield load
    forget()


def test_takes_what_a_symbol_names_and_nothing_else(run):
    """A function comes with the constants, functions and imports that it names; the rest of the module stays out."""
    result, module = run(
        {
            "kit/ops.py": """
                import math
                import not_installed_anywhere

                LIMIT = 4
                UNUSED = not_installed_anywhere.load()

                def helper(x):
                    return math.floor(x) + LIMIT

                def wanted(x):
                    return helper(x)

                def other():
                    return UNUSED
            """
        },
        "kit.ops",
        "wanted",
    )
    assert module.wanted(1.5) == 5
    assert not hasattr(module, "other") and not hasattr(module, "UNUSED")
    assert set(result.files) == {"kit/__init__.py", "kit/ops.py"} and result.files["kit/__init__.py"] == ""
    assert result == Slice(result.files, "kit.ops")


def test_kept_lines_stay_where_they_are(run):
    """Line numbers of a slice are the revision's: tracebacks and snippets point at the right place."""
    tree = {
        "m.py": """
            '''A docstring
            of two lines.'''
            import os  # gone

            # A comment that stands alone.
            A = 1


            @staticmethod
            def wanted():
                # inside
                raise ValueError(A)
        """
    }
    result, module = run(tree, "m", "wanted")
    original = textwrap.dedent(tree["m.py"]).lstrip("\n").splitlines()
    for number, line in enumerate(result.files["m.py"].splitlines()):
        assert line in ("", original[number])
    assert inspect.getsourcelines(module.wanted)[1] == original.index("@staticmethod") + 1
    with pytest.raises(ValueError) as error:
        module.wanted()
    assert error.traceback[-1].lineno == original.index("    raise ValueError(A)")


def test_follows_imports_name_by_name_through_packages(run):
    """Relative imports, re-exports of a package, aliases and star imports lead to the definition, and only to it."""
    result, module = run(
        {
            "kit/__init__.py": "from .deep import *\nfrom .broken import nothing\n",
            "kit/broken.py": "raise ImportError('must not be imported')\n",
            "kit/deep/__init__.py": "from .first import one as uno, missing_dependency\nfrom .second import two\n",
            "kit/deep/first.py": "import not_installed_anywhere\ndef one(): return 1\ndef missing_dependency(): pass\n",
            "kit/deep/second.py": "from ..scale import SCALE\ndef two(): return 2 * SCALE\n",
            "kit/scale.py": "SCALE = 10\n",
            "use.py": "from kit import uno, two as zwei\ndef wanted(): return uno() + zwei()\n",
        },
        "use",
        "wanted",
    )
    assert module.wanted() == 21
    assert "kit/broken.py" not in result.files and "not_installed" not in "".join(result.files.values())
    assert "from .deep import two, uno" in result.files["kit/__init__.py"]
    assert not result.missing


def test_module_objects_are_followed_by_the_attributes_read(run):
    """`import a.b as c`, `import a.b` and `from a import b` take only the attributes used; a module passed on, all."""
    result, module = run(
        {
            "kit/__init__.py": "",
            "kit/settings.py": "DEPTH = 3\nWIDTH = undefined_name\n",
            "kit/tools.py": "def half(x): return x // 2\ndef rest(): return undefined_name\n",
            "kit/table.py": "A = 1\nB = A + 1\n",
            "use.py": """
                import kit.settings
                import kit.tools as tools
                from kit import table

                def wanted():
                    return kit.settings.DEPTH + tools.half(8) + len([n for n in vars(table) if n in "AB"])
            """,
        },
        "use",
        "wanted",
    )
    assert module.wanted() == 9
    assert "WIDTH" not in result.files["kit/settings.py"] and "rest" not in result.files["kit/tools.py"]


def test_annotations_bring_nothing_in_but_stay_where_they_can(run):
    """A name that only annotates is not followed: its annotation becomes a string. Others stay objects."""
    result, module = run(
        {
            "kit/huge.py": "import not_installed_anywhere\nclass Params: pass\n",
            "m.py": """
                from typing import Optional, TYPE_CHECKING
                from collections.abc import Sequence
                from kit.huge import Params
                if TYPE_CHECKING:
                    from kit.huge import Other

                TABLE: dict[str, Params] = {}

                class Box:
                    size: int = 1
                    params: Optional[Params] = None

                    def clone(self, other: Optional[int]) -> Params | None: ...

                def wanted(
                    a: Sequence[
                        Params,
                    ],
                    b: int = 2,
                    *rest: Params,
                    **more: Params,
                ) -> dict[
                    str,
                    Params,
                ]:
                    inner: Params = a
                    return TABLE, Box, inner
            """,
        },
        "m",
        "wanted",
    )
    table, box, inner = module.wanted([1])
    assert (table, box.size, box.params, inner) == ({}, 1, None, [1])
    notes = module.wanted.__annotations__
    assert notes["b"] is int and notes["a"] == "Sequence[Params,]" and notes["return"] == "dict[str, Params]"
    assert box.__annotations__ == {"size": int, "params": "Optional[Params]"}
    assert "kit/huge.py" not in result.files and "Other" not in result.files["m.py"]


def test_constexpr_annotations_of_kernels_are_kept(run):
    """Triton reads `constexpr` annotations of parameters and locals: they stay objects, also under an alias."""
    _, module = run(
        {
            "lang.py": "class constexpr: pass\ndef jit(f): return f\n",
            "m.py": """
                import lang as tl
                from lang import constexpr as static

                @tl.jit
                def kernel(x, BLOCK: tl.constexpr, WIDE: "tl.constexpr", N: static):
                    step: tl.constexpr = 4
                    return step
            """,
        },
        "m",
        "kernel",
    )
    notes = module.kernel.__annotations__
    assert notes["BLOCK"].__name__ == "constexpr" and notes["WIDE"] == "tl.constexpr"
    assert notes["N"] is notes["BLOCK"]


def test_conditions_around_kept_statements_stay(run):
    """`if HAS_X:` keeps its branches and order; what is not wanted in a branch becomes `pass`."""
    source = """
        from kit.flags import FAST, VERBOSE
        if FAST:
            from kit.fast import op
            speed = undefined_name
        elif VERBOSE:
            other = undefined_name
        else:
            def op(): return "slow"

        if VERBOSE: unused = undefined_name
        if FAST: a = 1; b = undefined_name; c = 3
        def wanted(): return op(), globals().get("a")
        def both(): return a + c
    """
    for fast, expected in ((True, ("fast", None)), (False, ("slow", None))):
        tree = {
            "kit/flags.py": f"FAST = {fast}\nVERBOSE = False\n",
            "kit/fast.py": "def op(): return 'fast'\n",
            "m.py": source,
        }
        result, module = run(tree, "m", "wanted")
        assert module.wanted() == expected
        assert "elif VERBOSE:\n    pass\n" in result.files["m.py"] and "unused" not in result.files["m.py"]
    tree["kit/flags.py"] = "FAST = True\nVERBOSE = True\n"
    assert run(tree, "m", "both")[1].both() == 4


def test_type_checking_blocks_are_left_out_and_their_else_is_not(run):
    """Names of a TYPE_CHECKING block do not exist at run time; its `else` does."""
    result, module = run(
        {
            "kit/types.py": "import not_installed_anywhere\nclass Config: pass\n",
            "m.py": """
                import typing
                if typing.TYPE_CHECKING:
                    from kit.types import Config
                else:
                    Config = object
                if not typing.TYPE_CHECKING:
                    SIZE = 7
                def wanted(): return Config, SIZE
            """,
        },
        "m",
        "wanted",
    )
    assert module.wanted() == (object, 7)
    assert "kit/types.py" not in result.files


def test_guarded_imports_stay_guarded(run):
    """An import in a `try` stays whole with its handler, whether it can be had or not."""
    tree = {
        "kit/real.py": "def op(): return 'real'\n",
        "m.py": """
            try:
                import not_installed_anywhere
                import kit._compiled
                HAS = True
            except ImportError:
                HAS = False
            try:
                from kit.real import op
            except ImportError:
                op = None
            def wanted(): return HAS, op and op()
        """,
    }
    result, module = run(tree, "m", "wanted")
    assert module.wanted() == (False, "real") and not result.missing


def test_statements_that_change_a_wanted_constant_are_kept(run):
    """Items set, methods called, loops and registering decorators at module level belong to a wanted table."""
    result, module = run(
        {
            "m.py": """
                import sys
                TABLE = {"a": 1}
                OTHER = {}
                TABLE["b"] = 2
                TABLE.update(c=3)
                for name in "de":
                    TABLE[name] = 0
                TABLE |= {"f": 6}
                OTHER["x"] = undefined_name

                def fill(table):
                    table["g"] = 7
                fill(TABLE)
                sys.path.append("never")

                class Registry(list):
                    def add(self, f):
                        self.append(f)
                        return f
                registry = Registry()

                @registry.add
                def first(): return 1

                def wanted(): return "".join(TABLE), [f() for f in registry]
            """
        },
        "m",
        "wanted",
    )
    assert module.wanted() == ("abcdefg", [1])
    assert "OTHER" not in result.files["m.py"] and "never" not in result.files["m.py"]


def test_classes_come_whole_with_their_bases(run):
    """A class brings its bases, decorators, defaults and what its methods name; dataclass fields stay fields."""
    result, module = run(
        {
            "kit/base.py": "class Base:\n    def name(self): return LABEL\nLABEL = 'base'\nEXTRA = undefined_name\n",
            "m.py": """
                from dataclasses import dataclass, field
                from kit.base import Base
                SIZE = 3
                def default(): return [SIZE]

                @dataclass
                class Wanted(Base):
                    items: list = field(default_factory=default)
                    label: "str" = "x"
            """,
        },
        "m",
        "Wanted.name",
    )
    assert module.Wanted().items == [3] and module.Wanted().name() == "base"
    assert "EXTRA" not in result.files["kit/base.py"]


def test_names_of_other_modules_can_be_asked_for(run):
    """What only the caller of a slice uses, such as a parameter class, comes along when named with its module."""
    _, module = run(
        {"m.py": "def wanted(p): return p.x\n", "kit/params.py": "class Params: x = 3\nclass Other: pass\n"},
        "m",
        "wanted",
        "kit.params:Params",
    )
    params = importlib.import_module("kit.params")
    assert module.wanted(params.Params()) == 3 and not hasattr(params, "Other")


def test_local_names_do_not_pull_in_globals(run):
    """A local variable, argument or comprehension target is not the module's constant of the same name."""
    result, module = run(
        {
            "m.py": """
                import not_installed_anywhere as config
                data = undefined_name
                item = undefined_name
                state = 1

                def wanted(config):
                    data = [item for item in config]
                    size = (lambda item: item)(len(data))
                    def inner():
                        global state
                        state = size
                    inner()
                    return state
            """
        },
        "m",
        "wanted",
    )
    assert module.wanted([1, 2]) == 2
    assert "not_installed" not in result.files["m.py"] and "undefined" not in result.files["m.py"]


def test_lazy_imports_are_followed_where_cheap(run):
    """An import inside a function is followed when it takes few modules, else left to fail when it is called."""
    chain = {f"kit/far{n}.py": f"from kit.far{n + 1} import go\n" for n in range(6)}
    result, module = run(
        {
            **chain,
            "kit/far6.py": "def go(): return 6\n",
            "kit/near.py": "def near(): return 1\n",
            "m.py": """
                def wanted(): 
                    from kit.near import near
                    return near()
                def far():
                    from kit.far0 import go
                    return go()
            """,
        },
        "m",
        "wanted",
        "far",
    )
    assert module.wanted() == 1 and result.lazy == ("kit.far0.go",) and not result.missing
    assert "kit/far1.py" not in result.files
    with pytest.raises(ImportError):
        module.far()


def test_stubs_replace_modules_and_are_named(run):
    """A stub stands for a module outright, lazy imports of it included; its own in-tree imports are followed."""
    result, module = run(
        {
            "kit/platforms/__init__.py": "import not_installed_anywhere\ndef __getattr__(name): ...\n",
            "kit/platforms/arch.py": "class Arch: X86 = 1\n",
            "m.py": """
                from kit.platforms import current
                def wanted():
                    from kit.platforms import Arch
                    return current, Arch.X86
            """,
        },
        "m",
        "wanted",
        stubs={"kit.platforms": "from kit.platforms.arch import Arch\ncurrent = 'cpu'\n", "kit.unused": "x = 1"},
    )
    assert module.wanted() == ("cpu", 1)
    assert result.bridges == ("kit.platforms",) and not result.missing


def test_a_module_getattr_is_followed_for_attributes_and_missing_for_names(run):
    """Settings read through a module's __getattr__ keep the real one; a name imported from it needs a stub."""
    result, module = run(
        {
            "kit/__init__.py": "",
            "kit/envs.py": "VALUES = {'DEPTH': lambda: 5}\ndef __getattr__(name): return VALUES[name]()\n",
            "kit/platforms.py": "def __getattr__(name): return object()\n",
            "m.py": """
                from kit import envs
                from kit.platforms import current
                def wanted(): return envs.DEPTH
                def uses(): return current
            """,
        },
        "m",
        "wanted",
        "uses",
    )
    assert module.wanted() == 5
    assert result.missing == ("kit.platforms.current: made by the module's __getattr__; needs a stub",)
    with pytest.raises(NameError):
        module.uses()


@pytest.mark.parametrize(
    ("tree", "module", "name", "stubs", "missing"),
    [
        ({}, "kit.ops", "f", {}, "kit.ops: no such module in the tree"),
        ({"m.py": "x = 1\n"}, "m", "f", {}, "m.f: not defined there"),
        ({"m.py": "from m import a\n"}, "m", "b", {"m": "a = 1"}, "m.b: not in the stub"),
        ({"m.py": "def f(:\n"}, "m", "f", {}, "m.py: invalid syntax"),
        ({"kit/__init__.py": "", "m.py": "from kit._C import f\n"}, "m", "f", {}, "kit._C: no such module in the tree"),
    ],
)
def test_what_cannot_be_had_is_named(tree, module, name, stubs, missing):
    """Each way in which a name cannot be found is said, and nothing is raised."""
    assert any(line.startswith(missing) for line in cut(tree.get, module, [name], stubs).missing)


def test_awkward_layout_survives(run):
    """Non-ASCII text, CRLF, semicolons, one-line blocks, decorated definitions in an `else` and future imports."""
    _, module = run(
        {
            "m.py": (
                "from __future__ import annotations\r\n"
                "α = 'é'; unused = undefined; β = 2; γ: Ω = 3\r\n"
                "if α == 'x': pass\r\n"
                "else:\r\n"
                "    # why\r\n"
                "    @(lambda f: f)\r\n"
                "    def wanted(x: Ω = '日本', y: Nope = α): return x + y * β * γ\r\n"
            )
        },
        "m",
        "wanted",
    )
    assert module.wanted() == "日本" + "é" * 6
    assert module.wanted.__annotations__ == {"x": "Ω", "y": "Nope"}
