"""Reading CUDA and C++ files: their functions with qualified names, their constants, and what could not be read."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property

from analyzer.change.cuda import vocabulary as v
from analyzer.change.cuda.expressions import Node, children, expression, one_line, operation, placed, text_of, type_text
from analyzer.change.cuda.statements import block, branches, condition_of, declared
from analyzer.change.nodes import last_name
from analyzer.change.source import TOLD, Function, Module, plain
from analyzer.change.writing import written
from analyzer.model.base import Text

#: Characters of a value in ``#define`` that is compared.
VALUE = 200
_SCOPES = ("namespace_definition", "class_specifier", "struct_specifier", "union_specifier")
_CONDITIONS = ("preproc_if", "preproc_ifdef", "preproc_elif", "preproc_elifdef", "preproc_else")
_DEVICE = frozenset({"__global__", "__device__"})


@cache
def _parser():
    import tree_sitter  # reports on other files do without it
    import tree_sitter_cuda

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_cuda.language()))


class CppFunction(Function):
    """A function, method or kernel. `key` tells overloads and alternatives under ``#if`` apart."""

    def __init__(self, name: str, definition: Node, outer: Node, module: CppModule, owner: str, where: str) -> None:
        self.__dict__.update(name=name, definition=definition, outer=outer, module=module, owner=owner, where=where)
        self.__dict__["key"] = name

    @property
    def simple_name(self) -> str:
        return self.name.rsplit("::", 1)[-1]

    @property
    def line(self) -> int:
        return self.definition.start_point[0] + 1

    @cached_property
    def text(self) -> str:
        return self.outer.text.decode("utf-8", "replace")

    @cached_property
    def words(self) -> frozenset[str]:
        """What stands before the function's name: ``__global__``, ``static``."""
        body = self.definition.child_by_field_name("body")
        head = self.text if body is None else self.outer.text[: body.start_byte - self.outer.start_byte].decode()
        return frozenset(re.findall(r"\w+", head.split("(")[0] + " " + _before_name(self.definition)))

    @cached_property
    def is_kernel(self) -> bool:
        """Whether it runs on the device."""
        return bool(self.words & _DEVICE)

    @property
    def kind(self) -> str:
        return "kernel" if "__global__" in self.words else "method" if self.owner else "function"

    @property
    def header(self) -> str:
        body = self.definition.child_by_field_name("body")
        end = body.start_byte if body is not None else self.definition.end_byte
        raw = self.definition.text[: end - self.definition.start_byte].decode("utf-8", "replace")
        return one_line(raw).split("{")[0].strip()

    @cached_property
    def signature(self) -> str:
        types = [type_text(p.child_by_field_name("type")) + declared(p.child_by_field_name("declarator"))[1]
                 for p in self._parameter_nodes]  # fmt: skip
        return f"{self.name}({', '.join(types)}) {self.where}"

    @cached_property
    def _parameter_nodes(self) -> list[Node]:
        declarator = _function_declarator(self.definition)
        given = declarator.child_by_field_name("parameters") if declarator is not None else None
        return [p for p in children(given) if p.type.endswith("parameter_declaration")] if given is not None else []

    @cached_property
    def node(self) -> ast.FunctionDef:
        positional, defaults = [], []
        for p in self._parameter_nodes:
            name, suffix, _ = declared(p.child_by_field_name("declarator"))
            if name is None:
                continue
            its = type_text(p.child_by_field_name("type")) + suffix
            positional.append(_argument(text_of(name), its, p))
            default = p.child_by_field_name("default_value")
            if default is not None:
                defaults.append(expression(default))
        compile_time, its_defaults = [], []
        for p in self._template_parameters():
            made, default = _template_parameter(p)
            if made is not None:
                compile_time.append(made)
                its_defaults.append(default)
        arguments = ast.arguments([], positional, None, compile_time, its_defaults, None, defaults)
        placed(arguments, self.definition, ", ".join(p.written for p in positional))
        bounds = [
            placed(ast.Call(placed(ast.Name("__launch_bounds__", ast.Load()), one),
                            [expression(c) for c in children(one)], []), one)
            for one in self.definition.children if one.type == "launch_bounds"
        ]  # fmt: skip
        made = ast.FunctionDef(
            name=self.simple_name, args=arguments,
            body=[*self._initialized(), *block(self.definition.child_by_field_name("body"))],
            decorator_list=bounds, returns=None, type_comment=None,
        )  # fmt: skip
        return placed(made, self.definition, self.header)

    def _template_parameters(self) -> Iterator[Node]:
        if self.outer.type == "template_declaration":
            for given in self.outer.children_by_field_name("parameters"):
                yield from children(given)

    def _initialized(self) -> Iterator[ast.stmt]:
        """Members that a constructor gives a value before its body."""
        for given in self.definition.children:
            for one in children(given) if given.type == "field_initializer_list" else ():
                parts = children(one)
                values = [expression(c) for p in parts[1:] for c in children(p)]
                target = placed(ast.Name(text_of(parts[0]), ast.Store()), parts[0])
                value = values[0] if len(values) == 1 else placed(ast.Tuple(values, ast.Load()), one)
                yield placed(ast.Assign([target], value), one)

    @cached_property
    def unread(self) -> tuple[str, ...]:
        """The parts of the function that could not be read."""
        return tuple(text_of(node) for node in _errors(self.outer)) if self.outer.has_error else ()

    @cached_property
    def subscripts(self) -> frozenset[str]:
        """Names whose values reach a subscript or are added to a pointer."""
        found: set[str] = set()
        pointers = {p.arg for p in self.parameters if p.annotation is not None and written(p.annotation).endswith("*")}
        for statement in self.statements:
            node = statement.node
            if (
                isinstance(node, ast.AnnAssign)
                and written(node.annotation).endswith("*")
                and isinstance(node.target, ast.Name)
            ):
                pointers.add(node.target.id)
        for statement in self.statements:
            for node in statement.nodes:
                if isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Tuple):
                    found |= _names(node.slice)
                    if isinstance(node.value, ast.BinOp):
                        found |= _names(node.value)
                elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
                    both = _names(node.left) | _names(node.right)
                    found |= both - pointers if both & pointers else set()
        grown = True
        while grown:
            before = len(found)
            for name in list(found):
                for _, value in self.assigned.get(name, ()):
                    found |= _names(value)
            grown = len(found) > before
        return frozenset(found - pointers)


