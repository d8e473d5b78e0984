"""Expressions of a C++ source in the terms that the change facts are written in: the nodes of Python's own grammar.

A cast is ``x.to(dtype)``, a launch ``kernel[grid, block, shared, stream](...)``, a template argument a keyword. Every
node carries the text that it was written as, and its place.
"""

from __future__ import annotations

import ast
import re
from typing import Any

from analyzer.change.cuda import vocabulary as v
from analyzer.change.nodes import last_name

#: A node of tree-sitter's.
Node = Any


class Verbatim(ast.expr):
    """An expression of a sort that Python has not; `parts` are its own expressions."""

    _fields = ("sort", "parts")


class Double(float):
    """A number without the suffix that would make it a float."""

    def __repr__(self) -> str:
        return f"{float(self)!r}d"


_BINARY: dict[str, type[ast.operator]] = {
    "+": ast.Add, "-": ast.Sub, "*": ast.Mult, "/": ast.Div, "%": ast.Mod, "<<": ast.LShift, ">>": ast.RShift,
    "|": ast.BitOr, "&": ast.BitAnd, "^": ast.BitXor,
}  # fmt: skip
_COMPARE: dict[str, type[ast.cmpop]] = {
    "==": ast.Eq, "!=": ast.NotEq, "<": ast.Lt, "<=": ast.LtE, ">": ast.Gt, ">=": ast.GtE,
}  # fmt: skip
_NAMES = frozenset({"identifier", "field_identifier", "type_identifier", "namespace_identifier", "this",
                    "primitive_type", "sized_type_specifier", "auto", "placeholder_type_specifier", "operator_name",
                    "destructor_name"})  # fmt: skip
_CASTS = frozenset({"static_cast", "reinterpret_cast", "const_cast", "dynamic_cast"})
_QUALIFIER = re.compile(r"\b(?:const|volatile|static|constexpr|inline|register|extern|__shared__|__restrict__|"
                        r"__constant__|__device__|typename|mutable|thread_local)\b")  # fmt: skip


def text_of(node: Node) -> str:
    """The source of a node on one line, without comments."""
    return one_line(node.text.decode("utf-8", "replace"))


