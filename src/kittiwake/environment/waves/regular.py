"""Regular waves of one height, period and direction: a single component of ``world.water``."""

from math import pi
from typing import Annotated

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import POSITIVE
from kittiwake.environment.waves.dispersion import check_breaking, wave_number
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.trigonometry import sin_cos
from kittiwake.world.water import Waves
from kittiwake.world.waves import AbstractWaves


class RegularWaves(AbstractWaves):
    """Regular waves; ``height_m`` is twice their amplitude.

    ``towards_rad`` is their direction of travel, clockwise from north, as on charts; without a
    ``water_depth_m`` the water is deep. ``phase_rad`` is 0 for a crest at the world's zero at the
    start; random by default.

    Attributes:
        height_m: height from trough to crest.
        period_s: period.
        towards_rad: direction that the waves run to, clockwise from north.
        water_depth_m: depth of the water; deep by default.
        phase_rad: phase at the origin at the time 0.
    """

    height_m: Annotated[Real, POSITIVE]
    period_s: Annotated[Real, POSITIVE]
    towards_rad: Real = 0.0
    water_depth_m: Annotated[Real, POSITIVE] | None = None
    phase_rad: Real | None = None

    @override
    def check(self, gravity_mps2: float) -> None:
        height_m, period_s = float(self.height_m), float(self.period_s)
        check_breaking(height_m, period_s, gravity_mps2, self.water_depth_m, "height_m")

    @override
    def shortest_period_s(self, gravity_mps2: float) -> float:
        del gravity_mps2
        return float(self.period_s)

    @override
    def init(self, gravity_mps2: Real, key: PRNGKeyArray) -> Waves:
        frequency = 2.0 * pi / self.period_s
        number = wave_number(frequency, gravity_mps2, self.water_depth_m)
        east, north = sin_cos(self.towards_rad)
        phase = self.phase_rad
        if phase is None:
            phase = jax.random.uniform(key, (), jnp.result_type(float), -pi, pi)
        return Waves(
            _single(0.5 * self.height_m),
            _single(number * east),
            _single(number * north),
            _single(frequency),
            _single(phase),
            self.water_depth_m,
        )

    @classmethod
    @override
    def examples(cls) -> dict[str, "RegularWaves"]:
        return {"drawn": cls(0.4, 3.0, 0.5), "on shallow water": cls(0.4, 3.0, 0.5, 1.5, 0.2)}


def _single(number: Real) -> Float[Array, "1"]:
    return jnp.asarray(number, jnp.result_type(float))[None]
