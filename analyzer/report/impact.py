"""Risks and whom the change reaches. Every statement names the fact that it rests on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from analyzer.change.revisions.category import is_test
from analyzer.model.base import LEVELS, Text
from analyzer.model.change import Coverage, Edit
from analyzer.model.evidence import BAD_OUTCOMES, Check
from analyzer.model.finding import Finding
from analyzer.model.plan import Plan
from analyzer.model.report import Impact, Statement
from analyzer.report.figures import name_of, reason_of, where, worst
from analyzer.report.phrases import phrase

#: Checks whose outcome users notice.
FELT = ("token-flips", "kept-set", "peak-memory", "latency")
#: Relations to changes that are still of interest to the people who work on this code.
TEAM = ("supersedes", "relanded-by", "relands", "follow-up-of", "mentions", "mentioned-by", "reverted-by")
#: Nouns of edits of what may make a tensor.
_ALLOCATING = frozenset({
    "allocation", "argument", "body", "cast", "contiguity", "copy", "loop", "operator", "result", "statement", "value",
})  # fmt: skip
CALLERS = 5
#: Statements on tests that name what changed.
COVERED = 6


def risks(findings: Iterable[Finding], checks: Iterable[Check]) -> tuple[Statement, ...]:
    """What the findings above info warn of, and what failed."""
    told = [
        Statement(text=finding.why, source="diff", fact=_place(finding))
        for finding in findings
        if LEVELS.index(finding.severity) > LEVELS.index("info")
    ]
    told += [
        _measured(check, phrase(f"verdict.check.{check.outcome}", name=check.check, figure=said, where=where(check)))
        for check in worst(check for check in checks if check.outcome in BAD_OUTCOMES)
        if (said := reason_of(check))
    ]
    return _once(told)


def impact(plan: Plan, checks: Sequence[Check]) -> Impact:
    """Users, system and team, from measurements, rules, callers, tests and related changes."""
    felt = [
        _measured(check, said)
        for check in worst(check for check in checks if check.outcome in ("changed", *BAD_OUTCOMES))
        if check.check in FELT and (said := reason_of(check))
    ]
    measured_memory = any(check.check == "peak-memory" and check.delta for check in checks)
    users = [*felt, *([] if measured_memory else _memory(plan.change.edits)), *_of_rules(plan.findings, "users")]
    system = [*_of_rules(plan.findings, "system"), *_gone(plan), *_overwritten(plan), *_callers(plan)]
    tests = [*_tests(plan.change.edits), *_coverage(plan)]
    team = [*_of_rules(plan.findings, "team"), *tests, *_related(plan)]
    return Impact(users=_once(users), system=_once(system), team=_once(team))


def tags(findings: Iterable[Finding], checks: Iterable[Check]) -> tuple[Text, ...]:
    """The tags of measurements (of each check the largest) and of findings above info, those of the strongest first."""
    rated = [(check.severity, check.tags) for check in worst(checks)]
    rated += [(finding.severity, finding.tags) for finding in findings if finding.severity != "info"]
    rated.sort(key=lambda pair: -LEVELS.index(pair[0]))
    return tuple(dict.fromkeys(tag for _, its in rated for tag in its))


def _of_rules(findings: Iterable[Finding], whom: str) -> list[Statement]:
    return [
        Statement(text=finding.impact[whom], source="diff", fact=_place(finding))
        for finding in findings
        if whom in finding.impact and not finding.waived_by
    ]


def _memory(edits: Iterable[Edit]) -> list[Statement]:
    """The size of copies that came or went, where no peak was measured and nothing that they may replace is known."""
    edits = tuple(edits)
    return [
        Statement(
            text=phrase(
                f"impact.{edit.kind}",
                size=str(edit.detail["size"]),
                symbol=edit.symbol,
                condition=edit.detail.get("condition", ""),
            ),
            source="diff",
            fact=f"{edit.path}:{edit.head_line or edit.base_line} {edit.kind}",
        )
        for edit in edits
        if edit.kind in ("copy-added", "copy-removed") and "size" in edit.detail and not _in_place_of(edit, edits)
    ]


def _in_place_of(copy: Edit, edits: Iterable[Edit]) -> bool:
    """Whether the function computes anything otherwise, or does without something: that may have taken as much."""
    gone = "removed" if copy.kind == "copy-added" else "added"
    for edit in edits:
        noun, _, way = edit.kind.rpartition("-")
        if (edit.path, edit.symbol) == (copy.path, copy.symbol) and noun in _ALLOCATING and way in ("changed", gone):
            return True
    return False


def _callers(plan: Plan) -> list[Statement]:
    """Which unchanged code calls a symbol that a finding above info is about; tests are left out."""
    concerned = {finding.symbol for finding in plan.findings if finding.severity != "info"}
    callers = [c for c in plan.change.callers if c.calls in concerned and c.how in ("calls", "launches") and not c.gone]
    callers = [c for c in callers if not c.changed and not is_test(c.path)]
    callers.sort(key=lambda caller: caller.calls)
    told = []
    for called, group in groupby(callers, key=lambda caller: caller.calls):
        who = list(group)[:CALLERS]
        names = tuple(dict.fromkeys(caller.symbol for caller in who))
        places = ", ".join(f"{caller.path}:{caller.line}" for caller in who)
        told.append(Statement(text=phrase("impact.callers", callers=names, symbol=called), source="diff", fact=places))
    return told


def _gone(plan: Plan) -> list[Statement]:
    """What still names a symbol that head has no longer."""
    callers = sorted((c for c in plan.change.callers if c.gone), key=lambda caller: caller.calls)
    told = []
    for called, group in groupby(callers, key=lambda caller: caller.calls):
        who = list(group)[:CALLERS]
        names = tuple(dict.fromkeys(c.symbol if c.symbol != "<module>" else c.path for c in who))
        places = ", ".join(f"{caller.path}:{caller.line}" for caller in who)
        told.append(Statement(text=phrase("impact.gone", callers=names, symbol=called), source="diff", fact=places))
    return told


def _overwritten(plan: Plan) -> list[Statement]:
    """What callers do with a tensor that the change now overwrites."""
    edits = {edit.symbol: edit for edit in plan.change.edits if edit.kind == "in-place-introduced"}
    told = []
    for caller in plan.change.callers:
        edit = edits.get(caller.calls)
        if caller.after is None or edit is None or is_test(caller.path):
            continue
        how = {"conditional": bool(edit.detail.get("conditional")), "unless": edit.detail.get("unless", "")}
        text = phrase("impact.overwritten", caller=caller.symbol, symbol=caller.calls, after=caller.after, **how)
        told.append(Statement(text=text, source="diff", fact=f"{caller.path}:{caller.line}"))
    return told


def _coverage(plan: Plan) -> list[Statement]:
    """Which tests name the changed symbols, of those with edits first; what no test names comes before the rest."""
    edited = {(edit.path, edit.symbol) for edit in plan.change.edits}
    told = sorted(plan.change.coverage, key=lambda one: (one.path, one.symbol) not in edited)
    bare = [one for one in told if not one.named and not one.through]
    statements = []
    if bare:
        names = tuple(one.symbol for one in bare[:CALLERS])
        places = ", ".join(dict.fromkeys(one.path for one in bare[:CALLERS]))
        statements.append(Statement(text=phrase("impact.uncovered", symbols=names), source="diff", fact=places))
    told = [one for one in told if one.named or one.through]
    for one in sorted(told, key=lambda one: one.named):
        statements.append(Statement(text=_covered(one), source="diff", fact=one.path))
    gone = [
        Statement(
            text=phrase("impact.test-gone", count=len(one.removed), symbol=one.symbol),
            source="diff",
            fact=", ".join(one.removed[:CALLERS]),
        )
        for one in plan.change.coverage
        if one.removed
    ]
    return [*gone, *statements][:COVERED]


def _covered(one: Coverage) -> Text:
    if one.named:
        counts = {"changed": len(one.changed), "unchanged": len(one.unchanged)}
        return phrase("impact.covered", symbol=one.symbol, **counts)
    changed, unchanged = len(one.through_changed), len(one.through_unchanged)
    return phrase(
        "impact.through",
        symbol=one.symbol,
        caller=one.through,
        launches=one.launches,
        count=changed + unchanged,
        changed=changed,
    )


def _tests(edits: Iterable[Edit]) -> list[Statement]:
    told = []
    for kind, key in (("test-added", "tests-added"), ("test-removed", "tests-removed")):
        found = [edit for edit in edits if edit.kind == kind]
        if found:
            text = phrase(f"impact.{key}", count=sum(edit.count for edit in found))
            told.append(Statement(text=text, source="diff", fact=", ".join(sorted({e.symbol for e in found}))))
    return told


def _related(plan: Plan) -> list[Statement]:
    return [
        Statement(
            text=phrase(f"related.{related.relation}", what=name_of(related)),
            source="history",
            fact=(related.commit or "")[:10] or name_of(related),
        )
        for related in plan.related
        if related.relation in TEAM
    ]


def _once(statements: Iterable[Statement]) -> tuple[Statement, ...]:
    return tuple({statement.text: statement for statement in reversed(list(statements))}.values())[::-1]


def _place(finding: Finding) -> str:
    return f"{finding.path}:{finding.line} {finding.symbol}".strip()


def _measured(check: Check, text: Text) -> Statement:
    return Statement(text=text, source="measurement", fact=f"{check.check}: {check.probe}")
