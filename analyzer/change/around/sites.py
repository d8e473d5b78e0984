"""Where functions are called or named in a revision's Python files: `git grep` to narrow, the parser to decide."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from analyzer.change.around.resolve import LIBRARIES, Resolver
from analyzer.change.inside.launches import launch_of
from analyzer.change.nodes import last_name, root_name
from analyzer.change.revisions.repository import Repository
from analyzer.change.revisions.tree import RevisionTree
from analyzer.change.source import Function, Module

#: Names that every second class has, as any ``__name__``: they are looked for by their class, and a receiver that is
#: not known says nothing.
COMMON = re.compile(
    r"__\w+__|forward|apply|add|append|clear|close|copy|get|init|items|keys|load|main|name|pop|put|read|reset|run|set"
    r"|setup|start|step|stop|to|update|values|wait|write"
)
#: More files than this are not read for one name.
FILES = 60


@dataclass(frozen=True)
class Target:
    """A function: `path` defines it, `qualified` is its name there."""

    path: str
    qualified: str

    @property
    def owner(self) -> str:
        return self.qualified.rpartition(".")[0].rpartition(".")[2]

    @property
    def name(self) -> str:
        return self.qualified.rpartition(".")[2]

    @property
    def sought(self) -> str:
        """The word that its callers' files hold."""
        return self.owner if self.owner and COMMON.fullmatch(self.name) else self.name

    @property
    def beside(self) -> str:
        """A word that files with a call of it are likely to hold as well: its class, or the module that has it."""
        path = PurePosixPath(self.path)
        return self.owner or (path.parent.name if path.stem == "__init__" else path.stem)


@dataclass(frozen=True, eq=False)
class Site:
    """`function` calls `target`, which is `reached`, by `call`; it only names it where `call` is None."""

    function: Function
    node: ast.expr
    target: Target
    reached: Function
    call: ast.Call | None = None

    @property
    def line(self) -> int:
        return self.node.lineno

    @property
    def how(self) -> str:
        if self.call is None:
            properties = {"property", "cached_property", "setter"}
            read = any(last_name(decorator) in properties for decorator in self.reached.node.decorator_list)
            return "calls" if read else "passes-on"
        return "launches" if launch_of(self.call) else "calls"


@dataclass
class Sites:
    """The files of head that hold a word, and what their names lead to."""

    repository: Repository
    head: str
    tree: RevisionTree
    resolver: Resolver = field(init=False)
    _paths: dict[str, set[str]] = field(default_factory=dict)
    _defined: dict[str, int] = field(default_factory=dict)  # word -> number of functions of that name

    def __post_init__(self) -> None:
        self.resolver = Resolver("head", {}, self.tree)

    def of(self, targets: Iterable[Target]) -> list[Site]:
        """All calls and mentions of targets, by path and line; a function's own recursion is none."""
        wanted = list(targets)
        self._search({word for target in wanted for word in (target.sought, target.beside)})
        files: dict[str, list[Target]] = {}
        for target in wanted:
            for path in self._few(target):
                files.setdefault(path, []).append(target)
        self.tree.read(files)
        unique = frozenset(target.name for target in wanted if self._defined.get(target.name) == 1)
        found = []
        for path in sorted(files):
            module = self.module(path)
            if module is not None:
                found += _Reader(module, files[path], unique, self.resolver).sites()
        return found

    def paths(self, word: str) -> frozenset[str]:
        """The files that hold a word."""
        self._search({word})
        return frozenset(self._paths[word])

    def defined(self, word: str) -> int:
        """How many functions of the tree have a name."""
        self._search({word})
        return self._defined[word]

    def _few(self, target: Target) -> set[str]:
        """The files where a target may be called; of too many, those that hold its class or module too."""
        found = self._paths[target.sought]
        if len(found) > FILES:
            found = (found & self._paths[target.beside]) | (found & {target.path})
        return found if len(found) <= FILES else set()

    def _search(self, words: set[str]) -> None:
        words = words - self._paths.keys()
        lines = self.repository.grep(self.head, *sorted(words)) if words else []
        self._paths |= {word: set() for word in words}
        self._defined |= dict.fromkeys(words, 0)
        for path, line in lines:
            for word in words.intersection(re.findall(r"\w+", line)):
                self._paths[word].add(path)
            named = re.match(r"\s*(?:async\s+)?def\s+(\w+)", line)
            if named and named[1] in words:
                self._defined[named[1]] += 1

    def module(self, path: str) -> Module | None:
        """A file of head, None where it is not there or does not parse."""
        text = self.tree.file("head", path)
        module = self.resolver.parse(path, text) if text is not None else None
        return module if module is not None and not module.notes else None


