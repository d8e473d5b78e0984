"""Figures in words, with missing keys, both languages; number formats."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.model.base import Text
from analyzer.model.evidence import Check, Outcome, Specialization
from analyzer.report.figures import better_of, gain_of, price_of, reason_of, row, worst
from analyzer.report.phrases import count, figure, gib, share, signed, some_of, times

NAMES = [
    *("mutation", "kept-set", "distribution-distance", "token-flips", "peak-memory", "latency", "identity"),
    *("resources", "hang", "oracle", "layout"),
]


def check(name: str, outcome: str = "changed", reason: str = "", **more: Any) -> Check:
    return Check(check=name, probe="apply", symbol="s", outcome=outcome, reason=Text(en=reason, zh=reason), **more)


@pytest.mark.parametrize("outcome", get_args(Outcome))
@pytest.mark.parametrize("name", NAMES)
def test_a_record_without_figures_is_still_a_row(name: str, outcome: str) -> None:
    """No key of a record is needed: a missing figure is a dash, and the reason is told."""
    shown = row(check(name, outcome, "because"), bad=False)
    assert shown.label.en and shown.label.zh
    assert (shown.base.en, shown.head.en) == ("–", "–") or name == "mutation"
    assert shown.outcome.en != shown.outcome.zh
    assert "because" in shown.result.en or name in ("identity",)


@pytest.mark.parametrize(
    ("given_check", "base", "head", "result", "reason"),
    [
        (
            check(
                "peak-memory",
                base={"bytes": 4424968192, "source": "sampler.py:156"},
                head={"bytes": 107374},
                delta={"bytes": -4424860818, "bytes_per_logit": -4.0},
                parameters={"rows": 7280},
            ),
            "4.121 GiB",
            "0.0001 GiB",
            "−4.0 bytes a logit; base's peak: `sampler.py:156`",
            "peak memory −4.121 GiB (−4.0 bytes a logit) at 7,280 rows",
        ),
        (
            check("kept-set", "fail", delta={"rows_differing": 52, "rows": 1024, "tokens_per_row": 0.053}),
            "–",
            "–",
            "52 rows keep another set than base, 0.053 tokens a row",
            "52 of 1,024 rows (5.1%) keep another token set",
        ),
        (
            check("kept-set", delta={"rows_differing": 1, "rows": 8}),
            "–",
            "–",
            "1 row keeps another set than base",
            "1 of 8 rows (12%) keeps another token set",
        ),
        (
            check("token-flips", delta={"flipped": 11, "tokens": 1024}),
            "–",
            "11 of 1,024",
            "1.07% of tokens",
            "1.07% of sampled tokens differ at the same seeds",
        ),
        (
            check("latency", base={"ms": 23.71}, head={"ms": 13.84}, delta={"ratio": 0.583}, parameters={"rows": 7280}),
            "23.7 ms",
            "13.8 ms",
            "1.7× faster",
            "1.7× faster at 7,280 rows",
        ),
        (
            check(
                "mutation",
                "fail",
                base={"inputs_written": [], "output_aliases": []},
                head={"inputs_written": ["logits"], "output_aliases": ["logits"]},
            ),
            "inputs untouched",
            "writes `logits`, result aliases `logits`",
            "",
            "the caller's `logits` is overwritten and the result aliases `logits`",
        ),
        (
            check(
                "resources",
                base={"registers": 255, "stack_bytes": 832, "shared_bytes": 64},
                head={"registers": 255, "stack_bytes": 480, "shared_bytes": 64},
            ),
            "255 registers, 832 bytes of stack, 64 shared",
            "255 registers, 480 bytes of stack, 64 shared",
            "−352 bytes of stack",
            "−352 bytes of stack, +0 registers a thread",
        ),
        (check("identity", "pass", delta={"same": True}), "–", "–", "same PTX", "the compiled kernel is the same"),
        (
            check(
                "distribution-distance",
                base={"tv_mean": 1e-7, "tv_max": 4e-7},
                head={"tv_mean": 0.0086, "tv_max": 0.047},
                delta={"tv_mean": 0.0086, "tv_max": 0.047},
            ),
            "TV to fp64: mean 1.0e-07, max 4.0e-07",
            "TV to fp64: mean 0.0086, max 0.047",
            "head to base: TV mean 0.0086, max 0.047",
            "the distribution moves by a total variation of 0.0086 on average, 0.047 at most",
        ),
    ],
)
def test_figures_are_told(given_check: Check, base: str, head: str, result: str, reason: str) -> None:
    """The row of the evidence table and the reason for a verdict hold the measured figures."""
    shown = row(given_check, bad=False)
    assert (shown.base.en, shown.head.en, shown.result.en) == (base, head, result)
    assert reason_of(given_check).en == reason


def test_a_prediction_is_called_one() -> None:
    """A peak that fake tensors gave is never shown as a measured one."""
    figures = {"base": {"bytes": 2**30}, "head": {"bytes": 0}, "delta": {"bytes": -(2**30), "bytes_per_logit": -4.0}}
    predicted = check("peak-memory", **figures, parameters={"rows": 8, "predicted": True})
    assert "predicted" in row(predicted, bad=False).label.en and "预测" in row(predicted, bad=False).label.zh
    assert reason_of(predicted).en.endswith("predicted")
    assert "(predicted)" in gain_of([predicted]).en and "预测值" in gain_of([predicted]).zh
    assert "(predicted)" in price_of(predicted).en and "预测值" in price_of(predicted).zh
    measured = check("peak-memory", **figures, parameters={"rows": 8, "predicted": False})
    assert "predicted" not in gain_of([measured]).en + price_of(measured).en
    assert "predicted" not in row(measured, bad=False).label.en + reason_of(measured).en


def test_a_crash_is_told_by_its_reason() -> None:
    """What ended a run is what the row says, not half a figure."""
    broken = check("kept-set", "crash", "illegal memory access", delta={"rows_differing": 0, "rows": 8})
    assert row(broken, bad=True).result.en == "illegal memory access"
    assert reason_of(broken).en == "illegal memory access"


def test_only_the_worst_record_of_a_check_is_a_reason() -> None:
    """Of several dtypes and probes the largest figure speaks, checks in the order of what tells most."""
    small = check("kept-set", delta={"rows_differing": 1, "rows": 8}, specialization=Specialization(dtype="fp32"))
    large = check("kept-set", delta={"rows_differing": 5, "rows": 8}, specialization=Specialization(dtype="bf16"))
    tiny = check("latency", base={"ms": 0.02}, head={"ms": 0.06}, delta={"ratio": 3.0})
    tiny = tiny.model_copy(update={"severity": "low"})
    long = check("latency", base={"ms": 23.6}, head={"ms": 13.7}, delta={"ratio": 0.58})
    assert worst([tiny, small, long, large]) == [large, long]


def test_better_and_gain() -> None:
    """What head does better is told only where it does."""
    written, clean = ({"inputs_written": names, "output_aliases": []} for names in (["logits"], []))
    assert (
        better_of(check("mutation", "pass", base=written, head=clean)).en
        == "the caller's `logits` is no longer overwritten"
    )
    assert better_of(check("mutation", "pass", base=clean, head=clean)) is None
    more = check("peak-memory", delta={"bytes": 2**30, "bytes_per_logit": 4.0})
    assert gain_of([more]) is None
    less = check("peak-memory", delta={"bytes": -(2**30)}, parameters={"rows": 7280})
    assert gain_of([more, less]).en == "lowers peak memory by 1.000 GiB at 7,280 rows"


@given(st.floats(min_value=1e-12, max_value=1e12))
def test_a_shown_number_is_near_the_number(value: float) -> None:
    """Rounding for show keeps the size: what is read back lies within the shown digits."""
    assert float(figure(value)) == pytest.approx(value, rel=0.06)
    assert float(signed(-value).replace("−", "-").replace(",", "")) == pytest.approx(-value, abs=0.051)


def test_number_formats() -> None:
    """The forms that reports use."""
    assert count(7280) == "7,280"
    assert (share(52, 1024), share(11, 1024, 3), share(0, 5), share(3, 4)) == ("5.1%", "1.07%", "0%", "75%")
    assert (gib(4424968192), gib(0), gib(107374)) == ("4.121 GiB", "0.000 GiB", "0.0001 GiB")
    assert (times(1.718), times(1.034)) == ("1.7", "1.03")
    assert (signed(4.0), signed(-352, 0)) == ("+4.0", "−352")


def test_many_names_are_counted():
    """Up to four names are told; of more the first three and their number."""
    assert some_of(["a", "b", "c", "d"]) == "`a`, `b`, `c`, `d`"
    assert some_of(["a", "b", "c", "d", "e"]) == "`a`, `b`, `c` and 2 more"
