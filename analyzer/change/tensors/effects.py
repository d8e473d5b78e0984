"""What a change did to the tensors that its functions are handed: written in place, returned, rounded on the way.

Both sides are interpreted (dataflow.py); callees are looked up only where the sides differ in what they hand on.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from analyzer.change.align import Alignment
from analyzer.change.around.resolve import Resolver
from analyzer.change.edits import Side, at, make
from analyzer.change.inside.extract import copy_parts
from analyzer.change.nodes import root_name
from analyzer.change.reversal import appeared
from analyzer.change.revisions.category import is_test
from analyzer.change.source import Function, Module
from analyzer.change.tensors.dataflow import Analysis
from analyzer.change.tensors.values import Summary, Write, tensor_parameters
from analyzer.model.change import Edit


@dataclass
class Effects:
    """The edits, and what callees say of a parameter's shape: (path, function) -> parameter -> "rows × columns"."""

    edits: list[Edit]
    base_shapes: dict[tuple[str, str], dict[str, str]]
    head_shapes: dict[tuple[str, str], dict[str, str]]

    def sized(self, edit: Edit) -> Edit:
        """The edit with the dimensions of a parameter in place of its number of elements, where they are known."""
        detail = dict(edit.detail)
        for name, value in detail.items():
            if name.startswith("size") and isinstance(value, str):
                before = name == "size_before" or (name == "size" and edit.kind.endswith("-removed"))
                shapes = self.base_shapes if before else self.head_shapes
                path = str(edit.detail.get("path_before", edit.path)) if before else edit.path
                symbol = str(edit.detail.get("symbol_before", edit.symbol)) if before else edit.symbol
                for parameter, dimensions in shapes.get((path, symbol), {}).items():
                    detail[name] = str(detail[name]).replace(f"numel({parameter})", dimensions)
        return edit.model_copy(update={"detail": detail})


def effects(
    alignments: list[Alignment],
    base: dict[str, Module],
    head: dict[str, Module],
    tree,
    within: Callable[[Alignment, Callable[[], None]], None] = lambda _, what: what(),
) -> Effects:
    """In-place writes, returned aliases and low-precision round trips of all functions that both sides have.

    `within` runs the work on one alignment, or leaves it where it costs too much.
    """
    tensors = dict(further for alignment in alignments for further in _tensors_of_either(alignment))
    sides = (Analysis(Resolver("base", base, tree), tensors), Analysis(Resolver("head", head, tree), tensors))
    shallow = Analysis(None, tensors)
    found = Effects([], {}, {})

    def add(alignment: Alignment) -> None:
        before = {f: shallow.summary(f) or Summary() for f in alignment.base}
        after = {f: shallow.summary(f) or Summary() for f in alignment.head}
        if _seen(before, alignment.base_name) != _seen(after, alignment.head_name):
            before = {f: sides[0].summary(f) or Summary() for f in alignment.base}
            after = {f: sides[1].summary(f) or Summary() for f in alignment.head}
            found.edits += _in_place(alignment, before, after)
            found.edits += _returned(alignment, before, after)
            found.edits += _round_trips(alignment, before, after)
        found.base_shapes |= {(f.path, f.name): summary.shapes for f, summary in before.items()}
        found.head_shapes |= {(f.path, f.name): summary.shapes for f, summary in after.items()}

    for alignment in alignments:
        functions = (*alignment.base, *alignment.head)
        if not any(is_test(f.path) or f.is_kernel for f in functions):
            within(alignment, lambda alignment=alignment: add(alignment))
    return found


def _tensors_of_either(alignment: Alignment) -> Iterator[tuple[Function, list[str]]]:
    """Parameters that the other version alone shows to be tensors: a new annotation does nothing to one."""
    sides = (alignment.base[0], alignment.base_name), (alignment.head[0], alignment.head_name)
    named = [{rename(name) for name in tensor_parameters(function)} for function, rename in sides]
    for (function, rename), more in zip(sides, (named[1] - named[0], named[0] - named[1]), strict=True):
        if more:
            yield function, [p.arg for p in function.parameters if rename(p.arg) in more]


