"""Follows names from module to module until everything a slice needs is known."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable

from analyzer.build.slices.module import Module, Piece, Statement, imported
from analyzer.build.slices.names import bound_by_import

#: An import inside a function is followed where that takes at most this many more modules.
LAZY_MODULES = 3

#: What is done with a name: the attributes read from it, () where it is used as a value, None where that is not known.
Use = tuple[str, ...] | None


class _TooFar(Exception):
    """A trial needs more modules than it may."""


class Closure:
    """`kept`: the pieces of each module in the slice. `starred`: the names taken through a module's star imports."""

    def __init__(self, read: Callable[[str], str | None], stubs: dict[str, str]) -> None:
        self._read, self._stubs = read, stubs
        self._modules: dict[str, Module | None] = {}
        self._limit: int | None = None
        self._seen: set[tuple] = set()
        self._work: list[tuple] = []
        self._lazy: list[tuple[str, str | None, tuple[Use, ...]]] = []
        self.kept: dict[str, set[Piece]] = {}
        self.starred: dict[str, set[tuple[Statement, str]]] = {}
        self.missing: dict[str, None] = {}
        self.lazy: dict[str, None] = {}

    def want(self, names: list[tuple[str, str]]) -> None:
        """Take (module, name)s and all they need, then the imports inside functions that are cheap to follow."""
        for module, name in names:
            self._use(module, *_split(name))
        self._close()
        tried = set()
        while self._lazy:
            lazy = self._lazy.pop(0)
            if lazy not in tried:
                tried.add(lazy)
                self._try_lazy(*lazy)

    def module(self, name: str) -> Module | None:
        """The parsed module, None where the tree has none of that name."""
        if name not in self._modules:
            self._modules[name] = self._parse(name)
        return self._modules[name]

    def is_module(self, name: str) -> bool:
        """True where the tree has a module of that name."""
        return self.module(name) is not None

    def _parse(self, name: str) -> Module | None:
        stem = name.replace(".", "/")
        package, plain = f"{stem}/__init__.py", f"{stem}.py"
        source = self._read(package)
        path = plain if source is None else package
        if name in self._stubs:
            return Module(name, path, self._stubs[name], is_stub=True)
        if source is None:
            source = self._read(plain)
        if source is None:
            return None
        try:
            return Module(name, path, source)
        except (SyntaxError, ValueError) as error:
            self.missing[f"{path}: {error}"] = None
            return None

    def _in_tree(self, name: str) -> bool:
        """True where a module of this name would be the project's, whether it is there or not."""
        return bool(name) and (self.module(name.partition(".")[0]) is not None or self.module(name) is not None)

    def _close(self) -> None:
        while self._work:
            step, *arguments = self._work.pop()
            step(*arguments)

    def _later(self, *step: object) -> None:
        if step not in self._seen:
            self._seen.add(step)
            self._work.append(step)

    def _touch(self, name: str) -> Module | None:
        """Make the module part of the slice, with the stubs among the packages above it."""
        module = self.module(name)
        if module is None:
            return None
        if name not in self.kept:
            self.kept[name] = set()
            if self._limit is not None and len(self.kept) > self._limit:
                raise _TooFar
            self._keep_all(module, [Piece(statement) for statement in module.future])
            if module.is_stub:
                self._keep_all(module, [piece for pieces in module.bindings.values() for piece in pieces])
            parent = name.rpartition(".")[0]
            if parent in self._stubs:
                self._touch(parent)
        return module

    def _keep_all(self, module: Module, pieces: list[Piece]) -> None:
        for piece in pieces:
            self._later(self._keep, module, piece, "", None)

    # Names

    def _use(self, name: str, attribute: str, rest: Use) -> None:
        """`attribute` of the module `name`, read from outside; what is done with it is `rest`."""
        module = self._touch(name)
        if module is None:
            self._miss(name)
        elif self._look_up(module, attribute, rest):
            return
        elif self.module(f"{name}.{attribute}"):
            self._module(f"{name}.{attribute}", rest)
        elif "__getattr__" in module.bindings:
            self._lazy.append((name, "__getattr__", (None,)))
        else:
            self._miss(name, attribute)

    def _module(self, name: str, use: Use) -> None:
        """A module as an object: the attributes read from it, or all of it where it is passed on."""
        if use:
            self._later(self._use, name, use[0], use[1:])
            return
        module = self._touch(name)
        if module is None:
            self._miss(name)
        elif use is not None and not module.is_stub:
            if module.is_package:
                self.missing[f"{name}: the package is used as a value, so its names cannot be told"] = None
            else:
                self._keep_all(module, [piece for pieces in module.bindings.values() for piece in pieces])

    def _look_up(self, module: Module, name: str, use: Use) -> bool:
        """A name in its module's own scope; False where nothing there binds it."""
        if name in module.bindings:
            for piece in module.bindings[name]:
                self._later(self._keep, module, piece, name, use)
            if not module.is_imported(name):
                self._keep_all(module, module.mutations.get(name, []))
            return True
        for statement in module.stars:
            origin = module.origin(statement.node)
            if self._in_tree(origin) and self._provides(origin, name):
                self.starred.setdefault(module.name, set()).add((statement, name))
                self._needs(module, statement)
                self._later(self._use, origin, name, use)
                return True
        return False

    def _provides(self, name: str, wanted: str, above: tuple[str, ...] = ()) -> bool:
        """True where a star import of the module brings `wanted`."""
        module = self.module(name)
        if module is None or name in above or wanted.startswith("_"):
            return False
        stars = (module.origin(statement.node) for statement in module.stars)
        return wanted in module.bindings or any(self._provides(star, wanted, (*above, name)) for star in stars)

    def _available(self, name: str, attribute: str) -> bool:
        """True where `from name import attribute` finds something."""
        module = self.module(name)
        return module is not None and (
            attribute in module.bindings
            or self._provides(name, attribute)
            or self.module(f"{name}.{attribute}") is not None
            or (module.is_stub and "__getattr__" in module.bindings)
        )

    # Pieces

    def _keep(self, module: Module, piece: Piece, name: str, use: Use) -> None:
        """Take a piece because of `name`, and what it needs in turn."""
        statement, node = piece.statement, piece.statement.node
        if piece.alias:
            target = next(target for target in imported(module, node) if target[0] is piece.alias)
            if self._follow(*target, use) or module.is_stub:
                self.kept[module.name].add(piece)
                self._needs(module, statement)
            return
        self.kept[module.name].add(piece)
        self._needs(module, statement)
        for annotation in statement.names.annotations:
            self._annotation(module, annotation)
        for inner in statement.names.eager:
            for target in imported(module, inner):
                local = bound_by_import(target[0])
                for how in {*_local_uses(statement, local), *([use] if local == name else [])}:
                    self._guarded(*target, how)
        for inner in statement.names.lazy:
            for alias, origin, taken in imported(module, inner):
                if self._in_tree(origin):
                    self._lazy.append((origin, taken, _local_uses(statement, bound_by_import(alias))))

    def _needs(self, module: Module, statement: Statement) -> None:
        for root, attributes in statement.names.uses:
            self._look_up(module, root, attributes)

    def _follow(self, alias: ast.alias, origin: str, taken: str | None, use: Use) -> bool:
        """An import at module level; False where it would fail, so that it is left out."""
        if not self._in_tree(origin):
            return True
        if taken is None:
            if self.module(origin) is None:
                self._miss(origin)
                return False
            self._touch(origin)
            self._module(origin if alias.asname else origin.partition(".")[0], use)
        elif self._available(origin, taken):
            self._later(self._use, origin, taken, use)
        else:
            self._touch(origin)
            self._miss(origin, taken)
            return False
        return True

    def _guarded(self, alias: ast.alias, origin: str, taken: str | None, use: Use) -> None:
        """An import in a `try` or `with`: one that fails is left to its handler."""
        if self._in_tree(origin) and (self._available(origin, taken) if taken else self.module(origin)):
            self._follow(alias, origin, taken, use)

    def _annotation(self, module: Module, annotation: ast.expr) -> None:
        """Keep what annotations name of the standard library, and `constexpr` by another name; no more is worth it."""
        for part in ast.walk(annotation):
            for piece in module.bindings.get(part.id, ()) if isinstance(part, ast.Name) else ():
                if piece.alias:
                    _, origin, taken = next(t for t in imported(module, piece.statement.node) if t[0] is piece.alias)
                    if taken == "constexpr" or origin.partition(".")[0] in sys.stdlib_module_names:
                        self._later(self._keep, module, piece, part.id, None)

    def _try_lazy(self, origin: str, taken: str | None, uses: tuple[Use, ...]) -> None:
        """Follow an import inside a function, or a module's __getattr__, if that is cheap and complete."""
        before = (self.kept, self.starred, self.missing, self._seen, self._lazy)
        self.kept = {name: set(pieces) for name, pieces in self.kept.items()}
        self.starred = {name: set(pairs) for name, pairs in self.starred.items()}
        self.missing, self._seen, self._lazy = dict(self.missing), set(self._seen), list(self._lazy)
        self._limit = len(self.kept) + LAZY_MODULES
        try:
            for use in uses:
                if taken is None:
                    self._module(origin, use)
                else:
                    self._use(origin, taken, use)
            self._close()
            found = self._available(origin, taken) if taken else self.is_module(origin)
            complete = found and len(self.missing) == len(before[2])
        except _TooFar:
            complete = False
        if not complete:
            self._work.clear()
            self.kept, self.starred, self.missing, self._seen, self._lazy = before
            self.lazy[f"{origin}.{taken}" if taken else origin] = None
        self._limit = None

    def _miss(self, name: str, attribute: str = "") -> None:
        module = self.module(name)
        if module is None:
            attribute, why = "", "no such module in the tree"
        elif "__getattr__" in module.bindings:
            why = "made by the module's __getattr__; needs a stub"
        else:
            why = "not in the stub" if module.is_stub else "not defined there"
        self.missing[f"{name}.{attribute}: {why}" if attribute else f"{name}: {why}"] = None


def _local_uses(statement: Statement, local: str) -> tuple[Use, ...]:
    """What a statement does with a name that it imports itself."""
    return tuple(sorted(attributes for name, attributes in statement.names.chains if name == local)) or (None,)


def _split(name: str) -> tuple[str, Use]:
    first, _, rest = name.partition(".")
    return first, tuple(rest.split(".")) if rest else ()
