"""The facts of one version of a function: each statement's casts, copies, allocations, masks, barriers, ...

A `Fact` says that something holds at a place. An edit is a fact that only one version has, or that both have with
another value; no extractor knows which version it reads.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from analyzer.change.inside import vocabulary as v
from analyzer.change.inside.allocations import allocations, each_element, is_allocation
from analyzer.change.inside.dtypes import dtype_of
from analyzer.change.inside.fact import Fact, Key, View
from analyzer.change.nodes import argument, children, keyword, last_name, root_name
from analyzer.change.shapes import spelled
from analyzer.change.source import Function, Statement, once
from analyzer.change.writing import written


def cast_parts(call: ast.Call, function: Function) -> tuple[ast.expr, str, ast.AST | None, bool] | None:
    """(operand, dtype, dtype node, reinterpreted) of a cast, None where `call` is none."""
    func = call.func
    if function.module.language_call(call) == "cast" and len(call.args) >= 1:
        node = argument(call, 1, "dtype")
        name = dtype_of(node, function) if node is not None else None
        return (call.args[0], name, node, keyword(call, "bitcast") is not None) if name else None
    if not isinstance(func, ast.Attribute):
        return None
    if func.attr in v.CAST_METHODS and not call.args and not call.keywords:
        if isinstance(func.value, ast.Name) and func.value.id in function.module.imports:
            return None
        return func.value, v.CAST_METHOD_DTYPES[func.attr], None, False
    if func.attr in ("to", "type", "astype", "view"):
        node = argument(call, 0, "dtype")
        if len(call.args) > 1 and func.attr == "to" and node is not None and dtype_of(node, function) is None:
            node = call.args[1]  # x.to(device, dtype)
        if node is None or (func.attr == "view" and not isinstance(node, ast.Attribute)):
            node = keyword(call, "dtype")
        name = dtype_of(node, function) if node is not None else None
        if name:
            return func.value, name, node, func.attr == "view" or keyword(call, "bitcast") is not None
    if func.attr == "type_as" and call.args:
        return func.value, f"{written(call.args[0])}.dtype", None, False
    return None


def casts(view: View) -> Iterator[Fact]:
    """``cast``, or ``index`` where an index or an offset changes its width."""
    for call in view.calls():
        parts = cast_parts(call, view.function)
        if parts is None:
            continue
        operand, name, node, bits = parts
        value = name if node is None or name in v.BYTES else view.key(node)
        if name in v.INTEGERS and v.BYTES[name] >= 4 and not bits and _is_index(view, call, operand):
            width = int(v.BYTES[name] * 8)
            yield view.fact(
                "index", call, view.key(operand), width, operand=operand,
                detail={"dtype": name, "bits": width},
            )  # fmt: skip
            continue
        detail = {"dtype": name, "of": "load" if view.op(operand) == "load" else "value"}
        if bits:
            detail["bitcast"] = True
        yield view.fact("cast", call, view.key(operand), value, operand=operand, detail=detail)


def _is_index(view: View, call: ast.Call, operand: ast.expr) -> bool:
    indices = view.function.subscripts
    if indices is not None:
        inside = [node.slice for node in view.statement.nodes if isinstance(node, ast.Subscript)]
        return view.statement.target() in indices or any(call is one for part in inside for one in ast.walk(part))
    if v.is_index_name(last_name(operand)) or view.op(operand) == "program_id":
        return True
    target = view.statement.target()
    if not view.function.is_kernel:
        return v.is_index_name(target.rsplit(".", 1)[-1])
    if target in address_names(view.function):
        return True
    addresses = (address for node in view.calls() if (address := _address(view, node)) is not None)
    return any(call is node for address in addresses for node in ast.walk(address))


def _address(view: View, call: ast.Call) -> ast.expr | None:
    op = view.op(call)
    return argument(call, 0, "pointer") if op in ("load", "store") or op.startswith("atomic_") else None


@once
def address_names(function: Function) -> frozenset[str]:
    """Names of a kernel whose values reach the address of a load, a store or an atomic."""
    found: set[str] = set()
    for statement in function.statements:
        for node in statement.calls:
            op = function.module.language_call(node)
            if (op in ("load", "store") or op.startswith("atomic_")) and node.args:
                found |= _plain_names(node.args[0], function)
    grown = True
    while grown:
        before = len(found)
        for name in list(found):
            for _, value in function.assigned.get(name, ()):
                found |= _plain_names(value, function)
        grown = len(found) > before
    return frozenset(found)


def _plain_names(node: ast.AST, function: Function) -> set[str]:
    """Names in an expression, without those inside a load: a loaded value is not its own address."""
    if function.module.language_call(node) == "load":
        return set()
    if isinstance(node, ast.Name):
        return {node.id}
    return {name for child in children(node) for name in _plain_names(child, function)}


def dtype_arguments(view: View) -> Iterator[Fact]:
    """Calls that are no cast and no allocation, each with the dtypes it is given (possibly none)."""
    for call in view.calls():
        name = last_name(call.func) or "launch"
        if name in ("to", "view", "type", "astype") or cast_parts(call, view.function) or is_allocation(call):
            continue
        given = [(k.arg, k.value) for k in call.keywords if k.arg and (k.arg == "dtype" or k.arg.endswith("_dtype"))]
        given += [
            ("dtype", a)
            for a in call.args[1:]
            if isinstance(a, ast.Attribute) and dtype_of(a, view.function) in v.BYTES
        ]
        names = {k: dtype_of(value, view.function) or written(value) for k, value in given}
        value = tuple(sorted((k, names[k] if names[k] in v.BYTES else view.key(node)) for k, node in given))
        first = call.func.value if isinstance(call.func, ast.Attribute) else call.func
        detail = {"call": name, "dtype": ", ".join(names.values())}
        yield view.fact("dtype-argument", call, f"{name} {view.key(first)}", value, present=bool(given), detail=detail)


def contiguities(view: View) -> Iterator[Fact]:
    for call in view.calls():
        if isinstance(call.func, ast.Attribute) and call.func.attr == "contiguous" and not call.args:
            operand = call.func.value
            detail = {"operand": written(operand)}
            if view.statement.conditions:
                detail |= {"conditional": True, "condition": view.statement.condition}
            where = view.about(root_name(operand))
            yield view.fact("contiguity", call, view.key(operand), where, operand=operand, detail=detail)


def copies(view: View) -> Iterator[Fact]:
    """Copies of a tensor into memory of its own; `dtype` is empty where the copy has the tensor's own."""
    for call in view.calls():
        found = copy_parts(call, view.function)
        if found is None:
            continue
        operand, dtype = found
        conditional = bool(view.statement.conditions)
        subject = written(operand)
        size = f"numel({subject})"
        size += f" × {each_element(dtype, f'{subject}.dtype')}"
        detail = {"subject": subject, "dtype": dtype or f"{subject}.dtype", "size": size, "conditional": conditional}
        if conditional:
            detail["condition"] = view.statement.condition
        yield view.fact("copy", call, view.key(operand), (dtype, conditional), operand=operand, detail=detail)


