"""Barometers: air pressure, and the altitude of that pressure in the standard atmosphere.

    y = p + b + n

p: static pressure; b: a Gauss-Markov drift of weather and sensor; n: white noise of the samples.
The altitude reported with y is ``core.standard_altitude``'s, too low where the air is warmer.

Neglected: effects of wind, airspeed and rotors on the pressure at the sensor, lag, temperature.
"""

from typing import Annotated, ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE
from kittiwake.core.measurements import PressureMeasurement
from kittiwake.core.noise import UNIFORM_DEVIATION, GaussMarkov, normal, uniform
from kittiwake.geometry.scalar import Real
from kittiwake.interfaces.sensor import AbstractSensor, SensorInputs


class Barometer(AbstractSensor[Real, PressureMeasurement]):
    """Pressure with white noise and a first-order Gauss-Markov drift.

    The noise is that of TE's MS5611-01BA03 at its highest resolution (data sheet: 0.012 mbar, 8 ms
    a sample). The drift is chosen: about half a meter in a minute, two and a half in all.

    Attributes:
        noise_pa: standard deviation of n.
        drift_pa: standard deviation of b.
        drift_time_s: time constant of b.
    """

    measures: ClassVar[type] = PressureMeasurement
    default_rate_hz: ClassVar[float | None] = 50.0

    noise_pa: Annotated[Real, NOT_NEGATIVE] = 1.2
    drift_pa: Annotated[Real, NOT_NEGATIVE] = 30.0
    drift_time_s: Annotated[Real, POSITIVE] = 3600.0

    @override
    def init(self, key: PRNGKeyArray) -> Real:
        return self._drift.first(normal(key))

    @override
    def step(
        self, state: Real, inputs: SensorInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[Real, PressureMeasurement]:
        white, innovation = jax.random.normal(key, (2,), jnp.result_type(float))
        drift = self._drift.next(state, innovation, dt_s)
        pressure = inputs.surroundings.air.pressure_pa
        return drift, PressureMeasurement.of(pressure + drift + white * self.noise_pa)

    @override
    def ideal(self, inputs: SensorInputs) -> PressureMeasurement:
        return PressureMeasurement.of(inputs.surroundings.air.pressure_pa)

    @property
    def _drift(self) -> GaussMarkov:
        return GaussMarkov(self.drift_pa, self.drift_time_s)

    @override
    def noise_deviations(self, period_s: float) -> dict[str, Real]:
        del period_s
        return {"pressure_pa": self.noise_pa}


class MicklischBarometer(AbstractSensor[tuple[()], PressureMeasurement]):
    """Barometer of Micklisch et al. (2021): uniform noise within a bound.

    Section 3.6 of their paper: a BMP180 at 200 Hz with a largest deviation of 0.06, which is that
    sensor's noise in hectopascals (half a meter).

    Attributes:
        bound_pa: bound of the uniform noise.
    """

    measures: ClassVar[type] = PressureMeasurement
    default_rate_hz: ClassVar[float | None] = 200.0

    bound_pa: Annotated[Real, NOT_NEGATIVE] = 6.0

    @override
    def step(
        self, state: tuple[()], inputs: SensorInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[tuple[()], PressureMeasurement]:
        del dt_s
        return state, PressureMeasurement.of(
            inputs.surroundings.air.pressure_pa + self.bound_pa * uniform(key)
        )

    @override
    def ideal(self, inputs: SensorInputs) -> PressureMeasurement:
        return PressureMeasurement.of(inputs.surroundings.air.pressure_pa)

    @override
    def noise_deviations(self, period_s: float) -> dict[str, Real]:
        del period_s
        return {"pressure_pa": UNIFORM_DEVIATION * self.bound_pa}
