"""Reading one file: its functions, constants and imports, and the statements of a function in order."""

from __future__ import annotations

import ast
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property, wraps
from typing import TypeVar

from analyzer.change.nodes import (
    Block,
    FunctionNode,
    blocks_of,
    is_docstring,
    last_name,
    negated,
    nodes_of,
    root_name,
)
from analyzer.change.writing import written
from analyzer.model.base import Text

R = TypeVar("R")
DEFINED = re.compile(r"^[ \t]*(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)", re.MULTILINE)


#: What `Module.language_call` says of a call that is a fact of its own.
TOLD = "told"
#: Of tests that are longer together, the nearest ones are shown.
CONDITION = 90


@dataclass(frozen=True, eq=False)
class Statement:
    """A simple statement, or the header of a compound one; `parts` are its own expressions.

    `conditions`: the tests around it, each with whether the statement runs where the test holds.
    """

    index: int
    node: ast.stmt
    parts: tuple[ast.AST, ...]
    conditions: tuple[tuple[ast.expr, bool], ...]
    function: Function

    @property
    def line(self) -> int:
        return self.node.lineno

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """All nodes of the statement's own expressions; a comprehension's or lambda's included."""
        return tuple(node for part in self.parts for node in nodes_of(part))

    @cached_property
    def source(self) -> str:
        """The statement's lines and where it stands in them: equal ones have equal structure. Empty: cannot be told."""
        last = self.parts[-1]
        if not all(hasattr(part, "end_lineno") for part in self.parts):
            return ""
        lines = self.function.module.lines[self.line - 1 : last.end_lineno]
        kind = type(self.node).__name__
        return "\n".join((f"{kind} {self.node.col_offset} {last.end_col_offset}", *lines))

    @cached_property
    def bound(self) -> frozenset[str]:
        """Names that the statement stores or deletes."""
        return frozenset(n.id for n in self.nodes if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load))

    @cached_property
    def calls(self) -> tuple[ast.Call, ...]:
        return tuple(node for node in self.nodes if isinstance(node, ast.Call))

    def target(self) -> str:
        """The name or attribute that the statement assigns, empty where there is none or several."""
        node = self.node
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            return written(node.targets[0])
        if isinstance(node, ast.AugAssign | ast.AnnAssign):
            return written(node.target)
        return ""

    @property
    def condition(self) -> str:
        return conjunction(self.conditions, self.function)

    @property
    def innermost(self) -> str:
        """The condition; of many tests those nearest to the statement, which a cut text would not show."""
        shown = self.condition
        for start in range(1, len(self.conditions)):
            if len(shown) <= CONDITION:
                break
            shown = "... and " + conjunction(self.conditions[start:], self.function)
        return shown[:200]


def conjunction(conditions: Iterable[tuple[ast.expr, bool]], function: Function) -> str:
    """Tests that all hold (or do not), as the function's language writes them together."""
    tests = [test if holds else negated(test) for test, holds in conditions]
    if function.module.language != "python" and tests:
        return written(ast.BoolOp(ast.And(), tests))
    return " and ".join(map(_joinable, tests))


def _joinable(test: ast.expr) -> str:
    text = written(test)
    return f"({text})" if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or) else text


