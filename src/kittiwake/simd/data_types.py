"""Types of LLVM for the dtypes of arrays."""

from collections.abc import Iterable
from typing import Any

import llvmlite.ir as ir
import numpy as np

INDEX = ir.IntType(64)
BYTE = ir.IntType(8)
BYTES = BYTE.as_pointer()


def scalar_type(dtype: np.dtype) -> ir.Type:
    """Return the type of an element in a register; flags have one bit."""
    if dtype == np.bool_:
        return ir.IntType(1)
    if dtype.kind in "iu":
        return ir.IntType(8 * dtype.itemsize)
    return {np.dtype(np.float32): ir.FloatType(), np.dtype(np.float64): ir.DoubleType()}[dtype]


def stored_type(dtype: np.dtype) -> ir.Type:
    """Return the type of an element in memory; flags have a byte, as in NumPy."""
    return BYTE if dtype == np.bool_ else scalar_type(dtype)


def wide(element: ir.Type, width: int) -> ir.Type:
    """Return the type of so many elements; one element is no vector."""
    return element if width == 1 else ir.VectorType(element, width)


def width_of(value: ir.Value) -> int:
    """Return the number of elements in a register."""
    return value.type.count if isinstance(value.type, ir.VectorType) else 1


def bits_dtype(dtype: np.dtype) -> np.dtype:
    """Return the unsigned integer of the same size."""
    return np.dtype(f"u{dtype.itemsize}")


def elements_per_register(dtypes: Iterable[Any]) -> int:
    """Return the number of elements of a program's precision in a register of 64 bytes."""
    return 8 if any(dtype == np.float64 for dtype in dtypes) else 16
