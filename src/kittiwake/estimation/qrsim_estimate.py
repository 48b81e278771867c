"""QRSim's estimated state eX: unfiltered combination of sensor readings.

    position    x and y of the satellites, z of the altimeter
    attitude    roll, pitch and yaw of the orientation estimator
    velocity    x and y of the satellites, z of the altimeter, in the world; rotated to the body
    rates       the gyroscope;  specific force: the accelerometer

There is no filter and no prediction: between its samples a sensor's last reading is held, so that
at 5 Hz and a delay of one period the position is 0.2 to 0.4 s old and the velocity, which is the
difference of two fixes, 0.3 to 0.5 s. Without a fix the last one is held; before the first one the
estimate is x = y = 0.

Source: QRSim (R. De Nardi, 2013), ``eX`` and ``getEXasX``. Two changes: the velocity is rotated to
the body by the estimated attitude, where QRSim uses the true one; and the controllers get this
velocity, where QRSim's ``WaypointPID`` uses the speed alone and assumes that it points to the
waypoint.
"""

from collections.abc import Mapping

from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.core.kinematics import Kinematics
from kittiwake.core.measurements import (
    GnssMeasurement,
    HeightMeasurement,
    InertialMeasurement,
    Measurements,
    OrientationMeasurement,
)
from kittiwake.geometry.euler import EulerZYX, RotationZYX
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.estimator import AbstractEstimator, EstimatorInputs
from kittiwake.interfaces.required_sensors import RequiredSensor, require_sensors
from kittiwake.interfaces.sensor import AbstractSensor
from kittiwake.pytree import field

# by parameter: the measurement of the sensor that it names, and the sensor type of QRSim
REQUIRED: dict[str, tuple[type, str]] = {
    "gnss": (GnssMeasurement, "gnss"),
    "altimeter": (HeightMeasurement, "altimeter"),
    "orientation": (OrientationMeasurement, "orientation"),
    "imu": (InertialMeasurement, "imu-qrsim"),
}


class QRSimEstimate(AbstractEstimator[tuple[()]]):
    """Position, attitude and velocity from four sensors, which the parameters name.

    Attributes:
        gnss: name of the satellite receiver.
        altimeter: name of the altimeter.
        orientation: name of the orientation sensor.
        imu: name of the inertial unit.
    """

    gnss: str = field(static=True, default="gnss")
    altimeter: str = field(static=True, default="altimeter")
    orientation: str = field(static=True, default="orientation")
    imu: str = field(static=True, default="imu")

    @override
    def check(self, sensors: Mapping[str, AbstractSensor]) -> None:
        required = {
            parameter: RequiredSensor(getattr(self, parameter), measured, sensor_type)
            for parameter, (measured, sensor_type) in REQUIRED.items()
        }
        require_sensors(sensors, required)

    @override
    def step(
        self, state: tuple[()], inputs: EstimatorInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[tuple[()], Kinematics]:
        del dt_s, key
        measurements: Measurements = inputs.measurements
        fix: GnssMeasurement = measurements[self.gnss]
        height: HeightMeasurement = measurements[self.altimeter]
        angles: OrientationMeasurement = measurements[self.orientation]
        inertial: InertialMeasurement = measurements[self.imu]
        euler = EulerZYX(angles.roll_rad, angles.pitch_rad, angles.yaw_rad)
        position, motion = fix.position_world_m, fix.velocity_world_mps
        velocity = Vec3(motion.x, motion.y, height.height_rate_world_mps)
        return state, Kinematics(
            position_world_m=Vec3(position.x, position.y, height.height_world_m),
            q_world_from_body=Quaternion.from_euler(euler),
            euler_world_from_body=euler,
            velocity_world_mps=velocity,
            velocity_body_mps=RotationZYX.of(euler).body_from_reference(velocity),
            angular_velocity_body_radps=inertial.angular_velocity_body_radps,
            specific_force_body_mps2=inertial.specific_force_body_mps2,
        )