@dataclass(frozen=True, eq=False)
class Function:
    """A function or method; `name` is qualified within its file."""

    name: str
    node: FunctionNode
    module: Module
    owner: str = ""

    @property
    def path(self) -> str:
        return self.module.path

    @property
    def key(self) -> str:
        """What the function is known by in its file."""
        return self.name

    @property
    def header(self) -> str:
        """``def name(parameters)`` without annotations."""
        return f"def {self.simple_name}({', '.join(p.arg for p in self.parameters)})"

    @property
    def subscripts(self) -> frozenset[str] | None:
        """Names whose values are used as an index; None where an index is not told from the code (Python)."""
        return None

    @property
    def simple_name(self) -> str:
        return self.node.name

    @property
    def line(self) -> int:
        return self.node.lineno

    @cached_property
    def text(self) -> str:
        first = min([self.node.lineno, *(d.lineno for d in self.node.decorator_list)])
        return "\n".join(self.module.lines[first - 1 : self.node.end_lineno])

    @cached_property
    def parameters(self) -> tuple[ast.arg, ...]:
        a = self.node.args
        rest = [x for x in (a.vararg, a.kwarg) if x]
        return (*a.posonlyargs, *a.args, *a.kwonlyargs, *rest)

    @cached_property
    def positional(self) -> tuple[str, ...]:
        """Names of the parameters that can be given by position, without self or cls of a method."""
        names = [a.arg for a in (*self.node.args.posonlyargs, *self.node.args.args)]
        static = any(last_name(d) == "staticmethod" for d in self.node.decorator_list)
        return tuple(names[1:] if self.owner and not static else names)

    @cached_property
    def is_kernel(self) -> bool:
        """A ``jit`` decorator that is not another framework's."""
        return any(self.module.is_jit(decorator) for decorator in self.node.decorator_list)

    @property
    def kind(self) -> str:
        return "kernel" if self.is_kernel else "method" if self.owner else "function"

    @cached_property
    def statements(self) -> tuple[Statement, ...]:
        found: list[Statement] = []
        _flatten(self, self.node.body, (), found)
        return tuple(found)

    @cached_property
    def locals(self) -> frozenset[str]:
        """Names bound in the function: parameters and everything stored."""
        return frozenset(a.arg for a in self.parameters).union(*(s.bound for s in self.statements))

    @cached_property
    def bindings(self) -> Counter[str]:
        """Name -> the statements that bind it, a loop's or a ``+=`` included."""
        return Counter(name for statement in self.statements for name in statement.bound)

    @cached_property
    def filled(self) -> frozenset[str]:
        """Locals of which a part is set, or a method is called for its effect: they hold more than was assigned."""
        found = set()
        for statement in self.statements:
            node = statement.node
            found |= {
                root_name(n)
                for n in statement.nodes
                if isinstance(n, ast.Subscript) and not isinstance(n.ctx, ast.Load)
            }
            if (
                isinstance(node, ast.Expr)
                and isinstance(node.value, ast.Call)
                and isinstance(node.value.func, ast.Attribute)
            ):
                found.add(root_name(node.value.func.value))
        return frozenset(found)

    def held(self, name: str) -> ast.expr | None:
        """What a local holds that one assignment binds and nothing else; None of others, and of parameters."""
        values = self.assigned.get(name, ())
        once_bound = len(values) == 1 == self.bindings[name] and name not in {p.arg for p in self.parameters}
        return values[0][1] if once_bound and name not in self.filled else None

    @cached_property
    def assigned(self) -> dict[str, list[tuple[Statement, ast.expr]]]:
        """Name -> the expressions assigned to it, with their statements; tuples are taken apart."""
        found: dict[str, list[tuple[Statement, ast.expr]]] = {}
        for statement in self.statements:
            node = statement.node
            if isinstance(node, ast.AnnAssign) and node.value is not None:
                pairs = [(node.target, node.value)]
            elif isinstance(node, ast.Assign):
                pairs = [(target, node.value) for target in node.targets]
            else:
                continue
            for target, value in pairs:
                if isinstance(target, ast.Tuple):
                    for one, its in zip(target.elts, _parts(value, target.elts), strict=False):
                        if isinstance(one, ast.Name):
                            found.setdefault(one.id, []).append((statement, its))
                elif isinstance(target, ast.Name):
                    found.setdefault(target.id, []).append((statement, value))
        return found


def _parts(value: ast.expr, targets: list[ast.expr]) -> list[ast.expr]:
    """What each of several targets gets: of one value for all, its part at that place (``x.shape[0]``)."""
    if isinstance(value, ast.Tuple):
        return value.elts
    starred = next((n for n, one in enumerate(targets) if isinstance(one, ast.Starred)), len(targets))
    places = [n if n <= starred else n - len(targets) for n in range(len(targets))]
    return [ast.copy_location(ast.Subscript(value, _located(n, value), ast.Load()), value) for n in places]


def _located(number: int, where: ast.expr) -> ast.Constant:
    return ast.copy_location(ast.Constant(number), where)


