"""Two versions of one statement side by side, down to the smallest parts that differ.

What another fact tells (a cast, a dtype, a mask, a constant, an operator) is passed over, and so is what only reads
otherwise: a value under a new local name, an argument by keyword, a module under another alias.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from analyzer.change.align import Alignment
from analyzer.change.inside import vocabulary as v
from analyzer.change.inside.allocations import is_allocation, is_own_call
from analyzer.change.inside.dtypes import dtype_of
from analyzer.change.inside.extract import cast_parts, copy_parts
from analyzer.change.inside.launches import factor_kind, launch_of, tile_parameters
from analyzer.change.inside.operations import MESSAGES, operators_of
from analyzer.change.nodes import last_name, root_name
from analyzer.change.sequences import lcs
from analyzer.change.shapes import spelled
from analyzer.change.source import TOLD, Statement
from analyzer.change.writing import written

#: Texts up to this length are shown whole.
SHORT = 60


@dataclass(frozen=True)
class Difference:
    """`noun`: argument, operator, result, value, exception. A side is None where it has nothing there."""

    noun: str
    base: ast.AST | None
    head: ast.AST | None
    #: The call that an argument is of, on both sides.
    calls: tuple[ast.Call, ast.Call] | None = None
    argument: str = ""
    #: store, where the sides are the places that are written; call, where they are run for their effect alone.
    form: str = ""
    #: What to show of both sides where they are long and mostly the same.
    texts: tuple[str, str] | None = None
    #: Whether the sides are a part of what is said to differ.
    part: bool = False


def text_of(node: ast.AST | None) -> str:
    return "" if node is None else written(node)


class SideBySide:
    """Two versions of one statement."""

    def __init__(self, alignment: Alignment, x: Statement, y: Statement, weak: bool) -> None:
        self.alignment, self.x, self.y = alignment, x, y
        self.keys = alignment.base_key, alignment.head_key
        self.weak = weak
        ops = [
            sorted(op for part in s.parts for op in operators_of(part, s.function, lone))
            for s, lone in zip((x, y), alignment.lone, strict=True)
        ]
        told = x.function.is_kernel or len(ops[0]) == len(ops[1])
        self.operators_told = told and ops[0] != ops[1] and not weak

    def differences(self) -> Iterator[Difference]:
        a, b = self.x.node, self.y.node
        if isinstance(a, ast.Return):
            yield from self._returned(a.value, b.value)
        elif isinstance(a, ast.Raise):
            kinds = [node.exc.func if isinstance(node.exc, ast.Call) else node.exc for node in (a, b)]
            if all(kinds) and not self._same(*kinds):
                yield Difference("exception", *kinds)
        elif isinstance(a, ast.Assign | ast.AnnAssign | ast.AugAssign):
            same_target = self.alignment.base_name(self.x.target()) == self.alignment.head_name(self.y.target())
            targets = [node.targets if isinstance(node, ast.Assign) else [node.target] for node in (a, b)]
            for one, two in zip(*targets, strict=False):
                if isinstance(one, ast.Subscript) and isinstance(two, ast.Subscript):
                    yield from self._stored(one, two)
            if a.value is not None and b.value is not None:
                for one in self._walk(a.value, b.value, Difference("value", a.value, b.value)):
                    if same_target or one.noun != "value":
                        yield one
        elif isinstance(a, ast.Expr):
            for one in self._walk(a.value, b.value, Difference("value", a.value, b.value)):
                whole = one.base is a.value and one.head is b.value
                if one.noun != "value" or self._same_arguments(one.base, one.head) or (whole and self._is_call(a, b)):
                    yield replace(one, form="call") if one.noun == "value" and whole else one

    def _stored(self, a: ast.Subscript, b: ast.Subscript) -> Iterator[Difference]:
        """What differs in the places that two assignments write: as a whole, and of one tensor or with one value."""
        names = self.alignment.base_name(root_name(a)), self.alignment.head_name(root_name(b))
        values = self.x.node.value, self.y.node.value
        one_thing = names[0] == names[1] or (all(values) and self._same(*self._plain(*values)))
        found = list(self._walk(a, b, Difference("value", a, b)))
        yield from (one for one in found if one.noun != "value")
        if one_thing and any(one.noun == "value" for one in found):
            yield Difference("value", a, b, form="store")

    def _same_arguments(self, a: ast.AST | None, b: ast.AST | None) -> bool:
        """Whether another function is called with what this one was called with."""
        if not (isinstance(a, ast.Call) and isinstance(b, ast.Call)):
            return a is not self.x.node.value and b is not self.y.node.value
        given = [
            [*map(key, e.args), *(f"{k.arg}={key(k.value)}" for k in e.keywords)]
            for e, key in zip((a, b), self.keys, strict=True)
        ]
        return bool(given[0]) and given[0] == given[1]

    def _is_call(self, a: ast.Expr, b: ast.Expr) -> bool:
        """Whether both are calls that have much in common: the one has the other's place."""
        return isinstance(a.value, ast.Call) and isinstance(b.value, ast.Call) and not self.weak

    def _returned(self, a: ast.expr | None, b: ast.expr | None) -> Iterator[Difference]:
        if a is None and b is None:
            return
        sizes = [len(e.elts) if isinstance(e, ast.Tuple) else 1 for e in (a, b)]
        if a is None or b is None or sizes[0] != sizes[1]:
            yield Difference("result", a or self.x.node, b or self.y.node)
        else:
            yield from self._walk(a, b, Difference("result", a, b))

    def _same(self, a: ast.AST, b: ast.AST) -> bool:
        if self.keys[0](a) == self.keys[1](b):
            return True
        if any(self.alignment.lone) and self._spelled(a, 0) == self._spelled(b, 1):
            return True
        return (name := _dotted(a, self.x)) is not None and name == _dotted(b, self.y)

    def _spelled(self, node: ast.AST, side: int) -> str:
        """The key of an expression with what the locals hold, that only its side has, in their place."""
        return spelled(node, self.keys[side], self.alignment.lone[side])

    def _walk(self, a: ast.AST, b: ast.AST, whole: Difference) -> Iterator[Difference]:
        """The smallest parts that differ; `whole` is what is told where a part is one by itself."""
        a, b = self._plain(a, b)
        if self._same(a, b) or self._told(a, b, whole) or self._same_address(a, b, whole):
            return
        if self._may_hold(a, b, 0) or self._may_hold(b, a, 1):
            return  # in one branch, at least; of the others the statements tell
        here = whole
        if max(len(text_of(whole.base)), len(text_of(whole.head))) > SHORT:
            top = self._plain(whole.base, whole.head)
            here = replace(whole, base=a, head=b) if (a, b) == top else _part(whole, a, b)
        same = type(a) is type(b)
        if isinstance(a, ast.Call) and isinstance(b, ast.Call):
            yield from self._calls(a, b, here)
        elif (
            self.operators_told
            and any(isinstance(e, ast.BinOp | ast.UnaryOp | ast.BoolOp) for e in (a, b))
            and (not same or type(a.op) is not type(b.op))
        ):
            return
        elif not same:
            yield here
        elif isinstance(a, ast.Attribute) and a.attr == b.attr and isinstance(a.value, ast.Call | ast.Subscript):
            yield from self._walk(a.value, b.value, here)
        elif isinstance(a, ast.BinOp | ast.UnaryOp | ast.BoolOp):
            if self.operators_told and _operators(a) != _operators(b):
                return
            if isinstance(a, ast.BoolOp) and type(a.op) is type(b.op):
                yield from self._operands(a, b, here)
            elif type(a.op) is type(b.op):
                yield from self._children(a, b, here)
            else:
                yield here
        elif isinstance(a, ast.Compare) and len(a.ops) == len(b.ops):
            yield from self._compared(a, b, here, whole)
        elif isinstance(a, ast.Subscript):
            yield from self._children(a, b, _part(here, a, b) if here is not whole else here)
        elif isinstance(a, ast.IfExp | ast.Starred):
            yield from self._children(a, b, here)
        elif isinstance(a, ast.Tuple | ast.List | ast.Set):
            if len(a.elts) == len(b.elts):
                yield from self._children(a, b, here)
            else:
                yield self._listed(here, a.elts, b.elts)
        elif isinstance(a, ast.Dict):
            yield self._listed(
                here, *([ast.Dict([k], [w]) for k, w in zip(d.keys, d.values, strict=True)] for d in (a, b))
            )
        else:
            yield here

    def _same_address(self, a: ast.AST, b: ast.AST, whole: Difference) -> bool:
        """Whether both are the address of an access and sum up the same things, in whatever order."""
        if whole.calls is None or whole.argument != "1":
            return False
        ops = [s.function.module.language_call(c) for c, s in zip(whole.calls, (self.x, self.y), strict=True)]
        if not all(op in ("load", "store") or op.startswith("atomic_") for op in ops):
            return False
        sides = zip((a, b), self.alignment.lone, self.keys, strict=True)
        terms = [sorted(map(key, _terms(node, lone))) for node, lone, key in sides]
        return terms[0] == terms[1]

    def _listed(self, here: Difference, ours: list[ast.expr], theirs: list[ast.expr]) -> Difference:
        """A long list by the elements that differ."""
        common = lcs([self.keys[0](e) for e in ours], [self.keys[1](e) for e in theirs])
        shared = {i for i, _ in common}, {j for _, j in common}
        texts = [
            ", ".join(
                text_of(e).strip("{}") if isinstance(e, ast.Dict) else text_of(e)
                for n, e in enumerate(side)
                if n not in kept
            )
            for side, kept in zip((ours, theirs), shared, strict=True)
        ]
        long = max(len(text_of(here.base)), len(text_of(here.head))) > SHORT
        return replace(here, texts=tuple(texts), part=True) if long else here

    def _children(self, a: ast.AST, b: ast.AST, whole: Difference) -> Iterator[Difference]:
        for name in a._fields:
            one, two = getattr(a, name), getattr(b, name)
            if isinstance(one, ast.expr) and isinstance(two, ast.expr):
                yield from self._walk(one, two, whole)
            elif isinstance(one, list):
                for p, q in zip(one, two, strict=True):
                    yield from self._walk(p, q, whole)
            elif isinstance(one, ast.expr) or isinstance(two, ast.expr):
                yield whole

    def _operands(self, a: ast.BoolOp, b: ast.BoolOp, whole: Difference) -> Iterator[Difference]:
        """Of ``a and b and c`` those that differ, where as many stand on both sides and each in its place."""
        ours, theirs = _flat(a), _flat(b)
        common = lcs(*([key(e) for e in side] for side, key in zip((ours, theirs), self.keys, strict=True)))
        if len(ours) != len(theirs) or any(i != j for i, j in common):
            yield whole
            return
        for one, two in zip(ours, theirs, strict=True):
            yield from self._walk(one, two, whole)

    def _compared(self, a: ast.Compare, b: ast.Compare, here: Difference, whole: Difference) -> Iterator[Difference]:
        """Operands by themselves where the way of comparing is the same."""
        ours, theirs = [a.left, *a.comparators], [b.left, *b.comparators]
        if len(a.ops) == 1 and self._same(ours[0], theirs[1]) and self._same(ours[1], theirs[0]):
            return  # turned round; the way of comparing is told by the comparison
        if list(map(type, a.ops)) != list(map(type, b.ops)) and not all(map(self._same, ours, theirs)):
            yield _part(here, a, b) if here is not whole else here
            return
        for one, two in zip(ours, theirs, strict=True):
            yield from self._walk(one, two, here)

    def _calls(self, a: ast.Call, b: ast.Call, here: Difference) -> Iterator[Difference]:
        names = last_name(a.func), last_name(b.func)
        launched = launch_of(a), launch_of(b)
        if all(launched) and launched[0][0] == launched[1][0]:
            yield from self._arguments(a, b, here)
            return
        forms = self._is_method(a, self.x), self._is_method(b, self.y)
        if names[0] == names[1] and forms[0] != forms[1] and self._operand(a, b):
            yield from self._arguments(*self._rest(a, b), here)  # ``np.max(x)`` is ``x.max()``
            return
        if self._same(a.func, b.func) or (names[0] and names[0] == names[1] and type(a.func) is type(b.func)):
            if isinstance(a.func, ast.Attribute) and not self._same(a.func, b.func):
                yield from self._walk(a.func.value, b.func.value, here)
            yield from self._arguments(a, b, here)
            return
        ops = [s.function.module.language_call(call) for call, s in ((a, self.x), (b, self.y))]
        if all(ops) and (self.operators_told or any(op.startswith("atomic_") for op in ops)):
            return
        if self._is_library(a) and self._is_library(b) and self._operand(a, b):
            yield Difference("operator", a, b)
            yield from self._arguments(*self._rest(a, b), here)
            return
        yield here

    def _rest(self, a: ast.Call, b: ast.Call) -> list[ast.Call]:
        """Both calls without the operand, which a method is called on and a function is handed."""
        sides = zip((a, b), (self.x, self.y), strict=True)
        return [ast.Call(e.func, e.args if self._is_method(e, s) else e.args[1:], e.keywords) for e, s in sides]

    def _is_method(self, call: ast.Call, statement: Statement) -> bool:
        return isinstance(call.func, ast.Attribute) and not _is_module(call.func, statement)

    def _operand(self, a: ast.Call, b: ast.Call) -> bool:
        """Whether both are applied to the same thing."""
        subjects = []
        for call, statement in ((a, self.x), (b, self.y)):
            method = self._is_method(call, statement)
            subjects.append(call.func.value if method else call.args[0] if call.args else None)
        if None in subjects:
            return False
        one, two = self._plain(*subjects)
        return self._same(one, two)

    def _is_library(self, call: ast.Call) -> bool:
        name = last_name(call.func)
        return name in v.OPERATIONS or name.rstrip("_") in v.OPERATIONS

    def _arguments(self, a: ast.Call, b: ast.Call, here: Difference) -> Iterator[Difference]:
        """Arguments by position, then by keyword; one that only changed between the two is the same."""
        skipped = self._skipped(a, self.x) | self._skipped(b, self.y)
        ours, theirs = list(a.args), list(b.args)
        named = [{k.arg or "**": k.value for k in call.keywords} for call in (a, b)]
        for one, two in ((ours, named[1]), (theirs, named[0])):  # by position here, by keyword there
            other = theirs if one is ours else ours
            while len(one) > len(other):
                keys = self.keys if one is ours else self.keys[::-1]
                match = next((n for n, value in two.items() if keys[1](value) == keys[0](one[-1])), None)
                if match is None or match in named[0 if one is ours else 1]:
                    break
                one.pop()
                del two[match]
        if len(ours) == len(theirs):
            for n, (one, two) in enumerate(zip(ours, theirs, strict=True)):
                if str(n) not in skipped:
                    yield from self._walk(one, two, Difference("argument", one, two, (a, b), str(n + 1)))
        else:
            common = lcs([self.keys[0](e) for e in ours], [self.keys[1](e) for e in theirs])
            kept = {i for i, _ in common}, {j for _, j in common}
            gone, new = (
                [n for n, e in enumerate(side) if n not in known and str(n) not in skipped]
                for side, known in zip((ours, theirs), kept, strict=True)
            )
            if gone and new:
                yield self._listed(_part(here, a, b), ours, theirs)
                return
            gone, new = (
                [n for n in places if not _is_stride(side[n])] for side, places in ((ours, gone), (theirs, new))
            )
            for n in gone:
                yield Difference("argument", ours[n], None, (a, b), str(n + 1))
            for n in new:
                yield Difference("argument", None, theirs[n], (a, b), str(n + 1))
        for name in sorted(named[0].keys() | named[1].keys()):
            one, two = named[0].get(name), named[1].get(name)
            if name in skipped:
                continue
            if one is None or two is None:
                if not _is_stride(one or two):
                    yield Difference("argument", one, two, (a, b), name)
            else:
                yield from self._walk(one, two, Difference("argument", one, two, (a, b), name))

    def _skipped(self, call: ast.Call, statement: Statement) -> set[str]:
        """Arguments that other facts tell."""
        names = {
            k.arg for k in call.keywords if k.arg and (k.arg.endswith(("dtype", "flags", "_args")) or k.arg == "out")
        }
        names |= {str(n) for n, e in enumerate(call.args) if dtype_of(e, statement.function) in v.BYTES}
        op = statement.function.module.language_call(call)
        if op in ("load", "store") or op.startswith("atomic_"):
            names |= {"mask", "other", *(("1", "2") if op == "load" else ("2",))}
        launch = launch_of(call)
        if launch:
            tiles = tile_parameters(statement.function, launch[0])
            names |= {
                k.arg for k in call.keywords if k.arg in v.LAUNCH_OPTIONS or k.arg in tiles or v.is_tile(k.arg or "")
            }
            names.add("**")
        return names

    def _plain(self, a: ast.AST, b: ast.AST) -> tuple[ast.AST, ast.AST]:
        """Both without what is told elsewhere, and with names that only one side has replaced by what they hold."""
        while True:
            p, q = self._bare(a, self.x), self._bare(b, self.y)
            if self._same(p, q):
                return p, q
            p, q = self._held(p, self.x, q), self._held(q, self.y, p)
            if p is a and q is b:
                return a, b
            a, b = p, q

    def _held(self, node: ast.AST, own: Statement, counterpart: ast.AST) -> ast.AST:
        """What a local holds that is bound once, where the other side has not the local or spells its value out."""
        if not isinstance(node, ast.Name):
            return node
        lone = self.alignment.lone[own is self.y]
        if node.id in lone:
            return lone[node.id]
        value = own.function.held(node.id)
        keys = self.keys if own is self.x else self.keys[::-1]
        return value if value is not None and keys[0](value) == keys[1](counterpart) else node

    def _may_hold(self, node: ast.AST, other: ast.AST, side: int) -> bool:
        """Whether a local is given in one of several places what the other side has in its stead."""
        if not isinstance(node, ast.Name) or isinstance(other, ast.Name | ast.Constant):
            return False
        values = (self.x, self.y)[side].function.assigned.get(node.id, ())
        wanted = self.keys[1 - side](other)
        return len(values) > 1 and any(self.keys[side](value) == wanted for _, value in values)

    def _bare(self, node: ast.AST, statement: Statement) -> ast.AST:
        while True:
            if isinstance(node, ast.NamedExpr | ast.Await):
                node = node.value
            elif isinstance(node, ast.Call):
                func = node.func
                parts = cast_parts(node, statement.function) or copy_parts(node, statement.function)
                if parts is not None:
                    node = parts[0]
                elif isinstance(func, ast.Attribute) and func.attr in ("contiguous", "item") and not node.args:
                    node = func.value
                else:
                    return node
            else:
                return node

    def _allocates_otherwise(self, own: ast.AST, library: ast.AST) -> bool:
        """Whether own code makes on one side what a library allocates on the other: no fact tells that."""
        x, y = (self.x, self.y) if own is getattr(self.x.node, "value", None) else (self.y, self.x)
        whole = own is getattr(x.node, "value", None) and library is getattr(y.node, "value", None)
        return whole and isinstance(library, ast.Call) and is_allocation(library) and is_own_call(x)

    def _told(self, a: ast.AST, b: ast.AST, whole: Difference) -> bool:
        """Whether a difference is another fact's, or no meaning at all."""
        if self._allocates_otherwise(a, b) or self._allocates_otherwise(b, a):
            return False
        for node, statement in ((a, self.x), (b, self.y)):
            if isinstance(node, ast.JoinedStr):
                return True
            if isinstance(node, ast.Call):
                name, op = last_name(node.func), statement.function.module.language_call(node)
                if name in MESSAGES or is_allocation(node) or name in v.RANDOM or op in v.KERNEL_RANDOM or op == TOLD:
                    return True
                if _is_stride(node) and statement.function.module.language == "python":
                    return True
        if _is_constant(a) and _is_constant(b) and not self.weak:
            words = [isinstance(node, ast.Constant) and isinstance(node.value, str | bytes) for node in (a, b)]
            return not any(words) or (whole.noun == "argument" and not whole.argument.isdigit())
        if dtype_of(a, self.x.function) in v.BYTES and dtype_of(b, self.y.function) in v.BYTES:
            return True
        if isinstance(a, ast.Name) and isinstance(b, ast.Name) and self.x.function.is_kernel:
            parameters = [{p.arg for p in s.function.parameters} for s in (self.x, self.y)]
            if a.id in parameters[0] and b.id in parameters[1]:
                return {factor_kind(self.x.function, a.id), factor_kind(self.y.function, b.id)} == {"stride", "size"}
        return False


