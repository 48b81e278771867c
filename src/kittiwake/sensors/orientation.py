"""QRSim's orientation: output of an onboard attitude estimator.

The true ZYX angles, each with an independent Ornstein-Uhlenbeck error,

    n' = e^(-b dt) n + s sqrt((1 - e^(-2 b dt)) / (2 b)) N(0, 1)

with b = 0.01/s and s = 5e-4, i.e. a deviation of s / sqrt(2 b) = 3.5 mrad and a time constant of
100 s. Source: QRSim (R. De Nardi, 2013), OrientationEstimatorGM. QRSim begins with errors of a
random age of up to 20 s, of half this size; here they have their full deviation from the beginning.

The sums are not wrapped: an angle may lie a few milliradians beyond its range.
"""

from typing import Annotated, ClassVar

from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE
from kittiwake.core.measurements import OrientationMeasurement
from kittiwake.core.noise import GaussMarkov, normal3
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.sensor import AbstractSensor, SensorInputs


class Orientation(AbstractSensor[Vec3, OrientationMeasurement]):
    """Roll, pitch and yaw with first-order Gauss-Markov errors.

    Attributes:
        deviation_rad: standard deviation of each angle's error.
        time_constant_s: its time constant.
    """

    measures: ClassVar[type] = OrientationMeasurement
    default_rate_hz: ClassVar[float | None] = 50.0

    deviation_rad: Annotated[Real, NOT_NEGATIVE] = 0.0035355
    time_constant_s: Annotated[Real, POSITIVE] = 100.0

    @override
    def init(self, key: PRNGKeyArray) -> Vec3:
        return self._process.first(normal3(key))

    @override
    def step(
        self, state: Vec3, inputs: SensorInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[Vec3, OrientationMeasurement]:
        error = self._process.next(state, normal3(key), dt_s)
        true = self.ideal(inputs)
        return error, OrientationMeasurement(
            true.roll_rad + error.x, true.pitch_rad + error.y, true.yaw_rad + error.z
        )

    @override
    def ideal(self, inputs: SensorInputs) -> OrientationMeasurement:
        angles = inputs.truth.euler_world_from_body
        return OrientationMeasurement(angles.roll_rad, angles.pitch_rad, angles.yaw_rad)

    @property
    def _process(self) -> GaussMarkov:
        return GaussMarkov(self.deviation_rad, self.time_constant_s)

    @override
    def noise_deviations(self, period_s: float) -> dict[str, Real]:
        del period_s
        return dict.fromkeys(("roll_rad", "pitch_rad", "yaw_rad"), self.deviation_rad)
