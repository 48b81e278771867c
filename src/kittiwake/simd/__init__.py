"""Compiler of jaxprs to vector instructions of the processor, through LLVM.

It knows nothing of simulations: ``compile_jaxpr`` takes what ``jax.make_jaxpr`` returns.
"""

from kittiwake.simd.kernel import BoundTiles, Kernel, compile_jaxpr
from kittiwake.simd.lanes import with_lanes
from kittiwake.simd.support import Unsupported, UnsupportedError, unsupported

__all__ = [
    "BoundTiles",
    "Kernel",
    "Unsupported",
    "UnsupportedError",
    "compile_jaxpr",
    "unsupported",
    "with_lanes",
]
