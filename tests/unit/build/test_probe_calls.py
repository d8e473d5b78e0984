"""How a probe's declaration becomes a call: names of a signature, optional ones, parts of what is returned."""

from __future__ import annotations

from typing import NamedTuple

import pytest

torch = pytest.importorskip("torch")

from analyzer.build.worker import inputs  # noqa: E402


@pytest.fixture(scope="module")
def steps():
    """The worker's steps, imported as a child has them."""
    import sys

    from analyzer.build import worker

    sys.modules.setdefault("analyzer_worker", worker)
    from analyzer.build.worker import steps

    return steps


PROBE = {
    "inputs": [{"name": "logits"}, {"name": "mapping", "also": ["idx_mapping"]}, {"name": "words"}],
    "arguments": {"fp64": True},
    "optional": ["words", "fp64"],
}


def test_a_parameter_has_the_name_of_the_signature(steps):
    """An input goes by the first of its names that the signature has; what is optional and not there is left out."""

    def old(logits, idx_mapping): ...
    def new(logits, mapping, fp64=False): ...

    assert steps._names(old, PROBE) == {"logits": "logits", "mapping": "idx_mapping"}
    assert steps._names(new, PROBE) == {"logits": "logits", "mapping": "mapping", "fp64": "fp64"}


def test_what_the_signature_lacks_is_passed_all_the_same(steps):
    """A renamed parameter is a refusal of the call, which has to be seen."""

    def other(scores, mapping): ...

    assert steps._names(other, PROBE)["logits"] == "logits"


def test_a_target_without_a_signature_gets_all_that_is_not_optional(steps):
    assert steps._names(3, PROBE) == {"logits": "logits", "mapping": "mapping"}


class Scores(NamedTuple):
    ids: int
    logprobs: int


def test_the_result_may_be_a_part_of_what_is_returned(steps):
    """By name, by place, the first of a tuple, or an input."""
    given = {"out": 7}
    assert steps._result(Scores(1, 2), given, "return.logprobs") == 2
    assert steps._result((1, 2), given, "return.1") == 2
    assert steps._result((1, 2), given, "return") == 1
    assert steps._result(None, given, "out") == 7


def test_values_come_over_and_over():
    """A list of values, in turn; an expression among them is worked out."""
    spec = {
        "name": "k", "shape": ["rows"], "dtype": "int32", "fill": "values", "parameters": {"values": [1, 5, "vocab"]}
    }  # fmt: skip
    made = inputs.make(spec, {"rows": 5, "vocab": 9}, "fp32", "cpu", 0)
    assert made.tolist() == [1, 5, 9, 1, 5] and made.dtype == torch.int32


def test_columns_may_be_apart():
    spec = {"name": "ids", "shape": [2, 3], "dtype": "int32", "fill": "columns", "parameters": {"step": 7}}
    assert inputs.make(spec, {}, "fp32", "cpu", 0).tolist() == [[0, 7, 14], [0, 7, 14]]
