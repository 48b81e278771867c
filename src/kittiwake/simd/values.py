"""Values of a program while it is translated: arrays that are known, in a register or in memory."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import llvmlite.ir as ir
import numpy as np


@dataclass(frozen=True)
class Known:
    """An array whose elements are known while the program is translated."""

    elements: np.ndarray

    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths of its axes."""
        return self.elements.shape

    @property
    def dtype(self) -> np.dtype:
        """Type of its elements."""
        return self.elements.dtype

    @property
    def size(self) -> int:
        """Number of its elements."""
        return self.elements.size


@dataclass(frozen=True)
class Register:
    """An array in one vector of LLVM, its last axis first; one element is no vector."""

    value: ir.Value
    shape: tuple[int, ...]
    dtype: np.dtype

    @property
    def size(self) -> int:
        """Number of its elements."""
        return prod(self.shape)


@dataclass(frozen=True)
class Stored:
    """An array in memory, in row-major order.

    Attributes:
        pointer: where it begins.
        shape: lengths of its axes.
        dtype: type of its elements.
        owner: the reserved memory in which it lies, if that is not ``pointer``.
    """

    pointer: ir.Value
    shape: tuple[int, ...]
    dtype: np.dtype
    owner: ir.Value | None = None

    @property
    def memory(self) -> ir.Value:
        """The memory in which it lies."""
        return self.pointer if self.owner is None else self.owner

    @property
    def size(self) -> int:
        """Number of its elements."""
        return prod(self.shape)


Value = Known | Register | Stored


def known_elements(values: Sequence[Value]) -> list[np.ndarray] | None:
    """Return the elements of all arrays; None unless all are known."""
    known = [value.elements for value in values if isinstance(value, Known)]
    return known if len(known) == len(values) else None
