"""Code that was cut out of a function or put into it, as it reads where the function calls it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence

from analyzer.change.nodes import last_name
from analyzer.change.shapes import dump
from analyzer.change.source import Function

Key = Callable[[ast.AST], str]


def as_called(call: ast.Call, function: Function, functions: Sequence[Function], key: Key) -> tuple[str, ...] | None:
    """The arguments of a call in one of `functions`, in the names of the first, which calls the others.

    None where that cannot be said: no call of the function or several, arguments that are unpacked, left to a default,
    or rest on a local of its own.
    """
    given = _given(function, functions[0]) if function is not functions[0] else {}
    if given is None:
        return None
    values = _arguments(call)
    names = {one.id for _, value in values for one in ast.walk(value) if isinstance(one, ast.Name)}
    if function is not functions[0] and names & set(function.locals) - given.keys():
        return None

    def outer(name: str) -> str:
        return key(ast.Name(name))

    def inner(name: str) -> str:
        return dump(given[name], outer) if name in given else outer(name)

    return _values(call, lambda value: dump(value, inner))


def _arguments(call: ast.Call) -> list[tuple[str | None, ast.expr]]:
    return [(None, a) for a in call.args] + [(k.arg, k.value) for k in call.keywords]


def _values(call: ast.Call, key: Key) -> tuple[str, ...]:
    return tuple(f"{name}={key(value)}" if name else key(value) for name, value in _arguments(call))


def draw_of(text: str, others: Iterable[Function], caller: Function | None) -> str | None:
    """Which of `others` makes the draw `text`, by itself or where `caller` calls it; None where that is not known."""
    line = " ".join(text.split())
    try:
        call = ast.parse(f"({line})", mode="eval").body
    except SyntaxError:
        call = None
    unsure = False
    for other in others:
        if line in " ".join(other.text.split()):
            return other.name
        if caller is None or not isinstance(call, ast.Call):
            continue
        if not any(
            isinstance(n, ast.Name | ast.Attribute) and last_name(n) == other.simple_name
            for s in caller.statements
            for n in s.nodes
        ):
            continue
        wanted = _values(call, _plain)
        for one in (one for statement in other.statements for one in statement.calls):
            if last_name(one.func) != last_name(call.func):
                continue
            values = as_called(one, other, (caller, other), _plain)
            if values == wanted:
                return other.name
            unsure = unsure or values is None
    return None if unsure else ""


def _plain(node: ast.AST) -> str:
    return dump(node, str)


def _given(function: Function, caller: Function) -> dict[str, ast.expr] | None:
    """Parameter -> what the only call of the function in `caller` hands over for it."""
    calls = [
        call
        for statement in caller.statements
        for call in statement.calls
        if last_name(call.func) == function.simple_name
    ]
    if len(calls) != 1 or any(isinstance(a, ast.Starred) for a in calls[0].args):
        return None
    parameters = [p.arg for p in function.parameters]
    if isinstance(calls[0].func, ast.Attribute) and parameters[:1] in (["self"], ["cls"]):
        parameters = parameters[1:]
    given = dict(zip(parameters, calls[0].args, strict=False)) | {k.arg: k.value for k in calls[0].keywords if k.arg}
    return {name: value for name, value in given.items() if name in parameters and name not in function.assigned}
