"""Statements of a C++ function in the terms that the change facts are written in.

``TORCH_CHECK`` is an assertion, ``#if`` a condition, a dispatch over dtypes an assertion on the dtype. The statements
of a lambda stand behind the statement that it is part of, in a block of their own.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analyzer.change.cuda import vocabulary as v
from analyzer.change.cuda.expressions import (
    Node,
    Verbatim,
    callee,
    children,
    dtype_node,
    expression,
    placed,
    store,
    text_of,
    type_text,
)
from analyzer.change.limits import spend
from analyzer.change.nodes import Block

_AUGMENTED: dict[str, type[ast.operator]] = {
    "+=": ast.Add, "-=": ast.Sub, "*=": ast.Mult, "/=": ast.Div, "%=": ast.Mod, "<<=": ast.LShift, ">>=": ast.RShift,
    "|=": ast.BitOr, "&=": ast.BitAnd, "^=": ast.BitXor,
}  # fmt: skip
_PREPROCESSOR = ("preproc_if", "preproc_ifdef", "preproc_elif", "preproc_elifdef")
_COMPARING = {"EQ": ast.Eq, "NE": ast.NotEq, "LT": ast.Lt, "LE": ast.LtE, "GT": ast.Gt, "GE": ast.GtE}


class Unread(ast.stmt):
    """A part that the grammar could not read."""

    _fields = ("text",)


def block(node: Node | None) -> list[ast.stmt]:
    """The statements of a block, or the one statement that stands in place of one."""
    if node is None:
        return []
    return _sequence(children(node)) if node.type == "compound_statement" else _sequence([node])


def body_of(node: Node, name: str = "body") -> list[ast.stmt]:
    """The statements of a branch or a loop, of which there is always one."""
    return block(node.child_by_field_name(name)) or [placed(ast.Pass(), node)]


def _sequence(nodes: list[Node]) -> list[ast.stmt]:
    found: list[ast.stmt] = []
    pragma: Node | None = None
    for node in nodes:
        if node.type == "preproc_call" and text_of(node).startswith("#pragma"):
            pragma = node
            continue
        made = list(statement(node))
        if pragma is not None and made and isinstance(made[-1], ast.For):
            header, text = made[-1].iter, text_of(pragma)
            header.parts.append(placed(Verbatim(text, []), pragma))
            header.written = f"{text}; {header.written}"
            header.lineno, header.col_offset = pragma.start_point[0] + 1, pragma.start_point[1]
        pragma = None
        found += made
    return found


def statement(node: Node) -> Iterator[ast.stmt]:
    spend(20)
    kind = node.type
    if kind == "compound_statement":
        yield placed(Block(block(node)), node, "")
    elif kind in ("ERROR", "MISSING"):
        yield placed(Unread(text_of(node)), node)
    elif kind == "expression_statement":
        for inner in children(node)[:1]:
            yield from _expression_statement(inner, node)
    elif kind in ("declaration", "field_declaration"):
        yield from declaration(node)
    elif kind == "if_statement":
        yield from _if(node)
    elif kind in _PREPROCESSOR:
        yield _preprocessor(node)
    elif kind == "while_statement" or kind == "do_statement":
        test = expression(node.child_by_field_name("condition"))
        yield placed(ast.While(test, body_of(node), []), node)
    elif kind == "for_statement":
        yield _for(node)
    elif kind == "for_range_loop":
        target = expression(node.child_by_field_name("declarator"))
        over = expression(node.child_by_field_name("right"))
        header = placed(Verbatim("each", [over]), node, over.written)
        yield placed(ast.For(store(target), header, body_of(node), []), node)
    elif kind == "switch_statement":
        yield _switch(node)
    elif kind == "return_statement":
        inner = children(node)
        yield placed(ast.Return(expression(inner[0]) if inner else None), node)
        yield from _lambdas(node)
    elif kind == "throw_statement":
        inner = children(node)
        yield placed(ast.Raise(expression(inner[0]) if inner else None, None), node)
    elif kind == "break_statement":
        yield placed(ast.Break(), node)
    elif kind == "continue_statement":
        yield placed(ast.Continue(), node)
    elif kind == "try_statement":
        yield _try(node)
    elif kind == "labeled_statement":
        yield from (one for inner in children(node)[1:] for one in statement(inner))
    elif kind == "static_assert_declaration":
        yield placed(ast.Assert(expression(node.child_by_field_name("condition")), None), node)
    elif kind in ("comment", "using_declaration", "alias_declaration", "type_definition", "attributed_statement"):
        yield from (one for inner in children(node) if inner.type.endswith("_statement") for one in statement(inner))
    elif node.is_named and not kind.startswith("preproc") and kind not in ("struct_specifier", "class_specifier"):
        yield placed(ast.Expr(placed(Verbatim(kind, [expression(c) for c in children(node)]), node)), node)


def _expression_statement(inner: Node, node: Node) -> Iterator[ast.stmt]:
    if inner.type == "assignment_expression":
        target = store(expression(inner.child_by_field_name("left")))
        value = expression(inner.child_by_field_name("right"))
        sign = text_of(inner.child_by_field_name("operator"))
        if sign == "=":
            yield placed(ast.Assign([target], value), node)
        elif sign in _AUGMENTED:
            yield placed(ast.AugAssign(target, _AUGMENTED[sign](), value), node)
    elif inner.type == "update_expression":
        op = ast.Add() if "++" in text_of(inner) else ast.Sub()
        target = store(expression(inner.child_by_field_name("argument")))
        yield placed(ast.AugAssign(target, op, placed(ast.Constant(1), inner, "1")), node)
    elif inner.type == "call_expression":
        yield _call_statement(inner, node)
    else:
        yield placed(ast.Expr(expression(inner)), node)
    yield from _lambdas(inner)


def _call_statement(inner: Node, node: Node) -> ast.stmt:
    name = callee(inner.child_by_field_name("function"))
    given = children(inner.child_by_field_name("arguments")) if inner.child_by_field_name("arguments") else []
    if v.is_dispatch(name) and given:
        return _dispatch(name, given, inner, node)
    if v.is_status(name) and given:
        return placed(ast.Expr(expression(given[0])), node)
    if v.is_check(name) and given:
        if given[0].type == "false":
            return placed(ast.Raise(expression(inner), None), node)
        way = _COMPARING.get(name.rsplit("_", 1)[-1])
        if way is not None and len(given) > 1:
            test = ast.Compare(expression(given[0]), [way()], [expression(given[1])])
            return placed(ast.Assert(placed(test, inner), None), node)
        known = name in ("assert", "static_assert") or name.endswith(("TORCH_CHECK", "ASSERT", "INTERNAL_ASSERT"))
        return placed(ast.Assert(expression(given[0]) if known else expression(inner), None), node)
    return placed(ast.Expr(expression(inner)), node)


def _dispatch(name: str, given: list[Node], inner: Node, node: Node) -> ast.stmt:
    """An assertion that a dtype is one of those that the macro lets through; of an unknown macro, that it is its."""
    plain = [one for one in given if one.type != "lambda_expression"]
    text = f"{name}({', '.join(map(text_of, plain))})"
    strings = [n for n, one in enumerate(plain) if one.type == "string_literal"]
    at = strings[0] - 1 if name.startswith("AT_") and strings and strings[0] else 0
    subject = expression(plain[at]) if plain else placed(ast.Name(name, ast.Load()), inner)
    known = v.dispatched(name)
    if known is None:
        test: ast.expr = ast.Compare(subject, [ast.Is()], [placed(ast.Name(name, ast.Load()), inner)])
    else:
        more = {one.attr for one in map(expression, plain[:at]) if isinstance(one, ast.Attribute)}
        names = ast.Tuple([dtype_node(dtype, inner) for dtype in sorted(known | more)], ast.Load())
        test = ast.Compare(subject, [ast.In()], [placed(names, inner)])
    return placed(ast.Assert(placed(test, inner, text), None), node)


def _lambdas(node: Node) -> Iterator[ast.stmt]:
    """The bodies of the lambdas in a statement."""
    for child in node.children:
        if child.type == "lambda_expression":
            body = child.child_by_field_name("body")
            yield placed(Block(block(body)), child, "")
        elif child.type != "compound_statement":
            yield from _lambdas(child)


def declaration(node: Node) -> Iterator[ast.stmt]:
    """One assignment a name; its type is the annotation."""
    its = type_text(node.child_by_field_name("type"))
    shared = any(text_of(child) in ("__shared__", "extern") for child in node.children if child.type in _QUALIFIERS)
    for declarator in node.children_by_field_name("declarator"):
        value: ast.expr | None = None
        named = declarator
        if declarator.type == "init_declarator":
            named = declarator.child_by_field_name("declarator")
            given = declarator.child_by_field_name("value")
            value = _initial(given, its)
        elif declarator.type == "function_declarator":
            given = declarator.child_by_field_name("parameters")
            if its == "void" or any(_is_parameter(one) for one in children(given)):
                continue  # a function that is declared here
            named = declarator.child_by_field_name("declarator")
            args: list[ast.expr] = [placed(ast.Name(text_of(one), ast.Load()), one) for one in children(given)]
            called = placed(ast.Name(its, ast.Load()), declarator)
            value = placed(ast.Call(called, args, []), declarator, f"{its}({', '.join(map(text_of, children(given)))})")
        base, suffix, sizes = declared(named)
        if base is None or base.type not in ("identifier", "field_identifier"):
            for one in _descend_names(named):
                yield placed(ast.Assign([store(expression(one))], value or placed(ast.Constant(None), node)), node)
            continue
        if sizes and value is None and not shared:
            value = placed(Verbatim("array", [expression(size) for size in sizes]), declarator)
        target = store(placed(ast.Name(text_of(base), ast.Load()), base))
        made = placed(
            ast.AnnAssign(target, placed(ast.Name(its + suffix, ast.Load()), node, its + suffix), value, 1), node
        )
        made.sizes = [expression(size) for size in sizes]
        made.shared = shared
        yield made
        yield from _lambdas(declarator)


def _is_parameter(node: Node) -> bool:
    """Whether what may be an argument of a constructor can only be a parameter: it has a qualifier or a name."""
    kinds = {child.type for child in children(node)}
    return bool(kinds & {"type_qualifier", "reference_declarator"}) or {"primitive_type", "identifier"} <= kinds


_QUALIFIERS = frozenset({"type_qualifier", "storage_class_specifier"})


def _initial(given: Node | None, type_: str) -> ast.expr | None:
    """The value of ``T x = value``, of ``T x(a, b)`` and of ``T x{a, b}``."""
    if given is None:
        return None
    if given.type == "argument_list" or (given.type == "initializer_list" and v.dtype_of_type(type_)):
        inner = children(given)
        if len(inner) == 1 and v.dtype_of_type(type_):
            return expression(inner[0])
        args = [expression(one) for one in inner]
        return placed(ast.Call(placed(ast.Name(type_, ast.Load()), given), args, []), given, f"{type_}{text_of(given)}")
    return expression(given)


def declared(node: Node | None) -> tuple[Node | None, str, list[Node]]:
    """(name, what a declarator adds to the type, sizes of an array)."""
    suffix, sizes = "", []
    while node is not None and node.type not in ("identifier", "field_identifier", "qualified_identifier"):
        if node.type == "pointer_declarator":
            suffix += "*"
        elif node.type == "reference_declarator":
            suffix += "&"
        elif node.type == "array_declarator":
            suffix += "[]"
            size = node.child_by_field_name("size")
            sizes[:0] = [size] if size is not None else []
        inner = node.child_by_field_name("declarator")
        if inner is None:
            inner = next((c for c in children(node) if c.type.endswith(("declarator", "identifier"))), None)
        node = inner
    return node, suffix, sizes


def _descend_names(node: Node | None) -> Iterator[Node]:
    for child in node.children if node is not None else ():
        if child.type == "identifier":
            yield child
        else:
            yield from _descend_names(child)


def _if(node: Node) -> Iterator[ast.stmt]:
    """A branch with all that follow by ``else if``; these are walked in a loop, as there may be hundreds."""
    chain: list[Node] = []
    orelse: list[ast.stmt] = []
    following: Node | None = node
    while following is not None:
        chain.append(following)
        other = following.child_by_field_name("alternative")
        inner = children(other) if other is not None else []
        following = (
            inner[0] if len(inner) == 1 and inner[0].type == "if_statement" and not _declares(inner[0]) else None
        )
        if following is None:
            orelse = [one for child in inner for one in block(child)]
    for one in reversed(chain):
        condition = one.child_by_field_name("condition")
        parts = children(condition) if condition is not None else []
        test = _test(parts[-1]) if parts else placed(ast.Constant(True), one)
        orelse = [placed(ast.If(test, body_of(one, "consequence"), orelse), one, "if")]
    if _declares(node):  # if (int x = f(); x > 0)
        for first in children(node.child_by_field_name("condition"))[:-1]:
            yield from (made for inner in children(first) for made in statement(inner))
    yield from orelse


def _declares(node: Node) -> bool:
    condition = node.child_by_field_name("condition")
    return condition is not None and len(children(condition)) > 1


def _test(node: Node) -> ast.expr:
    if node.type == "declaration":
        made = list(declaration(node))
        value = getattr(made[0], "value", None) if made else None
        return value if value is not None else placed(Verbatim("declaration", []), node)
    return expression(node)


def condition_of(node: Node) -> ast.expr:
    """The test of ``#if``, ``#ifdef``, ``#elif``."""
    if node.type in ("preproc_ifdef", "preproc_elifdef"):
        name = node.child_by_field_name("name")
        macro = placed(ast.Name(text_of(name), ast.Load()), name)
        test = placed(ast.Call(ast.Name("defined", ast.Load()), [macro], []), name, f"defined({text_of(name)})")
        negative = node.children[0].type in ("#ifndef", "#elifndef")
        return placed(ast.UnaryOp(ast.Not(), test), name, f"!{test.written}") if negative else test
    return expression(node.child_by_field_name("condition"))