def copy_parts(call: ast.Call, function: Function) -> tuple[ast.expr, str] | None:
    """(what is copied, the copy's dtype or "" for its own) where `call` makes a copy."""
    func = call.func
    if not isinstance(func, ast.Attribute):
        return None
    if func.attr == "clone":
        module = isinstance(func.value, ast.Name) and func.value.id in v.ALLOCATING_MODULES
        return (call.args[0], "") if module and call.args else (func.value, "")
    if func.attr == "to" and isinstance(keyword(call, "copy"), ast.Constant) and keyword(call, "copy").value is True:
        parts = cast_parts(call, function)
        return func.value, parts[1] if parts else ""
    if func.attr == "copy_" and call.args:
        into = func.value
        if isinstance(into, ast.Name):
            values = [value for _, value in function.assigned.get(into.id, ())]
            into = values[0] if len(values) == 1 else into
        if isinstance(into, ast.Call) and is_allocation(into):
            dtype = keyword(into, "dtype")
            return call.args[0], (dtype_of(dtype, function) or "") if dtype is not None else ""
    return None


def masks(view: View) -> Iterator[Fact]:
    for call in view.calls():
        op = view.op(call)
        if op not in ("load", "store") and not op.startswith("atomic_"):
            continue
        mask = argument(call, 1 if op == "load" else 2, "mask")
        if isinstance(mask, ast.Constant) and mask.value is None:
            mask = None
        if isinstance(mask, ast.Name):
            mask = view.lone.get(mask.id, mask)
        other = argument(call, 2, "other") if op == "load" else None
        value = (
            spelled(mask, view.key, view.lone) if mask is not None else "",
            _number_or_key(other, view) if other is not None else "",
        )
        detail = {"operation": op, "mask": written(mask) if mask is not None else ""}
        if other is not None:
            detail["other"] = written(other)
        pointer = argument(call, 0, "pointer")
        anchor = f"{op} {view.key(pointer) if pointer is not None else ''}"
        yield view.fact("mask", call, anchor, value, present=mask is not None, detail=detail)
        if op.startswith("atomic_"):
            yield view.fact("atomic", call, anchor.split(" ", 1)[1], op, detail={"operation": op})


