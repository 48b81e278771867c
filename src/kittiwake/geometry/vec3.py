"""Vector of three scalars.

Its leaves are scalars rather than one array of three: under ``vmap`` the compiler then sees one
contiguous array for each component and fuses a whole vehicle into a few loops, three to four times
faster than (N, 3) arrays on a CPU (measured in docs/decisions/scalar-leaves.md).
"""

from collections.abc import Sequence

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from kittiwake.geometry.scalar import Real, add, multiply, namespace, subtract


class Vec3(eqx.Module):
    """Three components, in the frame that the name of the field or variable states."""

    x: Real
    y: Real
    z: Real

    @classmethod
    def zero(cls) -> "Vec3":
        """Return the vector (0, 0, 0)."""
        return cls(0.0, 0.0, 0.0)

    @classmethod
    def of(cls, components: Sequence[Real] | Float[Array | np.ndarray, "3"]) -> "Vec3":
        """Return the vector with these three components."""
        x, y, z = components
        return cls(x, y, z)

    @property
    def array(self) -> Float[Array | np.ndarray, "3"]:
        """The components as one array, for linear algebra and display."""
        numerics = namespace(self.x, self.y, self.z)
        return numerics.stack([numerics.asarray(c) for c in (self.x, self.y, self.z)])

    def __add__(self, other: "Vec3") -> "Vec3":
        return Vec3(add(self.x, other.x), add(self.y, other.y), add(self.z, other.z))

    def __sub__(self, other: "Vec3") -> "Vec3":
        return Vec3(subtract(self.x, other.x), subtract(self.y, other.y), subtract(self.z, other.z))

    def __neg__(self) -> "Vec3":
        return Vec3(-self.x, -self.y, -self.z)

    def __mul__(self, factor: Real) -> "Vec3":
        return Vec3(multiply(self.x, factor), multiply(self.y, factor), multiply(self.z, factor))

    __rmul__ = __mul__

    def __truediv__(self, divisor: Real) -> "Vec3":
        return Vec3(self.x / divisor, self.y / divisor, self.z / divisor)

    def scaled(self, factors: "Vec3") -> "Vec3":
        """Return the component-wise product with another vector."""
        return Vec3(self.x * factors.x, self.y * factors.y, self.z * factors.z)

    def dot(self, other: "Vec3") -> Real:
        """Return the scalar product."""
        in_plane = add(multiply(self.x, other.x), multiply(self.y, other.y))
        return add(in_plane, multiply(self.z, other.z))

    def cross(self, other: "Vec3") -> "Vec3":
        """Return the vector product."""
        return Vec3(
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
