"""YAML whose faults are named by file and line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from analyzer.errors import UsageError

M = TypeVar("M", bound=BaseModel)
Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_list(kind: type[M], text: str, source: str) -> list[M]:
    """The records of a YAML list; a fault raises a UsageError ``source:line: what``."""
    try:
        root = yaml.compose(text, Loader=Loader)
        raw = yaml.load(text, Loader=Loader)  # a safe loader: it constructs plain data only
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or "not YAML"
        raise UsageError(f"{source}:{mark.line + 1 if mark else 1}: {problem}") from None
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
            line = _line(root, (index, *fault["loc"]))
            raise UsageError(f"{source}:{line}: {said(fault)}") from None
    return records


def said(fault: Any) -> str:
    """One line for a pydantic fault: the field and what is wrong with it."""
    where = ".".join(str(part) for part in fault["loc"])
    return f"{where}: {fault['msg']}" if where else str(fault["msg"])


def _line(node: yaml.Node, path: Sequence[str | int]) -> int:
    """The 1-based line of the deepest node that a path of keys and indices leads to."""
    line = node.start_mark.line
    for part in path:
        if isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
            node = node.value[part]
        elif isinstance(node, yaml.MappingNode):
            pair = next(((key, value) for key, value in node.value if key.value == str(part)), None)
            if pair is None:
                break
            line, node = pair[0].start_mark.line, pair[1]
            continue
        else:
            break
        line = node.start_mark.line
    return line + 1
