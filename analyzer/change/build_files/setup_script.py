"""Python build scripts: requirements of setup(), and flags handed to a compiler by keyword."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator

from analyzer.change.build_files.fact import BuildFact
from analyzer.change.build_files.flags import flag_facts
from analyzer.change.build_files.requirements import requirement_fact

#: Keywords of setuptools extensions and of torch.utils.cpp_extension.
_FLAGS = frozenset(
    {"extra_compile_args", "extra_link_args", "extra_cflags", "extra_cuda_cflags", "extra_sycl_cflags", "extra_ldflags"}
)
_REQUIRES = {"install_requires": "runtime", "setup_requires": "build", "tests_require": "test"}
_ADDING = frozenset({"append", "extend", "insert"})


def has_build_facts(path: str, text: str) -> bool:
    """Whether a Python file is worth reading here."""
    return path.rsplit("/", 1)[-1] == "setup.py" or ("extra_" in text and any(word in text for word in _FLAGS))


def setup_script(text: str) -> Iterator[BuildFact]:
    """Requirements and flags that a script states as literals; what it computes is not said."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return  # the file's own note says so
    lists = _assigned(tree)
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        for keyword in call.keywords:
            name = keyword.arg or ""
            if name in _FLAGS:
                yield from _flags(name, keyword.value, lists, set())
            elif name in _REQUIRES:
                yield from _requirements(keyword.value, _REQUIRES[name], lists)
            elif name == "extras_require":
                yield from _extras(keyword.value, lists)
            elif name == "python_requires" and isinstance(keyword.value, ast.Constant):
                fact = requirement_fact(f"python {keyword.value.value}", keyword.value.lineno, "runtime", "runtime")
                yield from [fact] if fact else []


def _assigned(tree: ast.Module) -> dict[str, list[ast.expr]]:
    """Name -> the lists and texts that are assigned, added or appended to it."""
    found: dict[str, list[ast.expr]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                name = target.value if isinstance(target, ast.Subscript) else target
                if isinstance(name, ast.Name):
                    found.setdefault(name.id, []).append(node.value)
        elif isinstance(node, ast.AugAssign | ast.AnnAssign) and node.value is not None:
            name = node.target.value if isinstance(node.target, ast.Subscript) else node.target
            if isinstance(name, ast.Name):
                found.setdefault(name.id, []).append(node.value)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _ADDING:
            owner = node.func.value.value if isinstance(node.func.value, ast.Subscript) else node.func.value
            if isinstance(owner, ast.Name):
                found.setdefault(owner.id, []).extend(node.args[-1:])
    return found


def _flags(scope: str, node: ast.expr, lists: dict[str, list[ast.expr]], seen: set[str]) -> Iterator[BuildFact]:
    """The flags of a list, of a dictionary of lists by compiler, and of the names that stand for them."""
    if isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            compiler = f" {key.value}" if isinstance(key, ast.Constant) else ""
            yield from _flags(scope + compiler, value, lists, seen)
    elif isinstance(node, ast.List | ast.Tuple):
        yield from _words(scope, node.elts, lists, seen)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        yield from _flags(scope, node.left, lists, seen)
        yield from _flags(scope, node.right, lists, seen)
    elif isinstance(node, ast.IfExp):
        yield from _flags(scope, node.body, lists, seen)
        yield from _flags(scope, node.orelse, lists, seen)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield from flag_facts(scope, node.value, node.lineno)
    elif isinstance(node, ast.Name) and node.id not in seen:
        seen.add(node.id)
        for value in lists.get(node.id, []):
            yield from _flags(scope, value, lists, seen)


def _words(scope: str, nodes: list[ast.expr], lists, seen: set[str]) -> Iterator[BuildFact]:
    """Flags of a list's elements; one whose value is the next element takes it along."""
    place = 0
    while place < len(nodes):
        node = nodes[place]
        place += 1
        if isinstance(node, ast.Starred):
            yield from _flags(scope, node.value, lists, seen)
            continue
        text = _text(node)
        if not text:
            continue
        if text in ("-gencode", "-Xptxas", "-Xcompiler", "-arch", "-Xclang") and place < len(nodes):
            text += f" {_text(nodes[place])}"
            place += 1
        yield from flag_facts(scope, text, node.lineno)


def _text(node: ast.expr) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        parts = (str(p.value) if isinstance(p, ast.Constant) else f"{{{ast.unparse(p.value)}}}" for p in node.values)
        return re.sub(r"\s", "", "".join(parts))
    return ""


def _requirements(node: ast.expr, group: str, lists: dict[str, list[ast.expr]]) -> Iterator[BuildFact]:
    values = lists.get(node.id, []) if isinstance(node, ast.Name) else [node]
    for value in values:
        for one in value.elts if isinstance(value, ast.List | ast.Tuple) else []:
            fact = requirement_fact(_text(one), one.lineno, group, group)
            if fact:
                yield fact


def _extras(node: ast.expr, lists: dict[str, list[ast.expr]]) -> Iterator[BuildFact]:
    for value in lists.get(node.id, []) if isinstance(node, ast.Name) else [node]:
        if isinstance(value, ast.Dict):
            for key, listed in zip(value.keys, value.values, strict=True):
                if isinstance(key, ast.Constant):
                    yield from _requirements(listed, f"extra {key.value}", lists)
