"""Smooth random field from the seed.

    surface(x, y) = m + s sqrt(2 / n) sum cos(k_i x + l_i y + p_i)

n waves with normal wave numbers k, l of deviation 1 / L and uniform phases p. Over all seeds it is
nearly a Gaussian field of mean m and deviation s with the correlation exp(-r^2 / (2 L^2)) between
points r apart; over a large area each sample has that mean and deviation. Source: A. Rahimi and B.
Recht, "Random features for large-scale kernel machines", NIPS 2007. Neglected: n waves are not
quite normal in their tails, which end at s sqrt(2 n). The field does not repeat.
"""

import math
from typing import Annotated

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE, Bounds
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.pytree import Module, field
from kittiwake.world.field import AbstractField

WAVES = Bounds(1.0, 1000.0)


class Cosines(Module):
    """Terms of the sum: wave numbers to the east and north, and phases."""

    east_radpm: Float[Array, " waves"]
    north_radpm: Float[Array, " waves"]
    phases_rad: Float[Array, " waves"]


class SeededField(AbstractField[Cosines]):
    """Smooth random field with a mean, a deviation and a correlation length.

    Attributes:
        mean: mean value.
        deviation: standard deviation.
        length_scale_m: length scale of the covariance.
        waves: number of waves of which the field is a sum.
    """

    unit: str = field(static=True, default="")
    mean: Real = 0.0
    deviation: Annotated[Real, NOT_NEGATIVE] = 1.0
    length_scale_m: Annotated[Real, POSITIVE] = 30.0
    waves: Annotated[int, WAVES] = field(static=True, default=64)
    trend_per_m: Real = 0.0
    drift_world_mps: Vec3 = Vec3(0.0, 0.0, 0.0)

    @override
    def sample(self, key: PRNGKeyArray) -> Cosines:
        number_key, phase_key = jax.random.split(key)
        dtype = jnp.result_type(float)
        east, north = jax.random.normal(number_key, (2, self.waves), dtype) / self.length_scale_m
        phases = jax.random.uniform(phase_key, (self.waves,), dtype, -math.pi, math.pi)
        return Cosines(east, north, phases)

    @override
    def at_surface(self, sample: Cosines, east_m: Real, north_m: Real) -> Real:
        angles = sample.east_radpm * east_m + sample.north_radpm * north_m + sample.phases_rad
        amplitude = self.deviation * math.sqrt(2.0 / self.waves)
        return self.mean + amplitude * jnp.cos(angles).sum()

    @classmethod
    @override
    def examples(cls) -> dict[str, "SeededField"]:
        return {
            "drifting": cls(
                unit="K",
                mean=288.0,
                deviation=2.0,
                length_scale_m=9.0,
                waves=8,
                trend_per_m=0.3,
                drift_world_mps=Vec3(0.1, 0.2, 0.0),
            )
        }
