"""Settings: defaults < file of the base revision < environment < flags, and one line for each mistake."""

from __future__ import annotations

from datetime import date

import pytest
import yaml

from analyzer.errors import UsageError
from analyzer.settings import Settings, settle


def test_layers():
    """Each layer wins over the one before it, field by field."""
    file = b"device: cpu\nseed: 1\nlang: zh\nbudget: 2m\n"
    variables = {"ANALYZER_SEED": "2", "ANALYZER_LANG": "en", "OTHER": "x"}
    assert settle(environment={}) == Settings()
    settled = settle(file, flags={"seed": 3, "device": None}, environment=variables)
    assert (settled.device, settled.seed, settled.lang, settled.budget) == ("cpu", 3, "en", 120.0)


def test_forms():
    """Times, lists of names and waivers in the forms that people write."""
    file = b"""
waivers:
  - {rule: guard-removed, path: "ops/*", reason: "checked by the caller", until: 2026-12-31}
only: [kept-set, mutation]
"""
    settled = settle(file, environment={"ANALYZER_BUDGET": "1.5h"})
    assert settled.only == ("kept-set", "mutation")
    assert settled.budget == 5400
    assert settled.waivers[0].until == date(2026, 12, 31)
    assert settle(flags={"only": "kept-set, mutation,"}, environment={}).only == ("kept-set", "mutation")


@pytest.mark.parametrize(
    ("file", "flags", "variables", "said"),
    [
        (b"devise: cpu", {}, {}, "base.yml:1: devise: Extra inputs are not permitted"),
        (b"a: [1", {}, {}, "base.yml:1: "),
        (b"seed: 1\nlang: [\n", {}, {}, "base.yml:2: "),
        (b"- seed", {}, {}, "base.yml:1: must be a mapping"),
        (b"\xff", {}, {}, "base.yml: "),
        (b"!!python/object/apply:os.system [true]", {}, {}, "base.yml:1: could not determine a constructor"),
        (b"waivers: [{rule: a, path: b, until: 2026-01-01}]", {}, {}, "base.yml:1: waivers.0.reason: Field required"),
        (
            b"waivers: [{rule: a, reason: b, until: 2026-01-01}]",
            {},
            {},
            "base.yml:1: waivers.0: needs a path or a symbol",
        ),
        (
            b"waivers: [{path: a, reason: b, until: 2026-01-01}]",
            {},
            {},
            "base.yml:1: waivers.0: needs a rule or",
        ),
        (b"probes: [{name: x}]", {}, {}, "base.yml:1: probes.0.target: Field required"),
        (b"seed: 2026-13-45", {}, {}, "base.yml:1: month must be in"),
        (b"seed: -1", {}, {}, "base.yml:1: seed: Input should be greater"),
        (b"only: kept-sets", {}, {}, "base.yml:1: only: no check 'kept-sets'; there are: mutation, kept-set"),
        (b"probes: " + b"[" * 3000 + b"]" * 3000, {}, {}, "base.yml:"),
        (b"lang: zh\nseed: 1\n\nseed: 2\n", {}, {}, "base.yml:4: 'seed' is given twice"),
        (
            b"silence: [guard-removed, guards-removed]",
            {},
            {},
            "base.yml:1: silence.1: no rule 'guards-removed'; did",
        ),
        (
            b"waivers:\n  - {rule: barrier-removed, path: a, reason: b, until: 2026-01-01}\n"
            b"  - rule: mask-remove\n    path: a\n    reason: b\n    until: 2026-01-01\n",
            {},
            {},
            "base.yml:3: waivers.1.rule: no rule 'mask-remove'; did you mean 'mask-removed'",
        ),
        (
            b"waivers: [{check: hangs, path: a, reason: b, until: 2026-01-01}]",
            {},
            {},
            "base.yml:1: waivers.0.check: no check 'hangs'; did you mean 'hang'",
        ),
        (
            b"waivers:\n- rule: mask-removed\n  path: a\n  reason: b\n  until: soon\n",
            {},
            {},
            "base.yml:5: waivers.0.until",
        ),
        (b"lang: en\nonly:\n- hang\n- hangs\n", {}, {}, "base.yml:2: only: no check 'hangs'"),
        (b"", {}, {"ANALYZER_SILENCE": "mask-gone"}, "environment: ANALYZER_SILENCE: no rule 'mask-gone'"),
        (b"", {"device": "tpu"}, {}, "options: --device: Input should be"),
        (b"", {"fail_on": "none"}, {}, "options: --fail-on: Input should be"),
        (b"", {"budget": "soon"}, {}, "options: --budget: not a time"),
        (b"", {"budget": "0"}, {}, "options: --budget: not a time"),
        (b"", {}, {"ANALYZER_SEED": "x"}, "environment: ANALYZER_SEED: Input should be a valid integer"),
    ],
)
def test_mistakes(file, flags, variables, said):
    """Each mistake is one line that says where it stands and what is wrong."""
    with pytest.raises(UsageError) as caught:
        settle(file, "base.yml", flags, variables)
    assert str(caught.value).startswith(said)
    assert "\n" not in str(caught.value)