def branches(node: Node) -> tuple[list[Node], Node | None]:
    """(what stands in the branch of a preprocessor condition, the next branch)."""
    skipped = [node.child_by_field_name(name) for name in ("name", "condition", "alternative")]
    ids = {one.id for one in skipped if one is not None}
    return [child for child in children(node) if child.id not in ids], node.child_by_field_name("alternative")


def _preprocessor(node: Node) -> ast.stmt:
    body, following = branches(node)
    orelse: list[ast.stmt] = []
    if following is not None:
        orelse = _sequence(branches(following)[0]) if following.type == "preproc_else" else [_preprocessor(following)]
    return placed(ast.If(condition_of(node), _sequence(body) or [placed(ast.Pass(), node)], orelse), node)


def _for(node: Node) -> ast.stmt:
    first = node.child_by_field_name("initializer")
    test, step = (node.child_by_field_name(name) for name in ("condition", "update"))
    target: ast.expr = placed(ast.Name("_", ast.Store()), node, "")
    parts: list[ast.expr] = []
    if first is not None:
        for made in declaration(first) if first.type == "declaration" else _expression_statement(first, first):
            its = getattr(made, "target", None) or (made.targets[0] if isinstance(made, ast.Assign) else None)
            if its is not None:
                target = its
                parts.append(placed(Verbatim("from", [its, *([made.value] if made.value is not None else [])]), first))
    for one in (test, step):
        if one is not None:
            made = expression(one)
            parts.append(_one_way(made))
    texts = [text_of(one).rstrip(";").strip() if one is not None else "" for one in (first, test, step)]
    header = placed(Verbatim("for", parts), node, "; ".join(texts))
    header.end_lineno, header.end_col_offset = _header_end(node)
    return placed(ast.For(target, header, body_of(node), []), node)


