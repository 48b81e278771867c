"""Compiler of jaxprs to vector instructions of the processor, through LLVM.

It knows nothing of simulations: ``compile_jaxpr`` takes what ``jax.make_jaxpr`` returns.
"""

from kittiwake.simd.code_generation import target_description
from kittiwake.simd.kernel import (
    BoundTiles,
    CompiledProgram,
    HoistedKernels,
    Kernel,
    compile_hoisted,
    compile_jaxpr,
)
from kittiwake.simd.lanes import with_lanes
from kittiwake.simd.support import Unsupported, UnsupportedError, unsupported

__all__ = [
    "BoundTiles",
    "CompiledProgram",
    "HoistedKernels",
    "Kernel",
    "Unsupported",
    "UnsupportedError",
    "compile_hoisted",
    "compile_jaxpr",
    "target_description",
    "unsupported",
    "with_lanes",
]
