"""The names that carry a meaning in tensor and kernel code: dtypes, casts, copies, allocations, barriers.

Only names of the Python, PyTorch and Triton interfaces; nothing of any project.
"""

from __future__ import annotations

#: Spelling -> (canonical dtype, bytes an element).
DTYPES: dict[str, tuple[str, float]] = {
    "float64": ("float64", 8), "double": ("float64", 8),
    "float32": ("float32", 4), "float": ("float32", 4),
    "tfloat32": ("tfloat32", 4), "bfloat16": ("bfloat16", 2), "float16": ("float16", 2), "half": ("float16", 2),
    "float8_e4m3fn": ("float8_e4m3fn", 1), "float8_e4m3fnuz": ("float8_e4m3fnuz", 1),
    "float8_e5m2": ("float8_e5m2", 1), "float8e4nv": ("float8_e4m3fn", 1), "float8e5": ("float8_e5m2", 1),
    "int64": ("int64", 8), "long": ("int64", 8), "uint64": ("uint64", 8),
    "int32": ("int32", 4), "int": ("int32", 4), "uint32": ("uint32", 4),
    "int16": ("int16", 2), "short": ("int16", 2), "uint16": ("uint16", 2),
    "int8": ("int8", 1), "uint8": ("uint8", 1), "bool": ("bool", 1), "int1": ("bool", 1),
}  # fmt: skip
BYTES = {canonical: size for canonical, size in DTYPES.values()}
INTEGERS = frozenset(name for name in BYTES if "int" in name)
FLOATS_32_OR_WIDER = frozenset({"float32", "float64"})

#: Tensor methods that cast and take no argument.
CAST_METHODS = frozenset({"float", "double", "half", "bfloat16", "long", "int", "short", "char", "byte", "bool"})
CAST_METHOD_DTYPES = {"char": "int8", "byte": "uint8"} | {
    name: DTYPES[name][0] for name in CAST_METHODS if name in DTYPES
}

#: Allocating function -> where its shape comes from: its arguments, its first argument ("like"), or data.
ALLOCATORS = {
    "empty": "shape", "zeros": "shape", "ones": "shape", "full": "shape", "empty_strided": "shape",
    "empty_like": "like", "zeros_like": "like", "ones_like": "like", "full_like": "like",
    "new_empty": "shape", "new_zeros": "shape", "new_ones": "shape", "new_full": "shape",
    "tensor": "data", "new_tensor": "data", "arange": "data",
}  # fmt: skip
ALLOCATING_MODULES = frozenset({"torch", "np", "numpy", "jnp", "cupy", "cp"})

#: Draws of random numbers and what seeds them; `tl.` ones first.
KERNEL_RANDOM = frozenset({"rand", "randn", "randint", "rand4x", "randn4x", "randint4x", "philox", "philox_impl"})
RANDOM = frozenset({
    "manual_seed", "manual_seed_all", "seed", "set_state", "Generator", "multinomial", "bernoulli", "rand", "randn",
    "randint", "randperm", "rand_like", "randn_like", "randint_like", "exponential_", "uniform_", "normal_",
    "bernoulli_", "random_", "cauchy_", "geometric_", "log_normal_",
})  # fmt: skip

#: In-place tensor methods that store values as they are (or constants): nothing is rounded.
EXACT_IN_PLACE = frozenset({
    "masked_fill_", "fill_", "zero_", "copy_", "scatter_", "index_fill_", "index_copy_", "index_put_",
    "masked_scatter_", "put_", "clamp_", "clamp_min_", "clamp_max_", "clip_", "neg_", "abs_", "relu_", "fill_diagonal_",
    "exponential_", "uniform_", "normal_", "random_", "bernoulli_",
})  # fmt: skip
#: Trailing underscore, but no element is written.
NOT_WRITES = frozenset({
    "requires_grad_", "detach_", "squeeze_", "unsqueeze_", "t_", "transpose_", "resize_", "swapaxes_", "set_",
    "share_memory_", "record_stream", "rename_",
})  # fmt: skip
#: Methods whose result shares the storage of the tensor (some only where the layout allows).
VIEWS = frozenset({
    "view", "reshape", "transpose", "t", "permute", "squeeze", "unsqueeze", "expand", "expand_as", "narrow", "select",
    "detach", "contiguous", "flatten", "unflatten", "as_strided", "view_as", "swapaxes", "movedim", "data",
})  # fmt: skip
#: Operations whose result holds values of their input as they are: selections, permutations, order statistics.
SELECTIONS = frozenset({
    "sort", "topk", "gather", "clone", "index_select", "masked_fill", "masked_select", "scatter", "where", "max", "min",
    "maximum", "minimum", "amax", "amin", "flip", "clamp", "clip", "values", "cat", "stack", "take_along_dim", "neg",
    "abs", "broadcast_to", "broadcast", "expand_dims", "trans", "join", "split", "ravel", "cpu", "cuda", "roll",
    "repeat", "repeat_interleave", "to", "load", "multiple_of", "max_contiguous", "reduce_max", "reduce_min",
}) | VIEWS  # fmt: skip
#: Results that are truth values, indices or shapes: they carry no rounding of their input.
NO_VALUES = frozenset({
    "argmax", "argmin", "argsort", "size", "stride", "dim", "numel", "is_contiguous", "nonzero", "isnan", "isinf",
    "isfinite", "any", "all", "eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_or", "logical_not",
    "empty_like", "zeros_like", "ones_like", "full_like", "new_empty", "new_zeros", "new_ones", "new_full", "len",
    "searchsorted", "data_ptr", "element_size",
})  # fmt: skip

