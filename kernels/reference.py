"""The fp64 answer to a chain of sampling operations, for a batch of rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from analyzer.kernels.distribution import at_temperature, distribution
from analyzer.kernels.kept_set import KeptSet, MinP, TopK, TopP, kept_set
from analyzer.kernels.logprobs import log_probabilities, ranks
from analyzer.kernels.noise import Winners, exponential_race, gumbel_max
from analyzer.kernels.penalties import penalise, token_counts, unpacked
from analyzer.kernels.restrictions import add_bias, allow_only, ban_words, first_of, left_padded
from analyzer.kernels.rows import ROUNDOFF, per_row
from analyzer.kernels.speculative import acceptance, first_token, one_hot

#: An operation and its parameters: numbers, words, or tensors whose first dimension is the rows'.
Step = tuple[str, Mapping[str, Any]]
#: What may follow top-k, top-p and min-p: they leave the kept logits as they are.
AFTER_MASKS = ("log-softmax", "softmax", "gather", "top", "rank", "argmax", "race", "speculate", "sample")


@dataclass
class Reference:
    """What a chain makes of `logits` in fp64.

    `values` [rows, …]: the result where it is numbers (logits before masking; log-probabilities). `scale`, of the same
    shape: the largest magnitude that was rounded on the way, so that what cancels is not judged by the little that is
    left. `kept`: the sets that top-k, top-p and min-p admit, None where the chain has none. `winners`: the tokens that
    may win under the noise that was given. `sampled`: the result is a token drawn from `distribution`.
    """

    values: torch.Tensor
    scale: torch.Tensor
    kept: KeptSet | None = None
    winners: Winners | None = None
    sampled: bool = False

    @property
    def distribution(self) -> torch.Tensor:
        """Softmax of `values` over the tokens that must be kept, fp64 [rows, vocab]."""
        kept = self.kept.must_keep if self.kept is not None else self.values > float("-inf")
        return distribution(self.values, kept)


def reference(logits: torch.Tensor, steps: Sequence[Step]) -> Reference:
    """Run the steps on `logits` [rows, vocab] of any float dtype. Their names and parameters are those of a probe.

    Top-k, top-p and min-p rank the logits as they are at the first of them; a division by a temperature right before
    may make neighbours equal in fp32, so these count as ties. Raises ValueError for a step after a mask that changes
    logits, and what the operations raise.
    """
    values = logits.double()
    made = Reference(values, values.abs())
    masks: list[TopK | TopP | MinP] = []
    rounded = 0.0
    for name, given in steps:
        mask = _mask(name, given)
        if mask is not None:
            masks.append(mask)
            continue
        if masks and name not in AFTER_MASKS:
            raise ValueError(f"{name} after a step that masks")
        if masks and made.kept is None:
            made.kept = kept_set(made.values, *masks, ties_within=rounded)
            made.values = made.values.masked_fill(made.kept.must_drop, float("-inf"))
        rounded = max(rounded, _apply(made, name, given))
    if masks and made.kept is None:
        made.kept = kept_set(made.values, *masks, ties_within=rounded)
    return made


def of_rows(steps: Sequence[Step], rows: slice, device: str) -> list[Step]:
    """The steps for some of the rows: parameters that are tensors are cut and moved."""
    return [
        (name, {key: v[rows].to(device) if isinstance(v, torch.Tensor) else v for key, v in given.items()})
        for name, given in steps
    ]


def _mask(name: str, given: Mapping[str, Any]) -> TopK | TopP | MinP | None:
    if name == "top-k":
        return TopK(**given)
    if name == "top-p":
        return TopP(**given)
    if name == "min-p":
        return MinP(**given)
    return None


def _apply(made: Reference, name: str, given: Mapping[str, Any]) -> float:
    """One step in place of `made`; what relative difference of two logits its rounding may hide."""
    values, vocab = made.values, made.values.shape[-1]
    if name == "temperature":
        return _temperature(made, given["by"], given.get("floor", 0.0))
    if name == "crop":  # columns past the vocabulary are padding
        made.values = values.clone()
        made.values[:, given["to"] :] = float("-inf")
        return 0.0
    if name == "penalties":
        counts = {
            "prompt": unpacked(given["prompt_bits"], vocab)
            if "prompt_bits" in given
            else token_counts(given["prompt"], vocab),
            "output": given["output_counts"] if "output_counts" in given else token_counts(given["output"], vocab),
        }
        numbers = {key: given[key] for key in ("repetition", "frequency", "presence") if key in given}
        made.values = penalise(values, **counts, **numbers)
    elif name == "bias":
        made.values = add_bias(values, first_of(given["ids"], given.get("count")), given["values"])
    elif name == "allow":
        made.values = allow_only(values, _allowed(given, vocab))
    elif name == "ban":
        banned = token_counts(first_of(given["ids"], given.get("count")), vocab) > 0
        if "until" in given:
            banned &= (given["pos"] + 1 < given["until"]).unsqueeze(1)
        made.values = allow_only(values, ~banned)
    elif name == "bad-words":
        history, words = given["history"], given["words"]
        if "lengths" in given:
            history, words = left_padded(history, given["lengths"]), left_padded(words, given["word_lengths"])
        made.values = ban_words(values, history, first_of(words, given.get("count")))
    elif name == "log-softmax":
        made.values = log_probabilities(values)
        top = values.masked_fill(values.isinf(), 0.0).abs().amax(-1, keepdim=True)
        made.scale = torch.maximum(made.scale, top.expand_as(made.scale))
    elif name == "gather":
        ids = given["ids"].long().reshape(len(values), -1)
        made.values, made.scale = values.gather(-1, ids), made.scale.gather(-1, ids)
    elif name == "top":
        chosen = (values.gather(-1, given["ids"].long().reshape(len(values), -1)), values.topk(given["n"], -1).values)
        made.values = torch.cat(chosen, -1)
        made.scale = made.scale.amax(-1, keepdim=True).expand_as(made.values)
    elif name == "rank":
        # Which of these an engine reports among ties is its contract: `ties` is most (the default) or least.
        found = ranks(values, given["ids"].long().reshape(len(values), -1), roundings=0)
        made.values = (found.least if given.get("ties") == "least" else found.most).double()
        made.scale = torch.zeros_like(made.values)
    elif name == "log":
        made.values = values.log()
    elif name == "softmax":
        made.values, made.kept = made.distribution, None
        made.scale = made.values.amax(-1, keepdim=True).expand_as(made.values)
    elif name == "argmax":
        noise = given.get("noise")
        made.winners = gumbel_max(values, noise.double()) if noise is not None else greedy(values)
    elif name == "race":
        made.winners = exponential_race(values, given["noise"].double())
    elif name == "sample":
        made.sampled = True
    elif name == "speculate":
        _speculate(made, given)
    else:
        raise ValueError(f"no operation {name!r}")
    _grow(made)
    return 2 * ROUNDOFF if name in ("penalties", "bias") else 0.0


def _allowed(given: Mapping[str, Any], vocab: int) -> torch.Tensor:
    """What an allow step admits; a row with a count of 0 has no list, and all are allowed."""
    if "mask" in given:
        mask = given["mask"].bool()
        return mask | ~mask.any(-1, keepdim=True) if given.get("empty") == "all" else mask
    count = given.get("count")
    allowed = token_counts(first_of(given["ids"], count), vocab) > 0
    return allowed if count is None else allowed | (count <= 0).unsqueeze(1)


def _speculate(made: Reference, given: Mapping[str, Any]) -> None:
    """The first token of a draft and its verification: its distribution, or the token where the draws are given."""
    values, drafts = made.values, given["drafts"]
    if values.dim() == 3:  # the first place of each request
        values, drafts = values[:, 0], drafts[:, 0]
        given = {**given, "draft": given["draft"][:, 0]}
    target = distribution(values, values > float("-inf"))
    if "draft_logits" in given:
        draft = torch.softmax(given["draft_logits"].double(), -1)
    else:
        draft = given["draft"].double() if "draft" in given else one_hot(drafts, values.shape[-1])
    if "uniform" not in given:
        made.values = first_token(target, draft, drafts).log()
        made.scale = made.values.abs()
        return
    found = acceptance(target, draft, drafts, given["uniform"].double())
    ids = torch.stack((drafts.long(), given["recovered"].long()), -1)
    may = torch.stack((~found.must_reject, ~found.must_accept), -1)
    may_win = torch.zeros_like(target, dtype=torch.long).scatter_add_(-1, ids, may.long()) > 0
    made.winners = Winners(torch.where(found.must_accept, ids[:, 0], ids[:, 1]), may_win)


def _grow(made: Reference) -> None:
    made.scale = torch.maximum(made.scale, made.values.abs().nan_to_num(0.0, 0.0, 0.0))


def greedy(logits: torch.Tensor) -> Winners:
    """The largest logits, as they are."""
    return gumbel_max(logits, torch.zeros_like(logits), roundings=0)


def _temperature(made: Reference, by: Any, floor: float) -> float:
    divisor = per_row(by, made.values, "temperature")
    # An engine takes the largest logit of a row whose temperature is 0, or next to it, and divides that row by nothing.
    divisor = torch.where((divisor > 0) & (divisor >= floor), divisor, 1.0)
    made.values = at_temperature(made.values, divisor.squeeze(1))
    _grow(made)
    return 0.0 if bool((divisor == 1).all()) else 2 * ROUNDOFF
