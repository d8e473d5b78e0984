"""YAML whose faults are named by file and line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from analyzer.errors import UsageError

M = TypeVar("M", bound=BaseModel)
_Safe: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_Safe):
    """Constructs plain data only; a value that cannot be constructed, and a key given twice, say where they stand."""

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        try:
            return super().construct_object(node, deep)
        except ValueError as error:  # a date that is none
            raise yaml.constructor.ConstructorError(None, None, str(error), node.start_mark) from None

    def construct_mapping(self, node: yaml.Node, deep: bool = False) -> Any:
        seen = set()
        for key, _ in node.value if isinstance(node, yaml.MappingNode) else ():
            if isinstance(key, yaml.ScalarNode) and key.value in seen:
                raise yaml.constructor.ConstructorError(None, None, f"{key.value!r} is given twice", key.start_mark)
            seen.add(key.value if isinstance(key, yaml.ScalarNode) else id(key))
        return super().construct_mapping(node, deep)


def read_yaml(text: str | bytes, source: str) -> tuple[Any, yaml.Node | None]:
    """The plain data of a YAML text and its nodes (None for an empty one), which `line_of` finds a value's line in."""
    try:
        root = yaml.compose(text, Loader=_Loader)
        return yaml.load(text, Loader=_Loader), root  # a safe loader, see above
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        last = len(text.splitlines())  # what is missing at the end is told of the last line
        line = min(mark.line + 1, last) if mark else 1
        raise UsageError(f"{source}:{line}: {error.problem or error.context}") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise UsageError(f"{source}: {str(error).splitlines()[0]}") from None


def read_list(kind: type[M], text: str, source: str) -> list[M]:
    """The records of a YAML list; a fault raises a UsageError ``source:line: what``."""
    raw, root = read_yaml(text, source)
    if raw is None:
        return []
    if not isinstance(raw, list):
        raise UsageError(f"{source}:1: a list of entries is wanted")
    records = []
    for index, entry in enumerate(raw):
        try:
            records.append(kind.model_validate(entry))
        except ValidationError as error:
            fault = error.errors()[0]
            raise UsageError(f"{source}:{line_of(root, (index, *fault['loc']))}: {said(fault)}") from None
    return records


def said(fault: Any) -> str:
    """One line for a pydantic fault: the field and what is wrong with it."""
    where = ".".join(str(part) for part in fault["loc"])
    message = str(fault["msg"]).removeprefix("Value error, ")
    return f"{where}: {message}" if where else message


def line_of(node: yaml.Node | None, path: Sequence[str | int]) -> int:
    """The 1-based line of the deepest node that a path of keys and indices leads to."""
    if node is None:
        return 1
    line = node.start_mark.line
    for part in path:
        if isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
            node = node.value[part]
            line = node.start_mark.line
        elif isinstance(node, yaml.MappingNode):
            pair = next(((key, value) for key, value in node.value if key.value == str(part)), None)
            if pair is None:
                break
            line, node = pair[0].start_mark.line, pair[1]
        else:
            break
    return line + 1
