"""How kernels are launched: grid, options, tiles, and what their parameters stand for.

A launch is ``kernel[grid](...)``. Names are looked up in the launching function, so ``BLOCK_SIZE=block`` says which
numbers `block` can hold, and ``**options`` which options it can bring.
"""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field

from analyzer.change.inside.extract import address_names, cast_parts
from analyzer.change.inside.fact import Fact, View
from analyzer.change.inside.vocabulary import LAUNCH_OPTIONS, is_tile
from analyzer.change.nodes import last_name
from analyzer.change.source import Function, Statement, once
from analyzer.change.writing import written


@dataclass(frozen=True)
class Option:
    """One thing that a launch chooses: its key, which is compared, and its text."""

    key: Hashable
    text: str = field(compare=False)


def launch_of(call: ast.AST) -> tuple[str, ast.expr] | None:
    """(kernel's name, grid) where `call` is a launch."""
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Subscript):
        name = last_name(call.func.value)
        return (name, call.func.slice) if name else None
    return None


def launches(view: View) -> Iterator[Fact]:
    for call in view.calls():
        found = launch_of(call)
        if found is None:
            continue
        kernel, grid = found
        options = {"grid": resolve(grid, view)}
        tiles = tile_parameters(view.function, kernel)
        for k in call.keywords:
            if k.arg is None:
                options |= _unpacked(k.value, view)
            elif k.arg in LAUNCH_OPTIONS or k.arg in tiles or is_tile(k.arg):
                options[k.arg] = resolve(k.value, view)
        yield view.fact("launch", call, kernel, tuple(sorted(options.items())), detail={"kernel": kernel})


def tile_parameters(launcher: Function, kernel: str) -> frozenset[str]:
    """Compile-time parameters of a kernel that a launch of the same file gives plain numbers, whatever their names."""
    its = launcher.module.functions.get(kernel)
    if its is None:
        return frozenset()
    constant = {p.arg for p in its.parameters if p.annotation is not None and "constexpr" in written(p.annotation)}
    found = set()
    for statement in launcher.statements:
        for call in statement.calls:
            if launch_of(call) and launch_of(call)[0] == kernel:
                for k in call.keywords:
                    values = [k.value]
                    if isinstance(k.value, ast.Name):
                        values = [value for _, value in launcher.assigned.get(k.value.id, ())]
                    if k.arg in constant and values and all(map(_is_number, values)):
                        found.add(k.arg)
    return frozenset(found)