def _seen(summaries: dict[Function, Summary], name) -> list:
    """What functions write, hand on and return, before any callee is looked at."""
    found = []
    for its in summaries.values():
        found += [(name(w.parameter), w.via, w.aliased, w.dtype, w.rounds) for w in its.writes]
        found += [
            (call, tuple((tuple(map(name, a)), tuple(map(name, e)), d) for a, e, d in handed))
            for call, handed in its.calls
        ]
        found.append(tuple(sorted(map(name, its.returned.alias))))
    return found


def _in_place(alignment: Alignment, before: dict[Function, Summary], after: dict[Function, Summary]) -> list[Edit]:
    """Parameters that are written on one side where the other leaves them alone."""
    x = _sites(before, alignment.base_name)
    y = _sites(after, alignment.head_name)
    edits = []
    views = (x, after, alignment.head_name, y), (y, before, alignment.base_name, x)
    for own, others, rename_other, other in views:
        added = own is y
        groups: dict[tuple[Function, str], list[tuple[Function, Write]]] = defaultdict(list)
        for name, sites in own.items():
            if name not in _parameters(others, rename_other):
                continue  # an argument that only this side takes was not spared by the other
            if _unknown(name, others, rename_other):
                continue  # what the other side does to it cannot be told
            if name not in other and name in _partly_set(others, rename_other):
                continue  # it is written there, too, whatever it is
            if name not in other and name in _in_closures(others, rename_other):
                continue  # a function inside it may write it
            known = {write.via for _, write in other.get(name, ())} | _handed(name, others, rename_other)
            calm = [set(write.conditions) for _, write in other.get(name, ())]
            for function, write in sites:
                covered = any(conditions <= set(write.conditions) or write.conditions for conditions in calm)
                if write.via not in known and not covered:
                    groups[function, name].append((function, write))
        for (function, _), sites in groups.items():
            writes = [write for _, write in sites]
            first = writes[0]
            detail = {
                "parameter": first.parameter,
                "by": ", ".join(dict.fromkeys(w.via for w in writes)),
                "conditional": all(w.conditions for w in writes),
            }
            kernels = dict.fromkeys(k for w in writes for k in w.kernels)
            if kernels:
                detail["kernels"] = ", ".join(kernels)
            copied = _copied_when(function, first.parameter)
            if copied:
                detail["unless"] = copied
            other_function = alignment.counterpart(function)
            own_side, other_side = at(function, first.node), Side(other_function) if other_function else None
            if added:
                edits.append(make(appeared("in-place"), other_side, own_side, detail))
            else:
                edits.append(make("in-place-removed", own_side, other_side, detail))
    return edits


def _parameters(functions: Iterable[Function], rename) -> set[str]:
    return {rename(parameter.arg) for function in functions for parameter in function.parameters}


def _partly_set(functions: Iterable[Function], rename) -> set[str]:
    """Names of which an element or a part is assigned."""
    return {
        rename(root_name(target))
        for function in functions
        for statement in function.statements
        if isinstance(statement.node, ast.Assign | ast.AugAssign)
        for target in getattr(statement.node, "targets", None) or [statement.node.target]
        if isinstance(target, ast.Subscript)
    }


def _in_closures(functions: Iterable[Function], rename) -> set[str]:
    """Names that functions defined inside a function have."""
    return {
        rename(name.id)
        for function in functions
        for inner in ast.walk(function.node)
        if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) and inner is not function.node
        for name in ast.walk(inner)
        if isinstance(name, ast.Name)
    }


def _copied_when(function: Function, parameter: str) -> str:
    """The conditions under which the function works on a copy of the parameter."""
    found = [
        statement.condition
        for statement in function.statements
        for call in statement.calls
        if statement.conditions
        and statement.target() == parameter
        and (copied := copy_parts(call, function)) is not None
        and root_name(copied[0]) == parameter
    ]
    return " or ".join(found)


def _sites(summaries: dict[Function, Summary], name) -> dict[str, list[tuple[Function, Write]]]:
    found: dict[str, list[tuple[Function, Write]]] = defaultdict(list)
    for function, summary in summaries.items():
        for write in summary.writes:
            if write.aliased:
                found[name(write.parameter)].append((function, write))
    return found


def _handed(name: str, summaries: dict[Function, Summary], rename) -> set[str]:
    """Calls that are handed a parameter's memory: where they only now write it, the change is theirs."""
    return {
        call
        for summary in summaries.values()
        for call, handed in summary.calls
        for alias, _, _ in handed
        if name in map(rename, alias)
    }


