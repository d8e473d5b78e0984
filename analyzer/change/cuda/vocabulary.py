"""The names that carry a meaning in CUDA and C++ code: of the language, of CUDA's and PyTorch's interfaces."""

from __future__ import annotations

import re

#: Type -> canonical dtype.
TYPES: dict[str, str] = {
    "float": "float32", "double": "float64", "float32_t": "float32",
    "half": "float16", "__half": "float16", "Half": "float16", "__fp16": "float16", "half_t": "float16",
    "nv_bfloat16": "bfloat16", "__nv_bfloat16": "bfloat16", "BFloat16": "bfloat16", "hip_bfloat16": "bfloat16",
    "__hip_bfloat16": "bfloat16", "bfloat16_t": "bfloat16", "bfloat16": "bfloat16",
    "__nv_fp8_e4m3": "float8_e4m3fn", "Float8_e4m3fn": "float8_e4m3fn", "__nv_fp8_e5m2": "float8_e5m2",
    "Float8_e5m2": "float8_e5m2", "Float8_e4m3fnuz": "float8_e4m3fnuz",
    "int": "int32", "int32_t": "int32", "signed": "int32", "signed int": "int32", "std::int32_t": "int32",
    "unsigned": "uint32", "unsigned int": "uint32", "uint32_t": "uint32", "uint": "uint32", "std::uint32_t": "uint32",
    "int64_t": "int64", "long long": "int64", "long long int": "int64", "std::int64_t": "int64", "ptrdiff_t": "int64",
    "long": "int64", "long int": "int64", "ssize_t": "int64", "std::ptrdiff_t": "int64",
    "uint64_t": "uint64", "unsigned long long": "uint64", "unsigned long long int": "uint64", "size_t": "uint64",
    "unsigned long": "uint64", "std::size_t": "uint64", "std::uint64_t": "uint64", "unsigned long int": "uint64",
    "uintptr_t": "uint64", "std::uintptr_t": "uint64", "intptr_t": "int64",
    "short": "int16", "int16_t": "int16", "unsigned short": "uint16", "uint16_t": "uint16",
    "char": "int8", "signed char": "int8", "int8_t": "int8", "unsigned char": "uint8", "uint8_t": "uint8",
    "bool": "bool",
}  # fmt: skip
#: PyTorch's names of scalar types, after ``torch::``, ``at::``, ``c10::`` or ``ScalarType::``.
SCALAR_TYPES: dict[str, str] = {
    "kFloat": "float32", "kFloat32": "float32", "kDouble": "float64", "kFloat64": "float64", "kHalf": "float16",
    "kFloat16": "float16", "kBFloat16": "bfloat16", "kInt": "int32", "kInt32": "int32", "kLong": "int64",
    "kInt64": "int64", "kShort": "int16", "kInt16": "int16", "kChar": "int8", "kInt8": "int8", "kByte": "uint8",
    "kUInt8": "uint8", "kBool": "bool", "kFloat8_e4m3fn": "float8_e4m3fn", "kFloat8_e5m2": "float8_e5m2",
    "kFloat8_e4m3fnuz": "float8_e4m3fnuz",
}  # fmt: skip
_ENUM = {
    "Float": "float32", "Double": "float64", "Half": "float16", "BFloat16": "bfloat16", "Int": "int32",
    "Long": "int64", "Short": "int16", "Char": "int8", "Byte": "uint8", "Bool": "bool",
    "Float8_e4m3fn": "float8_e4m3fn", "Float8_e5m2": "float8_e5m2", "Float8_e4m3fnuz": "float8_e4m3fnuz",
}  # fmt: skip
#: Namespaces of PyTorch, which stand for each other.
TORCH = frozenset({"torch", "at", "c10"})

_INTRINSIC = {"float": "float32", "half": "float16", "half2": "float16", "bfloat16": "bfloat16",
              "bfloat162": "bfloat16", "int": "int32", "uint": "uint32", "ll": "int64", "ull": "uint64",
              "double": "float64"}  # fmt: skip
_CONVERSION = re.compile(
    r"__(?:float2|float|half2?|double|int|uint|ll|ull|bfloat162?|low2?|high2?)2"
    r"(float|half2?|double|int|uint|ll|ull|bfloat162?)(?:_r[nzud])?"
)

BARRIERS = frozenset({
    "__syncthreads", "__syncwarp", "__syncthreads_count", "__syncthreads_and", "__syncthreads_or", "__threadfence",
    "__threadfence_block", "__threadfence_system", "__pipeline_wait_prior", "__pipeline_commit", "__barrier_sync",
    "cp_async_wait", "cp_async_fence", "cp_async_wait_group", "cp_async_commit_group", "cp_async_wait_all",
    "__builtin_amdgcn_s_barrier", "cudaGridDependencySynchronize", "cudaTriggerProgrammaticLaunchCompletion",
})  # fmt: skip
#: Methods without arguments or of a scope that make threads wait for each other.
BARRIER_METHODS = frozenset({"sync", "arrive_and_wait"})
#: Instructions of inline assembly that order or wait.
ASSEMBLY = re.compile(
    r"\b(bar(?:rier)?(?:\.\w+)*\.(?:sync|arrive)|cp\.async(?:\.bulk)?\.(?:wait|commit)_\w+|fence(?:\.\w+)+|membar\.\w+"
    r"|griddepcontrol\.\w+|mbarrier\.\w+)"
)
ATOMIC = re.compile(r"(?:unsafe|gpu|fast)?[aA]tomic(?:Add|Sub|Exch|Min|Max|Inc|Dec|CAS|And|Or|Xor)(?:_block|_system)?"
                    r"|red_\w+|__hip_atomic_\w+")  # fmt: skip
