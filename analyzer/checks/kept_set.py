"""Did the set of tokens that survive top-k / top-p change?

Sets of indices are compared, never counts: a wrong set of the right size is wrong. Counts compare head with base; the
gate compares both with the fp64 oracle, outside its ties and its band around p.
"""

from __future__ import annotations

from analyzer.checks.masked import comparison
from analyzer.checks.probe_run import ProbeRun
from analyzer.model.base import Text
from analyzer.model.evidence import Check

NAME = "kept-set"
GATE = "head keeps a set that the fp64 oracle excludes in no more rows than base"


def run(run: ProbeRun) -> list[Check]:
    failed = run.failed(NAME, *run.calls)
    if failed:
        return [failed]
    found = comparison(run)
    base, head = found.base.violating_rows + found.base.nan_rows, found.head.violating_rows + found.head.nan_rows
    if head > base:
        outcome = "fail"
        reason = Text(
            en=f"head keeps a wrong set in {head} of {found.rows:,} rows, base in {base}",
            zh=f"{found.rows:,} 行中 head 有 {head} 行保留了错误的集合，base 为 {base} 行",
        )
    elif head and head == base:
        outcome = "pre-existing"
        reason = Text(
            en=f"both keep a wrong set in {head} of {found.rows:,} rows",
            zh=f"{found.rows:,} 行中两个版本都有 {head} 行保留了错误的集合",
        )
    elif base > head:
        outcome = "changed"
        reason = Text(
            en=f"base keeps a wrong set in {base} of {found.rows:,} rows, head in {head}",
            zh=f"{found.rows:,} 行中 base 有 {base} 行保留了错误的集合，head 为 {head} 行",
        )
    elif found.rows_differing:
        outcome = "changed"
        reason = Text(
            en="the sets differ only where the oracle allows both (ties, or the band around p)",
            zh="集合只在基准允许两种选择之处不同（并列，或 p 附近的误差带）",
        )
    else:
        outcome = "pass"
        reason = Text(en="both keep the same set in every row", zh="两个版本每一行保留的集合都相同")
    return [
        run.record(
            NAME,
            outcome,
            reason,
            base={"violating_rows": found.base.violating_rows, "nan_rows": found.base.nan_rows},
            head={"violating_rows": found.head.violating_rows, "nan_rows": found.head.nan_rows},
            delta={
                "rows_differing": found.rows_differing,
                "rows": found.rows,
                "tokens_per_row": found.tokens / found.rows,
                "mass_moved": found.mass_moved,
            },
            gate=GATE,
            margin=float(base - head),
        )
    ]