def _names(node: ast.AST) -> set[str]:
    """Names in an index, without those inside of what it reads from memory or from a call."""
    if isinstance(node, ast.Subscript) or (isinstance(node, ast.Call) and not isinstance(node.func, ast.Attribute)):
        return set()
    if isinstance(node, ast.Name):
        return {node.id}
    return {name for child in ast.iter_child_nodes(node) for name in _names(child)}


def _before_name(definition: Node) -> str:
    declarator = definition.child_by_field_name("declarator")
    end = declarator.start_byte if declarator is not None else definition.end_byte
    return definition.text[: end - definition.start_byte].decode("utf-8", "replace")


def _argument(name: str, type_: str, node: Node) -> ast.arg:
    return placed(ast.arg(name, placed(ast.Name(type_, ast.Load()), node, type_)), node)


def _template_parameter(p: Node) -> tuple[ast.arg | None, ast.expr | None]:
    if p.type in (
        "type_parameter_declaration",
        "optional_type_parameter_declaration",
        "variadic_type_parameter_declaration",
    ):
        name = next((c for c in children(p) if c.type == "type_identifier"), None)
        default = p.child_by_field_name("default_type")
        given = placed(ast.Name(type_text(default), ast.Load()), default) if default is not None else None
        return (_argument(text_of(name), "constexpr typename", p) if name is not None else None), given
    name, _, _ = declared(p.child_by_field_name("declarator"))
    if name is None:
        return None, None
    default = p.child_by_field_name("default_value")
    its = f"constexpr {type_text(p.child_by_field_name('type'))}"
    return _argument(text_of(name), its, p), expression(default) if default is not None else None


