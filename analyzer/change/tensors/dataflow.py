"""What a function does to its tensor parameters: which it writes, with what, and which it returns.

An abstract interpretation over the statements in order. Branches are joined (a branch that returns or raises is not),
loops run twice. A value knows the parameters whose memory it shares, whose elements it holds as they are, and whose
elements it was computed from. A store of something computed from a parameter into that parameter rounds: the computed
value takes the dtype of the memory. A store of constants, of a selection or of the loaded value itself is exact.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import replace

from analyzer.change.around.resolve import Resolver, is_library
from analyzer.change.inside import vocabulary as v
from analyzer.change.inside.allocations import is_allocation
from analyzer.change.inside.dtypes import dtype_of
from analyzer.change.inside.extract import cast_parts, copy_parts
from analyzer.change.inside.launches import bound_arguments, launch_of
from analyzer.change.limits import spend
from analyzer.change.nodes import argument, children, keyword, last_name
from analyzer.change.source import Function
from analyzer.change.tensors.custom_ops import Operator, called_operator, declared, operators
from analyzer.change.tensors.values import NONE, Summary, Value, Write, joined, tensor_parameters, through

DEPTH = 16


class Analysis:
    """Summaries of one side's functions, each computed once. Without a resolver, callees are left unknown.

    `tensors`: of some functions, parameters that are tensors though nothing in the function says so.
    """

    def __init__(self, resolver: Resolver | None, tensors: Mapping[Function, Iterable[str]] | None = None) -> None:
        self.resolver = resolver
        self.tensors = tensors or {}
        self.done: dict[Function, Summary] = {}
        self.open: set[Function] = set()

    def summary(self, function: Function, depth: int = 0) -> Summary | None:
        """None where the function is being looked at already, or too deep."""
        if function in self.done:
            return self.done[function]
        if function in self.open or depth > DEPTH:
            return None
        self.open.add(function)
        run = _Run(function, self, depth)
        held = run.start()
        if held:  # a function that is handed no tensor does nothing to one
            run.block(function.node.body, held, ())
        self.open.discard(function)
        self.done[function] = run.summary
        return run.summary


class _Run:
    """One pass over one function."""

    def __init__(self, function: Function, analysis: Analysis, depth: int) -> None:
        self.function = function
        self.analysis = analysis
        self.depth = depth
        self.kernel = function.is_kernel
        self.summary = Summary()
        self.conditions: tuple[str, ...] = ()
        self.loops = 0

    def start(self) -> dict[str, Value]:
        names = [*tensor_parameters(self.function), *self.analysis.tensors.get(self.function, ())]
        return {name: Value(alias=frozenset({name}), exact=frozenset({name})) for name in names}

    # Statements. Each returns whether control can go on after it.

    def block(self, body: list[ast.stmt], env: dict[str, Value], conditions: tuple[str, ...]) -> bool:
        for node in body:
            self.conditions = conditions
            if not self.statement(node, env, conditions):
                return False
        return True

    def statement(self, node: ast.stmt, env: dict[str, Value], conditions: tuple[str, ...]) -> bool:
        spend(100)
        if isinstance(node, ast.Return | ast.Raise | ast.Continue | ast.Break):
            if isinstance(node, ast.Return) and node.value is not None:
                value = self.value(node.value, env)
                self.summary.returned |= value
                self.summary.returns += [(p, node) for p in sorted(value.alias)]
            return False
        if isinstance(node, ast.Assign):
            value = self.value(node.value, env)
            for target in node.targets:
                self.assign(target, value, env, node.value)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            self.assign(node.target, self.value(node.value, env), env, node.value)
        elif isinstance(node, ast.AugAssign):
            self.augmented(node, env)
        elif isinstance(node, ast.If):
            self.value(node.test, env)
            text = ast.unparse(node.test)
            return self.branches([(node.body, (*conditions, text)), (node.orelse, (*conditions, f"not {text}"))], env)
        elif isinstance(node, ast.For | ast.AsyncFor | ast.While):
            if not isinstance(node, ast.While):
                self.assign(node.target, self.value(node.iter, env), env, node.iter)
            self.loops += 1  # what is inside of several loops runs often enough as it is
            for _ in range(2 if self.loops <= 3 else 1):
                self.branches([(node.body, conditions), ([], conditions)], env)
            self.loops -= 1
            self.block(node.orelse, env, conditions)
        elif isinstance(node, ast.With | ast.AsyncWith):
            return self.block(node.body, env, conditions)
        elif isinstance(node, ast.Try):
            self.branches([(node.body, conditions), *((h.body, conditions) for h in node.handlers)], env)
            self.block(node.finalbody, env, conditions)
        elif isinstance(node, ast.Expr):
            self.value(node.value, env)
        return True

    def branches(self, blocks: list[tuple[list[ast.stmt], tuple[str, ...]]], env: dict[str, Value]) -> bool:
        """Run each on its own copy of `env`, which becomes the join of those that go on."""
        ends = []
        for body, conditions in blocks:
            own = dict(env)
            if self.block(body, own, conditions):
                ends.append(own)
        if ends:
            joined = {}
            for name in set().union(*ends):
                values = [end[name] for end in ends if name in end]
                joined[name] = values[0]
                for value in values[1:]:
                    joined[name] = joined[name] | value
            env.clear()
            env.update(joined)
        return bool(ends)

    def assign(self, target: ast.expr, value: Value, env: dict[str, Value], source: ast.expr) -> None:
        if isinstance(target, ast.Name):
            env[target.id] = value
            if value.dtype in v.FLOATS_32_OR_WIDER and not value.alias and not value.computed:
                self.summary.protected += [(p, source) for p in sorted(value.exact)]
        elif isinstance(target, ast.Tuple | ast.List):
            if isinstance(source, ast.Attribute) and source.attr == "shape" and isinstance(source.value, ast.Name):
                self._shape(env.get(source.value.id, Value()), " × ".join(map(ast.unparse, target.elts)))
            for one in target.elts:
                self.assign(one.value if isinstance(one, ast.Starred) else one, value, env, source)
        elif isinstance(target, ast.Subscript):
            self.write(self.value(target.value, env), value, "[...] =", target)

    def augmented(self, node: ast.AugAssign, env: dict[str, Value]) -> None:
        old, new = self.value(node.target, env), self.value(node.value, env)
        result = (old.result() | new.result()) if not self.kernel else self.arithmetic(old, new)
        if isinstance(node.target, ast.Name):
            if old.alias and not self.kernel:
                self.write(old, result, f"{type(node.op).__name__} =", node)
                result = replace(result, alias=old.alias, exact=old.exact, dtype=old.dtype)
            env[node.target.id] = result
        elif isinstance(node.target, ast.Subscript):
            self.write(self.value(node.target.value, env), result, "[...] =", node)

    # Expressions

    def value(self, node: ast.expr, env: dict[str, Value]) -> Value:
        spend(100)
        if isinstance(node, ast.Name):
            return env.get(node.id, Value())
        if isinstance(node, ast.Call):
            return self.call(node, env)
        if isinstance(node, ast.BinOp):
            return self.arithmetic(self.value(node.left, env), self.value(node.right, env))
        if isinstance(node, ast.UnaryOp):
            value = self.value(node.operand, env)
            return Value() if isinstance(node.op, ast.Not | ast.Invert) else replace(value, alias=NONE)
        if isinstance(node, ast.Subscript):
            value = self.value(node.value, env)
            self.value(node.slice, env)
            return value  # a view, or a selection of elements
        if isinstance(node, ast.Attribute):
            value = self.value(node.value, env)
            return value if node.attr in ("data", "T", "mT", "values") else Value()
        if isinstance(node, ast.IfExp):
            self.value(node.test, env)
            return self.value(node.body, env) | self.value(node.orelse, env)
        if isinstance(node, ast.Tuple | ast.List | ast.Set | ast.BoolOp):
            parts = [self.value(e, env) for e in (node.values if isinstance(node, ast.BoolOp) else node.elts)]
            return joined(parts)
        if isinstance(node, ast.Starred | ast.NamedExpr):
            value = self.value(node.value, env)
            if isinstance(node, ast.NamedExpr):
                env[node.target.id] = value
            return value
        for child in children(node):  # comparisons, comprehensions: look for stores inside
            if isinstance(child, ast.expr):
                self.value(child, env)
        return Value()

    def arithmetic(self, left: Value, right: Value) -> Value:
        """In a kernel a pointer plus an offset still points into its tensor."""
        both = left.result() | right.result()
        return replace(both, alias=left.alias | right.alias) if self.kernel else both

    def call(self, node: ast.Call, env: dict[str, Value]) -> Value:
        values = {id(a): self.value(a, env) for a in [*node.args, *(k.value for k in node.keywords)]}
        given = list(values.values())
        func = node.func
        receiver = self.value(func.value, env) if isinstance(func, ast.Attribute) else Value()
        op = self.function.module.language_call(node)
        if op:
            return self.language(op, node, given, env)
        copied = copy_parts(node, self.function)
        if copied is not None and not (isinstance(func, ast.Attribute) and func.attr == "copy_" and receiver.alias):
            its = copied[0]
            value = receiver if isinstance(func, ast.Attribute) and its is func.value else self.value(its, env)
            made = Value(exact=value.exact, computed=value.computed, dtype=copied[1] or value.dtype)
            if isinstance(func, ast.Attribute) and func.attr == "copy_" and isinstance(func.value, ast.Name):
                env[func.value.id] = made
                if made.dtype in v.FLOATS_32_OR_WIDER:
                    self.summary.protected += [(p, node) for p in sorted(made.exact)]
            return made
        if is_allocation(node):
            return Value(dtype=dtype_of(keyword(node, "dtype"), self.function) or "")
        cast = cast_parts(node, self.function)
        if cast is not None:
            its = cast[0]
            value = receiver if isinstance(func, ast.Attribute) and its is func.value else self.value(its, env)
            return self.cast(value, cast[1])
        name = last_name(func)
        out = keyword(node, "out")
        if out is not None:
            target = self.value(out, env)
            stored = joined([value for place, value in values.items() if place != id(out)])
            self.write(target, stored.result(), f"{name}(out=)", node)
            return target
        if receiver.any and isinstance(func, ast.Attribute):
            return self.method(name, node, receiver, given)
        operator = called_operator(func, self.function.module)
        if operator:
            return self.project(node, operator, values, operators(self.function.module).get(operator, Operator(None)))
        if launch_of(node) is None and (not name or is_library(func, self.function)):
            return self.library(name, given)
        return self.project(node, name or (launch_of(node) or ("",))[0], values)

    def cast(self, value: Value, dtype: str) -> Value:
        """A wider float holds the elements as they are; a narrower one rounds them."""
        if dtype in v.FLOATS_32_OR_WIDER or (self.kernel and dtype not in v.BYTES):
            return Value(NONE if not self.kernel else value.alias, value.exact, value.computed, dtype)
        if dtype not in v.BYTES:  # another tensor's dtype
            return Value(NONE, value.exact, value.computed, "")
        return replace(value.result(), dtype=dtype)

    def method(self, name: str, node: ast.Call, receiver: Value, given: list[Value]) -> Value:
        if name.endswith("_") and not name.endswith("__"):
            if name in v.NOT_WRITES:
                return receiver
            arguments = joined(given)
            stored = arguments if name in v.EXACT_IN_PLACE else (arguments | receiver).result()
            self.write(receiver, stored, f".{name}()", node)
            return receiver
        if name in v.NO_VALUES:
            return Value()
        if name in v.VIEWS:
            return receiver
        if name in v.SELECTIONS:
            value = receiver | joined(given)
            return replace(value, alias=NONE)
        return (receiver | joined(given)).result()

    def library(self, name: str, given: list[Value]) -> Value:
        value = joined(given)
        if name in v.NO_VALUES:
            return Value()
        return replace(value, alias=NONE) if name in v.SELECTIONS else value.result()

    def language(self, op: str, node: ast.Call, given: list[Value], env: dict[str, Value]) -> Value:
        """An operation of Triton's language."""
        first = given[0] if given else Value()
        if op == "load":
            return Value(exact=first.alias)
        if op == "store" or op.startswith("atomic_"):
            stored = argument(node, 1, "value") or argument(node, 1, "val")
            value = self.value(stored, env) if stored is not None else Value()
            if op.startswith("atomic_") and op not in ("atomic_xchg", "atomic_max", "atomic_min", "atomic_cas"):
                value = value.result() | Value(computed=first.alias)
            self.write(first, value, f"{op}()", node)
            return Value(exact=first.alias) if op.startswith("atomic_") else Value()
        if op == "where":
            return joined(given[1:])
        if op in v.NO_VALUES:
            return Value()
        if op in ("make_block_ptr", "advance", "make_tensor_descriptor") or op in v.SELECTIONS:
            return joined(given)
        if op == "cast":
            return self.cast(first, dtype_of(argument(node, 1, "dtype"), self.function) or "")
        return joined(given).result()

    def project(self, node: ast.Call, name: str, values: dict[int, Value], operator: Operator | None = None) -> Value:
        """A call of code that is not a library's. `values`: its arguments', by node; `operator`: what torch calls."""
        given = list(values.values())
        everything = joined(given)
        if not everything.any:
            return Value()
        handed = tuple((tuple(sorted(g.alias)), tuple(sorted(g.exact)), g.dtype) for g in given)
        self.summary.calls.append((name, handed))
        resolver = self.analysis.resolver
        if resolver is None:
            return everything.result()
        callee = operator.function if operator else resolver.resolve(node, self.function)
        summary = self.analysis.summary(callee, self.depth + 1) if callee is not None else None
        if summary is None:
            self._unknown(everything, name)
            return everything.result()
        bound = {n: values[id(a)] for n, a in bound_arguments(node, callee).items()}
        own = (callee.simple_name,) if callee.is_kernel else ()
        writes = operator.writes if operator else declared(callee)
        for parameter in sorted(writes or ()):
            rounds = [w.rounds for w in summary.writes if w.parameter == parameter]
            self.written(bound.get(parameter, Value()), name, any(rounds) if rounds else None, node, own)
        for write in summary.writes if writes is None else ():
            if not write.aliased:
                continue  # into a copy of the callee's own
            self.written(bound.get(write.parameter, Value()), name, write.rounds, node, own + write.kernels)
        for parameter, dimensions in summary.shapes.items():
            self._shape(bound.get(parameter, Value()), dimensions)
        for parameter, via, aliased in summary.unresolved if writes is None else ():
            value = bound.get(parameter, Value())
            self._unknown(value if aliased else replace(value, alias=NONE), via)
        return joined([through(value, parameter, summary.returned) for parameter, value in bound.items()])

    def write(self, into: Value, stored: Value, via: str, node: ast.AST) -> None:
        """A store of this function itself."""
        for name in sorted(into.alias | into.exact):
            rounds = name in stored.computed
            self._add(Write(name, via, rounds, name in into.alias, into.dtype, (), node, self.conditions))

    def written(self, into: Value, via: str, rounds: bool | None, node: ast.AST, kernels: tuple[str, ...]) -> None:
        """A store by a callee into what it was handed."""
        kernels = tuple(dict.fromkeys(kernels))
        for name in sorted(into.alias | into.exact):
            self._add(Write(name, via, rounds, name in into.alias, into.dtype, kernels, node, self.conditions))

    def _shape(self, value: Value, dimensions: str) -> None:
        for parameter in value.alias | value.exact:
            self.summary.shapes.setdefault(parameter, dimensions)

    def _unknown(self, value: Value, via: str) -> None:
        self.summary.unresolved += [(p, via, p in value.alias) for p in sorted(value.alias | value.exact)]

    def _add(self, write: Write) -> None:
        if write not in self.summary.writes:
            self.summary.writes.append(write)