@dataclass(eq=False)
class Module:
    """One file of one revision. A file that cannot be parsed has no functions and a note.

    `partial`: `tree` lacks the definitions that the other revision has as well (trim.py).
    """

    path: str
    text: str
    tree: ast.Module = field(default_factory=lambda: ast.Module(body=[], type_ignores=[]))
    notes: tuple[Text, ...] = ()
    partial: bool = False
    language = "python"
    #: What a reader has to know of the edits that are told.
    remarks: tuple[Text, ...] = ()

    def forget(self) -> None:
        """Drop all that was computed of the file: functions and statements know each other, so only a search for
        circles would free them, and that search costs a scan of a history more than the functions do."""
        for function in self.__dict__.get("functions", {}).values():
            _drop_computed(function)
        whole = self.__dict__.get("whole", self)
        if whole is not self:
            whole.forget()
        _drop_computed(self)

    @cached_property
    def whole(self) -> Module:
        """The file with all its definitions; those that this module has are the same objects there."""
        if not self.partial:
            return self
        found = parse(self.path, self.text)
        found.__dict__["functions"] = found.functions | self.functions
        return found

    @cached_property
    def defined(self) -> frozenset[str]:
        """Names after a ``def`` or ``class`` anywhere in the text."""
        return frozenset(DEFINED.findall(self.text))

    @cached_property
    def lines(self) -> list[str]:
        return self.text.split("\n")

    @cached_property
    def functions(self) -> dict[str, Function]:
        """Qualified name -> function, nested ones included; a later definition of the same name wins."""
        found: dict[str, Function] = {}

        def visit(body: list[ast.stmt], prefix: str, owner: str) -> None:
            for node in body:
                if isinstance(node, FunctionNode):
                    name = f"{prefix}{node.name}"
                    found[name] = Function(name, node, self, owner)
                    visit(node.body, f"{name}.", "")
                elif isinstance(node, ast.ClassDef):
                    visit(node.body, f"{prefix}{node.name}.", f"{prefix}{node.name}")
                else:
                    for block in blocks_of(node):
                        visit(block, prefix, owner)

        visit(self.tree.body, "", "")
        visit = None  # it holds itself, and with it the file
        return found

    @cached_property
    def classes(self) -> dict[str, ast.ClassDef]:
        found: dict[str, ast.ClassDef] = {}

        def visit(body: list[ast.stmt]) -> None:
            for node in body:
                if isinstance(node, ast.ClassDef):
                    found[node.name] = node
                for block in blocks_of(node):
                    visit(block)

        visit(self.tree.body)
        visit = None  # it holds itself, and with it the file
        return found

    @cached_property
    def constants(self) -> dict[str, ast.stmt]:
        """Name -> the assignment at module or class level, qualified by the class."""
        found: dict[str, ast.stmt] = {}

        def visit(body: list[ast.stmt], prefix: str) -> None:
            for node in body:
                if isinstance(node, ast.ClassDef):
                    visit(node.body, f"{prefix}{node.name}.")
                elif isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
                    found[prefix + node.targets[0].id] = node
                elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
                    found[prefix + node.target.id] = node
                elif not isinstance(node, FunctionNode):
                    for block in blocks_of(node):
                        visit(block, prefix)

        visit(self.tree.body, "")
        visit = None  # it holds itself, and with it the file
        return found

    @cached_property
    def imports(self) -> dict[str, str]:
        """Local name -> dotted name that it stands for."""
        found: dict[str, str] = {}

        def visit(body: list[ast.stmt]) -> None:
            for node in body:
                if isinstance(node, ast.Import):
                    for name in node.names:
                        local = name.asname or name.name.split(".")[0]
                        found[local] = name.name if name.asname else local
                elif isinstance(node, ast.ImportFrom):
                    prefix = "." * node.level + (f"{node.module}." if node.module else "")
                    for name in node.names:
                        found[name.asname or name.name] = f"{prefix}{name.name}"
                else:
                    for block in blocks_of(node):
                        visit(block)

        visit(self.tree.body)
        visit = None  # it holds itself, and with it the file
        return found

    @cached_property
    def stars(self) -> tuple[str, ...]:
        """Dotted names of the modules whose names are all imported at the top level (``from m import *``)."""
        return tuple(
            "." * node.level + (node.module or "")
            for node in ast.walk(ast.Module([n for n in self.tree.body if not isinstance(n, FunctionNode)], []))
            if isinstance(node, ast.ImportFrom) and any(name.name == "*" for name in node.names)
        )

    @cached_property
    def top(self) -> Function:
        """What runs when the file is imported, as a function of no name that a file could use."""
        nothing = ast.arguments([], [], None, [], [], None, [])
        node = ast.FunctionDef(name="<module>", args=nothing, body=self.tree.body, decorator_list=[], lineno=1)
        return Function("<module>", node, self)

    @cached_property
    def languages(self) -> frozenset[str]:
        """Local names of Triton's language module, imported from Triton or re-exported as ``tl``."""
        return frozenset(
            local
            for local, dotted in self.imports.items()
            if dotted.endswith(("triton.language", ".tl", "gluon.language")) or dotted == "tl"
        )

    def is_jit(self, decorator: ast.expr) -> bool:
        target = decorator.func if isinstance(decorator, ast.Call) else decorator
        if last_name(target) != "jit":
            return False
        root = self.imports.get(root_name(target), root_name(target))
        return not root.startswith(("torch", "numba", "jax"))

    def language_call(self, node: ast.AST) -> str:
        """The operation's name where `node` calls one of Triton's language (``load``), else empty."""
        if not isinstance(node, ast.Call):
            return ""
        func = node.func
        if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id in self.languages:
            return func.attr
        if isinstance(func, ast.Name) and self.imports.get(func.id, "").startswith("triton.language."):
            return self.imports[func.id].rsplit(".", 1)[1]
        return ""

    def segment(self, node: ast.AST) -> str:
        """The source of a node, as it is written; `ast.get_source_segment` would split the file anew."""
        if not hasattr(node, "lineno"):
            return written(node)  # put together here
        lines = self.lines[node.lineno - 1 : node.end_lineno]
        lines[-1] = lines[-1].encode()[: node.end_col_offset].decode()
        lines[0] = lines[0].encode()[node.col_offset :].decode()
        return "\n".join(lines)


