"""Statements with an effect that only one side has: what is called for its effect, stored, or set on an object.

A run of them under the same tests is one edit, told by its first statement. New locals have no effect by themselves,
and what another edit tells (guards, barriers, draws, allocations, writes of global state) is left to it.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterator

from analyzer.change.align import Alignment, part_set
from analyzer.change.edits import Side, make
from analyzer.change.inside import vocabulary as v
from analyzer.change.inside.allocations import is_allocation
from analyzer.change.inside.branch_values import branch_values
from analyzer.change.inside.extract import cast_parts, copy_parts
from analyzer.change.inside.global_state import is_shared
from analyzer.change.inside.handed_over import HandedOver, awaited, effects_of
from analyzer.change.inside.launches import tile_statements
from analyzer.change.inside.operations import MESSAGES
from analyzer.change.inside.other_forms import in_another_form, of_another
from analyzer.change.inside.parameters import RECEIVERS
from analyzer.change.nodes import last_name, root_name
from analyzer.change.shapes import dump
from analyzer.change.source import TOLD, Function, Statement
from analyzer.model.change import Edit

#: Calls that other edits tell, or that change nothing that is computed.
_ELSEWHERE = (
    MESSAGES | v.BARRIERS | v.FENCES | v.SYNCHRONIZATIONS | v.RANDOM | {"static_assert", "device_assert", "append"}
)


def statement_edits(alignment: Alignment, handed_over: HandedOver) -> Iterator[Edit]:
    base, head = alignment.base[0], alignment.head[0]
    pairs = set(alignment.pairs.items()) - of_another(alignment)
    matched = {i for i, _ in pairs}, {j for _, j in pairs}
    if not alignment.equal:
        return  # written anew as a whole
    shapes = set(alignment.base_shapes), set(alignment.head_shapes)
    for side, (statements, function) in enumerate(
        ((alignment.base_statements, base), (alignment.head_statements, head))
    ):
        other = Side((head, base)[side])
        own_shapes = (alignment.base_shapes, alignment.head_shapes)[side]
        elsewhere = {place for place, shape in enumerate(own_shapes) if shape in shapes[1 - side]}
        elsewhere |= _set_otherwise(alignment, side) | in_another_form(alignment, side) | _cut_out(alignment, side)
        told = _teller(alignment, side, matched)
        runs = list(_runs(statements, matched[side] | elsewhere, function, told))
        moved = handed_over.effects((head, base)[side], 1 - side) if runs else set()
        called = handed_over.beside((head, base)[side], 1 - side) if runs else set()
        for whole, quiet in runs:
            run = [
                statement
                for statement in whole
                if not (called if isinstance(statement.node, ast.Expr) else moved).intersection(effects_of(statement))
                if not _within(statement, alignment, side) and not _runs_what_was_cut_out(statement, alignment)
            ]
            if not run:
                continue
            first = run[0]
            text = " ".join(function.module.segment(first.node).split())
            detail: dict = {"statements": len(run), "statement": text if len(text) <= 100 else text[:97] + "..."}
            if len(run) > 1 and (quiet or len(run) < len(whole)):
                detail["uncounted"] = True  # more came or went with them than is told
            if first.conditions:
                detail["condition"] = first.innermost
            own = Side(function, first.line, function.module.segment(first.node))
            if side:
                yield make("statement-added", other, own, detail)
            else:
                yield make("statement-removed", own, other, detail)


def _within(statement: Statement, alignment: Alignment, side: int) -> bool:
    """Whether what a local is given stands within another expression on the other side."""
    value = statement.node.value if isinstance(statement.node, ast.Assign) else None
    if not isinstance(value, ast.Call | ast.Subscript) or not statement.target().isidentifier():
        return False
    key, other_key = (alignment.base_key, alignment.head_key)[:: -1 if side else 1]
    others = (alignment.head_statements, alignment.base_statements)[side]
    wanted, kind = key(value), type(value)
    return any(
        other_key(node) == wanted
        for other in others
        for node in other.nodes
        if type(node) is kind and node is not getattr(other.node, "value", None)
    )


def _runs_what_was_cut_out(statement: Statement, alignment: Alignment) -> bool:
    """Whether a function of one side is called that the function itself has the code of on the other."""
    names = {f.simple_name for f in (*alignment.base[1:], *alignment.head[1:])}
    return bool(names) and any(last_name(call.func) in names for call in statement.calls)


def _cut_out(alignment: Alignment, side: int) -> set[int]:
    """Places of what a function that only the other side has does, whatever it names: it may run for each of them."""
    own, other = (alignment.base_statements, alignment.head_statements)[:: -1 if side else 1]
    caller = (alignment.head, alignment.base)[side][0]
    there = {_nameless(s) for s in other if s.function is not caller}
    return {place for place, s in enumerate(own) if _nameless(s) in there} if there else set()


def _nameless(statement: Statement) -> str:
    return dump(statement.node, lambda name: "")


def _bound_again(alignment: Alignment, side: int) -> frozenset[str]:
    """Locals that both sides bind and this one oftener: where it does, they get another value."""
    functions, names = (alignment.base[0], alignment.head[0]), (alignment.base_name, alignment.head_name)
    others = {names[1 - side](name): times for name, times in _times_bound(functions[1 - side]).items()}
    own = _times_bound(functions[side]).items()
    return frozenset(name for name, times in own if 0 < others.get(names[side](name), 0) < times)


def _times_bound(function: Function) -> Counter:
    """Local -> how often it gets a value; a parameter has one to begin with."""
    return Counter([p.arg for p in function.parameters] + [n for n, its in function.assigned.items() for _ in its])


def _teller(alignment: Alignment, side: int, matched: tuple[set[int], set[int]]) -> Callable[[Statement], bool]:
    """Whether a statement that only this side has says something."""
    given = branch_values(alignment).given[side]
    again, stored = _bound_again(alignment, side), _stored(alignment, 1 - side, matched[1 - side])
    rename = (alignment.base_name, alignment.head_name)[side]

    def told(statement: Statement) -> bool:
        if statement in given or _has_effect(statement) or (statement.target() in again and _is_choice(statement)):
            return True
        return bool(stored) and rename(_overwritten(statement)) in stored

    return told


def _set_otherwise(alignment: Alignment, side: int) -> set[int]:
    """Places of assignments whose attribute or element the other side sets to another value in their stead."""
    same = set(alignment.equal)
    changed = {pair[1 - side] for pair in alignment.pairs.items() if pair not in same}
    own, other = (alignment.base_statements, alignment.head_statements)[:: -1 if side else 1]
    keys = (alignment.base_key, alignment.head_key)[:: -1 if side else 1]
    targets = {keys[1](node) for place in changed if (node := part_set(other[place])) is not None}
    if not targets:
        return set()
    return {place for place, s in enumerate(own) if (node := part_set(s)) is not None and keys[0](node) in targets}


def _stored(alignment: Alignment, side: int, matched: set[int]) -> set[str]:
    """Names of tensors of which a part is assigned by a statement that only this side has."""
    statements, rename = (
        (alignment.base_statements, alignment.base_name), (alignment.head_statements, alignment.head_name)
    )[side]  # fmt: skip
    parts = [part_set(s) for place, s in enumerate(statements) if place not in matched]
    return {rename(_root(node)) for node in parts if isinstance(node, ast.Subscript)} - {""}


def _root(node: ast.expr) -> str:
    """The tensor of a place: ``self.counts`` of ``self.counts[row]``."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return ast.unparse(node) if isinstance(node, ast.Name | ast.Attribute) else ""