OWN_RULE = """
rules:
  - id: mine
    title: &text {en: a, zh: b}
    family: index
    severity: low
    why: *text
    instead: *text
    match: {kinds: [cast-added]}
"""


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (("id: mine", "id: mask-removed"), "base.yml:3: rules.0.id: the id 'mask-removed' is taken"),
        (("family: index", "family: magic"), "base.yml:5: rules.0.family: "),
        (("[cast-added]", "[cast-deleted]"), "base.yml:9: rules.0.match.kinds: no edit kind 'cast-deleted'"),
        (("severity: low", "severity: low\n    refines: mine-too"), "base.yml:7: rules.0.refines: no rule 'mine-too'"),
    ],
)
def test_a_rule_of_the_repository_that_cannot_be_added(changed, said):
    """A repository's own rule is refused by file and line, as a shipped one is."""
    with pytest.raises(UsageError) as caught:
        settle(OWN_RULE.replace(*changed).encode(), "base.yml", environment={})
    assert str(caught.value).startswith(said)


def test_a_rule_of_the_repository_can_be_named():
    """A repository's own rule is silenced and waived like a shipped one, by the environment too."""
    waiver = b"waivers: [{rule: mine, path: a, reason: b, until: 2026-01-01}]\n"
    settled = settle(OWN_RULE.encode() + waiver, environment={"ANALYZER_SILENCE": "mine"})
    assert settled.rules[0].id == settled.silence[0] == settled.waivers[0].rule == "mine"


GOOD_PROBE = {
    "name": "mask",
    "target": "tiny.sampler:mask",
    "covers": ["mask"],
    "cases": {"parity": {"rows": 8, "vocab": 64}},
    "checks": ["mutation"],
}
NONSENSE = [
    {"name": "../evil"},
    {"name": ""},
    {"target": "tiny.sampler.mask"},
    {"target": "../etc:mask"},
    {"covers": []},
    {"modes": []},
    {"dtypes": []},
    {"dtypes": ["fp99"]},
    {"cases": {}},
    {"cases": {"parity": {"rows": 0, "vocab": 64}}},
    {"checks": []},
    {"inputs": [{"name": "x", "dtype": "float99"}]},
]


@pytest.mark.parametrize("nonsense", NONSENSE, ids=str)
def test_probes_that_cannot_be(nonsense):
    """A probe that could not be run as declared is refused before anything runs, by the field that is wrong."""
    settle(yaml.safe_dump({"probes": [GOOD_PROBE]}).encode(), environment={})
    with pytest.raises(UsageError, match=f"probes.0.({'|'.join(nonsense)})"):
        settle(yaml.safe_dump({"probes": [GOOD_PROBE | nonsense]}).encode(), environment={})
