"""What changed in a function's signature and in what surrounds it: parameters, defaults, launch decorators."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analyzer.change.align import Alignment
from analyzer.change.edits import Side, at, make
from analyzer.change.inside.launches import autotune
from analyzer.change.nodes import last_name
from analyzer.change.source import Function
from analyzer.change.writing import written
from analyzer.model.change import Edit

#: What a method is called on: a function of another place has it not, and no caller gives it.
RECEIVERS = ("self", "cls")


def signature_edits(alignment: Alignment) -> Iterator[Edit]:
    """Edits of the first function of each side; those cut out of it have no other version."""
    base, head = alignment.base[0], alignment.head[0]
    x = {alignment.base_name(p.arg): p for p in _given(base)}
    y = {alignment.head_name(p.arg): p for p in _given(head)}
    defaults_x, defaults_y = _defaults(base), _defaults(head)
    moved = _moved(list(x), list(y))  # another name at another place is another parameter
    for name in dict.fromkeys([*x, *y]):
        p, q = x.get(name), y.get(name)
        if p is None or q is None:
            one, function, has = (q, head, defaults_y) if p is None else (p, base, defaults_x)
            detail = {"parameter": one.arg, "required": one.arg not in has, "kernel": function.is_kernel}
            yield _edit("parameter", p, q, base, head, detail)
            continue
        if p.arg != q.arg and ((_typed(p), _constexpr(p)) != (_typed(q), _constexpr(q)) or name in moved):
            for function, one, sides, has in ((base, p, (p, None), defaults_x), (head, q, (None, q), defaults_y)):
                detail = {"parameter": one.arg, "required": one.arg not in has, "kernel": function.is_kernel}
                yield _edit("parameter", *sides, base, head, detail)
            continue
        if p.arg != q.arg and head.module.language == "python":  # elsewhere arguments have no names
            detail = {"renamed": True, "name_before": p.arg, "name_after": q.arg, "kernel": head.is_kernel}
            yield _edit("parameter", p, q, base, head, detail)
        elif p.arg == q.arg and _constexpr(p) != _constexpr(q):
            detail = {"parameter": q.arg, "constexpr_before": _constexpr(p), "constexpr_after": _constexpr(q)}
            yield _edit("parameter", p, q, base, head, detail)
        elif _typed(p) != _typed(q):
            detail = {"parameter": q.arg, "type_before": _typed(p), "type_after": _typed(q)}
            yield _edit("parameter", p, q, base, head, detail)
        a, b = defaults_x.get(p.arg), defaults_y.get(q.arg)
        if (a is None) != (b is None) or (a is not None and alignment.base_key(a) != alignment.head_key(b)):
            detail = {
                "parameter": q.arg if p.arg == q.arg else alignment.head_name(q.arg),
                "default_before": written(a) if a is not None else "",
                "default_after": written(b) if b is not None else "",
            }
            yield _edit("default", p, q, base, head, detail)
    if head.module.language != "python":  # what the compiler is given has an order of its own
        x, y = ({n: p for n, p in side.items() if not _constexpr(p)} for side in (x, y))
    other = any(name in moved and x[name].arg != y[name].arg for name in x.keys() & y.keys())
    if not other and not (x.keys() ^ y.keys()) and [n for n in x] != [n for n in y]:
        detail = {
            "order_before": ", ".join(p.arg for p in x.values()),
            "order_after": ", ".join(p.arg for p in y.values()),
        }
        yield _edit("parameter", base.node.args, head.node.args, base, head, detail)
    yield from _decorators(base, head)


def _given(function: Function) -> list[ast.arg]:
    """The parameters without the receiver, which is the first one."""
    return [p for n, p in enumerate(function.parameters) if n or p.arg not in RECEIVERS]


def _moved(x: list[str], y: list[str]) -> set[str]:
    """Parameters that both have and that stand at another place among those."""
    x, y = [name for name in x if name in y], [name for name in y if name in x]
    return {name for one, two in zip(x, y, strict=True) if one != two for name in (one, two)}


def _decorators(base: Function, head: Function) -> Iterator[Edit]:
    x, y = autotune(base), autotune(head)
    for name in sorted(x.keys() | y.keys()):
        before, after = x.get(name, ""), y.get(name, "")
        if before != after:
            detail = {"kernel": head.simple_name, "options": name}
            yield make("launch-changed", at(base, text=before), at(head, text=after), detail)


def _edit(noun: str, p: ast.AST | None, q: ast.AST | None, base: Function, head: Function, detail: dict) -> Edit:
    way = "changed" if p is not None and q is not None else "removed" if q is None else "added"
    before = written(p) if p is not None else ""
    after = written(q) if q is not None else ""
    sides = [
        Side(function, getattr(node, "lineno", function.line), text)
        for function, node, text in ((base, p, before), (head, q, after))
    ]
    return make(f"{noun}-{way}", *sides, detail)


def _defaults(function: Function) -> dict[str, ast.expr]:
    a = function.node.args
    positional = [*a.posonlyargs, *a.args]
    found = dict(zip((p.arg for p in positional[len(positional) - len(a.defaults) :]), a.defaults, strict=True))
    return found | {p.arg: d for p, d in zip(a.kwonlyargs, a.kw_defaults, strict=True) if d is not None}


def _constexpr(parameter: ast.arg) -> bool:
    annotation = parameter.annotation
    if annotation is None or isinstance(annotation, ast.Name | ast.Attribute):
        return "constexpr" in last_name(annotation) if annotation is not None else False
    return "constexpr" in written(annotation)


def _typed(parameter: ast.arg) -> str:
    """The type of a C++ parameter without qualifiers; a Python annotation runs nothing."""
    return written(parameter.annotation) if hasattr(parameter, "written") else ""
