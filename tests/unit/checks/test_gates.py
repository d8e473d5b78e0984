"""What a check makes of its figures: worse than base fails, as bad as base is pre-existing, better is told."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="needs the checks extra")

from analyzer.build.worker import inputs, tensors  # noqa: E402
from analyzer.build.workers import Result  # noqa: E402
from analyzer.checks import distribution, hang, kept_set, latency, mutation, peak_memory, token_flips  # noqa: E402
from analyzer.checks.probe_run import ProbeRun  # noqa: E402
from analyzer.checks.trials import Trial, judged  # noqa: E402
from analyzer.kernels.compare import MaskedLogits, Side  # noqa: E402
from analyzer.model.base import Text  # noqa: E402
from analyzer.model.change import Change, Edit, FileChange, Subject  # noqa: E402
from analyzer.model.plan import Plan, Probe, TensorSpec  # noqa: E402

PROBE = Probe(
    name="mask",
    target="tiny:mask",
    covers=("mask",),
    inputs=(TensorSpec(name="logits", shape=("rows", "vocab")),),
    cases={"parity": {"rows": 4, "vocab": 8}, "memory": {"rows": 1000, "vocab": 1000}},
    checks=("kept-set",),
)


ENDED = Result()


def make_run(calls=(ENDED, ENDED), masked=None, edits=(), steps=None, **fields) -> ProbeRun:
    """A run whose calls have ended as told; `steps` answers step(side, name) in turn."""
    files = (FileChange(path="tiny.py", status="modified", edits=edits),)
    plan = Plan(
        subject=Subject(repository="t", base="0" * 40, head="1" * 40), change=Change(files=files), profile="generic"
    )
    run = ProbeRun(plan, PROBE, "bf16", lambda side: None, False, None, "cpu", False, **fields)
    run.__dict__["calls"] = calls
    if masked is not None:
        run.memo["masked"] = masked
    if steps is not None:
        run.step = lambda side, step, case, **more: steps[side]
    return run


def masked(base=0, head=0, differing=0, base_tv=0.0, head_tv=0.0, lost=0) -> MaskedLogits:
    """Figures of 100 rows."""
    return MaskedLogits(
        rows=100,
        rows_differing=differing,
        tokens=differing,
        tv=[head_tv] * 100,
        kl=[0.0] * 100,
        base=Side(violating_rows=base, tv=[base_tv] * 100),
        head=Side(violating_rows=head, lost_rows=lost, tv=[head_tv] * 100),
    )


@pytest.mark.parametrize(
    ("figures", "outcome"),
    [
        ({}, "pass"),
        ({"differing": 3}, "changed"),  # ties
        ({"head": 2, "differing": 2}, "fail"),
        ({"base": 2, "head": 2}, "pre-existing"),
        ({"base": 2, "head": 3, "differing": 1}, "fail"),
        ({"base": 5, "differing": 5}, "changed"),
    ],
)
def test_kept_set(figures, outcome):
    """More wrong rows than base fail; the same are pre-existing; fewer, and differences among ties, are changes."""
    (record,) = kept_set.run(make_run(masked=masked(**figures)))
    assert record.outcome == outcome
    assert record.delta["rows_differing"] == figures.get("differing", 0)


@pytest.mark.parametrize(
    ("figures", "outcome"),
    [
        ({"base_tv": 1e-7, "head_tv": 9e-5}, "pass"),  # under bf16's floor
        ({"base_tv": 1e-7, "head_tv": 2e-4}, "fail"),
        ({"base_tv": 1e-3, "head_tv": 1.9e-3}, "pass"),  # under twice base's
        ({"base_tv": 1e-3, "head_tv": 2.1e-3}, "fail"),
        ({"base_tv": 1e-2, "head_tv": 1e-7}, "changed"),
        ({"lost": 1}, "fail"),
    ],
)
def test_distribution(figures, outcome):
    """Twice base's distance with a floor for the dtype; lost support fails by itself."""
    (record,) = distribution.run(make_run(masked=masked(**figures)))
    assert record.outcome == outcome