def _function_declarator(definition: Node) -> Node | None:
    node = definition.child_by_field_name("declarator")
    while node is not None and node.type != "function_declarator":
        node = node.child_by_field_name("declarator") or next(
            (c for c in children(node) if c.type.endswith("declarator")), None
        )
    return node


def _errors(node: Node) -> Iterator[Node]:
    if node.type == "ERROR" or node.is_missing:
        yield node
    elif node.has_error:
        for child in node.children:
            yield from _errors(child)


@dataclass(eq=False)
class CppModule(Module):
    """One C++ file of one revision. `remarks`: what a reader has to know of its edits."""

    remarks: tuple[Text, ...] = ()
    language = "cuda"
    _constants: dict[str, ast.stmt] = field(default_factory=dict)

    @cached_property
    def root(self) -> Node:
        return _parser().parse(self.text.encode("utf-8", "surrogatepass")).root_node

    @cached_property
    def found(self) -> tuple[list[CppFunction], list[tuple[str, str, Node, Node | None]]]:
        """Functions, and constants as (name, condition, definition, value), in the order of the file."""
        functions: list[CppFunction] = []
        constants: list[tuple[str, str, Node, Node | None]] = []

        def visit(node: Node, scope: tuple[str, ...], owner: str, where: str, outer: Node | None) -> None:
            kind = node.type
            if kind == "function_definition":
                name = _name_of(node)
                if name:
                    inner = "::".join((*scope, name))
                    method = owner or ("::".join((*scope, name)).rpartition("::")[0] if "::" in name else "")
                    functions.append(CppFunction(inner, node, outer or node, self, method, where))
            elif kind == "template_declaration":
                for child in children(node):
                    visit(child, scope, owner, where, node)
            elif kind in _SCOPES:
                name = node.child_by_field_name("name")
                its = (*scope, type_text(name).split("<")[0]) if name is not None else scope
                body = node.child_by_field_name("body")
                for child in children(body) if body is not None else ():
                    visit(child, its, "" if kind == "namespace_definition" else "::".join(its), where, None)
            elif kind in _CONDITIONS:
                its, following = branches(node)
                test = "" if kind == "preproc_else" else written(condition_of(node))
                guard = test.startswith("!defined(") and test.rstrip(")").endswith(
                    ("_H", "_H_", "_HPP", "_CUH", "_H__")
                )
                here = where if guard else f"{where} {test or 'else'}"
                for child in its:
                    visit(child, scope, owner, here, None)
                if following is not None:
                    visit(following, scope, owner, f"{here} else" if test else here, None)
            elif kind == "preproc_def":
                value = node.child_by_field_name("value")
                constants.append((text_of(node.child_by_field_name("name")), where, node, value))
            elif kind in ("declaration", "field_declaration"):
                _constant(node, scope, where, constants)
                for child in children(node):
                    if child.type in _SCOPES:
                        visit(child, scope, owner, where, None)
            elif kind in (
                "declaration_list",
                "linkage_specification",
                "ERROR",
                "translation_unit",
                "friend_declaration",
            ):
                for child in children(node):
                    visit(child, scope, owner, where, None)

        visit(self.root, (), "", "", None)
        return functions, constants

    @cached_property
    def unread(self) -> tuple[str, ...]:
        return tuple(text_of(node) for node in _errors(self.root)) if self.root.has_error else ()

    @cached_property
    def functions(self) -> dict[str, CppFunction]:
        return {f.key: f for f in self.found[0]}

    def language_call(self, node: ast.AST) -> str:
        """An atomic (``atomic_...``), an operation of the math library, or what a fact of its own tells."""
        if not isinstance(node, ast.Call):
            return ""
        name = last_name(node.func)
        if v.ATOMIC.fullmatch(name):
            return f"atomic_{name}"
        told = v.DRAWS.fullmatch(name) or name in v.DEVICE_MALLOC or name in v.SYNCHRONIZATIONS or operation(node)
        return TOLD if told else name if name in v.MATH else ""

    @property
    def constants(self) -> dict[str, ast.stmt]:
        return self._constants


