"""The facts of one version of a C++ function that Python's extractors do not read: barriers, launches, types, ..."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analyzer.change.align import Alignment
from analyzer.change.cuda import vocabulary as v
from analyzer.change.cuda.expressions import operation
from analyzer.change.edits import at, make
from analyzer.change.inside.extract import casts, contiguities, copies
from analyzer.change.inside.fact import Fact, View
from analyzer.change.inside.guards import guards
from analyzer.change.inside.launches import Option
from analyzer.change.inside.surroundings import clauses
from analyzer.change.inside.vocabulary import ALLOCATORS, BYTES, INTEGERS
from analyzer.change.nodes import last_name
from analyzer.change.source import Function, Statement, once
from analyzer.change.writing import written
from analyzer.model.change import Edit


def orderings(view: View) -> Iterator[Fact]:
    """Barriers and fences of device code, synchronisations of host code."""
    for call in view.calls():
        name = operation(call)
        if view.function.is_kernel:
            if name:
                detail = {"operation": name}
                parts = {one for test, holds in view.statement.conditions for one in clauses(test, holds, view.key)}
                if parts:
                    detail |= {"conditional": True, "condition": _short(view.statement.condition)}
                yield view.fact("barrier", call, name, (name, len(parts)), detail=detail)
        elif last_name(call.func) in v.SYNCHRONIZATIONS:
            name = last_name(call.func)
            detail = {"operation": written(call.func)}
            yield view.fact("synchronization", call, f"{name} {view.key(call)}", name, detail=detail)


def _short(text: str) -> str:
    return text if len(text) <= 100 else text[:97] + "..."


def atomics(view: View) -> Iterator[Fact]:
    for call in view.calls():
        name = last_name(call.func)
        if call.args and v.ATOMIC.fullmatch(name):
            yield view.fact("atomic", call, view.key(call.args[0]), name, detail={"operation": name})


def launches(view: View) -> Iterator[Fact]:
    """``kernel<<<grid, block, shared, stream>>>(...)``; a name stands for what it holds."""
    for call in view.calls():
        if not isinstance(call.func, ast.Subscript) or not isinstance(call.func.slice, ast.Tuple):
            continue
        kernel = last_name(call.func.value)
        given = dict(zip(v.LAUNCH, call.func.slice.elts, strict=False))
        options: dict[str, Option] = {}
        for name, value in given.items():
            if not (name in ("shared", "stream") and isinstance(value, ast.Constant) and value.value in (0, None)):
                options[name] = _held(value, view)
        yield view.fact("launch", call, kernel, tuple(sorted(options.items())), detail={"kernel": kernel})


def _held(node: ast.expr, view: View) -> Option:
    """A value through the local that holds it: the declaration that is seen from here, and what is assigned later."""
    values = [node]
    if isinstance(node, ast.Name):
        here = view.statement
        seen = [
            (s, value)
            for s, value in view.function.assigned.get(node.id, ())
            if s.index < here.index and s.conditions == here.conditions[: len(s.conditions)]
        ]
        last = max((n for n, (s, _) in enumerate(seen) if isinstance(s.node, ast.AnnAssign)), default=0)
        values = [value for _, value in seen[last:]] or values
    return Option(tuple(dict.fromkeys(map(view.key, values))), " | ".join(dict.fromkeys(map(written, values))))


@once
def launch_places(function: Function) -> frozenset[int]:
    """Statements that only hold what a launch is given: their change is the launch's."""
    feeding: set[str] = set()
    for statement in function.statements:
        for call in statement.calls:
            if isinstance(call.func, ast.Subscript) and isinstance(call.func.slice, ast.Tuple):
                feeding |= {one.id for one in call.func.slice.elts if isinstance(one, ast.Name)}
    return frozenset(s.index for s in function.statements if s.target() in feeding)


def told_by_launches(alignment: Alignment) -> set[tuple[int, int]]:
    """Pairs of statements that hold what a launch is given."""
    sides = (alignment.base_statements, alignment.head_statements)
    feeding = [{n for n, s in enumerate(side) if s.index in launch_places(s.function)} for side in sides]
    return {(i, j) for i, j in alignment.pairs.items() if i in feeding[0] and j in feeding[1]}


def parameter_widths(alignment: Alignment) -> Iterator[Edit]:
    """Parameters that are used as an index and have another width."""
    base, head = alignment.base[0], alignment.head[0]
    sides = [
        {rename(p.arg): (p, BYTES[dtype] * 8)
         for p in f.parameters
         if p.annotation is not None and (dtype := v.dtype_of_type(written(p.annotation))) in INTEGERS
         and BYTES[dtype] >= 4 and p.arg in f.subscripts}
        for f, rename in ((base, alignment.base_name), (head, alignment.head_name))
    ]  # fmt: skip
    for name in sides[0].keys() & sides[1].keys():
        (p, x), (q, y) = sides[0][name], sides[1][name]
        if x != y and p.arg == q.arg:
            way = "widened" if y > x else "narrowed"
            detail = {"bits_before": int(x), "bits_after": int(y), "of": "parameter"}
            yield make(f"index-{way}", at(base, p, written(p)), at(head, q, written(q)), detail)


def _declared(statement: Statement) -> tuple[ast.AnnAssign, str] | None:
    """A declaration and its canonical dtype, None where the type is no plain one."""
    node = statement.node
    if not isinstance(node, ast.AnnAssign):
        return None
    name = written(node.annotation)
    dtype = v.dtype_of_type(name.removesuffix("[]").removesuffix("[]"))
    return (node, dtype) if dtype else None