class Stored:
    """A worker whose raw tensors lie in a folder."""

    def __init__(self, folder):
        self.out = folder
        folder.mkdir()

    def keep(self, name, tensor):
        return tensors.write(tensor, self.out / name)


@pytest.mark.parametrize(("flips", "tv", "outcome"), [(0, 0.0, "pass"), (3, 0.01, "changed"), (60, 0.01, "fail")])
def test_token_flips(tmp_path, flips, tv, outcome):
    """Flips within 2·TV/(1+TV) are a change; far more than that fail."""
    base, head = Stored(tmp_path / "base"), Stored(tmp_path / "head")
    ids = torch.arange(200)
    other = ids.clone()
    other[:flips] += 1
    calls = Result({"sampled": base.keep("s", ids)}), Result({"sampled": head.keep("s", other)})
    run = make_run(calls, masked(head_tv=tv))
    run.__dict__.update(base=base, head=head)
    (record,) = token_flips.run(run)
    assert record.outcome == outcome
    assert record.delta["flipped"] == flips


@pytest.mark.parametrize(
    ("base_writes", "head_writes", "outcome"),
    [(False, False, "pass"), (False, True, "fail"), (True, True, "pre-existing"), (True, False, "pass")],
)
def test_mutation(tmp_path, base_writes, head_writes, outcome):
    """A write that base does not make fails; the parent's own inputs are what counts."""
    sides = Stored(tmp_path / "base"), Stored(tmp_path / "head")
    pristine = inputs.make_all(PROBE.model_dump(), PROBE.cases["parity"], "bf16", "cpu", 0)["logits"]
    calls = []
    for side, writes in zip(sides, (base_writes, head_writes), strict=True):
        after = pristine.clone()
        if writes:
            after[0, 0] += 1
        calls.append(Result({"after": {"logits": side.keep("a", after)}, "aliases": []}))
    run = make_run(tuple(calls), steps=dict.fromkeys(("base", "head"), Result({"overwritten": False})))
    run.__dict__.update(base=sides[0], head=sides[1])
    (record,) = mutation.run(run)
    assert record.outcome == outcome


@pytest.mark.parametrize(("base", "head", "outcome"), [(0, 1, "fail"), (1, 1, "pre-existing"), (1, 0, "pass")])
def test_a_result_that_the_next_call_overwrites(tmp_path, base, head, outcome):
    """A buffer that is handed out twice is an alias that no single call shows."""
    sides = Stored(tmp_path / "base"), Stored(tmp_path / "head")
    logits = inputs.make_all(PROBE.model_dump(), PROBE.cases["parity"], "bf16", "cpu", 0)["logits"]
    calls = tuple(Result({"after": {"logits": side.keep("a", logits)}, "aliases": []}) for side in sides)
    steps = {side: Result({"overwritten": bool(held)}) for side, held in (("base", base), ("head", head))}
    run = make_run(calls, steps=steps)
    run.__dict__.update(base=sides[0], head=sides[1])
    (record,) = mutation.run(run)
    assert record.outcome == outcome


def peak(size: int) -> Result:
    return Result({"cold": None, "steady": {"bytes": size}, "source": "tiny.py:3"})


@pytest.mark.parametrize(
    ("base", "head", "outcome", "a_logit"),
    [(0, 0, "pass", 0.0), (4 << 20, 2 << 20, "pass", None), (4_000_000, 0, "changed", -4.0)],
)
def test_peak_memory(base, head, outcome, a_logit):
    """A difference over 2 MiB and 1% is a change with its sign, in bytes a logit too; it is no failure."""
    (record,) = peak_memory.run(make_run(steps={"base": peak(base), "head": peak(head)}))
    assert record.outcome == outcome
    assert a_logit is None or record.delta["bytes_per_logit"] == a_logit


