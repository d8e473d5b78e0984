"""Small inputs for each sampler. A set is one call or several in a row; each is made anew, so that a call may write it.

`NEEDS_GPU` names what no small input on a CPU shows, and what does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch

Arguments = dict[str, Any]
Sets = dict[str, Callable[[], list[Arguments]]]

NEEDS_GPU = {
    "large": "rows * stride past 2**31 elements, such as 16,384 rows of 151,936 tokens in bf16",
    "many-rows": "100,000 rows of 3,000 tokens",
}
INF = float("inf")


def _random(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def _logits(rows: int, vocab: int, dtype: torch.dtype = torch.float32, wide: int = 0, seed: int = 0) -> torch.Tensor:
    """Normal logits; with `wide`, a view of rows that are that much longer."""
    return (torch.randn(rows, vocab + wide, generator=_random(seed)) * 2.5).to(dtype)[:, :vocab]


def _steps(rows: int, vocab: int) -> torch.Tensor:
    """Logits of a few values only: most tokens have equals."""
    return torch.randint(-3, 4, (rows, vocab), generator=_random(1)).float()


def _cycle(values: list[float], rows: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.tensor((values * rows)[:rows], dtype=dtype)


def _empty_row(logits: torch.Tensor) -> torch.Tensor:
    logits[logits.shape[0] // 2] = -INF
    return logits


def _half_masked(logits: torch.Tensor) -> torch.Tensor:
    masked = torch.rand(logits.shape, generator=_random(2)) < 0.5
    masked[:, 0] = False
    return logits.masked_fill_(masked, -INF)


def _common(call: Callable[[torch.Tensor], Arguments], vocab: int = 60) -> Sets:
    """What every sampler of logits is given."""
    return {
        "plain": lambda: [call(_logits(9, vocab))],
        "fp32": lambda: [call(_logits(9, vocab, seed=3))],
        "bf16": lambda: [call(_logits(64, 300, torch.bfloat16))],
        "fp16": lambda: [call(_logits(9, vocab, torch.float16))],
        "strided": lambda: [call(_logits(9, vocab, wide=7))],
        "half-masked": lambda: [call(_half_masked(_logits(9, vocab)))],
        "ties": lambda: [call(_steps(9, vocab))],
        "one-row": lambda: [call(_logits(1, vocab))],
        "no-rows": lambda: [call(_logits(0, vocab))],
        "twice": lambda: [call(_logits(9, vocab)), call(_logits(9, vocab, seed=4))],
    }


def _with_empty_row(call: Callable[[torch.Tensor], Arguments]) -> Sets:
    return {"empty-row": lambda: [call(_empty_row(_logits(9, 60)))]}


def _top_k_top_p(logits: torch.Tensor) -> Arguments:
    rows = logits.shape[0]
    k = _cycle([10, 5, 1, 0, 50, 60, -1, 20, 3], rows, torch.int32)
    return {"logits": logits, "k": k, "p": _cycle([0.5, 0.9, 1.0, 0.8, 0.0, 0.3, 1.5, 0.7, 0.95, 1.0], rows)}


def _ties_only(logits: torch.Tensor) -> Arguments:
    rows = logits.shape[0]
    return {"logits": logits, "k": _cycle([5, 9], rows, torch.int32), "p": torch.ones(rows)}


def _peak_in_a_later_tile() -> list[Arguments]:
    logits = _logits(2, 5000)
    logits[:, 4500:4503] = torch.tensor([200.0, 199.5, 199.0])
    return [{"logits": logits, "k": torch.zeros(2, dtype=torch.int32), "p": torch.full((2,), 0.95)}]


def _top_k_exact(logits: torch.Tensor) -> Arguments:
    return {"logits": logits, "k": _cycle([1, 5, 0, 60, 7], logits.shape[0], torch.int32)}


def _min_p(logits: torch.Tensor) -> Arguments:
    # What is compared must not lie on the limit by chance: a row with 1 is in `boundary`.
    return {"logits": logits, "min_p": _cycle([0.05, 0.3, 0.011], logits.shape[0])}


def _min_p_of(values: list[float]) -> list[Arguments]:
    return [{"logits": _steps(6, 60) * 1.37, "min_p": _cycle(values, 6)}]


def _temperature(logits: torch.Tensor) -> Arguments:
    return {"logits": logits, "temperature": _cycle([0.7, 0.0, 1.3, 0.31, 1.0], logits.shape[0])}


def _tiny_temperature() -> list[Arguments]:
    return [{"logits": _logits(4, 60), "temperature": torch.tensor([0.7, 1e-6, 9e-6, 0.0])}]


def _penalties(logits: torch.Tensor) -> Arguments:
    rows, vocab = logits.shape
    prompt = torch.randint(0, vocab, (rows, 12), generator=_random(5))
    output = torch.randint(0, 9, (rows, 20), generator=_random(6))
    prompt[:, 9:] = vocab
    output[1::2, 5:] = vocab
    return {
        "logits": logits,
        "prompt_ids": prompt,
        "output_ids": output,
        "repetition": _cycle([1.2, 0.8, 2.0, 1.0], rows),
        "frequency": _cycle([0.3, 0.0, -0.5], rows),
        "presence": _cycle([0.7, 0.1], rows),
    }


def _many_repeats() -> list[Arguments]:
    call = _penalties(_logits(3, 60))
    call["prompt_ids"] = torch.arange(48, 60).repeat(3, 4)
    call["output_ids"] = torch.full((3, 200), 7)
    return [call]


def _allowed(rows: int, vocab: int) -> torch.Tensor:
    allowed = torch.rand(rows, vocab, generator=_random(7)) < 0.5
    allowed[::4] = False
    return allowed


def _distinct(rows: int, slots: int, vocab: int, seed: int = 8) -> torch.Tensor:
    random = _random(seed)
    if not rows:
        return torch.zeros(0, slots, dtype=torch.int64)
    return torch.stack([torch.randperm(vocab, generator=random)[:slots] for _ in range(rows)])


def _bias(logits: torch.Tensor) -> Arguments:
    rows, vocab = logits.shape
    ids = _distinct(rows, 16, vocab)
    ids[::2, 12:] = -1
    biases = torch.randn(rows, 16, generator=_random(9)) * 3
    return {"logits": logits, "allowed": _allowed(rows, vocab), "bias_ids": ids, "biases": biases}


def _triton_bias(logits: torch.Tensor) -> Arguments:
    rows, vocab = logits.shape
    allowed, ids = _distinct(rows, 30, vocab), _distinct(rows, 11, vocab, seed=10)
    return {
        "logits": logits,
        "allowed_ids": allowed,
        "allowed_counts": _cycle([30, 0, 17, 1], rows, torch.int32),
        "bias_ids": ids,
        "biases": torch.randn(rows, 11, generator=_random(9)) * 3,
        "bias_counts": _cycle([11, 5, 0], rows, torch.int32),
    }


def _bad_words(logits: torch.Tensor) -> Arguments:
    rows = logits.shape[0]
    random = _random(11)
    return {
        "logits": logits,
        "history": torch.randint(0, 3, (rows, 8), generator=random),
        "lengths": _cycle([0, 8, 1, 2, 5, 8, 3], rows, torch.int64),
        "words": torch.randint(0, 3, (rows, 12, 4), generator=random),
        "word_lengths": torch.randint(0, 5, (rows, 12), generator=random),
    }


def _short_history() -> list[Arguments]:
    return [
        {
            "logits": _logits(1, 60),
            "history": torch.tensor([[1, 2, 2]]),
            "lengths": torch.tensor([1]),
            "words": torch.tensor([[[1, 1, 5, -1], [1, 6, -1, -1]]]),
            "word_lengths": torch.tensor([[3, 2]]),
        }
    ]


def _gumbel(logits: torch.Tensor) -> Arguments:
    rows, columns = logits.shape
    return {
        "logits": logits,
        "temperature": _cycle([1.0, 0.7, 0.0, 1.5], rows),
        "seeds": torch.arange(rows) * (2**33 + 7) - 20,
        "positions": torch.arange(rows) % 3 + 1,
        "vocab_size": columns,
    }


def _padded() -> list[Arguments]:
    logits = _logits(9, 70)
    logits[:, 60:] = 50.0
    return [{**_gumbel(logits), "vocab_size": 60}]


def _two_chunks() -> list[Arguments]:
    logits = torch.zeros(12, 4200)
    logits[:, 4150:] = 4.0
    return [{**_gumbel(logits), "temperature": torch.ones(12)}]


def _many_tiles() -> list[Arguments]:
    logits = torch.zeros(2, 131_072 + 1500)
    logits[:, 131_072:] = 40.0
    return [_gumbel(logits)]


def _same_positions() -> list[Arguments]:
    return [{**_gumbel(_logits(9, 60)), "positions": torch.full((9,), 4)}]


def _nan() -> list[Arguments]:
    logits = _logits(9, 60)
    logits[:, ::2] = float("nan")
    logits[3] = float("nan")
    return [_gumbel(logits)]


def _rare_noise() -> list[Arguments]:
    """At this seed and position token 7 has the largest noise there is, 22.87, and token 3 has 0.39."""
    logits = torch.full((2, 8), -INF)
    logits[:, 7] = 0.0
    logits[:, 3] = torch.tensor([19.7, 30.0])
    ones = torch.ones(2, dtype=torch.int64)
    return [
        {"logits": logits, "temperature": torch.ones(2), "seeds": ones, "positions": 2385989607 * ones, "vocab_size": 8}
    ]


def _race(logits: torch.Tensor) -> Arguments:
    return {"logits": logits, "uniforms": torch.rand(logits.shape, generator=_random(12))}


def _uniform_ends() -> list[Arguments]:
    call = _race(_half_masked(_logits(9, 60)))
    call["uniforms"][:, ::7] = 0.0
    call["uniforms"][:, ::5] = 1.0
    return [call]


def _logprobs(logits: torch.Tensor) -> Arguments:
    rows, vocab = logits.shape
    return {"logits": logits, "chosen": torch.randint(0, vocab, (rows,), generator=_random(13)), "count": 5}


def _chosen(logits: torch.Tensor) -> Arguments:
    rows, vocab = logits.shape
    return {"logits": logits, "ids": torch.randint(0, vocab, (rows, 4), generator=_random(13))}


def _wide_sum() -> list[Arguments]:
    logits = _logits(2, 8 * 2048 + 1000)
    return [_chosen(logits)]


def _renorm(probs: torch.Tensor) -> Arguments:
    return {"probs": probs, "p": _cycle([0.9, 0.5, 0.0, 1.0, 0.05, 2.0, 0.99], probs.shape[0])}


def _sum_below_p() -> list[Arguments]:
    return [{"probs": torch.tensor([[0.5, 0.3, 0.199995]]), "p": torch.tensor([0.999999])}]


def _probs(rows: int, vocab: int, scale: float = 1.0, wide: int = 0, seed: int = 0) -> torch.Tensor:
    """Probabilities; with `wide`, a view of rows that are that much longer."""
    held = torch.zeros(rows, vocab + wide)
    held[:, :vocab] = (_logits(rows, vocab, seed=seed) * scale).softmax(dim=-1)
    return held[:, :vocab]


def _rejection(requests: int, vocab: int = 40, dtype: torch.dtype = torch.float32) -> Arguments:
    steps, random = 4, _random(14)
    logits = torch.randn(requests, steps, vocab, generator=random) * 2.5
    probs = (logits + torch.randn(logits.shape, generator=random)).softmax(dim=-1)
    drawn = torch.multinomial(probs.reshape(-1, vocab), 1, generator=random) if requests else torch.zeros(0)
    ids = drawn.reshape(requests, steps).long()
    counts = _cycle([4, 2, 0, 3, 1, 4, 4], requests, torch.int64)
    return {
        "draft_ids": torch.where(torch.arange(steps) < counts.unsqueeze(1), ids, -1),
        "draft_counts": counts,
        "draft_probs": probs,
        "target_logits": logits.to(dtype),
        "bonus_ids": torch.arange(requests) % vocab,
        "uniforms": torch.rand(requests, steps, generator=random),
        "waits": torch.rand(requests, vocab, generator=random) + 0.01,
    }


def _zero_coin() -> list[Arguments]:
    call = _rejection(7)
    call["target_logits"].scatter_(-1, call["draft_ids"].clamp(min=0).unsqueeze(-1), -INF)
    call["uniforms"].zero_()
    return [call]


def _acceptance(ends: list[int], vocab: int = 40, wide: int = 0) -> Arguments:
    drafts, random = (ends or [0])[-1], _random(15)
    logits = torch.randn(drafts, vocab + wide, generator=random)
    target = (logits + torch.randn(logits.shape, generator=random) * 0.5).softmax(dim=-1)
    return {
        "draft_ids": torch.randint(0, vocab, (drafts,), generator=random),
        "ends": torch.tensor(ends, dtype=torch.int32),
        "draft_probs": logits[:, :vocab].softmax(dim=-1),
        "target_probs": target[:, :vocab],
        "uniforms": torch.rand(drafts, generator=random),
    }


def _zero_coins() -> list[Arguments]:
    call = _acceptance([3, 3, 7])
    call["target_probs"].scatter_(1, call["draft_ids"].unsqueeze(1), 0.0)
    call["uniforms"].zero_()
    return [call]


def _ten_drafts() -> list[Arguments]:
    call = _acceptance([10, 12])
    call["uniforms"].zero_()
    return [call]


ENDS = [3, 3, 7, 8, 14, 19, 25]

_SETS: dict[str, Sets] = {
    "top_k_top_p": {
        **_common(_top_k_top_p),
        **_with_empty_row(_top_k_top_p),
        "few-tied-rows": lambda: [_ties_only(_steps(3, 60))],
        "many-tied-rows": lambda: [_ties_only(_steps(9, 60))],
    },
    "top_k_exact": {
        **_common(_top_k_exact),
        **_with_empty_row(_top_k_exact),
        "growing": lambda: [
            _top_k_exact(_logits(9, 60, torch.bfloat16)),
            _top_k_exact(_logits(9, 60)),
            _top_k_exact(_logits(3, 5000)),
        ],
    },
    "min_p": {
        **_common(_min_p),
        **_with_empty_row(_min_p),
        "boundary": lambda: _min_p_of([1.0]),
        "mixed-min-p": lambda: _min_p_of([0.5, 0.01, 0.0]),
    },
    "temperature": {**_common(_temperature), "tiny-temperature": _tiny_temperature},
    "penalties": {**_common(_penalties), "many-repeats": _many_repeats},
    "bias": _common(_bias),
    "bad_words": {**_common(_bad_words), "short-history": _short_history},
    "gumbel": {
        **_common(_gumbel),
        **_with_empty_row(_gumbel),
        "padded": _padded,
        "two-chunks": _two_chunks,
        "same-positions": _same_positions,
        "nan": _nan,
        "rare-noise": _rare_noise,
        "bf16-many": lambda: [_gumbel(_logits(200, 200, torch.bfloat16) * 0.1)],
    },
    "race": {
        **_common(_race),
        **_with_empty_row(_race),
        "uniform-ends": _uniform_ends,
        "bf16-many": lambda: [_race(_logits(1000, 60, torch.bfloat16))],
    },
    "logprobs": {
        **_common(_logprobs),
        **_with_empty_row(_logprobs),
        "none-named": lambda: [{**_logprobs(_logits(9, 60)), "count": 0}],
    },
    "renorm_top_p": {
        "plain": lambda: [_renorm(_probs(9, 60))],
        "strided": lambda: [_renorm(_probs(9, 60, wide=7))],
        "peaked": lambda: [_renorm(_probs(9, 60, scale=20.0))],
        "one-row": lambda: [_renorm(_probs(1, 60))],
        "no-rows": lambda: [_renorm(_probs(0, 60))],
        "twice": lambda: [_renorm(_probs(9, 60)), _renorm(_probs(9, 60, seed=4))],
        "sum-below-p": _sum_below_p,
    },
    "rejection": {
        "plain": lambda: [_rejection(40)],
        "bf16": lambda: [_rejection(40, dtype=torch.bfloat16)],
        "one-row": lambda: [_rejection(1)],
        "no-rows": lambda: [_rejection(0)],
        "zero-coin": _zero_coin,
    },
    "triton_temperature": {
        **_common(_temperature),
        "tiny-temperature": _tiny_temperature,
        "two-chunks": lambda: [_temperature(_logits(2, 4200))],
    },
    "triton_threshold": {
        **_common(_top_k_top_p),
        **_with_empty_row(_top_k_top_p),
        "few-tied-rows": lambda: [_ties_only(_steps(3, 60))],
        "peak-in-a-later-tile": _peak_in_a_later_tile,
    },
    "triton_bias": {**_common(_triton_bias), "two-chunks": lambda: [_triton_bias(_logits(3, 5000))]},
    "triton_penalties": {
        **_common(_penalties),
        "many-repeats": _many_repeats,
        "two-chunks": lambda: [_penalties(_logits(2, 2500))],
    },
    "triton_gumbel": {
        **_common(_gumbel),
        **_with_empty_row(_gumbel),
        "padded": _padded,
        "two-chunks": _two_chunks,
        "same-positions": _same_positions,
        "nan": _nan,
        "rare-noise": _rare_noise,
        "many-tiles": _many_tiles,
    },
    "triton_logprobs": {
        **_common(_chosen),
        "large-logits": lambda: [_chosen(_logits(3, 60) + 200.0)],
        "many-tiles": _wide_sum,
    },
    "triton_acceptance": {
        "plain": lambda: [_acceptance(ENDS)],
        "strided-target": lambda: [_acceptance(ENDS, wide=7)],
        "one-row": lambda: [_acceptance([2])],
        "no-rows": lambda: [_acceptance([])],
        "zero-coin": _zero_coins,
        "ten-drafts": _ten_drafts,
    },
}


def names(sampler: str) -> Iterator[str]:
    """The sets that a sampler has."""
    return iter(_SETS[sampler])


def calls(sampler: str, name: str) -> list[Arguments]:
    """The arguments of the calls of one set, made anew."""
    return _SETS[sampler][name]()
