"""QRSim's altimeter: height with Gauss-Markov noise, and its rate of change.

    n' = e^(-dt/tau) n + sigma sqrt(1 - e^(-2 dt/tau)) N(0, 1)
    h = z + n,    h_rate = (h - h_before) / dt

z: height of the center of mass in the world. Source: QRSim (R. De Nardi, 2013), AltimeterGM, whose
default multiplies the noise by e^(-300 dt): 3 mm that hardly last for a sample of 20 ms, so that
the rate is 0.21 m/s off. Its version of 2012 has a slow drift: a time constant of 3000 s with 0.03
m added per sample, 8.2 m in all.

Corrected: QRSim's first rate has the wrong sign; here it is the true rate. QRSim begins with noise
of a random age of up to 20 s; here the noise has its full deviation from the beginning.
"""

from typing import Annotated, ClassVar

import jax.numpy as jnp
from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE
from kittiwake.core.measurements import HeightMeasurement
from kittiwake.core.noise import GaussMarkov, normal
from kittiwake.geometry.scalar import Flag, Real
from kittiwake.interfaces.sensor import AbstractSensor, SensorInputs
from kittiwake.pytree import Module


class AltimeterState(Module):
    """Present noise, last reading, and a flag that is false before the first reading."""

    noise_m: Real
    height_world_m: Real
    initialized: Flag


class Altimeter(AbstractSensor[AltimeterState, HeightMeasurement]):
    """Height with first-order Gauss-Markov noise, and its rate from differences of samples.

    Attributes:
        deviation_m: sigma.
        time_constant_s: tau.
    """

    measures: ClassVar[type] = HeightMeasurement
    default_rate_hz: ClassVar[float | None] = 50.0

    deviation_m: Annotated[Real, NOT_NEGATIVE] = 0.003
    time_constant_s: Annotated[Real, POSITIVE] = 1.0 / 300.0

    @override
    def init(self, key: PRNGKeyArray) -> AltimeterState:
        noise = self._process.first(normal(key))
        return AltimeterState(noise, jnp.zeros(()), jnp.asarray(False))

    @override
    def step(
        self, state: AltimeterState, inputs: SensorInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[AltimeterState, HeightMeasurement]:
        true = self.ideal(inputs)
        noise = self._process.next(state.noise_m, normal(key), dt_s)
        height = true.height_world_m + noise
        difference = (height - state.height_world_m) / dt_s
        rate = jnp.where(state.initialized, difference, true.height_rate_world_mps)
        next_state = AltimeterState(noise, height, jnp.asarray(True))
        return next_state, HeightMeasurement(height, rate)

    @override
    def ideal(self, inputs: SensorInputs) -> HeightMeasurement:
        motion = inputs.truth
        return HeightMeasurement(motion.position_world_m.z, motion.velocity_world_mps.z)

    @property
    def _process(self) -> GaussMarkov:
        return GaussMarkov(self.deviation_m, self.time_constant_s)