@pytest.mark.parametrize(
    ("head", "outcome"), [(10.0, "pass"), (10.2, "pass"), (13.0, "changed"), (5.0, "changed"), (10.004, "pass")]
)
def test_latency(head, outcome):
    """Slower by more than 3% and faster are changes; what lies between passes."""
    times = {"base": 10.0, "head": head}
    steps = {side: Result({"milliseconds": [ms * (1 + 0.0001 * i) for i in range(5)]}) for side, ms in times.items()}
    (record,) = latency.run(make_run(steps=steps))
    assert record.outcome == outcome


GUARD = Edit(kind="guard-narrowed", path="tiny.py", symbol="mask")


@pytest.mark.parametrize(
    ("base", "head", "edits", "outcome"),
    [
        ("refused", None, (), "not-run"),
        (None, "refused", (), "fail"),
        (None, "refused", (GUARD,), "not-run"),
        (None, "raised", (), "fail"),
        (None, "crash", (), "crash"),
        (None, "hang", (), "hang"),
        (None, "out-of-memory", (), "out-of-memory"),
        ("crash", "crash", (), "pre-existing"),
        ("crash", None, (), "inconclusive"),
        ("refused", "refused", (), "not-run"),
    ],
)
def test_calls_that_do_not_end(base, head, edits, outcome):
    """What head does not survive is the result; what base does not either is pre-existing."""
    calls = Result(failure=base, error="why"), Result(failure=head, error="why")
    (record,) = kept_set.run(make_run(calls, edits=edits))
    assert record.outcome == outcome
    assert "why" in record.reason.en and "why" in record.reason.zh


def test_hang_sums_up():
    """A hang that only head has is told once more, under its own name."""
    run = make_run(failures={"head": Result(failure="hang", error="no answer for more than 30 s")})
    (record,) = hang.run(run)
    assert (record.outcome, record.head["failure"]) == ("hang", "hang")
    (record,) = hang.run(make_run())
    assert record.outcome == "pass"


def trial(bad=0, failure=""):
    return Trial(bad, failure, failure and f"it ended by {failure}")


@pytest.mark.parametrize(
    ("base", "head", "outcome"),
    [
        (trial(), trial(), "pass"),
        (trial(), trial(3), "fail"),
        (trial(3), trial(3), "pre-existing"),
        (trial(3), trial(4), "fail"),
        (trial(3), trial(), "changed"),
        (trial(), trial(1, "raised"), "fail"),
        (trial(), trial(1, "crash"), "crash"),
        (trial(), trial(1, "hang"), "hang"),
        (trial(1, "raised"), trial(1, "raised"), "not-run"),
        (trial(1, "refused"), trial(5), "not-run"),
        (trial(), trial(1, "out-of-memory"), "inconclusive"),
    ],
)
def test_trials(base, head, outcome):
    """Head may be bad where base is; what base does not survive, and a lack of memory, say nothing."""
    said = Text(en="fine", zh="好"), Text(en="bad", zh="坏")
    record = judged(make_run(), "layout", {"padded": base}, {"padded": head}, "gate", *said)
    assert record.outcome == outcome


class Hanging:
    """A worker that never answers, and counts how often it was asked."""

    asked = 0

    def step(self, *_, **__) -> Result:
        self.asked += 1
        return Result(failure="hang", error="no answer")


@pytest.mark.parametrize(("more", "asked"), [({}, 1), ({"variant": {"special": True}}, 2)])
def test_a_side_that_hangs_is_not_asked_for_ever(more, asked):
    """One hang of the usual call is enough, two of calls on changed inputs: each takes its whole limit."""
    run = make_run()
    run.__dict__["head"] = worker = Hanging()
    for _ in range(5):
        assert run.step("head", "call", "parity", **more).failure == "hang"
    assert worker.asked == asked
    assert run.failures["head"].failure == "hang"
