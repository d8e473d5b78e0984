"""What a function does with a tensor after it has handed it to a call that overwrites it.

A walk over the statements that can run after the call. A name that is given another value is another tensor; a shape
or a dtype is no reading of elements. Where the tensor is known under another name too, both are followed.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from analyzer.change.inside import vocabulary as v
from analyzer.change.nodes import last_name, negated
from analyzer.change.source import Function

#: Attributes and methods that read no element.
_ABOUT = frozenset({"shape", "dtype", "device", "ndim", "layout", "is_cuda", "requires_grad"}) | frozenset(
    {"size", "stride", "dim", "numel", "is_contiguous", "element_size", "data_ptr", "nelement", "storage_offset"}
)
_OVERWRITES = frozenset({"fill_", "zero_", "copy_"})
_MAY_COPY = frozenset({"reshape", "contiguous", "flatten", "data"})


@dataclass(frozen=True)
class Use:
    """`what`: returns, passes on, or reads. `condition`: the tests after the call under which it does, or empty."""

    what: str
    line: int
    name: str
    condition: str


@dataclass(frozen=True)
class _State:
    """What is known on the ways to a place: name -> the tensors that it can hold, and those that were handed over."""

    held: dict[str, frozenset[object]]
    handed: frozenset[object] = frozenset()

    def of(self, name: str) -> frozenset[object]:
        return self.held.get(name, frozenset({name}))

    def hot(self, name: str) -> bool:
        return bool(self.handed & self.of(name))


def _either(*ends: _State | None) -> _State | None:
    reached = [end for end in ends if end is not None]
    if len(reached) < 2:
        return reached[0] if reached else None
    names = set().union(*(end.held for end in reached))
    held = {name: frozenset().union(*(end.of(name) for end in reached)) for name in names}
    return _State(held, frozenset().union(*(end.handed for end in reached)))


@dataclass
class _Walk:
    """A run through `function`, in which `call` hands over the tensor that `name` holds."""

    function: Function
    call: ast.Call
    name: str
    uses: dict[int, Use] = field(default_factory=dict)
    kept: set[str] = field(default_factory=set)  # names that held it when the call ran
    ends: list[_State] = field(default_factory=list)  # where loops are left
    unclear: bool = False

    def __post_init__(self) -> None:
        self.ran_where = {
            ast.unparse(test if holds else negated(test))
            for statement in self.function.statements
            if any(one is self.call for one in statement.calls)
            for test, holds in statement.conditions
        }

    def block(self, body: list[ast.stmt], state: _State | None, tests: tuple[str, ...] = ()) -> _State | None:
        """The state at the end, None where the end is not reached."""
        for node in body:
            if state is None:
                return None
            state = self.statement(node, state, tests)
        return state

    def statement(self, node: ast.stmt, state: _State, tests: tuple[str, ...]) -> _State | None:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            mentioned = {_held(n) for n in ast.walk(node)}
            self.unclear |= bool(mentioned & {self.name, *self.kept})  # a closure reads when it is called
            return state
        if isinstance(node, ast.If):
            return self.branches(node, self.simple([node.test], state, tests, node), tests)
        if isinstance(node, ast.For | ast.AsyncFor | ast.While):
            return self.loop(node, state, tests)
        if isinstance(node, ast.With | ast.AsyncWith):
            return self.block(node.body, self.simple([*node.items], state, tests, node), tests)
        if isinstance(node, ast.Try):
            ends = [self.block([*node.body, *node.orelse], state, tests)]
            begun = _either(state, ends[0])
            ends += [self.block(handler.body, begun, tests) for handler in node.handlers]
            after = self.block(node.finalbody, _either(*ends) or begun, tests)
            return None if all(end is None for end in ends) else after
        if isinstance(node, ast.Match):
            self.unclear = True
            return state
        state = self.simple([node], state, tests, node)
        if isinstance(node, ast.Break | ast.Continue):
            self.ends.append(state)
        return None if isinstance(node, ast.Return | ast.Raise | ast.Break | ast.Continue) else state

    def branches(self, node: ast.If, state: _State, tests: tuple[str, ...]) -> _State | None:
        ends = []
        for body, test in ((node.body, node.test), (node.orelse, negated(node.test))):
            if ast.unparse(negated(test)) in self.ran_where and self._settled(test) and state.handed:
                continue  # the call ran where the test is the other way
            own = (*tests, ast.unparse(test)) if state.handed and ast.unparse(test) not in self.ran_where else tests
            ends.append(self.block(body, state, own))
        return _either(*ends)

    def loop(self, node: ast.For | ast.AsyncFor | ast.While, state: _State, tests: tuple[str, ...]) -> _State | None:
        out = [state]
        mark = len(self.ends)
        for _ in range(2):
            begun = _either(*out)
            header = [node.test] if isinstance(node, ast.While) else [node.iter, node.target]
            end = self.block(node.body, self.simple(header, begun, tests, node), tests)
            out += [*([end] if end is not None else []), *self.ends[mark:]]
            del self.ends[mark:]
        return self.block(node.orelse, _either(*out), tests)

    def _settled(self, test: ast.expr) -> bool:
        """Whether the names of a test are given one value in the function."""
        names = {n.id for n in ast.walk(test) if isinstance(n, ast.Name)}
        return all(len(self.function.assigned.get(name, ())) <= 1 for name in names)

    def simple(self, parts: list[ast.AST], state: _State, tests: tuple[str, ...], node: ast.stmt) -> _State:
        """One statement: what it reads, whether it hands the tensor over, and what it stores."""
        nodes = [inner for part in parts for inner in ast.walk(part)]
        if any(inner is self.call for inner in nodes):
            state = _State(state.held, state.handed | state.of(self.name))
            self.kept |= {name for name in (self.name, *state.held) if state.hot(name)}
            inside = set(map(id, ast.walk(self.call)))
            nodes = [n for n in nodes if id(n) not in inside and _follows(n, self.call)]
        alias = ""
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and _held(node.targets[0]):
            alias = _viewed(node.value)
        if state.handed and not alias:
            self._read(nodes, state, tests, node)
        stored = [name for part in parts for name in _stored(part)]
        if not stored:
            return state
        value = state.of(alias) if alias else frozenset({object()})
        held = {name: its for name, its in state.held.items() if name.split(".")[0] not in stored}
        return _State(held | dict.fromkeys(stored, value), state.handed)

    def _read(self, nodes: list[ast.AST], state: _State, tests: tuple[str, ...], statement: ast.stmt) -> None:
        spared: set[int] = set()
        for n in nodes:
            if isinstance(n, ast.Attribute) and n.attr in _ABOUT:
                spared.add(id(n.value))
            elif isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and n.func.attr in _OVERWRITES:
                spared.add(id(n.func.value))
            elif isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store):
                spared.add(id(n.value))
            elif isinstance(n, ast.Compare) and all(isinstance(op, ast.Is | ast.IsNot) for op in n.ops):
                spared |= {id(n.left), *map(id, n.comparators)}
            elif isinstance(n, ast.Call) and last_name(n.func) in ("len", "isinstance", "type"):
                spared |= set(map(id, n.args))
        arguments: set[int] = set()
        chosen: dict[int, str] = {}
        for n in nodes:
            if isinstance(n, ast.Call):
                given = [*n.args, *(k.value for k in n.keywords)]
                arms = [arm for a in given if isinstance(a, ast.IfExp) for arm in (a.body, a.orelse)]
                arguments |= set(map(id, [*given, *arms]))
            elif isinstance(n, ast.IfExp):
                for arm, test in ((n.body, n.test), (n.orelse, negated(n.test))):
                    chosen |= dict.fromkeys(map(id, ast.walk(arm)), ast.unparse(test))
        for n in nodes:
            text = _held(n)
            if not text or not state.hot(text) or id(n) in spared or not isinstance(n.ctx, ast.Load):
                continue
            returned = isinstance(statement, ast.Return) and _hands_back(statement.value, n)
            what = "returns" if returned else "passes on" if id(n) in arguments else "reads"
            self.uses.setdefault(n.lineno, Use(what, n.lineno, text, _all(*tests, *filter(None, [chosen.get(id(n))]))))


def uses_after(function: Function, call: ast.Call, tensor: ast.expr) -> tuple[Use, ...] | None:
    """What happens after `call` to the value that the expression `tensor` was; None where it cannot be told.

    An empty tuple: a local is not looked at again. Of an attribute only what this function does is known.
    """
    name = _viewed(tensor)
    if not name:
        return None
    walk = _Walk(function, call, name)
    walk.block(function.node.body, _State({}))
    if walk.unclear:
        return None
    uses = tuple(use for _, use in sorted(walk.uses.items()))
    return uses if uses or all("." not in one for one in walk.kept) else None


def _all(*tests: str) -> str:
    """Tests joined by ``and``."""
    joined = list(dict.fromkeys(tests))
    return " and ".join(f"({test})" if " or " in test and len(joined) > 1 else test for test in joined)


def _held(node: ast.AST) -> str:
    """A name or an attribute of one, as text; empty for any other expression."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and (inner := _held(node.value)):
        return f"{inner}.{node.attr}"
    return ""


