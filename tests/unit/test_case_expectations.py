"""The predicates that `make cases` checks reports with."""

from __future__ import annotations

import pytest
from cases.expectations import holds

REPORT = {
    "implementation": {
        "files": [
            {
                "edits": [
                    {"kind": "cast-added", "symbol": "Sampler.apply", "count": 2},
                    {"kind": "cast-added", "symbol": "kernel", "count": 7},
                ]
            }
        ]
    },
    "risk": {"level": "medium", "findings": [{"rule": "r", "family": "numerics", "severity": "medium"}]},
    "callers": [{"symbol": "Runner.__call__"}],
    "related": [{"pr": 7, "relation": "reverted-by"}],
    "summary": {"recommendation": {"action": "hold"}},
    "evidence": {
        "checks": [
            {
                "check": "peak-memory",
                "symbol": "Sampler.apply",
                "outcome": "changed",
                "specialization": {"dtype": "bf16"},
                "delta": {"bytes_per_logit": -4.0006, "same": True},
            },
            {"check": "hang", "symbol": "x", "outcome": "not-run", "specialization": {"dtype": ""}, "delta": {}},
        ]
    },
}


@pytest.mark.parametrize(
    ("expectation", "expected"),
    [
        ({"edit": {"kind": "cast-added", "symbol": "apply", "count": 2}}, True),
        ({"edit": {"kind": "cast-added", "symbol": "pply", "count": 2}}, False),  # whole components only
        ({"edit": {"kind": "cast-added", "count": 9}}, True),  # the total over all that fit
        ({"edit": {"kind": "cast-added", "count": 7}}, False),
        ({"edit": {"kind_in": ["copy-added", "cast-added"], "count_min": 9}}, True),
        ({"edit": {"kind": "cast-added", "count_min": 10}}, False),
        ({"no_edit": {"kind": "cast-removed"}}, True),
        ({"no_edit": {"kind": "cast-added", "symbol": "kernel"}}, False),
        ({"check": {"check": "peak-memory", "dtype": "bf16", "delta": {"bytes_per_logit": -4.0}}}, True),
        ({"check": {"check": "peak-memory", "delta": {"bytes_per_logit": -3.9}}}, False),
        ({"check": {"check": "peak-memory", "same": False}}, False),
        ({"check": {"check": "hang"}}, False),  # what did not run never fits
        ({"no_check": {"outcome_in": ["fail", "crash"]}}, True),
        ({"finding": {"severity_min": "medium", "family_in": ["numerics"]}}, True),
        ({"finding": {"severity_min": "high", "family_in": ["numerics"]}}, False),
        ({"callers": {"symbol": "Runner.__call__"}}, True),
        ({"related": {"pr": 7, "relation_in": ["reverted-by"]}}, True),
        ({"related": {"pr": 8, "relation_in": ["reverted-by"]}}, False),
        ({"recommendation": {"action_in": ["merge", "keep"]}}, False),
        ({"level_max": "medium"}, True),
        ({"level_max": "low"}, False),
    ],
)
def test_an_expectation(expectation, expected):
    """Each predicate fits what its words say, and nothing else."""
    assert holds(expectation, REPORT) is expected


def test_an_unknown_predicate_is_an_error():
    """A misspelt expectation does not hold in silence."""
    with pytest.raises(ValueError, match="no known kind"):
        holds({"edti": {}}, REPORT)
