"""Which function a call reaches: the file's own names, imports, the class of an attribute or a local, the tree.

A name is followed to where it is defined, through re-exports and base classes. What is not found is not guessed.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from dataclasses import dataclass

from analyzer.change.inside.launches import launch_of
from analyzer.change.nodes import last_name, root_name
from analyzer.change.source import Function, Module, parse

#: Packages and built-ins whose functions are known by name and never looked up.
LIBRARIES = frozenset({
    "torch", "numpy", "np", "math", "triton", "typing", "functools", "itertools", "collections", "os", "logging",
})  # fmt: skip
BUILTINS = frozenset(dir(builtins))
#: How many names, base classes or re-exports are followed one after another.
DEPTH = 8


@dataclass(frozen=True, eq=False)
class Class:
    """A class of the tree; `name` is the last part of its qualified one."""

    module: Module
    node: ast.ClassDef

    @property
    def name(self) -> str:
        return self.node.name

    def method(self, name: str) -> Function | None:
        found = self.module.whole.functions
        return next(
            (f for q, f in found.items() if f.owner.split(".")[-1] == self.name and q.endswith(f".{name}")), None
        )


#: What a dotted name can lead to.
Found = Function | Class | Module


def is_library(func: ast.expr, caller: Function) -> bool:
    """Whether a call reaches a library that is known by its names."""
    root = root_name(func)
    dotted = caller.module.imports.get(root, root)
    built_in = isinstance(func, ast.Name) and func.id in BUILTINS
    return built_in or dotted.split(".")[0] in LIBRARIES or root in caller.module.languages


class Resolver:
    """Functions of one side of the change. `modules`: the changed files of that side, by path."""

    def __init__(self, side: str, modules: dict[str, Module], tree) -> None:
        self.side = side
        self.tree = tree
        self.changed = modules
        self._at: dict[str, Module | None] = {}
        self._named: dict[tuple[str, str], Found | None] = {}

    # Calls

    def resolve(self, call: ast.Call, caller: Function) -> Function | None:
        """The one function that `call` reaches with its arguments as they stand; None where it cannot be told."""
        found = self.reached(call, caller)
        return found[0] if len(found) == 1 and not self._bound(_called(call), caller) else None

    def reached(self, call: ast.Call, caller: Function) -> list[Function]:
        """The functions that `call` can reach: several where a local was given one or another."""
        func = _called(call)
        if launch_of(call) is None and isinstance(func, ast.Call) and last_name(func.func) == "partial":
            func = func.args[0] if func.args else func
        found: list[Function] = []
        for one in self.meant(func, caller):
            if isinstance(one, Class):
                one = self.method(one, "__init__")
            if isinstance(one, Function):
                found.append(one)
        if not found:
            for its in self.classes_of(func, caller):
                found += filter(None, [self._of_instance(its)])
        return list(dict.fromkeys(found))

    def _bound(self, func: ast.expr, caller: Function) -> bool:
        """Whether some arguments were given before the call (`functools.partial`)."""
        values = [func]
        if isinstance(func, ast.Name) and func.id in caller.locals:
            values = [value for _, value in caller.assigned.get(func.id, ())]
        return any(isinstance(value, ast.Call) for value in values)

    def _of_instance(self, its: Class) -> Function | None:
        """What calling an instance runs: ``__call__``, or ``forward`` of a torch module."""
        called = self.method(its, "__call__")
        if called is None and any(name.split(".")[-1] == "Module" for name in self.foreign_bases(its)):
            called = self.method(its, "forward")
        return called

    # Expressions

    def meant(self, node: ast.expr, caller: Function, depth: int = DEPTH) -> list[Found]:
        """The functions, classes or modules that an expression names; a partial application counts as its function."""
        if not depth:
            return []
        if isinstance(node, ast.IfExp):
            return self.meant(node.body, caller, depth - 1) + self.meant(node.orelse, caller, depth - 1)
        if isinstance(node, ast.Call):
            partial = last_name(node.func) == "partial" and node.args
            return self.meant(node.args[0], caller, depth - 1) if partial else []
        if isinstance(node, ast.Name):
            return self._plain(node.id, caller, depth)
        if not isinstance(node, ast.Attribute):
            return []
        receiver, name = node.value, node.attr
        if isinstance(receiver, ast.Call) and last_name(receiver.func) == "super" and caller.owner:
            own = self._class(caller.owner, caller.module)
            after = self.above(own) if own else ()
            return [found for found in [next(filter(None, (c.method(name) for c in after)), None)] if found]
        owners: list[Class] = []
        if isinstance(receiver, ast.Name) and receiver.id in ("self", "cls") and caller.owner:
            owners = [c for c in [self._class(caller.owner, caller.module)] if c]
        else:
            for one in self.meant(receiver, caller, depth - 1):
                if isinstance(one, Module):
                    found = self._in_module(name, one, depth - 1)
                    return [found] if found else []
                if isinstance(one, Class):
                    owners.append(one)
            owners = owners or self.classes_of(receiver, caller, depth - 1)
        methods = [self.method(owner, name) for owner in owners]
        return [m for m in methods if m]

    def _plain(self, name: str, caller: Function, depth: int) -> list[Found]:
        near = caller.module.functions
        nested = near.get(f"{caller.name}.{name}")
        if nested:
            return [nested]
        if name in caller.locals and caller.name != "<module>":
            values = [value for _, value in caller.assigned.get(name, ())]
            return [found for value in values for found in self.meant(value, caller, depth - 1)]
        around = caller.name.rpartition(".")[0]
        if around in near:
            return self._plain(name, near[around], depth - 1) if depth else []
        found = self._in_module(name, caller.module, depth)
        return [found] if found else []

    def _in_module(self, name: str, module: Module, depth: int = DEPTH) -> Found | None:
        """What a name means at the top level of a file."""
        key = (module.path, name)
        if key not in self._named:
            self._named[key] = None  # a circle of imports ends here
            self._named[key] = self._find(name, module, depth)
        return self._named[key]

    def _find(self, name: str, module: Module, depth: int) -> Found | None:
        if name in module.defined:
            whole = module.whole
            if name in whole.functions:
                return whole.functions[name]
            if name in whole.classes:
                return Class(whole, whole.classes[name])
        if not depth:
            return None
        if name in module.imports:
            return self._dotted(module.imports[name], module, depth - 1)
        if name in module.constants and isinstance(module.constants[name], ast.Assign):
            value = module.constants[name].value
            if isinstance(value, ast.Name | ast.Attribute) and root_name(value) != name:
                found = self.meant(value, module.top, depth - 1)
                return found[0] if len(found) == 1 else None
            return None
        for star in module.stars:
            source = self._dotted(star, module, depth - 1)
            found = self._in_module(name, source, depth - 1) if isinstance(source, Module) else None
            if found:
                return found
        if module.path.endswith("__init__.py"):
            return self.file(f"{module.path.removesuffix('__init__.py')}{name}")
        return None

    def _dotted(self, dotted: str, near: Module, depth: int = DEPTH) -> Found | None:
        """What ``a.b.c`` means in a file, leading dots as in an import."""
        level = len(dotted) - len(dotted.lstrip("."))
        names = dotted.lstrip(".")
        folders = near.path.split("/")[:-1]
        if level:
            places = ["/".join(folders[: len(folders) - level + 1])]
        elif names.split(".")[0] in LIBRARIES:
            return None
        else:
            places = ["/".join(folders[:n]) for n in range(len(folders) + 1)]
        for place in places:
            found = self.file("/".join(filter(None, [place, *names.split(".")])))
            if found:
                return found
        parent, _, name = names.rpartition(".")
        if depth and (parent or level):
            home = self._dotted("." * level + parent, near, depth - 1)
            if isinstance(home, Module):
                return self._in_module(name, home, depth - 1)
            if isinstance(home, Class):
                return self.method(home, name)
        return None

    # Classes

    def method(self, its: Class, name: str) -> Function | None:
        """A class's method, or the nearest base's that has it."""
        return next(filter(None, (one.method(name) for one in (its, *self.above(its)))), None)

    def above(self, its: Class, depth: int = DEPTH) -> Iterator[Class]:
        """The bases that the tree has, nearest first."""
        for base in its.node.bases if depth else ():
            for one in self.meant(base, its.module.whole.top):
                if isinstance(one, Class) and one.node is not its.node:
                    yield one
                    yield from self.above(one, depth - 1)

    def foreign_bases(self, its: Class) -> set[str]:
        """Bases of a class and of its bases that are not of the tree, as they are written."""
        found = set()
        for one in (its, *self.above(its)):
            for base in one.node.bases:
                if not any(isinstance(f, Class) for f in self.meant(base, one.module.whole.top)):
                    found.add(ast.unparse(base))
        return found

    def classes_of(self, node: ast.expr, caller: Function, depth: int = DEPTH) -> list[Class]:
        """The classes that a value can be of, from constructors and annotations; empty unless each source tells."""
        if not depth:
            return []
        if isinstance(node, ast.Name):
            if node.id in ("self", "cls") and caller.owner:
                return [c for c in [self._class(caller.owner, caller.module)] if c]
            values = [value for _, value in caller.assigned.get(node.id, ())]
            if values:
                return self._all([self.classes_of(v, caller, depth - 1) for v in values if not _is_none(v)])
            parameter = next((p for p in caller.parameters if p.arg == node.id), None)
            if parameter is not None:
                return self._annotated(parameter.annotation, caller.module)
            around = caller.module.functions.get(caller.name.rpartition(".")[0])
            if around is not None and node.id not in caller.locals:
                return self.classes_of(node, around, depth - 1)
            value = caller.module.constants.get(node.id)
            top = caller.module.top
            return self.classes_of(value.value, top, depth - 1) if value is not None and caller is not top else []
        if isinstance(node, ast.Call):
            made = self.meant(node.func, caller, depth - 1)
            if len(made) == 1 and isinstance(made[0], Class):
                return [made[0]]
            if len(made) == 1 and isinstance(made[0], Function) and not made[0].is_kernel:
                return self._annotated(made[0].node.returns, made[0].module)
            return []
        if isinstance(node, ast.IfExp):
            return self._all(
                [self.classes_of(v, caller, depth - 1) for v in (node.body, node.orelse) if not _is_none(v)]
            )
        if isinstance(node, ast.Attribute):
            owners = self.classes_of(node.value, caller, depth - 1)
            return self._all([self._attribute(owner, node.attr, depth - 1) for owner in owners])
        return []

    def _attribute(self, owner: Class, name: str, depth: int) -> list[Class]:
        """The classes of an attribute of instances: from its annotation, or from everything that is assigned to it."""
        for its in (owner, *self.above(owner)):
            for node in its.node.body:
                if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id == name:
                    return self._annotated(node.annotation, its.module)
            told = []
            for function in its.module.whole.functions.values():
                if function.owner.split(".")[-1] != its.name or name not in function.text:
                    continue
                for statement in function.statements:
                    node = statement.node
                    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
                    if not any(_is_own(target, name) for target in targets):
                        continue
                    if isinstance(node, ast.AnnAssign) and (known := self._annotated(node.annotation, its.module)):
                        return known
                    value = getattr(node, "value", None)
                    if value is not None and not _is_none(value):
                        told.append(self.classes_of(value, function, depth) if isinstance(node, ast.Assign) else [])
            if told:
                return self._all(told)
        return []

    def _annotated(self, node: ast.expr | None, module: Module) -> list[Class]:
        """The class that an annotation names; ``X | None``, ``Optional[X]`` and a text are X."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            try:
                node = ast.parse(node.value, mode="eval").body
            except SyntaxError:
                return []
        if isinstance(node, ast.BinOp):
            sides = [side for side in (node.left, node.right) if not _is_none(side)]
            return self._annotated(sides[0], module) if len(sides) == 1 else []
        if isinstance(node, ast.Subscript) and last_name(node.value) == "Optional":
            return self._annotated(node.slice, module)
        if not isinstance(node, ast.Name | ast.Attribute):
            return []
        return [found for found in self.meant(node, module.top) if isinstance(found, Class)]

    def _class(self, owner: str, module: Module) -> Class | None:
        node = module.whole.classes.get(owner.split(".")[-1])
        return Class(module.whole, node) if node is not None else None

    @staticmethod
    def _all(told: list[list[Class]]) -> list[Class]:
        """All of them, nothing where one is not known."""
        if not all(told):
            return []
        return list({id(one.node): one for its in told for one in its}.values())

    # Files

    def file(self, stem: str) -> Module | None:
        """The module of a path without its ending; a package is its ``__init__.py``."""
        if stem not in self._at:
            self._at[stem] = None
            for path in (f"{stem}.py", f"{stem}/__init__.py" if stem else "__init__.py"):
                if path in self.changed:
                    self._at[stem] = self.changed[path]
                    break
                text = self.tree.file(self.side, path)
                if text is not None:
                    self._at[stem] = self.parse(path, text)
                    break
        return self._at[stem]

    def parse(self, path: str, text: str) -> Module:
        known = self.tree.parsed
        if (path, text) not in known:
            known[path, text] = parse(path, text)
        return known[path, text]


def _called(call: ast.Call) -> ast.expr:
    return call.func.value if launch_of(call) else call.func


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _is_own(target: ast.AST | None, name: str) -> bool:
    return (
        isinstance(target, ast.Attribute)
        and target.attr == name
        and isinstance(target.value, ast.Name)
        and target.value.id == "self"
    )
