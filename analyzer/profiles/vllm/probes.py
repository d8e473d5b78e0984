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
    from vllm.sampling_params import SamplingParams
    from vllm.v1.worker.gpu.sample.gumbel import gumbel_sample

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
    index = _numpy_range(requests)
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
