"""A vector of three scalars.

Its leaves are scalars rather than one array of three: under ``vmap`` the compiler then sees one
contiguous array for each component and fuses a whole vehicle into a few loops, three to four times
faster than (N, 3) arrays on a CPU (ARCHITECTURE.md has the measurement).
"""

from collections.abc import Sequence

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from kittiwake.geometry.scalar import Real, difference, namespace, product, total


class Vec3(eqx.Module):
    """Three components in the axes that the holder's name states."""

    x: Real
    y: Real
    z: Real

    @classmethod
    def zero(cls) -> "Vec3":
        """The vector (0, 0, 0)."""
        return cls(0.0, 0.0, 0.0)

    @classmethod
    def of(cls, components: Sequence[Real] | Float[Array | np.ndarray, "3"]) -> "Vec3":
        """The vector with these three components."""
        x, y, z = components
        return cls(x, y, z)

    @property
    def array(self) -> Float[Array | np.ndarray, "3"]:
        """The components as one array, for linear algebra and display."""
        numerics = namespace(self.x, self.y, self.z)
        return numerics.stack([numerics.asarray(c) for c in (self.x, self.y, self.z)])

    def __add__(self, other: "Vec3") -> "Vec3":
        return Vec3(total(self.x, other.x), total(self.y, other.y), total(self.z, other.z))

    def __sub__(self, other: "Vec3") -> "Vec3":
        return Vec3(
            difference(self.x, other.x), difference(self.y, other.y), difference(self.z, other.z)
        )

    def __neg__(self) -> "Vec3":
        return Vec3(-self.x, -self.y, -self.z)

    def __mul__(self, factor: Real) -> "Vec3":
        return Vec3(product(self.x, factor), product(self.y, factor), product(self.z, factor))

    __rmul__ = __mul__

    def __truediv__(self, divisor: Real) -> "Vec3":
        return Vec3(self.x / divisor, self.y / divisor, self.z / divisor)

    def scaled(self, factors: "Vec3") -> "Vec3":
        """Each component by its own factor."""
        return Vec3(self.x * factors.x, self.y * factors.y, self.z * factors.z)

    def dot(self, other: "Vec3") -> Real:
        """Scalar product."""
        in_plane = total(product(self.x, other.x), product(self.y, other.y))
        return total(in_plane, product(self.z, other.z))

    def cross(self, other: "Vec3") -> "Vec3":
        """Vector product, right-handed."""
        return Vec3(
            difference(product(self.y, other.z), product(self.z, other.y)),
            difference(product(self.z, other.x), product(self.x, other.z)),
            difference(product(self.x, other.y), product(self.y, other.x)),
        )

    def norm(self) -> Real:
        """Length; its gradient at the zero vector is zero instead of undefined."""
        square = self.dot(self)
        if namespace(square) is np:
            return float(np.sqrt(square))
        positive = square > 0.0
        return jnp.where(positive, jnp.sqrt(jnp.where(positive, square, 1.0)), 0.0)

    def shortened(self, longest: Real) -> "Vec3":
        """The vector of the same direction that is at most so long."""
        length = self.norm()
        too_long = length > longest
        if namespace(length, longest) is np:
            return self * (longest / length) if too_long else self
        return self * jnp.where(too_long, longest / jnp.where(too_long, length, 1.0), 1.0)