SYNCHRONIZATIONS = frozenset({
    "cudaDeviceSynchronize", "cudaStreamSynchronize", "cudaEventSynchronize", "cudaStreamWaitEvent", "synchronize",
    "hipDeviceSynchronize", "hipStreamSynchronize",
})  # fmt: skip
DRAWS = re.compile(r"curand(?:_\w+|[A-Z]\w*)|hiprand\w+|philox_\w+|manual_seed\w*")
DEVICE_MALLOC = frozenset({
    "cudaMalloc", "cudaMallocAsync", "cudaMallocManaged", "cudaMallocHost", "cudaHostAlloc", "hipMalloc",
})  # fmt: skip
_MATH = "exp exp2 exp10 expm1 log log2 log10 log1p sqrt rsqrt sin cos tanh erf pow fma fmin fmax fdivide rcp"
#: Functions of CUDA's math library and its intrinsics: one can stand in for another.
MATH = frozenset(
    f"{before}{name}{after}" for name in _MATH.split() for before in ("", "__", "h", "h2")
    for after in ("", "f", "f_rn", "f_rz", "_approx", "_rn", "f_approx")
) | frozenset({
    "max", "min", "abs", "fabs", "fabsf", "fmaf_rn", "__fdividef", "__frcp_rn", "__fsqrt_rn", "__fmul_rn",
    "__fadd_rn", "__fsub_rn", "__ldg", "__ldcs", "__ldcg", "__ldlu", "__stcs", "__stcg", "__hadd", "__hmul", "__hfma",
    "__hsub", "__hdiv", "__hmax", "__hmin", "__hadd2", "__hmul2", "__hfma2", "isnan", "isinf", "floor", "floorf",
    "ceil", "ceilf", "round", "roundf", "rint", "rintf", "nearbyint", "nearbyintf", "trunc", "truncf",
    "__shfl_xor_sync", "__shfl_down_sync", "__shfl_up_sync", "__shfl_sync", "__ballot_sync", "__any_sync",
    "__all_sync", "__popc", "__clz", "__ffs",
})  # fmt: skip
#: Launch options by their place between ``<<<`` and ``>>>``.
LAUNCH = ("grid", "block", "shared", "stream")

#: Which dtypes PyTorch's dispatch macros let through; those named in ``_AND`` come on top.
_FLOATING = frozenset({"float32", "float64"})
_INTEGRAL = frozenset({"uint8", "int8", "int16", "int32", "int64"})
DISPATCH_SETS = {
    "FLOATING_TYPES": _FLOATING, "INTEGRAL_TYPES": _INTEGRAL, "ALL_TYPES": _FLOATING | _INTEGRAL,
    "REDUCED_FLOATING_TYPES": frozenset({"float16", "bfloat16"}), "INDEX_TYPES": frozenset({"int32", "int64"}),
}  # fmt: skip


#: Canonical dtype -> its usual spelling.
SPELLED = {
    "int32": "int", "uint32": "unsigned int", "int64": "int64_t", "uint64": "uint64_t", "int16": "int16_t",
    "uint16": "uint16_t", "int8": "int8_t", "uint8": "uint8_t", "float16": "half", "bfloat16": "bfloat16",
    "float32": "float", "float64": "double", "bool": "bool",
}  # fmt: skip


def dtype_of_type(text: str) -> str:
    """The canonical dtype of a type's text without qualifiers, empty where it is none."""
    for prefix in ("torch::", "at::", "c10::", "::", "cutlass::"):
        text = text.removeprefix(prefix)
    return TYPES.get(text, "")


def scalar_type(names: list[str]) -> str:
    """The canonical dtype that a qualified name of PyTorch stands for: ``at::kHalf``, ``at::ScalarType::Half``."""
    if names[-1] in SCALAR_TYPES and (len(names) == 1 or names[0] in TORCH):
        return SCALAR_TYPES[names[-1]]
    return _ENUM.get(names[-1], "") if "ScalarType" in names[:-1] else ""


def converted(name: str) -> str:
    """The dtype that a conversion intrinsic gives (``__float2half_rn``), empty for any other name."""
    found = _CONVERSION.fullmatch(name)
    return _INTRINSIC[found[1]] if found else ""


def dispatched(name: str) -> frozenset[str] | None:
    """The dtypes of one of PyTorch's dispatch macros without those in its arguments; None where they are not known."""
    found = re.fullmatch(r"AT_DISPATCH_([A-Z_]+?)(_AND_HALF|_AND\d?)?", name)
    if not found or found[1] not in DISPATCH_SETS:
        return None
    return DISPATCH_SETS[found[1]] | ({"float16"} if found[2] == "_AND_HALF" else set())


def is_dispatch(name: str) -> bool:
    return name.isupper() and "DISPATCH" in name.split("_")


def is_check(name: str) -> bool:
    """Whether a call demands something of its inputs: ``TORCH_CHECK``, ``assert``, ``CHECK_INPUT``."""
    return name in ("assert", "static_assert") or (name.isupper() and bool({"CHECK", "ASSERT"} & set(name.split("_"))))


def is_status(name: str) -> bool:
    """Whether a macro only looks at a call's status: ``C10_CUDA_CHECK(cudaGetLastError())``."""
    words = set(name.split("_"))
    return (
        name.isupper()
        and bool(words & {"CUDA", "CUBLAS", "HIP", "NCCL", "CUDNN", "CU", "CUDACHECK", "NCCLCHECK"})
        and ("CHECK" in name)
    )