class _Reader:
    """One file."""

    def __init__(self, module: Module, targets: list[Target], unique: frozenset[str], resolver: Resolver) -> None:
        self.module, self.resolver, self.unique = module, resolver, unique
        self.targets = {(target.path, target.qualified): target for target in targets}
        self.names = {target.name for target in targets if not COMMON.fullmatch(target.name)}
        self.classes = {target.owner for target in targets if COMMON.fullmatch(target.name)}
        self.classes |= {local for local, dotted in module.imports.items() if dotted.split(".")[-1] in self.classes}
        self.names |= {local for local, dotted in module.imports.items() if dotted.split(".")[-1] in self.names}
        self.instances = self._instances() if self.classes else frozenset()

    def sites(self) -> list[Site]:
        found: list[Site] = []
        words = self.names | self.classes | self.instances | ({"self", "cls", "super"} if self.classes else set())
        for function in (self.module.top, *self.module.functions.values()):
            if function is self.module.top or any(word in function.text for word in words):
                for node in self._nodes(function):
                    found += self._of(node, function)
        named = {id(site.call.func) for site in found if site.call} | {
            id(site.call.func.value) for site in found if site.call and isinstance(site.call.func, ast.Subscript)
        }
        return [site for site in found if site.call is not None or id(site.node) not in named]

    def _nodes(self, function: Function) -> Iterator[ast.expr]:
        """The expressions of a function's own statements; the decorators of what is defined in it are its own."""
        for statement in function.statements:
            yield from (node for node in statement.nodes if isinstance(node, ast.Call | ast.Name | ast.Attribute))
        if function is self.module.top:
            for one in self.module.functions.values():
                for decorator in one.node.decorator_list:
                    yield from (n for n in ast.walk(decorator) if isinstance(n, ast.Call | ast.Name | ast.Attribute))

    def _of(self, node: ast.expr, function: Function) -> Iterator[Site]:
        if isinstance(node, ast.Call):
            called = node.func.value if launch_of(node) else node.func
            name = last_name(called)
            if not (
                name in self.names or name in self.classes or name in self.instances or self._local(name, function)
            ):
                receiver = last_name(called.value) if isinstance(called, ast.Attribute) else ""
                if not (
                    COMMON.fullmatch(name) and (receiver in self.instances or receiver in ("self", "cls", "super"))
                ):
                    return
            reached = self.resolver.reached(node, function)
            for one in reached:
                yield from self._site(one, node, function, node)
            if not reached and isinstance(called, ast.Attribute) and name in self.names & self.unique:
                yield from self._only(name, called.value, node, function)
        elif isinstance(node.ctx, ast.Load) and last_name(node) in self.names:
            for one in self.resolver.meant(node, function):
                if isinstance(one, Function):
                    yield from self._site(one, node, function, None)

    def _site(self, reached: Function, node: ast.expr, function: Function, call: ast.Call | None) -> Iterator[Site]:
        target = self.targets.get((reached.path, reached.name))
        if target and (function.path, function.name) != (target.path, target.qualified):
            yield Site(function, node, target, reached, call)

    def _only(self, name: str, receiver: ast.expr, call: ast.Call, function: Function) -> Iterator[Site]:
        """A method of a name that the whole tree defines once, on a receiver that is not known to be another's."""
        dotted = self.module.imports.get(root_name(receiver), "")
        foreign = dotted.split(".")[0] in LIBRARIES or (dotted and not isinstance(receiver, ast.Attribute | ast.Call))
        if foreign or self.resolver.classes_of(receiver, function):
            return
        for target in self.targets.values():
            if (
                target.name == name
                and target.owner
                and (function.path, function.name) != (target.path, target.qualified)
            ):
                home = self.resolver.file(target.path.removesuffix(".py").removesuffix("/__init__"))
                method = home.whole.functions.get(target.qualified) if home else None
                if method is not None:
                    yield Site(function, call, target, method, call)

    def _local(self, name: str, function: Function) -> bool:
        """Whether a local holds something that mentions a wanted name."""
        return any(
            last_name(node) in self.names
            for _, value in function.assigned.get(name, ())
            for node in ast.walk(value)
            if isinstance(node, ast.Name | ast.Attribute)
        )

    def _instances(self) -> frozenset[str]:
        """Names and attributes that are given, or annotated as, an instance of a wanted class."""
        found: set[str] = set()

        def annotated(name: str, annotation: ast.expr | None) -> None:
            if annotation is not None and self.classes.intersection(re.findall(r"\w+", ast.unparse(annotation))):
                found.add(name)

        for its in self.module.classes.values():
            for node in its.body:
                if isinstance(node, ast.AnnAssign):
                    annotated(last_name(node.target), node.annotation)
        for function in (self.module.top, *self.module.functions.values()):
            for parameter in function.parameters:
                annotated(parameter.arg, parameter.annotation)
            for statement in function.statements:
                node = statement.node
                if isinstance(node, ast.AnnAssign):
                    annotated(last_name(node.target), node.annotation)
                if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
                    value = node.value.func if isinstance(node.value, ast.Call) else node.value
                    named = {last_name(n) for n in ast.walk(value) if isinstance(n, ast.Name | ast.Attribute)}
                    if self.classes & named or found & named:
                        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                        found |= {last_name(target) for target in targets}
        return frozenset(found - {""})