def _one_way(step: ast.expr) -> ast.expr:
    """``i++``, ``++i`` and ``i += 1`` are the same step."""
    if isinstance(step, Verbatim) and step.sort in ("++", "--"):
        one = ast.copy_location(ast.Constant(1), step)
        one.written = "1"
        made = ast.copy_location(Verbatim(f"assign {step.sort[0]}=", [*step.parts, one]), step)
        made.written = step.written
        return made
    return step


def _header_end(node: Node) -> tuple[int, int]:
    close = next((c for c in node.children if c.type == ")"), node)
    return close.end_point[0] + 1, close.end_point[1]


def _switch(node: Node) -> ast.stmt:
    cases = []
    for child in children(node.child_by_field_name("body")):
        if child.type != "case_statement":
            continue
        value = child.child_by_field_name("value")
        inner = [c for c in children(child) if value is None or c.id != value.id]
        body = _sequence(inner)
        if body and isinstance(body[-1], ast.Break):
            body.pop()
        pattern = ast.MatchValue(expression(value)) if value is not None else ast.MatchAs()
        pattern = placed(pattern, value if value is not None else child, None if value is not None else "default")
        cases.append(placed(ast.match_case(pattern, None, body or [placed(ast.Pass(), child)]), child))
    return placed(ast.Match(expression(node.child_by_field_name("condition")), cases), node)


def _try(node: Node) -> ast.stmt:
    handlers = [
        placed(ast.ExceptHandler(None, None, body_of(child)), child)
        for child in children(node)
        if child.type == "catch_clause"
    ]
    return placed(ast.Try(body_of(node), handlers, [], []), node)
