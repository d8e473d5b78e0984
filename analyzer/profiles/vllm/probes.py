"""State that vLLM's samplers need, and what stands in for parts of an installation that a checkout lacks.

Runs in the child process beside one revision. Holds from c656ba3b4d (2026-02) on; where a signature differs between
revisions the probe passes what the signature asks for.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
import types
from typing import Any

import torch

_EXTENSIONS = ("vllm._C", "vllm._C_stable_libtorch", "vllm._moe_C", "vllm._moe_C_stable_libtorch", "vllm._rocm_C")


def bridge(job: dict[str, Any]) -> list[tuple[str, str]]:
    """Make the revision importable without its compiled extensions and optional packages.

    Says what was bridged, in English and Chinese.
    """
    bridges = []
    absent = [name for name in _EXTENSIONS if not _importable(name)]
    for name in absent:
        sys.modules[name] = types.ModuleType(name)
    if absent:
        names = ", ".join(absent)
        bridges.append(
            (f"compiled extensions absent: empty modules in place of {names}", f"缺少编译扩展：以空模块代替 {names}")
        )
    if not _importable("flashinfer"):
        sampler = importlib.import_module("vllm.v1.sample.ops.topk_topp_sampler")
        if hasattr(sampler, "flashinfer_sampler_supported"):
            sampler.flashinfer_sampler_supported = lambda: False
            said = "flashinfer_sampler_supported"
            bridges.append((f"FlashInfer absent: {said} answers False", f"缺少 FlashInfer：{said} 返回 False"))
    if job["device"] == "cpu":
        bridges += _without_gpu()
    bridges += _without_unified_addressing()
    return bridges


def _importable(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def _without_gpu() -> list[tuple[str, str]]:
    platform_utils = importlib.import_module("vllm.utils.platform_utils")
    platform_utils.num_compute_units = lambda *_: 132
    kernels = importlib.import_module("vllm.v1.sample.ops.topk_topp_triton")
    kernels.num_compute_units = platform_utils.num_compute_units
    return [("no GPU: 132 compute units assumed", "没有 GPU：假定有 132 个计算单元")]


def _without_unified_addressing() -> list[tuple[str, str]]:
    """Copies on the device in place of host memory that the device reads: needs the compiled extension."""
    try:
        buffers = importlib.import_module("vllm.v1.worker.gpu.buffer_utils")
    except ImportError:
        return []

    class CopiedBuffer:
        def __init__(self, size: Any, dtype: torch.dtype) -> None:
            self.cpu = torch.zeros(size, dtype=dtype)
            self.np = self.cpu.numpy()

        @property
        def uva(self) -> torch.Tensor:
            return self.cpu.to("cuda" if torch.cuda.is_available() else "cpu")

    buffers.UvaBuffer = CopiedBuffer
    en = "unified virtual addressing: device copies in place of UVA buffers"
    return [(en, "统一虚拟寻址：以设备副本代替 UVA 缓冲区")]


def sampler_apply_sampling_params(sampler_class: Any, case: Any) -> Any:
    """`Sampler.apply_sampling_params` on requests with top-k, top-p, temperature and seeds; then `gumbel_sample`."""
    from vllm.v1.worker.gpu.sample.gumbel import gumbel_sample

    sampler, index = _sampler(sampler_class, case)
    seeds = sampler.sampling_states

    def call(logits: Any, mapping: Any, pos: Any, ids: Any, local: Any) -> torch.Tensor:
        return sampler.apply_sampling_params(
            **_accepted(
                sampler.apply_sampling_params,
                logits=logits,
                expanded_idx_mapping=mapping,
                idx_mapping=mapping,
                idx_mapping_np=index,
                pos=pos,
                input_ids=ids,
                expanded_local_pos=local,
            )
        )

    def sample(output: torch.Tensor, given: dict[str, torch.Tensor]) -> torch.Tensor:
        return gumbel_sample(
            output, given["mapping"], seeds.temperature.gpu, seeds.seeds.gpu, given["pos"], apply_temperature=False
        )

    return call, sample


def _sampler(sampler_class: Any, case: Any) -> Any:
    """A sampler of requests with top-k, top-p, temperature and seeds, and the requests' numbers."""
    from vllm.sampling_params import SamplingParams

    requests = -(-case.rows // case.logits_per_request)
    device = torch.device("cpu") if case.fake else case.device
    states = _request_state(requests, case, device)
    sampler = sampler_class(
        **_accepted(
            sampler_class,
            max_num_reqs=requests,
            vocab_size=case.vocab,
            device=device,
            req_states=states,
            logprobs_mode="raw_logprobs",
            num_speculative_tokens=case.logits_per_request - 1,
        )
    )
    for request in range(requests):
        parameters = SamplingParams(
            temperature=case.temperature, top_k=case.top_k, top_p=case.top_p, seed=case.seed + request
        )
        sampler.add_request(request, 1, parameters)
    sampler.apply_staged_writes()
    if case.fake:
        with case.fake:
            _swap_for_fakes(sampler)
    return sampler, _numpy_range(requests)


def logit_bias_state(state_class: Any, case: Any) -> Any:
    """`LogitBiasState.apply_logit_bias` for requests that bias `biased` tokens each."""
    from vllm.sampling_params import SamplingParams

    device = torch.device("cpu") if case.fake else case.device
    state = state_class(case.rows, device)
    for request in range(case.rows):
        bias = {(request * 31 + 7 * j) % case.vocab: 0.001 * (j + 1) for j in range(case.biased)}
        state.add_request(request, 1, SamplingParams(logit_bias=bias))
    if case.fake:
        with case.fake:
            _swap_for_fakes(state)
    else:
        state.apply_staged_writes()
    index = _numpy_range(case.rows)

    def call(logits: torch.Tensor, mapping: torch.Tensor, pos: torch.Tensor) -> Any:
        return state.apply_logit_bias(logits, mapping, index, pos)

    return call, None


def _request_state(requests: int, case: Any, device: torch.device) -> Any:
    from vllm.v1.worker.gpu.states import RequestState

    states = RequestState(
        **_accepted(
            RequestState,
            max_num_reqs=requests,
            max_model_len=32,
            max_num_batched_tokens=case.rows,
            num_speculative_steps=case.logits_per_request - 1,
            vocab_size=case.vocab,
            device=device,
            model_dtype=case.dtype,
            cache_draft_logits=False,
        )
    )
    return states


def _accepted(function: Any, **arguments: Any) -> dict[str, Any]:
    """The arguments that the signature has; revisions differ in them."""
    names = inspect.signature(function).parameters
    return {name: value for name, value in arguments.items() if name in names}


def _numpy_range(count: int) -> Any:
    import numpy

    return numpy.arange(count, dtype=numpy.int32)


def _swap_for_fakes(root: Any) -> None:
    """Replace the tensors that a device reads (attribute `gpu`) below `root` by fake ones of the same shape."""
    seen: set[int] = set()

    def visit(value: Any) -> None:
        if id(value) in seen or not type(value).__module__.startswith("vllm"):
            return
        seen.add(id(value))
        for name, member in list(vars(value).items()):
            if isinstance(member, torch.Tensor) and name not in ("cpu", "np"):
                fake = torch.empty_strided(member.shape, member.stride(), dtype=member.dtype, device="cuda")
                setattr(value, name, fake)
            else:
                visit(member)

    visit(root)


def sampler_sample(sampler_class: Any, case: Any) -> Any:
    """`Sampler.sample` on requests with top-k, top-p, temperature and seeds."""
    sampler, index = _sampler(sampler_class, case)

    def call(logits: Any, mapping: Any, pos: Any, ids: Any, local: Any) -> torch.Tensor:
        sampled = sampler.sample(
            **_accepted(
                sampler.sample,
                logits=logits,
                expanded_idx_mapping=mapping,
                idx_mapping=mapping,
                idx_mapping_np=index,
                pos=pos,
                input_ids=ids,
                expanded_local_pos=local,
            )
        )
        return sampled[0] if isinstance(sampled, tuple) else sampled

    return call, None


def token_ranks(topk: Any, case: Any) -> Any:
    """The sampled tokens' ranks, as fp32: exact below 2^24."""

    def call(logits: torch.Tensor, sampled_token_ids: torch.Tensor) -> torch.Tensor:
        return topk(logits, 0, sampled_token_ids).selected_token_ranks.float()

    return call, None


def prompt_logprobs(chunked: Any, case: Any) -> Any:
    """Log-probabilities of a prompt's own tokens; the hidden states are the logits."""

    def call(logits: torch.Tensor, token_ids: torch.Tensor) -> torch.Tensor:
        given = _accepted(
            chunked,
            prompt_token_ids=token_ids,
            prompt_hidden_states=logits,
            logits_fn=lambda states: states,
            num_prompt_logprobs=0,
        )
        found = chunked(**given)
        return found[1] if len(found) == 3 else found[0]  # the ids came first from 2026-04 on

    return call, None


def prompt_token_ids(wanted: Any, case: Any) -> Any:
    """The prompt token after the computed ones, one for each request; it is the largest of the request's logits."""

    def call(logits: torch.Tensor, num_computed_tokens: torch.Tensor) -> torch.Tensor:
        rows = len(logits)
        here = torch.arange(rows, dtype=torch.int32, device=logits.device)
        starts = torch.arange(rows + 1, dtype=torch.int32, device=logits.device)
        tokens = logits.argmax(-1).int().unsqueeze(1).repeat(1, 32)
        # Only the place after the computed tokens has the row's own; a wrong place shows.
        place = torch.arange(32, device=logits.device)
        tokens = torch.where(place == num_computed_tokens.unsqueeze(1) + 1, tokens, -1)
        return wanted(rows, starts, here, num_computed_tokens, tokens)

    return call, None


def apply_all_penalties(penalties: Any, case: Any) -> Any:
    """v1's penalties; without the compiled extension PyTorch's own repetition penalty stands in for its kernel."""
    operators = importlib.import_module("vllm._custom_ops")
    if not hasattr(torch.ops._C, "apply_repetition_penalties_"):
        operators.apply_repetition_penalties = operators.apply_repetition_penalties_torch

    def call(output_token_ids: torch.Tensor, **given: torch.Tensor) -> torch.Tensor:
        return penalties(output_token_ids=output_token_ids.tolist(), **given)

    return call, None


def apply_bad_words_v1(ban: Any, case: Any) -> Any:
    """v1's bad words, for every request a list of words and a history."""

    def call(logits: torch.Tensor, history: torch.Tensor, words: torch.Tensor) -> torch.Tensor:
        banned = {
            row: [[token for token in word if token >= 0] for word in its] for row, its in enumerate(words.tolist())
        }
        ban(logits, banned, history.tolist())
        return logits

    return call, None


def rejection_sample_v1(sample: Any, case: Any) -> Any:
    """v1's `rejection_sample` for requests of one draft each, drawn from torch's generator at a seed; first tokens."""

    def call(logits: torch.Tensor, drafts: torch.Tensor, **given: torch.Tensor) -> torch.Tensor:
        rows = len(logits)
        if "seed" in given and not case.fake:
            torch.manual_seed(int(given["seed"][0]))
        metadata = types.SimpleNamespace(
            all_greedy=case.greedy,
            all_random=not case.greedy,
            temperature=torch.ones(rows, device=logits.device),
            generators={},
        )
        sampled = sample(
            drafts,
            [1] * rows,
            1,
            torch.arange(1, rows + 1, dtype=torch.int32, device=logits.device),
            None if case.greedy else given["draft_logits"].softmax(-1),
            logits,
            torch.zeros(rows, 1, dtype=torch.int32, device=logits.device),
            metadata,
        )
        return sampled[:, 0]

    return call, None


def rejection_random_kernel(kernel: Any, case: Any) -> Any:
    """v1's acceptance kernel with the uniform numbers and recovered tokens given; first tokens."""

    def call(
        logits: torch.Tensor, draft_logits: torch.Tensor, drafts: torch.Tensor, recovered: torch.Tensor,
        uniform: torch.Tensor,
    ) -> torch.Tensor:  # fmt: skip
        rows, vocab = logits.shape
        sampled = torch.full((rows, 2), -1, dtype=torch.int32, device=logits.device)
        _launch(
            kernel,
            rows,
            output_token_ids_ptr=sampled,
            cu_num_draft_tokens_ptr=torch.arange(1, rows + 1, dtype=torch.int32, device=logits.device),
            draft_token_ids_ptr=drafts,
            draft_probs_ptr=draft_logits.softmax(-1),
            target_probs_ptr=logits.softmax(-1),
            bonus_token_ids_ptr=torch.zeros(rows, dtype=torch.int32, device=logits.device),
            recovered_token_ids_ptr=recovered,
            uniform_probs_ptr=uniform,
            is_greedy_ptr=torch.zeros(rows, dtype=torch.bool, device=logits.device),
            max_spec_len=1,
            vocab_size=vocab,
            synthetic_conditional_rates_ptr=None,
            NO_DRAFT_PROBS=False,
            SYNTHETIC_MODE=False,
        )
        return sampled[:, 0]

    return call, None


def recovered_tokens_kernel(kernel: Any, case: Any) -> Any:
    """v1's kernel of recovered tokens for drafts without probabilities, with the exponential numbers given."""

    def call(logits: torch.Tensor, words: torch.Tensor, history: torch.Tensor, race: torch.Tensor) -> torch.Tensor:
        rows, vocab = logits.shape
        recovered = torch.empty(rows, dtype=torch.int32, device=logits.device)
        _launch(
            kernel,
            rows,
            1,
            output_token_ids_ptr=recovered,
            cu_num_draft_tokens_ptr=torch.arange(1, rows + 1, dtype=torch.int32, device=logits.device),
            draft_token_ids_ptr=words.reshape(rows),
            draft_probs_ptr=None,
            target_probs_ptr=logits.softmax(-1),
            q_ptr=race,
            inv_q_ptr=race.reciprocal() if "inv_q_ptr" in kernel.arg_names else None,
            vocab_size=vocab,
            PADDED_VOCAB_SIZE=1 << (vocab - 1).bit_length(),  # the whole row in one block, until 2026-03
            BLOCK_SIZE=8192,
            NO_DRAFT_PROBS=True,
            USE_FP64_GUMBEL=False,
        )
        return recovered

    return call, None


def expand_batch_to_tokens(expand: Any, case: Any) -> Any:
    """Logits divided by a value of their request's, which the call repeats for the four tokens of each."""

    def call(logits: torch.Tensor, x: torch.Tensor, request: torch.Tensor) -> torch.Tensor:
        rows = len(logits)
        ends = torch.arange(4, rows + 1, 4, dtype=torch.int32, device=logits.device)
        return logits / expand(x[: rows // 4].contiguous(), ends, rows, 0, 1).unsqueeze(1)

    return call, None


def rejection_sample(sample: Any, case: Any) -> Any:
    """The V2 worker's rejection sampling of one draft a request; first tokens."""
    names = inspect.signature(sample).parameters

    def call(logits: torch.Tensor, draft_logits: torch.Tensor, drafts: torch.Tensor, pos: torch.Tensor) -> torch.Tensor:
        rows = len(logits)
        whole = torch.arange(rows, dtype=torch.int32, device=logits.device)
        both = torch.arange(2 * rows, dtype=torch.int32, device=logits.device)
        seeds = torch.full((rows,), case.seed, dtype=torch.int64, device=logits.device)
        zeros = torch.zeros(rows, dtype=drafts.dtype, device=logits.device)
        given = _accepted(
            sample,
            target_logits=logits.repeat_interleave(2, 0),  # the bonus token's too
            draft_logits=draft_logits.unsqueeze(1),
            draft_sampled=torch.stack((zeros, drafts), 1).reshape(-1),
            cu_num_logits=torch.arange(0, 2 * rows + 1, 2, dtype=torch.int32, device=logits.device),
            pos=torch.stack((pos, pos + 1), 1).reshape(-1),
            idx_mapping=whole,
            expanded_idx_mapping=both // 2,
            expanded_local_pos=both % 2,
            temperature=torch.ones(rows, device=logits.device),
            seed=seeds,
            seeds=seeds,
            num_speculative_steps=1,
            use_block_verification=case.block,
        )
        return sample(**given)[0][:, 0]

    if case.block and "use_block_verification" not in names:
        raise TypeError("this revision has no block verification")
    return call, None


def strict_rejection_sample(sample: Any, case: Any) -> Any:
    """The V2 worker's rejection sampling by the target's own tokens; first tokens."""

    def call(logits: torch.Tensor, drafts: torch.Tensor) -> torch.Tensor:
        rows = len(logits)
        targets = logits.argmax(-1).repeat_interleave(2)
        input_ids = torch.stack((drafts, drafts), 1).reshape(-1)
        ends = torch.arange(0, 2 * rows + 1, 2, dtype=torch.int32, device=logits.device)
        return sample(targets, input_ids, ends, 1)[0][:, 0]

    return call, None


def _launch(kernel: Any, *grid: int, **arguments: Any) -> None:
    """Launch a kernel with those arguments that it has; revisions differ in them."""
    kernel[grid](**{name: value for name, value in arguments.items() if name in kernel.arg_names})
