"""Compiler of jaxprs to vector instructions of the processor, through LLVM.

It knows nothing of simulations: ``compile_jaxpr`` takes what ``jax.make_jaxpr`` returns.
"""

from kittiwake.simd.code_generation import target_description
from kittiwake.simd.kernel import BoundTiles, CompiledProgram, Kernel, compile_jaxpr
from kittiwake.simd.lanes import with_lanes
from kittiwake.simd.support import Unsupported, UnsupportedError, unsupported

__all__ = [
    "BoundTiles",
    "CompiledProgram",
    "Kernel",
    "Unsupported",
    "UnsupportedError",
    "compile_jaxpr",
    "target_description",
    "unsupported",
    "with_lanes",
]
