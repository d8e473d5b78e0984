"""Which function a call reaches, by names alone: the same file, imports, the class of an attribute, the tree."""

from __future__ import annotations

import ast
import builtins

from analyzer.change.launches import launch_of
from analyzer.change.source import Function, Module, last_name, parse, root_name

#: Packages and built-ins whose functions are known by name and never looked up.
LIBRARIES = frozenset({
    "torch", "numpy", "np", "math", "triton", "typing", "functools", "itertools", "collections", "os", "logging",
})  # fmt: skip
BUILTINS = frozenset(dir(builtins))


def is_library(func: ast.expr, caller: Function) -> bool:
    """Whether a call reaches a library that is known by its names."""
    root = root_name(func)
    dotted = caller.module.imports.get(root, root)
    built_in = isinstance(func, ast.Name) and func.id in BUILTINS
    return built_in or dotted.split(".")[0] in LIBRARIES or root in caller.module.languages


def _defines(module: Module, name: str) -> bool:
    if name not in module.defined:
        return False  # far quicker than to parse what is partial
    whole = module.whole
    return name in whole.classes or any(n.split(".")[-1] == name for n in whole.functions)


class Resolver:
    """Functions of one side of the change.

    `modules`: the changed files of that side, by path. `parsed`: files of the tree, shared by both sides.
    """

    def __init__(self, side: str, modules: dict[str, Module], tree, parsed: dict[tuple[str, str], Module]) -> None:
        self.side = side
        self.tree = tree
        self.changed = modules
        self.parsed = parsed
        self.found: dict[str, list[Module]] = {}

    def modules_with(self, name: str) -> list[Module]:
        """Files that define `name`, the changed ones first."""
        if name not in self.found:
            own = [m for m in self.changed.values() if _defines(m, name)]
            paths = {m.path for m in own}
            for path, text in self.tree.definitions(self.side, name):
                if path not in paths:
                    if (path, text) not in self.parsed:
                        self.parsed[path, text] = parse(path, text)
                    own.append(self.parsed[path, text])
            self.found[name] = own
        return self.found[name]

    def resolve(self, call: ast.Call, caller: Function) -> Function | None:
        """The function that `call` reaches; None where it cannot be told."""
        launch = launch_of(call)
        func = call.func.value if launch else call.func
        if isinstance(func, ast.Name):
            return self._plain(func.id, caller)
        if not isinstance(func, ast.Attribute):
            return None
        receiver, name = func.value, func.attr
        if isinstance(receiver, ast.Name) and receiver.id in caller.module.imports:
            return self._imported(f"{caller.module.imports[receiver.id]}.{name}")
        if isinstance(receiver, ast.Name) and receiver.id in ("self", "cls") and caller.owner:
            return self._method(caller.owner, name, caller.module)
        if isinstance(receiver, ast.Call) and last_name(receiver.func) == "super":
            return None
        owner = self._class_of(receiver, caller)
        if owner:
            return self._method(owner, name, caller.module)
        methods = [
            m.whole.functions[q] for m in self.modules_with(name) for q in m.whole.functions
            if q.split(".")[-1] == name and m.whole.functions[q].owner
        ]  # fmt: skip
        return methods[0] if len(methods) == 1 else None

    def _plain(self, name: str, caller: Function) -> Function | None:
        functions = caller.module.whole.functions
        nested = functions.get(f"{caller.name}.{name}")
        if nested or name in functions:
            return nested or functions[name]
        if name in caller.module.whole.classes:
            return None
        dotted = caller.module.imports.get(name)
        return self._imported(dotted) if dotted else None

    def _imported(self, dotted: str) -> Function | None:
        module, _, name = dotted.rpartition(".")
        candidates = [m for m in self.modules_with(name) if name in m.whole.functions]
        tail = module.lstrip(".").replace(".", "/")
        exact = [m for m in candidates if tail and m.path.removesuffix(".py").removesuffix("/__init__").endswith(tail)]
        chosen = exact or candidates  # a re-export leads to the one place that defines the name
        return chosen[0].whole.functions[name] if len(chosen) == 1 else None

    def _method(self, owner: str, name: str, near: Module, depth: int = 4) -> Function | None:
        """A class's method, or the nearest base's that has it."""
        simple = owner.split(".")[-1]
        homes = [near] if simple in near.whole.classes else []
        if not homes:
            homes = [m for m in self.modules_with(simple) if simple in m.whole.classes]
        if len(homes) != 1 or not depth:
            return None
        home = homes[0].whole
        for qualified in (f"{owner}.{name}", f"{simple}.{name}"):
            if qualified in home.functions:
                return home.functions[qualified]
        for base in home.classes[simple].bases:
            found = self._method(last_name(base), name, home, depth - 1) if last_name(base) else None
            if found:
                return found
        return None

    def _class_of(self, receiver: ast.expr, caller: Function) -> str:
        """The class of ``self.attribute`` or of a local, from the constructor or annotation that it comes from."""
        if isinstance(receiver, ast.Attribute) and isinstance(receiver.value, ast.Name) and receiver.value.id == "self":
            for function in caller.module.whole.functions.values():
                if function.owner != caller.owner:
                    continue
                for statement in function.statements:
                    node = statement.node
                    if isinstance(node, ast.Assign) and any(
                        isinstance(t, ast.Attribute) and root_name(t) == "self" and t.attr == receiver.attr
                        for t in node.targets
                    ):
                        found = self._constructed(node.value, function)
                        if found:
                            return found
        if isinstance(receiver, ast.Name):
            values = [value for _, value in caller.assigned.get(receiver.id, ())]
            if len(values) == 1:
                return self._constructed(values[0], caller)
            if not values:
                return _annotated(receiver.id, caller)
        return ""

    def _constructed(self, value: ast.expr, function: Function) -> str:
        if isinstance(value, ast.Call):
            name = last_name(value.func)
            return name if name[:1].isupper() else ""
        return _annotated(value.id, function) if isinstance(value, ast.Name) else ""


def _annotated(name: str, function: Function) -> str:
    parameter = next((p for p in function.parameters if p.arg == name), None)
    if parameter is None or parameter.annotation is None:
        return ""
    found = last_name(parameter.annotation)
    return found if found[:1].isupper() and found != "Tensor" else ""
