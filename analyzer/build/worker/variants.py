"""Changed inputs of a probe: fewer rows, other memory layouts, special values. The same in the child and the parent."""

from __future__ import annotations

from typing import Any

import torch

from . import inputs

Given = dict[str, "torch.Tensor | None"]
NAN, INF = float("nan"), float("inf")
#: Elements that a padded row has more than its vocabulary.
PADDING = 24
LAYOUTS = ("padded", "misaligned", "transposed")
#: Rows of logits that samplers have been wrong on, by name; `special` makes them, row after row.
PATTERNS = (
    "one NaN", "all NaN", "one +inf", "one -inf", "all -inf", "one valid token", "all equal", "ties at the boundary",
    "spread 1e-6", "peaked", "flat", "heavy tailed", "masked by a grammar", "descending", "large", "negative",
)  # fmt: skip
#: Between the seeds of two draws; more than a probe has inputs.
STRIDE = 7919
#: What special rows ask for by turns, by operation and parameter.
EXTREMES: dict[tuple[str, str], tuple[float, ...]] = {
    ("top-k", "k"): (1, 2, 0, 5, 1 << 30),
    ("top-p", "p"): (0.9, 1e-8, 0.9999999, 1.0),
    ("min-p", "value"): (0.1, 0.0, 1.0),
    ("temperature", "by"): (1.0, 1e-3, 5.0),
}


def make(request: dict[str, Any], device: str, random: bool = True) -> Given:
    """A request's inputs by name, with its `variant` applied.

    `of`: how many rows are made, of which `rows` (indices) are taken; `repeated`: a row may be taken several times,
    with noise of its own for each; `copied`: the last row becomes a copy of the first; `special`: the odd rows become
    PATTERNS; `extreme`: parameters of those rows by EXTREMES; `layout`: one of LAYOUTS.
    """
    probe, variant = request["probe"], request.get("variant") or {}
    numbers = dict(request["numbers"])
    if "of" in variant:
        numbers["rows"] = variant["of"]
    given = inputs.make_all(probe, numbers, request["dtype"], device, request["seed"], random)
    mine = [spec["name"] for spec in probe["inputs"] if spec["shape"] and spec["shape"][0] == "rows"]
    mine = [name for name in mine if given[name] is not None]
    noise = set(probe.get("noise", ()))
    for name in mine:
        value = given[name]
        if "rows" in variant:
            places = range(len(variant["rows"])) if name in noise and variant.get("repeated") else variant["rows"]
            given[name] = value = value[torch.as_tensor(list(places), device=value.device, dtype=torch.long)]
        if variant.get("copied") and len(value) > 1:
            value[-1] = value[0]
    if variant.get("special"):
        given[subject(probe)] = special(given[subject(probe)])
    if variant.get("extreme"):
        _extremes(given, probe)
    if "layout" in variant:
        given[subject(probe)] = laid_out(given[subject(probe)], variant["layout"])
    return given


def subject(probe: dict[str, Any]) -> str:
    """The input that the oracle's operations start from: the first that has the dtype under test."""
    return next(spec["name"] for spec in probe["inputs"] if spec["dtype"] == "logits")


def noise(request: dict[str, Any], device: str, draw: int) -> Given:
    """The probe's noise inputs of the n-th draw."""
    probe, wanted = request["probe"], set(request["probe"].get("noise", ()))
    return {
        spec["name"]: inputs.make(
            spec, request["numbers"], request["dtype"], device, request["seed"] + place + STRIDE * (draw + 1)
        )
        for place, spec in enumerate(probe["inputs"])
        if spec["name"] in wanted
    }


def special(logits: torch.Tensor) -> torch.Tensor:
    """`logits` [rows, vocab] with PATTERNS in the odd rows; the even ones stay, as neighbours."""
    made = logits.clone()
    vocab = made.shape[1]
    ramp = torch.arange(vocab, device=made.device, dtype=torch.float32)
    for row in range(1, len(made), 2):
        name, its = PATTERNS[(row // 2) % len(PATTERNS)], made[row]
        if name == "one NaN":
            its[vocab // 3] = NAN
        elif name == "all NaN":
            its.fill_(NAN)
        elif name == "one +inf":
            its[vocab // 3] = INF
        elif name == "one -inf":
            its[vocab // 3] = -INF
        elif name == "all -inf":
            its.fill_(-INF)
        elif name == "one valid token":
            its.fill_(-INF)
            its[vocab - 1] = 1.5
        elif name == "all equal":
            its.fill_(0.75)
        elif name == "ties at the boundary":
            its.copy_((its.float() * 2).round() / 2)
        elif name == "spread 1e-6":
            its.copy_(1.0 + 1e-6 * its.float())
        elif name == "peaked":
            its[vocab // 2] = its.float().nan_to_num(0.0).max() + 12
        elif name == "flat":
            its.copy_(its.float() * 0.01)
        elif name == "heavy tailed":
            its.copy_((its.float().abs() ** 1.5) * its.float().sign())
        elif name == "masked by a grammar":
            its[(torch.arange(vocab, device=its.device) * 2654435761) % 64 != 7] = -INF
        elif name == "descending":
            its.copy_(-ramp * (40.0 / vocab))
        elif name == "large":
            its.copy_(its.float() * 1000)
        elif name == "negative":
            its.copy_(its.float() - 80)
    return made


def _extremes(given: Given, probe: dict[str, Any]) -> None:
    """Parameters that are inputs take the values of EXTREMES in special rows, by turns."""
    for step in probe["oracle"]:
        for parameter, name in step["parameters"].items():
            values = EXTREMES.get((step["operation"], parameter))
            tensor = given.get(name) if isinstance(name, str) else None
            if values is None or tensor is None or tensor.dim() != 1:
                continue
            if not bool((tensor <= 0).any()):
                values = tuple(value for value in values if value > 0)  # what the inputs never have is out of contract
            if step["operation"] == "top-k":
                values = tuple(min(value, given[subject(probe)].shape[-1]) for value in values)
            tensor = tensor.clone()
            for row in range(1, len(tensor), 2):
                tensor[row] = values[(row // 2 // len(PATTERNS)) % len(values)]
            given[name] = tensor


def laid_out(logits: torch.Tensor, layout: str) -> torch.Tensor:
    """The same values in other memory; what lies between them is NaN, which no result may show."""
    rows, vocab = logits.shape
    if layout == "padded":
        made = logits.new_full((rows, vocab + PADDING), NAN)[:, :vocab]
    elif layout == "misaligned":
        made = logits.new_full((rows * vocab + 1,), NAN)[1:].view(rows, vocab)
    elif layout == "transposed":
        made = logits.new_full((vocab, rows), NAN).t()
    else:
        raise ValueError(f"no layout {layout!r}")
    return made.copy_(logits)