def _unknown(name: str, summaries: dict[Function, Summary], rename) -> set[str]:
    """Calls that hand on a parameter's memory to where it cannot be followed."""
    return {
        via
        for summary in summaries.values()
        for parameter, via, aliased in summary.unresolved
        if aliased and rename(parameter) == name
    }


def _returned(alignment: Alignment, before: dict[Function, Summary], after: dict[Function, Summary]) -> list[Edit]:
    """Parameters that one side hands back as the result, and the other does not."""
    base, head = alignment.base[0], alignment.head[0]
    x = {alignment.base_name(p): p for p in before[base].returned.alias}
    y = {alignment.head_name(p): p for p in after[head].returned.alias}
    edits = []
    unknown_x = {name for name in y if _unknown(name, {base: before[base]}, alignment.base_name)}
    unknown_y = {name for name in x if _unknown(name, {head: after[head]}, alignment.head_name)}
    shared = _parameters([base], alignment.base_name) & _parameters([head], alignment.head_name)
    for name in sorted((y.keys() - x.keys() - unknown_x) & shared):
        site, detail = _handed_back(head, after[head], y[name])
        edits.append(make(appeared("alias-returned"), Side(base), site, detail))
    for name in sorted((x.keys() - y.keys() - unknown_y) & shared):
        site, detail = _handed_back(base, before[base], x[name])
        edits.append(make("alias-returned-removed", site, Side(head), detail))
    return edits


def _handed_back(function: Function, summary: Summary, parameter: str) -> tuple[Side, dict]:
    """Where a parameter is returned, and under which tests if it is under some wherever it is."""
    found = [node for name, node in summary.returns if name == parameter]
    detail = {"parameter": parameter}
    conditions = [s.condition for s in function.statements if any(s.node is node for node in found)]
    if len(found) == len(conditions) == 1 and conditions[0]:
        detail["condition"] = conditions[0]
    return at(function, found[0]), detail


def _round_trips(alignment: Alignment, before: dict[Function, Summary], after: dict[Function, Summary]) -> list[Edit]:
    """Chains that ran on a full-precision copy of a parameter on one side and run in its own dtype on the other."""
    base, head = alignment.base[0], alignment.head[0]
    x, y = before[base], after[head]
    protected_x = {alignment.base_name(p): node for p, node in x.protected}
    protected_y = {alignment.head_name(p): node for p, node in y.protected}
    edits = []
    for name in sorted(protected_x.keys() - protected_y.keys()):
        detail, first = _stages(name, y, alignment.head_name, x, alignment.base_name)
        if first is not None:
            kind = appeared("low-precision-round-trip")
            edits.append(make(kind, at(base, protected_x[name]), at(head, first), detail))
    for name in sorted(protected_y.keys() - protected_x.keys()):
        detail, first = _stages(name, x, alignment.base_name, y, alignment.head_name)
        if first is not None:
            kind = "low-precision-round-trip-removed"
            edits.append(make(kind, at(base, first), at(head, protected_y[name]), detail))
    return edits


def _stages(name: str, bare: Summary, bare_name, copied: Summary, copied_name) -> tuple[dict, ast.AST | None]:
    """What stores into parameter `name` on the side without a copy, split by whether it rounds."""
    writes = [w for w in bare.writes if bare_name(w.parameter) == name and not w.dtype]
    known = {w.via for w in copied.writes if copied_name(w.parameter) == name}
    rounding = [w for w in writes if w.rounds and w.via in known]
    if not rounding:
        return {}, None
    stages = dict.fromkeys(w.via for w in rounding)
    detail: dict = {"parameter": rounding[0].parameter, "stages": ", ".join(stages), "stage_count": len(stages)}
    kernels = dict.fromkeys(k for w in rounding for k in w.kernels)
    if kernels:
        detail["kernels"] = ", ".join(kernels)
    exact = dict.fromkeys(w.via for w in writes if not w.rounds and w.via not in stages)
    if exact:
        detail["exact"] = ", ".join(exact)
    unknown = dict.fromkeys(via for parameter, via, _ in bare.unresolved if bare_name(parameter) == name)
    if unknown:
        detail["unresolved"] = ", ".join(unknown)
    return detail, rounding[0].node
