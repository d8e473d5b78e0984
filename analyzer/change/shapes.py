"""The structure of a node or statement as text, in which names can be replaced."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache

from analyzer.change.limits import spend
from analyzer.change.source import Module, Statement

#: Words of a shape that say what kind of node stands there.
_GRAMMAR = frozenset(
    name
    for name, its in vars(ast).items()
    if isinstance(its, type) and issubclass(its, ast.stmt | ast.expr | ast.keyword | ast.withitem | ast.comprehension)
)


SKIPPED_FIELDS = frozenset({"ctx", "type_comment", "kind", "annotation", "returns", "type_params"})


def dump(node: ast.AST, name: Callable[[str], str]) -> str:
    """A node's structure as text, with every variable name passed through `name`; annotations left out."""
    pieces = _template(node).copy()
    pieces[1::2] = map(name, pieces[1::2])
    return "".join(pieces)


def spelled(node: ast.AST, key: Callable[[ast.AST], str], held: Mapping[str, ast.expr]) -> str:
    """The key of a node with what the locals of `held` stand for in their place, and what that names in turn."""
    if not held:
        return key(node)
    within: list[str] = []

    def name(one: str) -> str:
        if one not in held or one in within:
            return key(ast.Name(one))
        within.append(one)
        text = dump(held[one], name)
        within.pop()
        return text

    return dump(node, name)


def _template(node: ast.AST) -> list[str]:
    """What `dump` says of a node, kept with it: texts at even places, the names between them at odd ones."""
    kept = node.__dict__.get("_template")
    if kept is None:
        written: list[str | tuple[str]] = []
        _write(node, written)
        spend(10 * len(written))
        kept, text = [], []
        for piece in written:
            if isinstance(piece, tuple):
                kept += ("".join(text), piece[0])
                text = []
            else:
                text.append(piece)
        kept.append("".join(text))
        node._template = kept
    return kept


def _write(node: ast.AST, out: list[str | tuple[str]]) -> None:
    """Append the structure of a node: texts, and each name as a tuple of it."""
    if isinstance(node, ast.Name):
        out.append((node.id,))
    elif isinstance(node, ast.arg):
        out.append((node.arg,))
    elif isinstance(node, ast.Constant):
        out.append(repr(node.value))
    else:
        out.append("(" + type(node).__name__)
        for field in _fields(type(node)):
            value = getattr(node, field, None)
            if isinstance(value, ast.AST):
                out.append(" ")
                _write(value, out)
            elif isinstance(value, list):
                out.append(" [")
                for place, one in enumerate(value):
                    if place:
                        out.append(" ")
                    if isinstance(one, ast.AST):
                        _write(one, out)
                    else:
                        out.append(repr(one))
                out.append("]")
            elif value is not None:
                out.append(f" {value}")
        out.append(")")


@cache
def _fields(kind: type[ast.AST]) -> tuple[str, ...]:
    return tuple(field for field in kind._fields if field not in SKIPPED_FIELDS)


def same_program(base: Module, head: Module) -> bool:
    """Whether two versions of a Python file differ in nothing but comments, docstrings and layout."""
    if base.text == head.text or base.language != "python" or base.path != head.path:
        return False
    return _program(base.tree) == _program(head.tree)


def _program(node: ast.AST | list | object) -> object:
    """All of a tree, annotations too, without texts that stand as statements."""
    if isinstance(node, list):
        return [_program(one) for one in node if not (isinstance(one, ast.Expr) and _is_text(one.value))]
    if not isinstance(node, ast.AST):
        return (type(node), repr(node))
    return (type(node), [_program(value) for _, value in ast.iter_fields(node)])


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def shape(statement: Statement, name: Callable[[str], str]) -> str:
    """A statement's own structure; `x: int = 1` is `x = 1`."""
    kind = (
        type(statement.node).__name__ if len(statement.parts) != 1 or isinstance(statement.parts[0], ast.expr) else ""
    )
    if isinstance(statement.node, ast.AnnAssign) and len(statement.parts) == 2:
        target, value = statement.parts
        return f"(Assign [{dump(target, name)}] {dump(value, name)})"
    return kind + " ".join(dump(part, name) for part in statement.parts)


def names_in_order(statement: Statement, local: frozenset[str]) -> list[str]:
    found: list[str] = []
    shape(statement, lambda name: found.append(name) or name if name in local else name)
    return found


def words(text: str) -> Counter:
    """Names, values and operators of a shape; that both sides have a call or an attribute makes nothing alike."""
    found = text.replace("(", " ").replace(")", " ").replace("[", " ").replace("]", " ").split()
    return Counter(word for word in found if word not in _GRAMMAR)
