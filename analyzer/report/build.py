"""Plan + evidence + conversation -> Report. Every sentence of a report is chosen here, from facts."""

from __future__ import annotations

from typing import Any

from analyzer.findings.checks import rate
from analyzer.findings.waivers import waived
from analyzer.history.subject import with_conversation
from analyzer.model.base import Text
from analyzer.model.change import Change, Subject
from analyzer.model.evidence import Check, Evidence
from analyzer.model.plan import Plan
from analyzer.model.report import Implementation, Report, Risk, Summary
from analyzer.report.conversation import Conversation, read
from analyzer.report.discussion import discussion
from analyzer.report.impact import impact, risks, tags
from analyzer.report.motivation import motivation
from analyzer.report.phrases import phrase
from analyzer.report.prose import one_line, steps
from analyzer.verdict import level, recommend, score


def build(plan: Plan, evidence: Evidence | None = None, conversation: dict[str, Any] | None = None) -> Report:
    """The report. `conversation` is a pull request's as JSON; its state wins over the plan's."""
    subject = with_conversation(plan.subject, conversation)
    talk = read(conversation)
    if evidence is not None:
        evidence = evidence.model_copy(update={"checks": tuple(_rated(check, plan) for check in evidence.checks)})
    checks = evidence.checks if evidence else ()
    recommendation = recommend(subject, plan.findings, evidence, plan)
    return Report(
        subject=subject,
        summary=Summary(one_line=one_line(plan), recommendation=recommendation),
        motivation=motivation(subject, talk),
        implementation=Implementation(files=plan.change.files, steps=steps(plan.change, plan.findings)),
        snippets=plan.change.snippets,
        discussion=discussion(talk),
        risk=Risk(
            level=level(plan.findings, checks),
            score=score(plan.findings, checks),
            tags=tags(plan.findings, checks),
            statements=risks(plan.findings, checks),
            findings=plan.findings,
        ),
        impact=impact(plan, checks),
        callers=plan.change.callers,
        remedy=_remedy(plan, recommendation.to_proceed),
        related=plan.related,
        evidence=evidence,
        not_measured=_not_measured(plan, evidence),
        sources=_sources(subject, evidence, talk),
    )


def _rated(check: Check, plan: Plan) -> Check:
    """A check with the severity and the tags that our table gives, and with the waiver that holds for it."""
    paths = _paths(check, plan.change)
    return rate(check).model_copy(update={"waived_by": waived(check, plan.settings.get("waivers", ()), paths=paths)})


def _paths(check: Check, change: Change) -> tuple[str, ...]:
    """The changed files that have the symbol of a check."""
    return tuple(file.path for file in change.files if any(s.name == check.symbol for s in file.symbols))


def _remedy(plan: Plan, to_proceed: tuple[Text, ...]) -> tuple[Text, ...]:
    """What the findings above info say to do instead, after what the recommendation asks for."""
    said = [f.instead for f in plan.findings if f.severity != "info" and not f.waived_by]
    return tuple(dict.fromkeys([*to_proceed, *said]))


def _not_measured(plan: Plan, evidence: Evidence | None) -> tuple[Text, ...]:
    told = list(evidence.not_measured) if evidence else []
    if evidence is None:
        why = "device-none" if plan.settings.get("device") == "none" else "no-evidence"
        told.append(phrase("notes.nothing-measured", why=phrase(f"notes.{why}")))
    elif not plan.probes and not evidence.checks:
        told.append(phrase("notes.nothing-measured", why=phrase("notes.no-probe")))
    return tuple(dict.fromkeys(told))


def _sources(subject: Subject, evidence: Evidence | None, talk: Conversation) -> dict[str, str]:
    """Where the facts of each kind come from."""
    sources = {
        "diff": f"git diff {subject.base[:10]}..{subject.head[:10]}",
        "history": f"git log of {subject.repository}",
    }
    if evidence:
        machine = evidence.environment.gpu or evidence.environment.platform or "this machine"
        sources["measurement"] = f"bundle {evidence.bundle[:10]} on {machine}"
    if talk.body or talk.comments or talk.reviews or talk.review_comments:
        sources["quote"] = subject.url or "the pull request's conversation"
    elif subject.message:
        sources["quote"] = f"commit message of {subject.head[:10]}"
    return sources