def _is_number(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is int


def resolve(node: ast.expr, view: View) -> Option:
    """A value through the local name that holds it; every assignment of the name counts."""
    if isinstance(node, ast.Name):
        values = [value for _, value in view.function.assigned.get(node.id, ())]
        if values:
            texts = list(dict.fromkeys(written(value) for value in values))
            return Option(tuple(dict.fromkeys(map(view.key, values))), " | ".join(texts))
    return Option(view.key(node), written(node))


def _unpacked(node: ast.expr, view: View) -> dict[str, Option]:
    """Options that ``**node`` can bring: a literal dict, and later ``node["option"] = value``."""
    found: dict[str, Option] = {}

    def add(name: ast.expr | None, value: ast.expr, statement: Statement | None) -> None:
        if isinstance(name, ast.Constant) and isinstance(name.value, str):
            where = f" if {statement.condition}" if statement is not None and statement.conditions else ""
            tests = tuple((holds, view.key(test)) for test, holds in statement.conditions) if statement else ()
            found[name.value] = Option((view.key(value), tests), written(value) + where)

    def literal(value: ast.expr, statement: Statement | None) -> None:
        if isinstance(value, ast.Dict):
            for name, its in zip(value.keys, value.values, strict=True):
                add(name, its, statement)
        elif isinstance(value, ast.Call) and last_name(value.func) == "dict":
            for k in value.keywords:
                add(ast.Constant(k.arg), k.value, statement)

    if not isinstance(node, ast.Name):
        literal(node, None)
        return found
    for statement, value in view.function.assigned.get(node.id, ()):
        literal(value, statement)
    for statement in view.function.statements:
        its = statement.node
        if isinstance(its, ast.Assign) and isinstance(its.targets[0], ast.Subscript):
            target = its.targets[0]
            if isinstance(target.value, ast.Name) and target.value.id == node.id:
                add(target.slice, its.value, statement)
    return found


def changed_options(base: Fact, head: Fact) -> dict[str, tuple[str, str]]:
    """Option -> (text before, text after) of those that differ; an option that is not given is "default".

    A parameter that only one side's kernel has is no option of the launch: it is told of the kernel.
    """
    x, y = dict(base.value), dict(head.value)
    names = sorted(x.keys() | y.keys())
    kernels = [fact.function.module.functions.get(fact.anchor) for fact in (base, head)]
    if all(kernels):
        of_one = {p.arg for p in kernels[0].parameters} ^ {p.arg for p in kernels[1].parameters}
        names = [name for name in names if name not in of_one]
    missing = Option(None, "default")
    pairs = {name: (x.get(name, missing), y.get(name, missing)) for name in names}
    return {name: (a.text, b.text) for name, (a, b) in pairs.items() if a.key != b.key}


@once
def tile_statements(function: Function) -> set[int]:
    """Statements that only give a launch option its number: their constants are the launch's, not the code's."""
    feeding: set[str] = set()
    for statement in function.statements:
        for call in statement.calls:
            if launch_of(call) is None:
                continue
            tiles = tile_parameters(function, launch_of(call)[0])
            for k in call.keywords:
                chosen = k.arg is None or k.arg in LAUNCH_OPTIONS or k.arg in tiles or is_tile(k.arg)
                if isinstance(k.value, ast.Name) and chosen:
                    feeding.add(k.value.id)
            if isinstance(call.func.slice, ast.Name):
                feeding.add(call.func.slice.id)
    found = {s.index for name in feeding for s, _ in function.assigned.get(name, ())}
    for statement in function.statements:
        node = statement.node
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
            target = node.targets[0].value
            if isinstance(target, ast.Name) and target.id in feeding:
                found.add(statement.index)
    return found


def bound_arguments(call: ast.Call, kernel: Function) -> dict[str, ast.expr]:
    """Kernel parameter -> the argument that a launch or call gives it; unpacked arguments end the positions."""
    names = kernel.positional
    bound: dict[str, ast.expr] = {}
    for position, value in enumerate(call.args):
        if isinstance(value, ast.Starred) or position >= len(names):
            break
        bound[names[position]] = value
    bound |= {k.arg: k.value for k in call.keywords if k.arg}
    return bound


def factor_kind(kernel: Function, name: str) -> str:
    """Whether a kernel's parameter is a stride or a size: by the launches in the same file, without one by its name.

    Empty where a launch gives it what may be either.
    """
    named = "stride" if "stride" in name.lower() else "size"
    given = _given(kernel).get(name, named)
    return given or ("stride" if named == "stride" else "")


@once
def _given(kernel: Function) -> dict[str, str]:
    """Kernel parameter -> what the file's last launch gives it: a stride, a size, "" where neither is known."""
    found: dict[str, str] = {}
    for function in kernel.module.functions.values():
        if function.simple_name == kernel.simple_name or kernel.simple_name not in function.text:
            continue
        for statement in function.statements:
            for call in statement.calls:
                if launch_of(call) and launch_of(call)[0] == kernel.simple_name:
                    found |= {name: _step(value, function) for name, value in bound_arguments(call, kernel).items()}
    return found


def _step(value: ast.expr, function: Function, seen: frozenset[str] = frozenset()) -> str:
    """Whether a value is a tensor's stride, or a size; "" where neither is known, as of what a caller hands in."""
    if _is_stride(value):
        return "stride"
    if isinstance(value, ast.Name):
        if value.id in {p.arg for p in function.parameters} | seen:
            return ""
        parts = [its for _, its in function.assigned.get(value.id, ())]
        seen |= {value.id}
    elif isinstance(value, ast.IfExp):
        parts = [value.body, value.orelse]
    elif isinstance(value, ast.BinOp):
        parts = [part for part in (value.left, value.right) if not _is_number(part)]
        return "size" if {_step(part, function, seen) for part in parts} == {"size"} else ""
    else:
        whole = value.value if isinstance(value, ast.Subscript) else value
        shape = isinstance(whole, ast.Attribute) and whole.attr == "shape"
        counted = isinstance(whole, ast.Call) and last_name(whole.func) in ("size", "len", "numel")
        return "size" if shape or counted else ""
    kinds = {_step(part, function, seen) for part in parts}
    return "stride" if "stride" in kinds else "size" if kinds == {"size"} else ""


def _is_stride(value: ast.expr) -> bool:
    if isinstance(value, ast.IfExp):
        return _is_stride(value.body) or _is_stride(value.orelse)
    if isinstance(value, ast.Subscript):  # one of ``x.stride()``
        value = value.value
    return isinstance(value, ast.Call) and last_name(value.func) == "stride"


def strides(view: View) -> Iterator[Fact]:
    """Products in a kernel's addresses, by what the row is multiplied with: a tensor's stride, or a size."""
    function = view.function
    if not function.is_kernel:
        return
    parameters = {p.arg for p in function.parameters}
    addresses = address_names(function)
    in_address = view.statement.target() in addresses
    regions = [view.statement.node] if in_address else [
        call.args[0] for call in view.calls()
        if call.args and (view.op(call) in ("load", "store") or view.op(call).startswith("atomic_"))
    ]  # fmt: skip
    for region in regions:
        for node in ast.walk(region):
            if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult)):
                continue
            for factor, row in ((node.right, node.left), (node.left, node.right)):
                if isinstance(factor, ast.Name) and factor.id in parameters:
                    row = _without_cast(row, function)
                    detail = {"factor": factor.id, "row": written(row)}
                    if kind := factor_kind(function, factor.id):
                        yield view.fact("stride", node, view.key(row), kind, detail=detail)
                    break


def _without_cast(node: ast.expr, function: Function) -> ast.expr:
    parts = cast_parts(node, function) if isinstance(node, ast.Call) else None
    return parts[0] if parts else node


def stride_arguments(view: View) -> Iterator[Fact]:
    """Arguments of a launch by the kernel parameter that they are given to: a stride, or something else."""
    for call in view.calls():
        found = launch_of(call)
        kernel = view.function.module.functions.get(found[0]) if found else None
        if kernel is None:
            continue
        for name, value in bound_arguments(call, kernel).items():
            detail = {"factor": written(value), "row": name}
            if kind := _step(value, view.function):
                yield view.fact("stride", value, f"{found[0]} {name}", kind, detail=detail)


def autotune(function: Function) -> dict[str, str]:
    """Decorator -> its text, for those that choose how a kernel is launched."""
    found = {}
    for decorator in function.node.decorator_list:
        name = last_name(decorator)
        if isinstance(decorator, ast.Call) and name in ("autotune", "heuristics", "__launch_bounds__"):
            found[name] = written(decorator)
    return found