def _number_or_key(node: ast.AST, view: View) -> str:
    """0 and 0.0 stand in for a masked element alike."""
    plain = isinstance(node, ast.Constant) and type(node.value) in (int, float)
    return repr(float(node.value)) if plain else view.key(node)


def orderings(view: View) -> Iterator[Fact]:
    """Barriers and fences of kernels, synchronisations of host code."""
    for call in view.calls():
        name = last_name(call.func)
        if view.function.is_kernel:
            if name in v.BARRIERS or name in v.FENCES:
                yield view.fact("barrier", call, name, name, detail={"operation": name})
        elif name in v.SYNCHRONIZATIONS and not (name == "item" and (call.args or _on_host(call))):
            anchor = f"{name} {view.key(call.func)}"
            yield view.fact("synchronization", call, anchor, name, detail={"operation": written(call.func)})


def _on_host(call: ast.Call) -> bool:
    """Whether what is read says that it is on the host already, as ``lengths_cpu.max().item()`` does."""
    names = [n.id for n in ast.walk(call) if isinstance(n, ast.Name)]
    names += [n.attr for n in ast.walk(call) if isinstance(n, ast.Attribute)]
    return any({"cpu", "np", "numpy", "host"} & set(name.split("_")) for name in names)


def draws_here(statement: Statement) -> bool:
    """Whether a statement of a kernel draws."""
    return any(statement.function.module.language_call(call) in v.KERNEL_RANDOM for call in statement.calls)


def draws(view: View) -> Iterator[Fact]:
    """Random draws and seeds, each with its arguments."""
    for call in view.calls():
        name = last_name(call.func)
        drawn = view.op(call) in v.KERNEL_RANDOM if view.op(call) else name in v.RANDOM
        if not drawn or (name == "seed" and root_name(call.func) not in ("random", "np", "numpy", "torch")):
            continue
        value = tuple(view.key(a) for a in call.args) + tuple(f"{k.arg}={view.key(k.value)}" for k in call.keywords)
        yield view.fact("seed-or-rng", call, name, value, detail={"call": name, **_seeding(call, name, view)})


def _seeding(call: ast.Call, name: str, view: View) -> dict[str, str]:
    """The seed that a draw or a seeding call is given, and its generator, as written."""
    seeds = view.op(call) in v.KERNEL_RANDOM or name in ("manual_seed", "manual_seed_all", "seed")
    given = {"seed": argument(call, 0, "seed") if seeds else None, "generator": keyword(call, "generator")}
    return {what: written(node) for what, node in given.items() if node is not None}


#: Facts of code that is not a test, in the order in which they are listed.
EXTRACTORS = (casts, dtype_arguments, copies, contiguities, allocations, masks, orderings, draws)


def facts(
    statements: list[Statement],
    key: Key,
    extractors=EXTRACTORS,
    only: set[int] | None = None,
    lone: Mapping[str, ast.expr] | None = None,
) -> list[Fact]:
    """All facts of pooled statements, or of those at the places `only`."""
    places = range(len(statements)) if only is None else sorted(only)
    views = [View(statements[place], place, key, lone or {}) for place in places]
    return [fact for view in views for extract in extractors for fact in extract(view)]
