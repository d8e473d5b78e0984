"""Same seeds, other tokens?

For samplers that add the same noise to both distributions (Gumbel-max, exponential race) the probability that a token
differs is at most 2·TV/(1 + TV) (arXiv 2408.07978). More flips than that, by a one-sided exact binomial test, mean that
more than the distribution changed.
"""

from __future__ import annotations

from statistics import fmean

from scipy.stats import binomtest

from analyzer.build.worker import tensors
from analyzer.checks.masked import comparison, output
from analyzer.checks.probe_run import ProbeRun
from analyzer.model.base import Text
from analyzer.model.evidence import Check

NAME = "token-flips"
ALPHA = 1e-6
#: Total variation that fp32 rounding may cause between two implementations of one distribution (rows.TOLERANCE).
ROUNDING = 1e-5


def run(run: ProbeRun) -> list[Check]:
    if run.probe.output == "tokens":
        return _tokens(run)
    base, head = run.calls
    failed = run.failed(NAME, base, head)
    if failed:
        return [failed]
    if base.data["sampled"] is None or head.data["sampled"] is None:
        reason = Text(en="the probe draws no tokens", zh="该探针不采样词元")
        return [run.record(NAME, "not-run", reason)]
    first = tensors.read(base.data["sampled"], run.base.out)
    second = tensors.read(head.data["sampled"], run.head.out)
    flipped, tokens = int((first != second).sum()), first.numel()
    bound = fmean(2 * tv / (1 + tv) for tv in comparison(run).tv)
    return [_record(run, flipped, tokens, bound)]


def _tokens(run: ProbeRun) -> list[Check]:
    """A probe whose result is tokens: the distributions behind them differ by no more than rounding."""
    failed = run.failed(NAME, *run.calls)
    if failed:
        return [failed]
    first, second = (output(run, call, worker) for call, worker in zip(run.calls, (run.base, run.head), strict=True))
    bound = 2 * ROUNDING / (1 + ROUNDING)
    return [_record(run, int((first != second).sum()), first.numel(), bound)]


def _record(run: ProbeRun, flipped: int, tokens: int, bound: float) -> Check:
    p_value = binomtest(flipped, tokens, min(1.0, bound), alternative="greater").pvalue
    share = 100 * flipped / tokens
    if p_value < ALPHA:
        outcome = "fail"
        reason = Text(
            en=f"{share:.2f}% of tokens differ, more than the distance of the distributions explains ({bound:.2%})",
            zh=f"{share:.2f}% 的词元不同，超出两个分布的距离所能解释的比例（{bound:.2%}）",
        )
    elif flipped:
        outcome = "changed"
        over = flipped / tokens > bound
        reason = Text(
            en=f"{share:.2f}% of tokens differ at the same seeds, "
            + ("too few to tell from rounding" if over else f"within the bound {bound:.2%}"),
            zh=f"相同种子下 {share:.2f}% 的词元不同，"
            + ("数量太少，无法与舍入区分" if over else f"未超过上界 {bound:.2%}"),
        )
    else:
        outcome, reason = "pass", Text(en="the same tokens at the same seeds", zh="相同种子下词元相同")
    return run.record(
        NAME,
        outcome,
        reason,
        delta={"flipped": flipped, "tokens": tokens, "rate": flipped / tokens, "bound": bound, "p_value": p_value},
        gate=f"flip rate at most 2·TV/(1+TV), one-sided binomial, alpha {ALPHA:g}",
        margin=bound - flipped / tokens,
    )
