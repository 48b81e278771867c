"""Inertial measurement unit: accelerometer and gyroscope at one point of the body.

    f = q^-1 (f_c + w x (w x r)),    w_s = q^-1 w

f_c: specific force of the center of mass, w: angular velocity, both in body axes; r: the unit's
position; q: body from unit axes. ``triad`` adds errors along the unit's axes; the readings are then
rotated back to body axes by the same q, as autopilots do, so that an unknown mounting error is a
misalignment.

The defaults are of the class of InvenSense's MPU-6000. Noise densities and ranges are from its
product specification PS-MPU-6000A-00, revision 3.4 (2013), sections 6.1 and 6.2. Residual bias,
scale error and misalignment after a calibration, drift and random walk are chosen: the
specification gives only tolerances before calibration (20 deg/s, 50 to 80 mg, 3 %, 2 % across
axes).

Neglected: dw/dt x r, the tangential acceleration of a unit away from the center of mass, which is
1 m/s^2 for 1 cm at 100 rad/s^2; coning and sculling within a sample.
"""

from typing import Annotated, ClassVar

import jax
from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE
from kittiwake.core.measurements import InertialMeasurement
from kittiwake.core.noise import GaussMarkov, white_deviation
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.sensor import AbstractSensor, SensorInputs
from kittiwake.pytree import Module
from kittiwake.sensors.mount import Mount
from kittiwake.sensors.triad import Triad, TriadState


class Accelerometer(Module):
    """Error parameters of three accelerometers (see ``triad``)."""

    noise_mps2_per_rthz: Annotated[Real, NOT_NEGATIVE] = 0.0039227
    turn_on_mps2: Annotated[Real, NOT_NEGATIVE] = 0.05
    drift_mps2: Annotated[Real, NOT_NEGATIVE] = 1e-3
    drift_time_s: Annotated[Real, POSITIVE] = 30.0
    walk_mps2_per_rts: Annotated[Real, NOT_NEGATIVE] = 2e-5
    scale_error: Annotated[Real, NOT_NEGATIVE] = 0.003
    misalignment_rad: Annotated[Real, NOT_NEGATIVE] = 0.005
    range_mps2: Annotated[Real, POSITIVE] = 156.9064

    @property
    def triad(self) -> Triad:
        """Error model without units in its names."""
        return Triad(
            noise_per_rthz=self.noise_mps2_per_rthz,
            turn_on=self.turn_on_mps2,
            drift=GaussMarkov(self.drift_mps2, self.drift_time_s),
            walk_per_rts=self.walk_mps2_per_rts,
            scale_error=self.scale_error,
            misalignment_rad=self.misalignment_rad,
            limit=self.range_mps2,
        )


class Gyroscope(Module):
    """Error parameters of three gyroscopes (see ``triad``)."""

    noise_radps_per_rthz: Annotated[Real, NOT_NEGATIVE] = 8.7266e-5
    turn_on_radps: Annotated[Real, NOT_NEGATIVE] = 0.002
    drift_radps: Annotated[Real, NOT_NEGATIVE] = 5e-5
    drift_time_s: Annotated[Real, POSITIVE] = 30.0
    walk_radps_per_rts: Annotated[Real, NOT_NEGATIVE] = 1e-6
    scale_error: Annotated[Real, NOT_NEGATIVE] = 0.003
    misalignment_rad: Annotated[Real, NOT_NEGATIVE] = 0.005
    range_radps: Annotated[Real, POSITIVE] = 34.906585

    @property
    def triad(self) -> Triad:
        """Error model without units in its names."""
        return Triad(
            noise_per_rthz=self.noise_radps_per_rthz,
            turn_on=self.turn_on_radps,
            drift=GaussMarkov(self.drift_radps, self.drift_time_s),
            walk_per_rts=self.walk_radps_per_rts,
            scale_error=self.scale_error,
            misalignment_rad=self.misalignment_rad,
            limit=self.range_radps,
        )


class ImuState(Module):
    """States of both triads."""

    accelerometer: TriadState
    gyroscope: TriadState


class Imu(AbstractSensor[ImuState, InertialMeasurement]):
    """IMU with the errors of micromechanical instruments.

    Attributes:
        accelerometer: errors of the accelerometer.
        gyroscope: errors of the gyroscope.
        mount: position and rotation of the unit.
    """

    measures: ClassVar[type] = InertialMeasurement

    accelerometer: Accelerometer = Accelerometer()
    gyroscope: Gyroscope = Gyroscope()
    mount: Mount = Mount()

    @override
    def init(self, key: PRNGKeyArray) -> ImuState:
        first, second = jax.random.split(key)
        return ImuState(
            self.accelerometer.triad.init(first),
            self.gyroscope.triad.init(second),
        )

    @override
    def step(
        self, state: ImuState, inputs: SensorInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[ImuState, InertialMeasurement]:
        first, second = jax.random.split(key)
        true = self.ideal(inputs)
        q_body_from_sensor = self.mount.q_body_from_sensor
        q_sensor_from_body = q_body_from_sensor.inverse()
        accelerometer, force = self.accelerometer.triad.step(
            state.accelerometer,
            q_sensor_from_body.rotate(true.specific_force_body_mps2),
            dt_s,
            first,
        )
        gyroscope, rate = self.gyroscope.triad.step(
            state.gyroscope,
            q_sensor_from_body.rotate(true.angular_velocity_body_radps),
            dt_s,
            second,
        )
        reading = InertialMeasurement(
            q_body_from_sensor.rotate(force), q_body_from_sensor.rotate(rate)
        )
        return ImuState(accelerometer, gyroscope), reading

    @override
    def ideal(self, inputs: SensorInputs) -> InertialMeasurement:
        rate = inputs.truth.angular_velocity_body_radps
        centripetal = rate.cross(rate.cross(self.mount.position_body_m))
        return InertialMeasurement(inputs.truth.specific_force_body_mps2 + centripetal, rate)

    @override
    def noise_deviations(self, period_s: float) -> dict[str, Real]:
        accelerometer, gyroscope = self.accelerometer, self.gyroscope
        return {
            "specific_force_body_mps2": white_deviation(
                accelerometer.noise_mps2_per_rthz, period_s
            ),
            "angular_velocity_body_radps": white_deviation(
                gyroscope.noise_radps_per_rthz, period_s
            ),
        }

    @classmethod
    @override
    def examples(cls) -> dict[str, "Imu"]:
        return {
            "at the center": cls(),
            "mounted elsewhere": cls(mount=Mount(Vec3(0.02, -0.01, 0.03), 0.1, -0.2, 1.5)),
        }