def declarations(view: View) -> Iterator[Fact]:
    """The types of variables: an index's width, an accumulator's precision. They are compared, nothing else."""
    found = _declared(view.statement)
    if found is None:
        return
    node, dtype = found
    target = view.statement.target()
    anchor = f"declared {view.key(node.target)}"
    if dtype in INTEGERS and BYTES[dtype] >= 4 and target in (view.function.subscripts or ()):
        width = int(BYTES[dtype] * 8)
        yield view.fact("declared-width", node, anchor, width, detail={"dtype": dtype, "bits": width})
    elif not getattr(node, "shared", False) or not node.sizes:
        detail = {"dtype": dtype, "of": "declaration", "target": target}
        yield view.fact("declared-type", node, anchor, dtype, detail=detail)


def wider_uses(view: View) -> Iterator[Fact]:
    """Indices that a local of 64 bits stands for, where the other version computes them from 32 bits."""
    if not view.lone:
        return
    wide = _wide(view.function) & view.lone.keys() & view.function.subscripts
    for node in view.statement.nodes:
        if isinstance(node, ast.Name) and node.id in wide:
            value = view.lone[node.id]
            if _is_narrow(value, view.function) and view.statement.target() != node.id:
                detail = {"dtype": "int64", "bits": 64}
                yield view.fact("index", node, view.key(value), 64, operand=value, detail=detail)


@once
def _wide(function: Function) -> frozenset[str]:
    """Locals that are declared with 64 bits."""
    declared = [found for s in function.statements if (found := _declared(s))]
    return frozenset(written(node.target) for node, dtype in declared if dtype in ("int64", "uint64"))


def _is_narrow(node: ast.expr, function: Function) -> bool:
    """Whether a value is computed from the built-in indices and plain numbers alone, which have 32 bits."""
    roots = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
    return bool(roots) and roots <= {"blockIdx", "threadIdx", "blockDim", "gridDim"}


def shared_arrays(view: View) -> Iterator[Fact]:
    """Arrays in shared memory, each with its size."""
    node = view.statement.node
    if isinstance(node, ast.AnnAssign) and getattr(node, "shared", False) and node.sizes:
        dtype = v.dtype_of_type(written(node.annotation).replace("[]", "")) or written(node.annotation).replace(
            "[]", ""
        )
        width = int(BYTES.get(dtype, 0))
        size = " × ".join(map(written, node.sizes)) + (f" × {width} bytes" if width else f" × sizeof({dtype})")
        value = (dtype, " ".join(map(view.key, node.sizes)))
        detail = {"dtype": dtype, "size": size, "fill": "shared", "target": view.statement.target()}
        yield view.fact("allocation", node, view.key(node.target), value, detail=detail)


def allocations(view: View) -> Iterator[Fact]:
    """Tensors and device memory, each with its size."""
    node = view.statement.node
    for call in view.calls():
        name = last_name(call.func)
        target = view.statement.target()
        if name in v.DEVICE_MALLOC and len(call.args) > 1:
            into = written(call.args[0]).split(")")[-1].lstrip("&")
            detail = {"size": f"{written(call.args[1])} bytes", "fill": name, "target": into}
            yield view.fact("allocation", call, view.key(call.args[0]), (view.key(call.args[1]), name), detail=detail)
        elif (
            name in ALLOCATORS
            and (is_torch(call) or (name.startswith("new_") and isinstance(call.func, ast.Attribute)))
            and call.args
        ):
            free = name.startswith("new_") and is_torch(call) and len(call.args) > 1  # its first argument is a tensor
            dims = call.args[1] if free else call.args[0]
            parts = dims.elts if isinstance(dims, ast.Tuple) else [dims]
            like = ALLOCATORS[name] != "shape"
            dtype, its = _dtype(call, view)
            size = f"numel({written(dims)})" if like else " × ".join(map(written, parts)) or "1"
            width = int(BYTES.get(dtype, 0))
            if width:
                size += f" × {width} bytes"
            detail = {"dtype": dtype, "size": size, "fill": name.removesuffix("_like"), "target": target}
            anchor = target_key(view) or type(node).__name__
            yield view.fact("allocation", call, anchor, (its, " ".join(map(view.key, parts)), name), detail=detail)


def target_key(view: View) -> str:
    node = view.statement.node
    if isinstance(node, ast.AnnAssign):
        return view.key(node.target)
    return view.key(node.targets[0]) if isinstance(node, ast.Assign) else ""


def is_torch(call: ast.Call) -> bool:
    func = call.func
    while isinstance(func, ast.Attribute):
        func = func.value
    return isinstance(func, ast.Name) and func.id == "torch" and isinstance(call.func, ast.Attribute)


def _dtype(call: ast.Call, view: View) -> tuple[str, str]:
    """(dtype as text, as a key) of the options that a tensor is made with; empty where nothing plain says it."""
    for part in call.args[1:]:
        values = view.function.assigned.get(part.id, ()) if isinstance(part, ast.Name) else ()
        for node in ast.walk(values[0][1] if len(values) == 1 else part):
            its = node.value if isinstance(node, ast.Attribute) and node.attr in BYTES else None
            if isinstance(its, ast.Name) and its.id == "torch":
                return node.attr, node.attr
    rest = " ".join(map(view.key, call.args[1:]))
    return "", rest


def draws(view: View) -> Iterator[Fact]:
    for call in view.calls():
        name = last_name(call.func)
        if v.DRAWS.fullmatch(name):
            value = tuple(map(view.key, call.args))
            detail = {"call": name}
            if name.endswith("_init") and call.args:
                detail["seed"] = written(call.args[0])
            yield view.fact("seed-or-rng", call, name, value, detail=detail)


#: Facts that hold of a statement by itself.
LOCAL = (casts, contiguities, copies, guards, orderings, atomics, draws, allocations)
#: Facts that depend on other statements, too.
WIDE = (launches, declarations, shared_arrays, wider_uses)
