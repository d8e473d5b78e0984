"""What differs is a row; what passed or did not run is a line."""

from analyzer.model.base import Text, load
from analyzer.model.evidence import Check, Evidence, Isolation, Specialization
from analyzer.report.evidence import not_run, passed, rows
from analyzer.report.phrases import spoken

WHY = Text(en="needs a GPU", zh="需要 GPU")


def record(check: str, outcome: str, dtype: str = "bf16", severity: str = "info") -> Check:
    reason = WHY if outcome == "not-run" else Text(en="", zh="")
    of = Specialization(dtype=dtype)
    return Check(
        check=check, probe="apply", symbol="apply", specialization=of, outcome=outcome, severity=severity, reason=reason
    )


def test_failures_come_first_and_passes_are_lines() -> None:
    """The failed check leads the table, a same kernel is told there, other passes and what did not run are grouped."""
    evidence = Evidence(
        bundle="0" * 64,
        checks=(
            record("mutation", "pass"),
            record("mutation", "pass", "fp32"),
            record("peak-memory", "changed"),
            record("kept-set", "fail", severity="high"),
            record("identity", "pass", "fp32"),
            record("latency", "not-run"),
            record("hang", "not-run"),
        ),
    )
    assert [(one.outcome.en, one.bad) for one in rows(evidence)] == [
        ("fail", True),
        ("changed", False),
        ("pass", False),
    ]
    assert [(group.probe, group.checks) for group in passed(evidence)] == [("apply", "mutation (bf16, fp32)")]
    assert [(g.probe, g.checks, g.reason) for g in not_run(evidence)] == [("apply", "latency (bf16), hang (bf16)", WHY)]


def test_remarks_speak_the_report_s_language() -> None:
    """Bridges and what isolation lacks are told in the report's language; a recording's plain string stays as it is."""
    remark = Text(en="no GPU assumed", zh="假定没有 GPU")
    isolation = Isolation(missing=(Text(en="the same user (root)", zh="用户相同（root）"), "an older remark"))
    evidence = Evidence(bundle="0" * 64, bridges=(remark, "an older bridge"), isolation=isolation)
    read = load(Evidence, evidence.model_dump_json(), "evidence")
    assert read == evidence
    shown = spoken(read.model_dump(), "zh")
    assert shown["bridges"] == ["假定没有 GPU", "an older bridge"]
    assert shown["isolation"]["missing"] == ["用户相同（root）", "an older remark"]


def test_no_evidence_has_no_rows() -> None:
    """A static report has an empty table."""
    assert rows(None) == passed(None) == not_run(None) == []
