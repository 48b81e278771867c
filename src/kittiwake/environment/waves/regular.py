"""Waves of one height, one period and one direction: a single component of ``core.water``."""

from math import pi
from typing import Annotated

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import POSITIVE
from kittiwake.environment.waves.dispersion import refuse_breaking, wave_number
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.trigonometry import sin_cos
from kittiwake.world.water import Waves
from kittiwake.world.waves import AbstractWaves


class RegularWaves(AbstractWaves):
    """Waves that are all alike; ``height_m`` is twice their amplitude.

    ``towards_rad`` is where they run to, clockwise from north, as on charts; without a
    ``water_depth_m`` the water is deep. ``phase_rad`` is 0 for a crest over the world's zero at the
    start; without it, it is drawn.
    """

    height_m: Annotated[Real, POSITIVE]
    period_s: Annotated[Real, POSITIVE]
    towards_rad: Real = 0.0
    water_depth_m: Annotated[Real, POSITIVE] | None = None
    phase_rad: Real | None = None

    @override
    def check(self, gravity_mps2: float) -> None:
        height_m, period_s = float(self.height_m), float(self.period_s)
        refuse_breaking(height_m, period_s, gravity_mps2, self.water_depth_m, "height_m")

    @override
    def shortest_period_s(self, gravity_mps2: float) -> float:
        del gravity_mps2
        return float(self.period_s)

    @override
    def begin(self, gravity_mps2: Real, key: PRNGKeyArray) -> Waves:
        frequency = 2.0 * pi / self.period_s
        number = wave_number(frequency, gravity_mps2, self.water_depth_m)
        east, north = sin_cos(self.towards_rad)
        phase = self.phase_rad
        if phase is None:
            phase = jax.random.uniform(key, (), jnp.result_type(float), -pi, pi)
        return Waves(
            _alone(0.5 * self.height_m),
            _alone(number * east),
            _alone(number * north),
            _alone(frequency),
            _alone(phase),
            self.water_depth_m,
        )


def _alone(number: Real) -> Float[Array, "1"]:
    return jnp.asarray(number, jnp.result_type(float))[None]
