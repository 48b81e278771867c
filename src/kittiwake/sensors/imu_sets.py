"""Inertial measurement units of other simulators: truth plus white noise.

QRSim (R. De Nardi, 2013, pelican_config): normal noise in each sample of 50 Hz, for any rate. Its
version of 2012 has deviations of 0.0005 for both. Its accelerometer adds the noise to the
acceleration of u, v and w less gravity, which lacks the terms of rotating axes; here it is added to
the specific force.

Micklisch et al. (2021), section 3.6: a MinIMU-9 v3 at 100 Hz with a "noise level" of 0.011 as the
largest deviation, uniform here. The unit is not given and is taken as m/s^2 and rad/s. Its
gyroscope gives differences of angles (equations 30 to 32); here it gives the rates themselves.
"""

from typing import Annotated, ClassVar

import jax
from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import NOT_NEGATIVE
from kittiwake.core.measurements import InertialMeasurement
from kittiwake.core.noise import UNIFORM_DEVIATION, normals3, uniform3
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.sensor import AbstractSensor, SensorInputs


def truth(inputs: SensorInputs) -> InertialMeasurement:
    """Return the measurement of a unit without errors at the center of mass."""
    motion = inputs.truth
    return InertialMeasurement(motion.specific_force_body_mps2, motion.angular_velocity_body_radps)


def with_errors(true: InertialMeasurement, force: Vec3, rate: Vec3) -> InertialMeasurement:
    """Return a measurement with errors added."""
    return InertialMeasurement(
        true.specific_force_body_mps2 + force, true.angular_velocity_body_radps + rate
    )


class QrsimImu(AbstractSensor[tuple[()], InertialMeasurement]):
    """IMU of QRSim: normal noise in each sample.

    Attributes:
        force_deviation_mps2: standard deviation in each sample.
        rate_deviation_radps: standard deviation in each sample.
    """

    measures: ClassVar[type] = InertialMeasurement
    default_rate_hz: ClassVar[float | None] = 50.0

    force_deviation_mps2: Annotated[Real, NOT_NEGATIVE] = 0.0025
    rate_deviation_radps: Annotated[Real, NOT_NEGATIVE] = 0.0002

    @override
    def step(
        self, state: tuple[()], inputs: SensorInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[tuple[()], InertialMeasurement]:
        del dt_s
        force, rate = normals3(key, 2)
        return state, with_errors(
            self.ideal(inputs),
            force * self.force_deviation_mps2,
            rate * self.rate_deviation_radps,
        )

    @override
    def ideal(self, inputs: SensorInputs) -> InertialMeasurement:
        return truth(inputs)

    @override
    def noise_deviations(self, period_s: float) -> dict[str, Real]:
        del period_s
        return {
            "specific_force_body_mps2": self.force_deviation_mps2,
            "angular_velocity_body_radps": self.rate_deviation_radps,
        }


class MicklischImu(AbstractSensor[tuple[()], InertialMeasurement]):
    """IMU of Micklisch et al.: uniform noise within bounds in each sample.

    Attributes:
        force_bound_mps2: bound of the uniform noise.
        rate_bound_radps: bound of the uniform noise.
    """

    measures: ClassVar[type] = InertialMeasurement
    default_rate_hz: ClassVar[float | None] = 100.0

    force_bound_mps2: Annotated[Real, NOT_NEGATIVE] = 0.011
    rate_bound_radps: Annotated[Real, NOT_NEGATIVE] = 0.011

    @override
    def step(
        self, state: tuple[()], inputs: SensorInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[tuple[()], InertialMeasurement]:
        del dt_s
        force, rate = (uniform3(half) for half in jax.random.split(key))
        return state, with_errors(
            self.ideal(inputs), force * self.force_bound_mps2, rate * self.rate_bound_radps
        )

    @override
    def ideal(self, inputs: SensorInputs) -> InertialMeasurement:
        return truth(inputs)

    @override
    def noise_deviations(self, period_s: float) -> dict[str, Real]:
        del period_s
        return {
            "specific_force_body_mps2": UNIFORM_DEVIATION * self.force_bound_mps2,
            "angular_velocity_body_radps": UNIFORM_DEVIATION * self.rate_bound_radps,
        }