#: Computing operations of the tensor libraries, as functions and as methods: one can stand in for another.
OPERATIONS = frozenset({
    "log", "log1p", "log2", "log10", "exp", "exp2", "expm1", "sqrt", "rsqrt", "sigmoid", "logsigmoid", "tanh",
    "silu", "gelu", "relu", "erf", "softmax", "log_softmax", "logsumexp", "softplus", "sum", "mean", "prod", "max",
    "min", "amax", "amin", "argmax", "argmin", "cumsum", "cumprod", "logcumsumexp", "sort", "argsort", "topk",
    "kthvalue", "median", "floor", "ceil", "round", "trunc", "abs", "square", "reciprocal", "clamp", "clip",
    "maximum", "minimum", "fmax", "fmin", "nanmax", "nanmin", "nansum", "mul", "div", "add", "sub", "pow",
    "remainder", "fmod", "floor_divide", "true_divide", "matmul", "mm", "bmm", "dot", "einsum", "scatter",
    "scatter_add", "scatter_reduce", "gather", "index_select", "masked_fill", "where", "any", "all", "isnan",
    "isinf", "isfinite", "nonzero", "count_nonzero", "norm", "var", "std", "view", "reshape", "repeat", "expand",
    "repeat_interleave", "tile", "cdiv", "multinomial", "rand64", "rand32", "cat", "stack", "concat", "unique",
    "unique_consecutive", "bincount", "fast_expf", "fast_logf",
})  # fmt: skip

BARRIERS = frozenset({"debug_barrier", "syncthreads", "barrier", "thread_barrier"})
SYNCHRONIZATIONS = frozenset({"synchronize", "wait_stream", "wait_event", "item"})
FENCES = frozenset({"fence", "fence_async_shared", "threadfence"})

#: Keyword options of a launch; BLOCK-like keywords are recognised by `is_tile`.
LAUNCH_OPTIONS = frozenset({
    "num_warps", "num_stages", "num_ctas", "maxnreg", "waves_per_eu", "matrix_instr_nonkdim", "kpack",
    "launch_cooperative_grid", "launch_pdl", "num_consumer_groups", "num_buffers_warp_spec",
})  # fmt: skip
TILE_WORDS = frozenset({"BLOCK", "TILE", "GROUP", "SPLIT", "UNROLL", "SPLITS", "STAGES", "WARPS", "CHUNK"})
#: Words of a name that switches something on.
SWITCH_WORDS = frozenset({"USE", "HAS", "IS", "ENABLE", "WITH"})

#: Words of a name that holds an index or an offset.
INDEX_WORDS = frozenset({
    "idx", "index", "indices", "id", "ids", "pid", "offset", "offsets", "offs", "off", "row", "rows", "col", "cols",
    "start", "end", "stride", "strides", "slot", "pos", "position", "base",
})  # fmt: skip

#: Tolerance keyword of a comparing call -> its default where the call has one that does not depend on the dtype.
TOLERANCES = frozenset({"atol", "rtol", "rel", "abs", "tol", "tolerance", "rel_tol", "abs_tol"})
TOLERANCE_DEFAULTS = {
    ("allclose", "rtol"): 1e-5, ("allclose", "atol"): 1e-8, ("isclose", "rtol"): 1e-5, ("isclose", "atol"): 1e-8,
    ("assert_allclose", "rtol"): 1e-7, ("assert_allclose", "atol"): 0.0,
}  # fmt: skip


def is_tile(keyword: str) -> bool:
    """Whether a launch keyword sets a tile or a count that the launch chooses (BLOCK_SIZE, GROUP_M, NUM_STAGES)."""
    words = set(keyword.split("_"))
    return keyword.isupper() and bool(TILE_WORDS & words) and not SWITCH_WORDS & words


def is_index_name(name: str) -> bool:
    """Whether a name says that it holds an index or an offset."""
    return bool(INDEX_WORDS & set(name.lower().strip("_").split("_")))