def _part(here: Difference, a: ast.AST, b: ast.AST) -> Difference:
    """The difference by the smaller nodes `a` and `b` of its sides."""
    return replace(here, base=a, head=b, part=here.part or a is not here.base or b is not here.head)


def _is_constant(node: ast.AST) -> bool:
    if isinstance(node, ast.UnaryOp):
        node = node.operand
    return isinstance(node, ast.Constant) and node.value is not None


def _terms(node: ast.AST, lone: Mapping[str, ast.expr]) -> Iterator[ast.AST]:
    """What a sum adds up, with the values of `lone` locals in their place."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        yield from _terms(node.left, lone)
        yield from _terms(node.right, lone)
    elif isinstance(node, ast.Name) and node.id in lone:
        yield from _terms(lone[node.id], {name: its for name, its in lone.items() if name != node.id})
    else:
        yield node


def _flat(node: ast.BoolOp) -> list[ast.expr]:
    """The operands, those of the same operator within it too."""
    parts = (_flat(e) if isinstance(e, ast.BoolOp) and type(e.op) is type(node.op) else [e] for e in node.values)
    return [one for part in parts for one in part]


def _operators(node: ast.AST) -> int:
    return sum(isinstance(one, ast.operator) for one in ast.walk(node))


def _is_stride(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and last_name(node.func) == "stride"


def _is_module(func: ast.Attribute, statement: Statement) -> bool:
    return isinstance(func, ast.Attribute) and root_name(func.value) in statement.function.module.imports


def _dotted(node: ast.AST, statement: Statement) -> str | None:
    """``torch.nn.functional.softmax`` of ``F.softmax``, None where the root is no import."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    root = statement.function.module.imports.get(node.id)
    return ".".join([root, *reversed(parts)]) if root is not None and node.id not in statement.function.locals else None
