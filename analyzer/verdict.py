"""Facts -> level, score, recommendation. Pure functions; every reason carries its figure.

The table that `recommend` follows:

| state | evidence | action |
|---|---|---|
| open, unknown | a failed check, or a finding high or above | hold |
| open, unknown | nothing above low, and the checks that the edits call for have run | merge |
| open, unknown | otherwise: a medium finding, or a deciding check did not run | review |
| merged | as for merge | keep |
| merged | a failed check | revert; forward-fix where every failure has a finding that states a small fix |
| merged | otherwise | unsure |
| reverted | | already-reverted |

A revert is judged by what it brings back: where its checks ran and none failed, a static finding does not hold it, and
its price in memory is named.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from analyzer.findings.checks import decides, families, order, remedy
from analyzer.model.base import LEVELS, Level, Text
from analyzer.model.change import Related, Subject
from analyzer.model.evidence import BAD_OUTCOMES, Check, Evidence
from analyzer.model.finding import Finding
from analyzer.model.plan import Plan
from analyzer.model.report import Action, Recommendation
from analyzer.report.figures import better_of, name_of, price_of, reason_of, where, worst
from analyzer.report.phrases import phrase
from analyzer.report.prose import untold

#: Outcomes that answer a check's question.
ANSWERED = ("pass", "fail", "pre-existing", "changed", "crash", "hang", "out-of-memory")
#: Measured differences that are reasons by themselves; the others (identity, resources) explain them.
WEIGHED = ("kept-set", "distribution-distance", "oracle", "token-flips", "peak-memory", "latency")
#: Symbols named in the reason that a rule gives.
SYMBOLS = 3
#: How much one finding or failed check of a severity adds, as the chance that it alone makes the change a bad one.
#: Weights of judgment, to be replaced by a model fitted on reverts.
WEIGHTS = {"none": 0.0, "info": 0.01, "low": 0.05, "medium": 0.15, "high": 0.35, "critical": 0.6}


def level(findings: Iterable[Finding], checks: Iterable[Check]) -> Level:
    """The highest severity among unwaived findings and failed checks; none where there are none."""
    severities = _severities(findings, checks)
    return max(severities, key=LEVELS.index, default="none")


def score(findings: Iterable[Finding], checks: Iterable[Check]) -> int:
    """0-100: ``100 · (1 − ∏(1 − weight))`` over unwaived findings and failed checks. Orders reports within a level."""
    innocent = 1.0
    for severity in _severities(findings, checks):
        innocent *= 1.0 - WEIGHTS[severity]
    return round(100 * (1 - innocent))


def recommend(subject: Subject, findings: Sequence[Finding], evidence: Evidence | None, plan: Plan) -> Recommendation:
    """The action of the table above, its reasons strongest first, and what would change it.

    `evidence.checks` are rated and waived already (analyzer.findings.checks, analyzer.findings.waivers).
    """
    facts = _Facts.of(findings, evidence, plan)
    if subject.state == "reverted":
        action: Action = "already-reverted"
    elif subject.state == "merged":
        action = _of_merged(facts)
    else:
        action = _of_open(facts)
    return Recommendation(action=action, reasons=_reasons(action, facts), to_proceed=_to_proceed(action, facts))


@dataclass(frozen=True)
class _Facts:
    """What counts: unwaived findings, and checks by what they say."""

    plan: Plan
    findings: tuple[Finding, ...]
    failed: tuple[Check, ...]
    changed: tuple[Check, ...]
    passed: tuple[Check, ...]
    missing: tuple[str, ...]
    measured: bool

    @classmethod
    def of(cls, findings: Iterable[Finding], evidence: Evidence | None, plan: Plan) -> _Facts:
        checks = [check for check in (evidence.checks if evidence else ()) if not check.waived_by]
        checks.sort(key=lambda check: -LEVELS.index(check.severity))
        answered = {
            (check.check, check.probe) for check in (evidence.checks if evidence else ()) if check.outcome in ANSWERED
        }
        missing = [
            planned.check
            for planned in plan.checks
            if decides(planned.check) and (planned.check, planned.probe) not in answered
        ]
        return cls(
            plan=plan,
            findings=tuple(finding for finding in findings if not finding.waived_by),
            failed=tuple(check for check in checks if check.outcome in BAD_OUTCOMES),
            changed=tuple(check for check in checks if check.outcome == "changed"),
            passed=tuple(check for check in checks if check.outcome == "pass"),
            missing=tuple(sorted(dict.fromkeys(missing), key=order)),
            measured=any(check.outcome in ANSWERED for check in checks),
        )

    def at_least(self, severity: str) -> tuple[Finding, ...]:
        return tuple(f for f in self.findings if LEVELS.index(f.severity) >= LEVELS.index(severity))

    @property
    def settled_revert(self) -> bool:
        """A revert whose deciding checks all ran: what it brings back has been measured."""
        return self.plan.is_revert and not self.missing and self.measured

    @property
    def unjudged(self) -> tuple[str, ...]:
        """Kernels, and files of them, that changed by what no edit tells, where no check answered either."""
        if self.measured:
            return ()
        files = [file for file in self.plan.change.files if file.category in ("source", "kernel")]
        edited = {(e.path, e.symbol) for e in self.plan.change.edits if e.kind != "body-changed"}
        return tuple(file.path for file in files if file.category == "kernel" and untold(file)) + tuple(
            symbol.name
            for file in files
            for symbol in file.symbols
            if symbol.kind == "kernel" and symbol.change == "body" and (file.path, symbol.name) not in edited
        )

    @property
    def good(self) -> bool:
        if self.failed or self.missing or self.unjudged:
            return False
        return self.settled_revert or not self.at_least("medium")


def _of_open(facts: _Facts) -> Action:
    if facts.good:
        return "merge"
    held = facts.failed or (facts.at_least("high") and not facts.settled_revert)
    return "hold" if held else "review"


def _of_merged(facts: _Facts) -> Action:
    if facts.good:
        return "keep"
    if facts.failed:
        return "forward-fix" if _small_fix(facts) else "revert"
    return "unsure"


def _small_fix(facts: _Facts) -> bool:
    """Whether every failed check is explained by findings, medium or above, whose fix is small."""
    findings = facts.at_least("medium")
    explained = {finding.family for finding in findings}
    return (
        bool(findings)
        and all(finding.small_fix for finding in findings)
        and all(explained & set(families(check.check)) for check in facts.failed)
    )


def _reasons(action: Action, facts: _Facts) -> tuple[Text, ...]:
    reasons: list[Text | None] = []
    if action == "already-reverted":
        reasons.append(_reverted_by(facts.plan.related))
    if facts.plan.is_revert:
        reasons.append(_restores(facts))
        reasons += [better_of(check) for check in worst(facts.passed)]
    reasons += [_check_reason(check) for check in worst(facts.failed)]
    reasons += _finding_reasons(facts.at_least("medium"))
    price = _price(facts) if facts.plan.is_revert else None
    told = {check.check for check in facts.failed}
    weighed = [check for check in facts.changed if check.check in WEIGHED and check.check not in told]
    reasons += [_check_reason(check) for check in worst(weighed) if check is not price]
    if facts.unjudged:
        reasons.append(phrase("verdict.unjudged", kernels=facts.unjudged))
    if facts.missing:
        reasons.append(phrase("verdict.not-run", checks=facts.missing))
    elif action in ("merge", "keep") and facts.passed:
        key = "verdict.revert-passed" if facts.settled_revert else "verdict.passed"
        reasons.append(phrase(key, passed=len(facts.passed)))
    elif action in ("merge", "keep") and not facts.measured:
        reasons.append(phrase("verdict.nothing-called-for"))
    return tuple(dict.fromkeys(reason for reason in reasons if reason))


def _check_reason(check: Check) -> Text | None:
    figure = (better_of(check) if check.outcome == "changed" else None) or reason_of(check)
    if figure is None:
        return None
    return phrase(f"verdict.check.{check.outcome}", name=check.check, figure=figure, where=where(check))


def _finding_reasons(findings: Iterable[Finding]) -> list[Text]:
    """One reason a rule, with the symbols that it matched."""
    by_rule: dict[str, list[Finding]] = {}
    for finding in findings:
        by_rule.setdefault(finding.rule, []).append(finding)
    return [
        phrase(
            "verdict.finding",
            title=found[0].title,
            symbols=[finding.symbol for finding in found if finding.symbol][:SYMBOLS],
            more=max(len(found) - SYMBOLS, 0),
            rule=rule,
            severity=phrase(f"severities.{found[0].severity}"),
        )
        for rule, found in by_rule.items()
    ]


def _reverted_by(related: Iterable[Related]) -> Text:
    related = list(related)
    by = next((r for r in related if r.relation in ("reverted-by", "partially-reverted-by")), None)
    by = by or next((r for r in related if r.relation == "exact-inverse-of"), None)
    if by is None:
        return phrase("verdict.reverted-unknown")
    return phrase(
        "verdict.reverted-by", what=name_of(by), exact=_exact(by, related), partial=by.relation.startswith("partially")
    )


def _restores(facts: _Facts) -> Text | None:
    """What the revert takes back, and what that costs."""
    related = facts.plan.related
    target = next((r for r in related if r.relation in ("reverts", "partially-reverts", "exact-inverse-of")), None)
    price = _price(facts)
    return phrase(
        "verdict.restores",
        what=name_of(target) if target else "",
        exact=target is not None and _exact(target, related),
        price=price_of(price) if price else None,
    )


def _exact(one: Related, related: Iterable[Related]) -> bool:
    """Whether a related change is also the exact inverse of this one."""
    return any(r.relation == "exact-inverse-of" and name_of(r) == name_of(one) for r in related)


def _price(facts: _Facts) -> Check | None:
    """The largest measured rise of the memory peak."""
    rises = [
        check
        for check in facts.changed
        if check.check == "peak-memory"
        and isinstance(check.delta.get("bytes"), int | float)
        and check.delta["bytes"] > 0
    ]
    return max(rises, key=lambda check: check.delta["bytes"], default=None)


def _to_proceed(action: Action, facts: _Facts) -> tuple[Text, ...]:
    """What would change the action: the fixes that findings and failed checks state, and the runs that are missing."""
    if action in ("merge", "keep"):
        return ()
    run = (phrase("verdict.run", checks=facts.missing),) if facts.missing else ()
    if action == "unsure":
        rules = tuple(dict.fromkeys(finding.rule for finding in facts.at_least("medium")))
        steps = run or ((phrase("verdict.read", rules=rules),) if rules else ())
        return steps or (phrase("verdict.judge", kernels=facts.unjudged),)
    serious = facts.at_least("high") or facts.at_least("medium")
    covered = {finding.family for finding in serious}
    fixes = [finding.instead for finding in serious]
    fixes += [fix for check in facts.failed if not covered & set(families(check.check)) and (fix := remedy(check))]
    steps = [*run, *fixes] if action == "review" else [*fixes, *run]
    if facts.unjudged and not steps:
        steps = [phrase("verdict.judge", kernels=facts.unjudged)]
    return tuple(dict.fromkeys(steps))


def _severities(findings: Iterable[Finding], checks: Iterable[Check]) -> list[Level]:
    return [
        *(finding.severity for finding in findings if not finding.waived_by),
        *(check.severity for check in checks if check.outcome in BAD_OUTCOMES and not check.waived_by),
    ]