def _name_of(definition: Node) -> str:
    declarator = _function_declarator(definition)
    inner = declarator.child_by_field_name("declarator") if declarator is not None else None
    if inner is None:
        return ""
    name = re.sub(r"<.*>", "", text_of(inner)) if "operator" not in text_of(inner) else text_of(inner)
    if name.isupper() and definition.child_by_field_name("type") is None:  # TORCH_LIBRARY(name, m) { ... }
        return f"{name}{text_of(declarator.child_by_field_name('parameters'))}"
    if "operator" not in name:  # before it may stand what the parser takes for a part of it: macros, and the type
        return (name.split() or [""])[-1]
    return name.replace(" ", "")


def _constant(node: Node, scope: tuple[str, ...], where: str, found: list) -> None:
    words = {text_of(child) for child in node.children if child.type in ("type_qualifier", "storage_class_specifier")}
    for declarator in node.children_by_field_name("declarator"):
        value = declarator.child_by_field_name("value") if declarator.type == "init_declarator" else None
        name = declared(declarator)[0]
        if node.type == "field_declaration":
            value = node.child_by_field_name("default_value")
        if value is not None and name is not None and words & {"const", "constexpr", "static", "__constant__"}:
            found.append(("::".join((*scope, text_of(name))), where, node, value))


def parse_both(base_path: str, base: str | None, head_path: str, head: str | None) -> tuple[CppModule, CppModule]:
    """Both sides of a file, with names that tell apart what one side has several times."""
    sides = [CppModule(path, plain(text or "")) for path, text in ((base_path, base), (head_path, head))]
    several = {name for s in sides for name, n in Counter(f.name for f in s.found[0]).items() if n > 1}
    for side in sides:
        taken: Counter[str] = Counter()
        for f in side.found[0]:
            if f.name in several:
                taken[f.signature] += 1
                f.__dict__["key"] = f.signature + ("" if taken[f.signature] == 1 else f"#{taken[f.signature]}")
    _only_read(sides)
    again = {name for s in sides for name, n in Counter(c[0] for c in s.found[1]).items() if n > 1}
    for side in sides:
        for name, where, node, value in side.found[1]:
            if value is None:
                continue
            shown = f"{name} ({' '.join(where.split())})" if name in again and where.strip() else name
            side._constants[shown] = _assignment(shown, node, value)
    unread = [Counter(side.unread) for side in sides]
    for side, own, other in zip(sides, unread, unread[::-1], strict=True):
        number = (own - other).total()
        if number:
            side.remarks = (_remark(side.path, number),)
    return sides[0], sides[1]


def _only_read(sides: list[CppModule]) -> None:
    """Leave out functions that the other side may have as well, in a part that could not be read."""
    names = [{f.name for f in side.found[0]} for side in sides]
    unread = [Counter(side.unread) for side in sides]
    for n, side in enumerate(sides):
        if not unread[1 - n] - unread[n]:
            continue
        present = set(re.findall(r"\w+", sides[1 - n].text))
        kept = [f for f in side.found[0] if f.name in names[1 - n] or f.simple_name not in present]
        side.__dict__["found"] = (kept, side.found[1])


def _assignment(name: str, node: Node, value: Node) -> ast.stmt:
    if value.type == "preproc_arg":
        text = text_of(value)
        made = placed(_literal(text), value, text)
    else:
        made = expression(value)
    target = placed(ast.Name(name, ast.Store()), node, name)
    return placed(ast.Assign([target], made), node)


def _literal(text: str) -> ast.expr:
    """The value of a macro: a number, or a text that stands for itself."""
    bare = text.strip("()")
    try:
        return ast.Constant(int(bare.rstrip("uUlL"), 0))
    except ValueError:
        return ast.Name(text[:VALUE], ast.Load())


def _remark(path: str, number: int) -> Text:
    parts = "1 part" if number == 1 else f"{number} parts"
    return Text(
        en=f"{parts} of {path} could not be parsed; edits there are not listed.",
        zh=f"{path} 中有 {number} 处无法解析，未列出其中的语义改动。",
    )
