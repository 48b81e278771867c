"""Vector of three scalars.

Its leaves are scalars rather than one array of three: under ``vmap`` the compiler then sees one
contiguous array for each component and fuses a whole vehicle into a few loops, three to four times
faster than (N, 3) arrays on a CPU (measured in docs/decisions/scalar-leaves.md).
"""

from collections.abc import Iterator, Sequence
from typing import TypeAlias

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from numpy.typing import DTypeLike

from kittiwake.geometry.scalar import (
    Real,
    add,
    multiply,
    namespace,
    require_components,
    require_scalar,
    subtract,
)
from kittiwake.pytree import Module

Components: TypeAlias = Sequence[Real] | Float[Array | np.ndarray, "3"]
OF_ARRAYS = "Write Vec3.of(array), or for rows of x, y, z jax.vmap(kw.Vec3.of)(rows)"


class Vec3(Module):
    """Three components, in the frame that the name of the field or variable states.

    NumPy and unpacking take it as three numbers: ``np.asarray(v)``, ``x, y, z = v``, ``v[0]``.
    """

    # NumPy's numbers and arrays leave products and sums with a vector to the vector
    __array_priority__ = 1000.0

    x: Real
    y: Real
    z: Real

    def __post_init__(self) -> None:
        """Refuse arrays; those of a batch enter by ``vmap`` and trees, which check nothing."""
        for axis in "xyz":
            require_scalar(getattr(self, axis), f"Vec3.{axis}", OF_ARRAYS)

    @classmethod
    def zero(cls) -> "Vec3":
        """Return the vector (0, 0, 0)."""
        return cls(0.0, 0.0, 0.0)

    @classmethod
    def of(cls, components: "Vec3 | Components") -> "Vec3":
        """Return the vector with these three components; those of NumPy become Python's."""
        require_components(components, 3, "Vec3")
        x, y, z = components.tolist() if isinstance(components, np.ndarray) else components
        return cls(x, y, z)

    @classmethod
    def unchecked(cls, x: Real, y: Real, z: Real) -> "Vec3":
        """Return a vector whose components may also be those of a batch."""
        vector = object.__new__(cls)
        # frozen, but not yet seen by anyone
        object.__setattr__(vector, "x", x)
        object.__setattr__(vector, "y", y)
        object.__setattr__(vector, "z", z)
        return vector

    @property
    def array(self) -> Float[Array | np.ndarray, "3"]:
        """The components as one array, for linear algebra and display."""
        numerics = namespace(self.x, self.y, self.z)
        return numerics.stack([numerics.asarray(c) for c in (self.x, self.y, self.z)])

    def __array__(self, dtype: DTypeLike | None = None, *, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            message = "a vector has no array of its own; it can only be copied into one"
            raise ValueError(message)
        return np.asarray([self.x, self.y, self.z], dtype=dtype)

    def __len__(self) -> int:
        return 3

    def __iter__(self) -> Iterator[Real]:
        yield self.x
        yield self.y
        yield self.z

    def __getitem__(self, index: int) -> Real:
        return (self.x, self.y, self.z)[index]

    def __add__(self, other: "Vec3 | Components") -> "Vec3":
        b = other if isinstance(other, Vec3) else Vec3.of(other)
        return Vec3.unchecked(add(self.x, b.x), add(self.y, b.y), add(self.z, b.z))

    __radd__ = __add__

    def __sub__(self, other: "Vec3 | Components") -> "Vec3":
        b = other if isinstance(other, Vec3) else Vec3.of(other)
        return Vec3.unchecked(subtract(self.x, b.x), subtract(self.y, b.y), subtract(self.z, b.z))

    def __rsub__(self, other: Components) -> "Vec3":
        return Vec3.of(other) - self

    def __neg__(self) -> "Vec3":
        return Vec3.unchecked(-self.x, -self.y, -self.z)

    def __mul__(self, factor: Real) -> "Vec3":
        if isinstance(factor, np.ndarray) and factor.ndim > np.ndim(self.x):
            message = "a vector is multiplied by a number; see `scaled`, `dot` and `cross`"
            raise TypeError(message)
        return Vec3.unchecked(
            multiply(self.x, factor), multiply(self.y, factor), multiply(self.z, factor)
        )

    __rmul__ = __mul__

    def __truediv__(self, divisor: Real) -> "Vec3":
        return Vec3.unchecked(self.x / divisor, self.y / divisor, self.z / divisor)

    def scaled(self, factors: "Vec3") -> "Vec3":
        """Return the component-wise product with another vector."""
        return Vec3.unchecked(self.x * factors.x, self.y * factors.y, self.z * factors.z)

    def dot(self, other: "Vec3") -> Real:
        """Return the scalar product."""
        in_plane = add(multiply(self.x, other.x), multiply(self.y, other.y))
        return add(in_plane, multiply(self.z, other.z))

    def cross(self, other: "Vec3") -> "Vec3":
        """Return the vector product."""
        return Vec3.unchecked(
            subtract(multiply(self.y, other.z), multiply(self.z, other.y)),
            subtract(multiply(self.z, other.x), multiply(self.x, other.z)),
            subtract(multiply(self.x, other.y), multiply(self.y, other.x)),
        )

    def norm(self) -> Real:
        """Return the length; its gradient at the zero vector is zero instead of undefined."""
        square = self.dot(self)
        if namespace(square) is np:
            return float(np.sqrt(square))
        positive = square > 0.0
        return jnp.where(positive, jnp.sqrt(jnp.where(positive, square, 1.0)), 0.0)

    def clip_norm(self, longest: Real) -> "Vec3":
        """Return the vector with its length limited to ``longest``."""
        length = self.norm()
        too_long = length > longest
        if namespace(length, longest) is np:
            return self * (longest / length) if too_long else self
        return self * jnp.where(too_long, longest / jnp.where(too_long, length, 1.0), 1.0)
