"""An expression as text: as its source has it, or, where it was put together here, in the spelling of its language."""

from __future__ import annotations

import ast

#: Operators by the names of their nodes.
SYMBOLS = {
    "Lt": "<", "LtE": "<=", "Gt": ">", "GtE": ">=", "Eq": "==", "NotEq": "!=", "Is": "is", "IsNot": "is not",
    "In": "in", "NotIn": "not in", "Add": "+", "Sub": "-", "Mult": "*", "Div": "/", "FloorDiv": "//", "Mod": "%",
    "Pow": "**", "LShift": "<<", "RShift": ">>", "BitOr": "|", "BitAnd": "&", "BitXor": "^", "MatMult": "@",
    "And": "and", "Or": "or", "Not": "not", "USub": "-", "Invert": "~",
}  # fmt: skip


def written(node: ast.AST) -> str:
    """Nodes of a C++ source carry their text (`written`); all others are Python."""
    text = getattr(node, "written", None)
    if text is not None:
        return text
    if hasattr(node, "lineno"):  # as the parser of Python made it, and so is all below
        return ast.unparse(node)
    return _cpp(node) if any(hasattr(one, "written") for one in ast.walk(node)) else ast.unparse(node)


def _cpp(node: ast.AST) -> str:
    """What was put together from nodes of a C++ source: an opposite, a conjunction."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        inner = written(node.operand)
        simple = isinstance(node.operand, ast.Name | ast.Attribute | ast.Call | ast.Subscript)
        return f"!{inner}" if simple else f"!({inner})"
    if isinstance(node, ast.BoolOp):
        joint = " && " if isinstance(node.op, ast.And) else " || "
        return joint.join(f"({written(v)})" if isinstance(v, ast.BoolOp) else written(v) for v in node.values)
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        return f"{written(node.left)} {SYMBOLS[type(node.ops[0]).__name__]} {written(node.comparators[0])}"
    if isinstance(node, ast.Tuple | ast.List):
        return ", ".join(map(written, node.elts))
    return ast.unparse(node)
