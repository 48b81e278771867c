"""QRSim's estimated state eX: what each sensor says, put together as it is.

    position    x and y of the satellites, z of the altimeter
    attitude    roll, pitch and yaw of the orientation estimator
    velocity    x and y of the satellites, z of the altimeter, in the world; turned into the body
    turning     the gyroscope;  specific force: the accelerometer

Nothing is filtered and nothing is predicted: between its samples a sensor's last word holds, so
that at 5 Hz and a delay of one period the position is 0.2 to 0.4 s old and the velocity, which is
the difference of two fixes, 0.3 to 0.5 s. Without a fix the last one holds; before the first one
the vehicle believes itself at x = y = 0.

Source: QRSim (R. De Nardi, 2013), ``eX`` and ``getEXasX``. Two changes: the velocity is turned into
the body by the estimated attitude, where QRSim takes the true one; and the controllers see this
velocity, where QRSim's ``WaypointPID`` takes the speed alone and supposes that it points to the
waypoint.
"""

from collections.abc import Mapping
from typing import Any

import equinox as eqx
from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.core.kinematics import Kinematics
from kittiwake.core.measurements import (
    GnssMeasurement,
    HeightMeasurement,
    InertialMeasurement,
    OrientationMeasurement,
)
from kittiwake.geometry.euler import EulerZYX, RotationZYX
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.estimator import AbstractEstimator, EstimatorInputs
from kittiwake.interfaces.required_sensors import RequiredSensor, require_sensors
from kittiwake.interfaces.sensor import AbstractSensor

# by parameter: what the sensor that it names measures, and the type that QRSim takes for it
NEEDED: dict[str, tuple[type, str]] = {
    "gnss": (GnssMeasurement, "gnss"),
    "altimeter": (HeightMeasurement, "altimeter"),
    "orientation": (OrientationMeasurement, "orientation"),
    "imu": (InertialMeasurement, "imu-qrsim"),
}


class QRSimEstimate(AbstractEstimator):
    """Position, attitude and velocity out of four sensors, which the parameters name."""

    gnss: str = eqx.field(static=True, default="gnss")
    altimeter: str = eqx.field(static=True, default="altimeter")
    orientation: str = eqx.field(static=True, default="orientation")
    imu: str = eqx.field(static=True, default="imu")

    @override
    def check(self, sensors: Mapping[str, AbstractSensor]) -> None:
        needed = {
            parameter: RequiredSensor(getattr(self, parameter), measured, kind)
            for parameter, (measured, kind) in NEEDED.items()
        }
        require_sensors(sensors, needed)

    @override
    def step(
        self, state: tuple[()], inputs: EstimatorInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[tuple[()], Kinematics]:
        del dt_s, key
        said: dict[str, Any] = inputs.measurements
        fix: GnssMeasurement = said[self.gnss]
        height: HeightMeasurement = said[self.altimeter]
        angles: OrientationMeasurement = said[self.orientation]
        inertial: InertialMeasurement = said[self.imu]
        euler = EulerZYX(angles.roll_rad, angles.pitch_rad, angles.yaw_rad)
        place, motion = fix.position_world_m, fix.velocity_world_mps
        velocity = Vec3(motion.x, motion.y, height.height_rate_world_mps)
        return state, Kinematics(
            position_world_m=Vec3(place.x, place.y, height.height_world_m),
            q_world_from_body=Quaternion.from_euler(euler),
            euler_world_from_body=euler,
            velocity_world_mps=velocity,
            velocity_body_mps=RotationZYX.of(euler).body_from_reference(velocity),
            angular_velocity_body_radps=inertial.angular_velocity_body_radps,
            specific_force_body_mps2=inertial.specific_force_body_mps2,
        )
