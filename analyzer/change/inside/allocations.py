"""Tensor allocations of host code: what they are, and their sizes in terms of shapes."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analyzer.change.inside import vocabulary as v
from analyzer.change.inside.dtypes import dtype_of, element_bytes
from analyzer.change.inside.fact import Fact, View
from analyzer.change.nodes import keyword, last_name, root_name
from analyzer.change.source import Function, Statement
from analyzer.change.writing import written


def is_allocation(call: ast.Call) -> bool:
    name = last_name(call.func)
    if name not in v.ALLOCATORS:
        return False
    if name.startswith("new_"):
        return isinstance(call.func, ast.Attribute)
    return root_name(call.func) in v.ALLOCATING_MODULES


#: Calls that allocate, or hand on what they are given, as its type wants it.
_PERHAPS = frozenset({"as_tensor", "asarray", "ascontiguousarray"})


def is_own_call(statement: Statement) -> bool:
    """Whether a statement assigns what a call returns that is no library's, or that may or may not allocate it."""
    value = getattr(statement.node, "value", None)
    if not isinstance(value, ast.Call):
        return False
    if last_name(value.func) in _PERHAPS:
        return True
    if root_name(value.func) in v.ALLOCATING_MODULES:
        return False
    return last_name(value.func) not in v.OPERATIONS | v.ALLOCATORS.keys()


def allocations(view: View) -> Iterator[Fact]:
    """Tensor allocations of host code, each with its size in terms of shapes."""
    for call in view.calls():
        if not is_allocation(call):
            continue
        name = last_name(call.func)
        source, fill = v.ALLOCATORS[name], name.removeprefix("new_").removesuffix("_like")
        like = call.func.value if name.startswith("new_") else call.args[0] if source == "like" and call.args else None
        node = keyword(call, "dtype")
        if node is not None:
            dtype = dtype_of(node, view.function) or written(node)
            dtype_key = dtype if dtype in v.BYTES else view.key(node)
            if isinstance(node, ast.Attribute) and node.attr == "dtype":
                known = _own_dtype(node.value, view.function)
                dtype, dtype_key = (known, known) if known else (dtype, f"dtype of {view.key(node.value)}")
        elif like is not None and (known := _own_dtype(like, view.function)):
            dtype = dtype_key = known
        elif like is not None:
            dtype, dtype_key = f"{written(like)}.dtype", f"dtype of {view.key(like)}"
        else:
            dtype = dtype_key = "default"
        size, size_key = _size(call, source, view)
        each = each_element(dtype, dtype)
        target = view.statement.target()
        named = "" if target.endswith("]") else target  # what is copied into a part of a tensor allocates no part
        yield view.fact(
            "allocation", call, view.key(ast.parse(target).body[0]) if target else type(view.statement.node).__name__,
            (dtype_key, size_key, fill, _memory(call, like)),
            detail={"dtype": dtype, "size": f"{size} × {each}", "fill": fill, "target": named},
        )  # fmt: skip


def _memory(call: ast.Call, like: ast.AST | None) -> str:
    """What an allocation says of the memory that it takes: pinned, of a device that is named or another's, nothing."""
    pinned = keyword(call, "pin_memory")
    if pinned is not None and not (isinstance(pinned, ast.Constant) and not pinned.value):
        return "pinned"
    return "named" if like is not None or keyword(call, "device") is not None else ""


def _own_dtype(node: ast.AST, function: Function) -> str:
    """The dtype that a local is allocated with where it is bound, empty where that is not said."""
    values = function.assigned.get(node.id, ()) if isinstance(node, ast.Name) else ()
    made = values[0][1] if len(values) == 1 else None
    if not (isinstance(made, ast.Call) and is_allocation(made)) or node.id in {p.arg for p in function.parameters}:
        return ""
    given = keyword(made, "dtype")
    known = dtype_of(given, function) if given is not None else None
    return known if known in v.BYTES else ""


def each_element(dtype: str | None, name: str) -> str:
    """``4 bytes``, ``bytes(x.dtype)`` where the dtype is known by a name alone."""
    width = element_bytes(dtype)
    return f"{width} byte{'s' if width != 1 else ''}" if width else f"bytes({name})"


def _size(call: ast.Call, source: str, view: View) -> tuple[str, str]:
    """The number of elements as text, and as a key."""
    key = view.key
    if source == "shape":
        given = call.args or [k.value for k in call.keywords if k.arg == "size"]
        if last_name(call.func) in ("full", "new_full"):
            given = given[:1]
        dims = [d for a in given for d in (a.elts if isinstance(a, ast.Tuple | ast.List) else [a])]
        if len(dims) == 1 and isinstance(dims[0], ast.Name):  # a name of the shape
            values = [value for _, value in view.function.assigned.get(dims[0].id, ())]
            if len(values) == 1 and isinstance(values[0], ast.Tuple | ast.List):
                dims = values[0].elts
            elif len(values) == 1 and isinstance(values[0], ast.Attribute) and values[0].attr == "shape":
                dims = values
        if len(dims) == 1 and isinstance(dims[0], ast.Attribute) and dims[0].attr == "shape":
            return f"numel({written(dims[0].value)})", "like " + key(dims[0].value)
        return " × ".join(map(_dimension, dims)) or "1", " ".join(map(key, dims))
    if not call.args:
        return "?", "?"
    if last_name(call.func) == "arange":
        return _steps(call.args), " ".join(map(key, call.args))
    if source == "data" and isinstance(call.args[0], ast.Constant):
        return "1", "1"  # one number
    return f"numel({written(call.args[0])})", f"{source} {key(call.args[0])}"


def _steps(given: list[ast.expr]) -> str:
    """The number of values of a range, as it is given: an end; a start and an end; and a step."""
    if len(given) == 1:
        return _dimension(given[0])
    start, end = given[0], given[1]
    from_zero = isinstance(start, ast.Constant) and start.value == 0
    size = _dimension(end) if from_zero else f"({written(end)} - {_dimension(start)})"
    return size if len(given) == 2 else f"{size} / {_dimension(given[2])}"


def _dimension(node: ast.expr) -> str:
    """One factor of a size: a sum in brackets, several dimensions as their product."""
    if isinstance(node, ast.Starred):
        return f"prod({written(node.value)})"
    bare = isinstance(node, ast.Name | ast.Attribute | ast.Constant | ast.Call | ast.Subscript)
    product = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult)
    return written(node) if bare or product else f"({written(node)})"
