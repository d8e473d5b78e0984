"""Whether a report holds what a case expects of it: predicates over report.json, as the cases file's `format` says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

LEVELS = ("none", "info", "low", "medium", "high", "critical")
FIGURE_TOLERANCE = 0.02


def holds(expectation: Mapping[str, Any], report: Mapping[str, Any]) -> bool:
    """One expectation of a case against a report: any record that fits all its fields makes it hold."""
    if "edit" in expectation:
        return _edits_hold(expectation["edit"], report)
    if "no_edit" in expectation:
        return not any(_edit_fits(expectation["no_edit"], edit) for edit in _edits(report))
    if "check" in expectation:
        return any(_check_fits(expectation["check"], check) for check in _checks(report))
    if "no_check" in expectation:
        return not any(_check_fits(expectation["no_check"], check) for check in _checks(report))
    if "finding" in expectation:
        return any(_finding_fits(expectation["finding"], finding) for finding in report["risk"]["findings"])
    if "callers" in expectation:
        return any(_ends_with(caller["symbol"], expectation["callers"]["symbol"]) for caller in report["callers"])
    if "related" in expectation:
        return any(_fields_fit(expectation["related"], record) for record in report["related"])
    if "recommendation" in expectation:
        return _fields_fit(expectation["recommendation"], report["summary"]["recommendation"])
    if "level_max" in expectation:
        return LEVELS.index(report["risk"]["level"]) <= LEVELS.index(expectation["level_max"])
    raise ValueError(f"an expectation of no known kind: {sorted(expectation)}")


def describe(expectation: Mapping[str, Any]) -> str:
    """The expectation in one line."""
    kind = next(key for key in expectation if key not in ("needs", "text"))
    return f"{kind} {expectation[kind]}"


def _edits(report: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
    return (edit for file in report["implementation"]["files"] for edit in file["edits"])


def _checks(report: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
    return (check for check in (report["evidence"] or {}).get("checks", ()) if check["outcome"] != "not-run")


def _edits_hold(wanted: Mapping[str, Any], report: Mapping[str, Any]) -> bool:
    counts = [edit["count"] for edit in _edits(report) if _edit_fits(wanted, edit)]
    if "count" in wanted:
        return sum(counts) == wanted["count"]
    return bool(counts) and sum(counts) >= wanted.get("count_min", 1)


def _edit_fits(wanted: Mapping[str, Any], edit: Mapping[str, Any]) -> bool:
    fields = {key: value for key, value in wanted.items() if not key.startswith(("symbol", "count"))}
    return _symbol_fits(wanted, edit["symbol"]) and _fields_fit(fields, edit)


def _symbol_fits(wanted: Mapping[str, Any], symbol: str) -> bool:
    names = wanted.get("symbol_in", [wanted["symbol"]] if "symbol" in wanted else None)
    return names is None or any(_ends_with(symbol, name) for name in names)


def _ends_with(symbol: str, name: str) -> bool:
    """Whether `name` is the last whole dotted components of a qualified name."""
    return symbol == name or symbol.endswith("." + name)


def _check_fits(wanted: Mapping[str, Any], check: Mapping[str, Any]) -> bool:
    fields = {key: value for key, value in wanted.items() if key not in ("symbol", "dtype", "delta", "same")}
    return (
        _symbol_fits(wanted, check["symbol"])
        and _fields_fit(fields, check)
        and ("dtype" not in wanted or check["specialization"]["dtype"] == wanted["dtype"])
        and ("same" not in wanted or check["delta"].get("same") is wanted["same"])
        and all(_near(check["delta"].get(name), figure) for name, figure in wanted.get("delta", {}).items())
    )


def _near(value: object, figure: float) -> bool:
    return isinstance(value, int | float) and abs(value - figure) <= FIGURE_TOLERANCE


def _finding_fits(wanted: Mapping[str, Any], finding: Mapping[str, Any]) -> bool:
    fields = {key: value for key, value in wanted.items() if key != "severity_min"}
    least = LEVELS.index(wanted.get("severity_min", "info"))
    return LEVELS.index(finding["severity"]) >= least and _fields_fit(fields, finding)


def _fields_fit(wanted: Mapping[str, Any], record: Mapping[str, Any]) -> bool:
    """`name` wants that value, `name_in` one of those."""
    return all(
        record[name.removesuffix("_in")] in value if name.endswith("_in") else record[name] == value
        for name, value in wanted.items()
    )
