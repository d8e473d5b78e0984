"""Which dtype an expression names."""

from __future__ import annotations

import ast

from analyzer.change.inside.vocabulary import BYTES, DTYPES
from analyzer.change.source import Function
from analyzer.change.writing import written


def dtype_of(node: ast.AST | None, function: Function | None = None) -> str | None:
    """The canonical dtype (``float32``), the expression where it depends on a value, None where it is no dtype."""
    if isinstance(node, ast.Attribute):
        if node.attr in DTYPES and isinstance(node.value, ast.Name | ast.Attribute):
            return DTYPES[node.attr][0]
        return written(node) if node.attr in ("dtype", "element_ty") or node.attr.endswith("_dtype") else None
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in DTYPES:
        return DTYPES[node.value][0]
    if isinstance(node, ast.IfExp):
        both = dtype_of(node.body, function), dtype_of(node.orelse, function)
        return written(node) if all(both) else None
    if isinstance(node, ast.Name):
        return _named(node.id, function)
    return None


def _named(name: str, function: Function | None) -> str | None:
    if function is None:
        return name if "dtype" in name.lower() else None
    imported = function.module.imports.get(name, "").rpartition(".")
    if imported[2] in DTYPES and imported[0].split(".")[0] in ("torch", "triton", "numpy"):
        return DTYPES[imported[2]][0]
    parameter = next((p for p in function.parameters if p.arg == name), None)
    if parameter is not None and parameter.annotation is not None and "dtype" in written(parameter.annotation):
        return name
    values = [value for _, value in function.assigned.get(name, ())]
    named = [dtype_of(value) for value in values if not isinstance(value, ast.Name)]
    if len(named) == 1 and named[0] in BYTES:
        return named[0]
    return name if (named and all(named)) or "dtype" in name.lower() else None


def element_bytes(dtype: str | None) -> int:
    """Bytes an element of a canonical dtype, 0 where it is not known."""
    return int(BYTES.get(dtype or "", 0))
