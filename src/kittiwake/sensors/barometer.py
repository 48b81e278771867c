"""Barometers: the pressure of the air, and the altitude that the standard atmosphere gives it.

    y = p + b + n
    H = T0 / L (1 - (y / p0)^(R L / g0))             below 11 km, geopotential
    H = 11 km + R T11 / g0 ln(p11 / y)               above
    z = r0 H / (r0 - H)

p: static pressure; b: a Gauss-Markov drift of weather and sensor; n: noise of each sample. The
inverse of the U.S. Standard Atmosphere, 1976 (equations 18, 23, 33a, 33b), so that z is 0 at 101325
Pa and the true altitude in standard air; where the air is warmer, z is too low. It is cut at 1 Pa.

Neglected: what wind, airspeed and rotors do to the pressure at the sensor, its lag, temperature.
"""

from typing import Annotated, ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE
from kittiwake.core.component import AbstractSensor, SensorInputs
from kittiwake.core.measurements import PressureMeasurement
from kittiwake.core.noise import GaussMarkov, normal, uniform
from kittiwake.geometry.scalar import Real

EARTH_RADIUS_M = 6356766.0
GAS_CONSTANT_JPKGK = 8.31432 / 0.0289644
GRAVITY_MPS2 = 9.80665
LAPSE_RATE_KPM = 0.0065
SEA_LEVEL_PRESSURE_PA = 101325.0
SEA_LEVEL_TEMPERATURE_K = 288.15
TROPOPAUSE_M = 11000.0
TROPOPAUSE_TEMPERATURE_K = SEA_LEVEL_TEMPERATURE_K - LAPSE_RATE_KPM * TROPOPAUSE_M
EXPONENT = GAS_CONSTANT_JPKGK * LAPSE_RATE_KPM / GRAVITY_MPS2
TROPOPAUSE_PRESSURE_PA = SEA_LEVEL_PRESSURE_PA * (
    TROPOPAUSE_TEMPERATURE_K / SEA_LEVEL_TEMPERATURE_K
) ** (1.0 / EXPONENT)
LOWEST_PRESSURE_PA = 1.0


def standard_altitude(pressure_pa: Real) -> Real:
    """The altitude above mean sea level with this pressure in the standard atmosphere."""
    pressure = jnp.maximum(pressure_pa, LOWEST_PRESSURE_PA)
    # by the difference from sea level, since in float32 a power near one is off by millimetres
    logarithm = jnp.log1p((pressure - SEA_LEVEL_PRESSURE_PA) / SEA_LEVEL_PRESSURE_PA)
    lower = -jnp.expm1(EXPONENT * logarithm) * (SEA_LEVEL_TEMPERATURE_K / LAPSE_RATE_KPM)
    scale_height = GAS_CONSTANT_JPKGK * TROPOPAUSE_TEMPERATURE_K / GRAVITY_MPS2
    upper = TROPOPAUSE_M - scale_height * jnp.log(pressure / TROPOPAUSE_PRESSURE_PA)
    height = jnp.where(pressure > TROPOPAUSE_PRESSURE_PA, lower, upper)
    return EARTH_RADIUS_M * height / (EARTH_RADIUS_M - height)


def reading(pressure_pa: Real) -> PressureMeasurement:
    """A pressure with its altitude."""
    return PressureMeasurement(pressure_pa, standard_altitude(pressure_pa))


class Barometer(AbstractSensor):
    """Pressure with noise and a drift that forgets.

    The noise is that of TE's MS5611-01BA03 at its finest (data sheet: 0.012 mbar, 8 ms a sample).
    The drift is chosen: about half a metre in a minute, two and a half in all.
    """

    measures: ClassVar[type] = PressureMeasurement
    default_rate_hz: ClassVar[float | None] = 50.0

    noise_pa: Annotated[Real, NOT_NEGATIVE] = 1.2
    drift_pa: Annotated[Real, NOT_NEGATIVE] = 30.0
    drift_time_s: Annotated[Real, POSITIVE] = 3600.0

    def init(self, key: PRNGKeyArray) -> Real:
        """The drift, in the middle of a long run."""
        return self._drift.first(normal(key))

    def step(
        self, state: Real, inputs: SensorInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[Real, PressureMeasurement]:
        """The next drift and the reading."""
        white, innovation = jax.random.normal(key, (2,), jnp.result_type(float))
        drift = self._drift.next(state, innovation, dt_s)
        pressure = inputs.surroundings.air.pressure_pa
        return drift, reading(pressure + drift + white * self.noise_pa)

    def ideal(self, inputs: SensorInputs) -> PressureMeasurement:
        """The pressure of the air."""
        return reading(inputs.surroundings.air.pressure_pa)

    @property
    def _drift(self) -> GaussMarkov:
        return GaussMarkov(self.drift_pa, self.drift_time_s)


class MicklischBarometer(AbstractSensor):
    """The barometer of Micklisch et al. (2021): noise evenly spread within a bound.

    Section 3.6 of their paper: a BMP180 at 200 Hz with a largest deviation of 0.06, which is that
    sensor's noise in hectopascals (half a metre).
    """

    measures: ClassVar[type] = PressureMeasurement
    default_rate_hz: ClassVar[float | None] = 200.0

    bound_pa: Annotated[Real, NOT_NEGATIVE] = 6.0

    def step(
        self, state: tuple[()], inputs: SensorInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[tuple[()], PressureMeasurement]:
        """The reading."""
        del dt_s
        return state, reading(inputs.surroundings.air.pressure_pa + self.bound_pa * uniform(key))

    def ideal(self, inputs: SensorInputs) -> PressureMeasurement:
        """The pressure of the air."""
        return reading(inputs.surroundings.air.pressure_pa)