def one_line(raw: str) -> str:
    if "//" in raw or "/*" in raw:
        raw = re.sub(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', lambda m: m[1] or " ", raw, flags=re.DOTALL)
    return " ".join(raw.split())


def placed(made: ast.AST, node: Node, text: str | None = None) -> ast.AST:
    """The node with its place in the source and its text."""
    made.lineno, made.col_offset = node.start_point[0] + 1, node.start_point[1]
    made.end_lineno, made.end_col_offset = node.end_point[0] + 1, node.end_point[1]
    made.written = text_of(node) if text is None else text
    return made


def type_text(node: Node | None) -> str:
    """A type without its qualifiers, in one spelling: ``unsigned int`` of ``const unsigned``."""
    if node is None:
        return ""
    text = " ".join(_QUALIFIER.sub(" ", text_of(node)).split()).replace(" *", "*").replace(" &", "&")
    bare = text.rstrip("*&")
    dtype = v.dtype_of_type(bare)
    return v.SPELLED.get(dtype, bare) + text[len(bare) :]


def children(node: Node) -> list[Node]:
    return [child for child in node.named_children if child.type != "comment"]


def expression(node: Node) -> ast.expr:
    """One expression; of a lambda the header alone, its statements are those of the function that it stands in."""
    make = _MAKERS.get(node.type)
    if make is not None:
        return make(node)
    if node.type in _NAMES:
        return placed(ast.Name(text_of(node), ast.Load()), node)
    return verbatim(node)


def verbatim(node: Node) -> ast.expr:
    inner = children(node)
    if not inner:
        return placed(Verbatim(f"{node.type} {text_of(node)}", []), node)
    sign = " ".join(child.type for child in node.children if not child.is_named and len(child.type) < 4)
    return placed(Verbatim(f"{node.type} {sign}", [expression(child) for child in inner]), node)


def store(target: ast.expr) -> ast.expr:
    if isinstance(target, ast.Name | ast.Attribute | ast.Subscript):
        target.ctx = ast.Store()
    return target


def _number(node: Node) -> ast.expr:
    text = text_of(node)
    plain = text.replace("'", "").lower()
    try:
        if plain.startswith(("0x", "0b")) and "p" not in plain:
            value: Any = int(plain.rstrip("ul"), 0)
        elif re.fullmatch(r"\d+[ulz]*", plain):
            digits = plain.rstrip("ulz")
            value = int(digits, 8 if digits.startswith("0") and len(digits) > 1 else 10)
        elif plain.startswith("0x"):
            value = float.fromhex(plain.rstrip("f"))
        else:
            value = float(plain.rstrip("fl")) if plain.endswith("f") else Double(plain.rstrip("l"))
    except ValueError:
        value = plain
    return placed(ast.Constant(value), node)


def _string(node: Node) -> ast.expr:
    return placed(ast.Constant(text_of(node)), node)


def _binary(node: Node) -> ast.expr:
    sign = text_of(node.child_by_field_name("operator"))
    left, right = (expression(node.child_by_field_name(side)) for side in ("left", "right"))
    if sign in ("&&", "and", "||", "or"):
        op = ast.And if sign in ("&&", "and") else ast.Or
        same = [list(e.values) if isinstance(e, ast.BoolOp) and type(e.op) is op else [e] for e in (left, right)]
        return placed(ast.BoolOp(op(), [*same[0], *same[1]]), node)
    if sign in _COMPARE:
        return placed(ast.Compare(left, [_COMPARE[sign]()], [right]), node)
    if sign in _BINARY:
        return placed(ast.BinOp(left, _BINARY[sign](), right), node)
    return verbatim(node)


def _unary(node: Node) -> ast.expr:
    sign = text_of(node.child_by_field_name("operator"))
    operand = expression(node.child_by_field_name("argument"))
    ops = {"!": ast.Not, "not": ast.Not, "-": ast.USub, "+": ast.UAdd, "~": ast.Invert}
    return placed(ast.UnaryOp(ops[sign](), operand), node) if sign in ops else verbatim(node)


def _pointer(node: Node) -> ast.expr:
    """``*p`` is ``p[0]``; an address stays as it is."""
    operand = expression(node.child_by_field_name("argument"))
    if text_of(node.child_by_field_name("operator")) == "*":
        return placed(ast.Subscript(operand, placed(ast.Constant(0), node, "0"), ast.Load()), node)
    return placed(Verbatim("&", [operand]), node)


def _field(node: Node) -> ast.expr:
    value = expression(node.child_by_field_name("argument"))
    name = node.child_by_field_name("field")
    if name.type == "template_method":
        name = name.child_by_field_name("name")
    return placed(ast.Attribute(value, text_of(name).rpartition("::")[2], ast.Load()), node)


def _qualified(node: Node) -> ast.expr:
    names = [part for part in re.sub(r"<.*>", "", text_of(node)).split("::") if part]
    names = [part.strip() for part in names] or [text_of(node)]
    dtype = v.scalar_type(names)
    if dtype:
        return dtype_node(dtype, node)
    if names[0] in v.TORCH:
        names[0] = "torch"
    made: ast.expr = placed(ast.Name(names[0], ast.Load()), node)
    for name in names[1:]:
        made = placed(ast.Attribute(made, name, ast.Load()), node)
    return made


def dtype_node(dtype: str, node: Node) -> ast.expr:
    """``torch.float32``, however the source spells it."""
    return placed(ast.Attribute(placed(ast.Name("torch", ast.Load()), node), dtype, ast.Load()), node)


def _identifier(node: Node) -> ast.expr:
    name = text_of(node)
    if name in ("NULL", "nullptr"):
        return placed(ast.Constant(None), node)
    return (
        dtype_node(v.SCALAR_TYPES[name], node) if name in v.SCALAR_TYPES else placed(ast.Name(name, ast.Load()), node)
    )


def _subscript(node: Node) -> ast.expr:
    indices = children(node.child_by_field_name("indices"))
    index = (
        expression(indices[0])
        if len(indices) == 1
        else placed(ast.Tuple([*map(expression, indices)], ast.Load()), node)
    )
    return placed(ast.Subscript(expression(node.child_by_field_name("argument")), index, ast.Load()), node)


def _inner(node: Node) -> ast.expr:
    inner = children(node)
    return expression(inner[0]) if len(inner) == 1 else verbatim(node)


def cast(operand: ast.expr, target: Node, node: Node) -> ast.expr:
    """``operand.to(dtype)``: a cast of a value to a plain type or to a type that is a parameter."""
    name = type_text(target)
    dtype = v.dtype_of_type(name)
    if dtype:
        to = dtype_node(dtype, target)
    elif any(sign in name for sign in "*&(") or name == "void":
        return placed(Verbatim(f"cast {name.replace(' ', '')}", [operand]), node)
    else:
        its = placed(ast.Name(name, ast.Load()), target)
        to = placed(ast.Attribute(its, "dtype", ast.Load()), target)
    return placed(ast.Call(placed(ast.Attribute(operand, "to", ast.Load()), node), [to], []), node)


def _cast(node: Node) -> ast.expr:
    return cast(expression(node.child_by_field_name("value")), node.child_by_field_name("type"), node)


def _conditional(node: Node) -> ast.expr:
    parts = [node.child_by_field_name(name) for name in ("condition", "consequence", "alternative")]
    if None in parts:
        return verbatim(node)
    test, body, other = map(expression, parts)
    return placed(ast.IfExp(test, body, other), node)


def _assigned(node: Node) -> ast.expr:
    """An assignment within an expression."""
    sign = node.child_by_field_name("operator")
    sides = [expression(node.child_by_field_name(side)) for side in ("left", "right")]
    return placed(Verbatim(f"assign {text_of(sign)}", sides), node)


def _update(node: Node) -> ast.expr:
    sign = text_of(node.child_by_field_name("operator"))
    return placed(Verbatim(sign, [expression(node.child_by_field_name("argument"))]), node)


def _list(node: Node) -> ast.expr:
    return placed(ast.Tuple([*map(expression, children(node))], ast.Load()), node)


def _lambda(node: Node) -> ast.expr:
    return placed(Verbatim("lambda", []), node, "[...] { ... }")


def _asm(node: Node) -> ast.expr:
    words = [text_of(child) for child in _descend(node, "string_literal")]
    code = " ".join(words)
    return placed(
        ast.Call(placed(ast.Name("asm", ast.Load()), node), [placed(ast.Constant(code), node, code)], []), node
    )


def _descend(node: Node, kind: str) -> list[Node]:
    found = []
    for child in node.children:
        found += [child] if child.type == kind else _descend(child, kind)
    return found


def call(node: Node) -> ast.expr:
    """A call, a cast in the form of one, or a launch."""
    function = node.child_by_field_name("function")
    given = node.child_by_field_name("arguments")
    arguments = children(given) if given is not None else []
    template = _template_arguments(function)
    name = callee(function)
    if name in _CASTS and len(arguments) == 1 and template:
        if name == "const_cast":
            return expression(arguments[0])
        return cast(expression(arguments[0]), template[0], node)
    if len(arguments) == 1 and (function.type == "primitive_type" or v.dtype_of_type(text_of(function))):
        return cast(expression(arguments[0]), function, node)
    args = [
        expression(argument) for argument in arguments if argument.type != "lambda_expression" or name != "dispatch"
    ]
    dtype = v.converted(name)
    if dtype and args:
        to = dtype_node(dtype, node)
        return placed(ast.Call(placed(ast.Attribute(args[0], "to", ast.Load()), node), [to], []), node)
    keywords = [
        placed(ast.keyword(f"template argument {n + 1}", expression(argument)), argument)
        for n, argument in enumerate(template)
    ]
    func = expression(function)
    launch = next((child for child in node.children if child.type == "kernel_call_syntax"), None)
    if launch is not None:
        options = placed(ast.Tuple([*map(expression, children(launch))], ast.Load()), launch)
        func = placed(ast.Subscript(func, options, ast.Load()), node)
    return placed(ast.Call(func, args, keywords), node)


def operation(call: ast.Call) -> str:
    """The barrier or fence that a call is, empty for any other call."""
    name = last_name(call.func)
    if name in v.BARRIERS:
        return name
    if name in v.BARRIER_METHODS and isinstance(call.func, ast.Attribute):
        return f"{name}()"
    if name == "asm" and call.args:
        found = v.ASSEMBLY.search(str(getattr(call.args[0], "value", "")))
        return found[1] if found else ""
    return ""


def callee(function: Node) -> str:
    """The last name of what is called, without namespaces and template arguments."""
    text = re.sub(r"<.*", "", text_of(function), flags=re.DOTALL)
    return re.split(r"::|\.|->", text)[-1].strip()


def _template_arguments(function: Node) -> list[Node]:
    while True:
        its = next((child for child in function.children if child.type == "template_argument_list"), None)
        if its is not None:
            return children(its)
        deeper = function.child_by_field_name("name") or function.child_by_field_name("field")
        if deeper is None:
            return []
        function = deeper


def _template_function(node: Node) -> ast.expr:
    return placed(ast.Name(text_of(node.child_by_field_name("name")), ast.Load()), node)


def _type_descriptor(node: Node) -> ast.expr:
    return placed(ast.Name(type_text(node), ast.Load()), node)


_MAKERS = {
    "number_literal": _number,
    "string_literal": _string, "raw_string_literal": _string, "char_literal": _string, "concatenated_string": _string,
    "true": lambda node: placed(ast.Constant(True), node), "false": lambda node: placed(ast.Constant(False), node),
    "null": lambda node: placed(ast.Constant(None), node), "nullptr": lambda node: placed(ast.Constant(None), node),
    "identifier": _identifier, "binary_expression": _binary, "unary_expression": _unary,
    "pointer_expression": _pointer, "field_expression": _field, "qualified_identifier": _qualified,
    "subscript_expression": _subscript, "parenthesized_expression": _inner, "condition_clause": _inner,
    "cast_expression": _cast, "conditional_expression": _conditional, "assignment_expression": _assigned,
    "update_expression": _update, "initializer_list": _list, "lambda_expression": _lambda, "gnu_asm_expression": _asm,
    "call_expression": call, "template_function": _template_function, "type_descriptor": _type_descriptor,
}  # fmt: skip