def _viewed(node: ast.expr) -> str:
    """The tensor that an expression is, or is surely a view of; empty where it may be a copy."""
    while True:
        method = node.func if isinstance(node, ast.Call) else None
        if isinstance(method, ast.Attribute) and method.attr in v.VIEWS - _MAY_COPY:
            node = method.value
        elif (isinstance(node, ast.Subscript) and _is_slice(node.slice)) or (
            isinstance(node, ast.Attribute) and node.attr in ("T", "mT", "data")
        ):
            node = node.value
        else:
            return _held(node)


def _is_slice(index: ast.expr) -> bool:
    """Whether an index gives a view: slices, numbers and None, not another tensor."""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    return all(isinstance(part, ast.Slice | ast.Constant) for part in parts)


def _stored(node: ast.AST) -> list[str]:
    return [
        _held(n)
        for n in ast.walk(node)
        if isinstance(n, ast.Name | ast.Attribute) and isinstance(n.ctx, ast.Store | ast.Del) and _held(n)
    ]


def _follows(node: ast.AST, call: ast.Call) -> bool:
    place = getattr(node, "lineno", 0), getattr(node, "col_offset", 0)
    return place >= (call.end_lineno or 0, call.end_col_offset or 0)


def _hands_back(value: ast.expr | None, node: ast.AST) -> bool:
    """Whether a returned expression is the tensor, or a tuple that holds it."""
    if isinstance(value, ast.Tuple | ast.List):
        return any(_hands_back(one, node) for one in value.elts)
    return value is node
