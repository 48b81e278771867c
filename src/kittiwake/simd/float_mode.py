"""Floating-point mode of the processor: subnormal numbers count as zero, as in XLA's programs.

On x86 it is the flags of MXCSR to flush results and to take operands as zero. On other processors
subnormal numbers stay.
"""

from collections.abc import Generator
from contextlib import contextmanager

import llvmlite.ir as ir

from kittiwake.simd.code_generation import is_x86
from kittiwake.simd.data_types import BYTES
from kittiwake.simd.emitter import Emitter

FLUSH_TO_ZERO = 0x8000
DENORMALS_ARE_ZERO = 0x0040


@contextmanager
def flushing_subnormals(emit: Emitter) -> Generator[None]:
    """Set the mode around what is emitted inside, and restore the one before."""
    if not is_x86():
        yield
        return
    builder, word = emit.builder, ir.IntType(32)
    before, inside = builder.alloca(word), builder.alloca(word)
    places = [builder.bitcast(place, BYTES) for place in (before, inside)]
    emit.call("llvm.x86.sse.stmxcsr", ir.VoidType(), places[0])
    flags = ir.Constant(word, FLUSH_TO_ZERO | DENORMALS_ARE_ZERO)
    builder.store(builder.or_(builder.load(before), flags), inside)
    emit.call("llvm.x86.sse.ldmxcsr", ir.VoidType(), places[1])
    yield
    emit.call("llvm.x86.sse.ldmxcsr", ir.VoidType(), places[0])
