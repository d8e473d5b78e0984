"""Every probe of every profile: what it names is there, its inputs can be made, and its oracle takes them."""

from __future__ import annotations

import ast
from types import SimpleNamespace

import pytest

from analyzer import profiles

torch = pytest.importorskip("torch")

from analyzer.build.worker import inputs, variants  # noqa: E402
from analyzer.checks.masked import references  # noqa: E402
from analyzer.checks.session import CHECKS  # noqa: E402

PROBES = {f"{name}: {probe.name}": (name, probe) for name in profiles.names() for probe in profiles.load(name).probes}
ROWS, VOCAB, REQUESTS = 16, 32000, 6


def small(probe):
    """The probe's numbers, small enough for any machine."""
    numbers = dict(next(iter(probe.cases.values())))
    limits = {"rows": ROWS, "vocab": VOCAB, "requests": REQUESTS}
    return {name: min(value, limits.get(name, value)) for name, value in numbers.items()}


def make(probe, dtype="fp32"):
    return inputs.make_all(probe.model_dump(mode="json"), small(probe), dtype, "cpu", 0)


def test_names_are_given_once():
    for name in profiles.names():
        probes = [probe.name for probe in profiles.load(name).probes]
        assert len(probes) == len(set(probes))


@pytest.mark.parametrize("key", PROBES)
def test_what_it_names_is_there(key):
    """Checks, inputs that are written, that are noise or that hold the result, and functions of probes.py."""
    name, probe = PROBES[key]
    given = {spec.name for spec in probe.inputs}
    assert set(probe.checks) <= set(CHECKS)
    assert set(probe.may_write) | set(probe.noise) <= given
    assert set(probe.optional) <= given | set(probe.arguments)
    assert probe.result.split(".")[0] in given | {"return"}
    tree = ast.parse(profiles.load(name).python())
    functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    assert probe.python is None or probe.python in functions
    if "sampling" in probe.checks:
        assert probe.noise and probe.oracle
    if "oracle" in probe.checks:
        assert probe.oracle


@pytest.mark.parametrize("key", PROBES)
def test_state_is_found_through_a_mapping_in_range(key):
    """`state[mapping]` of the oracle: both are inputs, and the mapping names rows that the state has."""
    _, probe = PROBES[key]
    made = make(probe)
    for step in probe.oracle:
        for value in step.parameters.values():
            state, _, mapping = str(value).removesuffix("]").partition("[")
            if mapping:
                assert int(made[mapping].max()) < len(made[state])
                assert len(made[mapping]) == len(made[variants.subject(probe.model_dump(mode="json"))])


@pytest.mark.parametrize("key", [key for key, (_, probe) in PROBES.items() if probe.oracle])
def test_its_oracle_takes_its_inputs(key):
    """All steps run, and give a finite value somewhere in every row."""
    _, probe = PROBES[key]
    run = SimpleNamespace(probe=probe, device="cpu", numbers=lambda case: small(probe))
    found = references(run, make(probe), slice(0, 8))
    assert found.values.isfinite().any(-1).all()
    if probe.output == "tokens":
        assert found.sampled or bool(found.winners.may_win.any(-1).all())
    elif probe.output == "masked-logits":
        assert found.kept is not None


@pytest.mark.parametrize("key", PROBES)
def test_requests_differ(key):
    """Parameters of requests are of more than one value, so that a mapping that is ignored shows."""
    _, probe = PROBES[key]
    if "requests" not in small(probe):
        return
    made = make(probe)
    state = [
        value for spec in probe.inputs if spec.shape and spec.shape[0] == "requests" for value in [made[spec.name]]
    ]
    assert any(len(torch.unique(value, dim=0)) > 1 for value in state)