def _runs(
    statements: list[Statement], matched: set[int], function: Function, told: Callable[[Statement], bool]
) -> Iterator[tuple[list[Statement], bool]]:
    """Runs of what is told, each with whether anything that is not told stands among or beside it."""
    runs: list[list[Statement]] = []
    quiet = False
    for place, statement in enumerate(statements):
        if place in matched or statement.function is not function:
            yield from ((run, quiet) for run in runs)
            runs, quiet = [], False
        elif told(statement):
            if not runs or runs[-1][0].condition != statement.condition:
                runs.append([])
            runs[-1].append(statement)
        else:
            quiet = quiet or not hasattr(statement.node, "body")
    yield from ((run, quiet) for run in runs)


def _overwritten(statement: Statement) -> str:
    """The tensor that a method overwrites: ``x`` of ``x.index_fill_(0, rows, 0)``, empty where none does."""
    call = statement.node.value if isinstance(statement.node, ast.Expr) else None
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr.endswith("_")):
        return ""
    return _root(call.func.value)


def _has_effect(statement: Statement) -> bool:
    node = statement.node
    if isinstance(node, ast.Expr):
        call = awaited(node.value)
        if not isinstance(call, ast.Call):
            return False
        name = last_name(call.func)
        op = statement.function.module.language_call(call)
        in_place = name.endswith("_") and isinstance(call.func, ast.Attribute)
        if in_place:  # told of the argument that is written, where it is one
            in_place = root_name(call.func) in {p.arg for p in statement.function.parameters} - set(RECEIVERS)
        return not (
            name in _ELSEWHERE
            or op == TOLD
            or op.startswith("atomic_")
            or in_place
            or name.startswith(("_check", "set_default"))
        )
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AugAssign) else []
    if statement.index in tile_statements(statement.function):
        return False
    if len(targets) == 1 and isinstance(targets[0], ast.Name) and not is_shared(targets[0], statement.function):
        return isinstance(node, ast.AugAssign) or _is_update(node.value, targets[0].id, statement)
    if targets and isinstance(node.value, ast.Call) and is_allocation(node.value):
        return False
    own = [target for target in targets if isinstance(target, ast.Attribute | ast.Subscript)]
    return any(not is_shared(target, statement.function) for target in own)


def _is_choice(statement: Statement) -> bool:
    """Whether a value is given under a test by what no other edit tells."""
    value = statement.node.value if isinstance(statement.node, ast.Assign) else None
    if value is None or not statement.conditions:
        return False
    if isinstance(value, ast.Call):
        parts = cast_parts(value, statement.function) or copy_parts(value, statement.function)
        if parts and not isinstance(parts[0], ast.Call):
            return False
        value = parts[0] if parts else value
        name, op = last_name(value.func), statement.function.module.language_call(value)
        return not (op or is_allocation(value) or name in _ELSEWHERE or name in ("contiguous", "to"))
    return True


def _is_update(value: ast.expr, name: str, statement: Statement) -> bool:
    """Whether a name is given a value that rests on its old one; a cast, a copy or a new layout are told as such."""
    if isinstance(value, ast.Call):
        told = cast_parts(value, statement.function) or copy_parts(value, statement.function)
        if told or last_name(value.func) in ("contiguous", "to"):
            return False
    return any(isinstance(one, ast.Name) and one.id == name for one in ast.walk(value))