def _drop_computed(one: Function | Module) -> None:
    kept = one.__dict__
    for name in list(kept):
        if not isinstance(name, str) or isinstance(getattr(type(one), name, None), cached_property):
            del kept[name]


def once(find: Callable[[Function], R]) -> Callable[[Function], R]:
    """Compute something of a function once, and keep it with the function."""

    @wraps(find)
    def found(function: Function) -> R:
        kept = function.__dict__
        if find not in kept:
            kept[find] = find(function)
        return kept[find]

    return found


def plain(text: str) -> str:
    """A source without byte-order mark, with the line ends that the parser counts, and without form feeds.

    A form feed at the start of a line begins the indentation anew.
    """
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    return re.sub(r"^[ \t\f]*\f", "", text, flags=re.MULTILINE).replace("\f", " ") if "\f" in text else text


def parse(path: str, text: str | None) -> Module:
    """Read one side of a file; None is a file that this side has not."""
    if text is None:
        return Module(path, "")
    text = plain(text)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes of the code under analysis are not ours to report
            return Module(path, text, ast.parse(text))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None)
        where = f" (line {line})" if line else ""
        return Module(
            path,
            text,
            notes=(
                Text(
                    en=f"{path} cannot be parsed{where}: its edits are not listed.",
                    zh=f"{path} 无法解析{f'（第 {line} 行）' if line else ''}：未列出其语义改动。",
                ),
            ),
        )


def _header(node: ast.stmt) -> tuple[ast.AST, ...]:
    if isinstance(node, ast.If | ast.While):
        return (node.test,)
    if isinstance(node, ast.For | ast.AsyncFor):
        return (node.target, node.iter)
    if isinstance(node, ast.With | ast.AsyncWith):
        return tuple(node.items)
    if isinstance(node, ast.Match):
        return (node.subject,)
    if isinstance(node, ast.AnnAssign):  # the annotation says nothing about what runs
        return (node.target, node.value) if node.value is not None else (node.target,)
    return (node,)


def _flatten(function: Function, body: list[ast.stmt], conditions: tuple, found: list[Statement]) -> None:
    for node in body:
        if is_docstring(node) or isinstance(node, ast.Pass | ast.Import | ast.ImportFrom):
            continue
        if isinstance(node, FunctionNode | ast.ClassDef):
            continue  # a function of its own
        if isinstance(node, Block):
            _flatten(function, node.body, conditions, found)
            continue
        blocks = blocks_of(node)
        found.append(Statement(len(found), node, _header(node), conditions, function))
        if isinstance(node, ast.Try):
            found.pop()  # nothing of its own runs
        for block in blocks:
            inner = conditions
            if isinstance(node, ast.If | ast.While):
                inner = (*conditions, (node.test, block is node.body))
            _flatten(function, block, inner, found)
