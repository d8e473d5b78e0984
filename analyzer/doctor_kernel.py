"""Compiles one small kernel for the architecture that it is given (``sm_90``) and says how large it became."""

import sys

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def add_one(values, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < count
    tl.store(values + offsets, tl.load(values + offsets, mask=inside) + 1, mask=inside)


def main(architecture: str) -> None:
    signature = {"values": "*bf16", "count": "i32", "BLOCK": "constexpr"}
    source = ASTSource(fn=add_one, signature=signature, constexprs={(2,): 128})
    built = triton.compile(source, target=GPUTarget("cuda", int(architecture.removeprefix("sm_")), 32))
    print(f"a kernel of {len(built.asm['cubin'])} bytes")


if __name__ == "__main__":
    main(sys.argv[1])
