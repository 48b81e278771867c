"""What sensors say, as the messages of ROS for it, by what they measure.

``SAID`` is the table: a measurement's type, and what makes its topics of a sensor that is carried.
What has no message of its own in ROS is not there: heights, anchors, concentrations, classes of
ground.

Covariances are those of the white noise that a sensor is set up with, as far as it has one; zeros
are unknown, and of what a message holds and the sensor does not measure the first one is -1.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np

from kittiwake.adapters.ros.messages.image import depth_topics, picture_topics
from kittiwake.adapters.ros.messages.plain import (
    UPRIGHT,
    Attitude,
    Placement,
    PlainMessage,
    diagonal,
    header,
    pose,
    turned,
    xyz,
    xyzw,
)
from kittiwake.adapters.ros.messages.range import range_topics, ranges_topics, turn_topics
from kittiwake.adapters.ros.messages.sensor_frames import MountedSensor
from kittiwake.adapters.ros.messages.topic import Columns, Row, Topic
from kittiwake.core.measurements import (
    DeckMeasurement,
    GnssMeasurement,
    InertialMeasurement,
    MagneticMeasurement,
    MarkerMeasurement,
    OrientationMeasurement,
    PressureMeasurement,
    RangeMeasurement,
    RangesMeasurement,
)
from kittiwake.core.noise import white_deviation
from kittiwake.core.units import DEGREE_RAD
from kittiwake.geometry.geodesy import LocalFrame, geodetic_from_ecef
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.head import HeadMeasurement
from kittiwake.sensors.barometer import Barometer, MicklischBarometer
from kittiwake.sensors.beacon import Beacon
from kittiwake.sensors.camera import ImageMeasurement
from kittiwake.sensors.gnss import Gnss
from kittiwake.sensors.imu import Imu
from kittiwake.sensors.imu_sets import MicklischImu, QrsimImu
from kittiwake.sensors.magnetometer import Magnetometer
from kittiwake.sensors.range_camera import DepthMeasurement
from kittiwake.sensors.ultrasonic_array import TurnsMeasurement
from kittiwake.world.satellites import SKY, SatelliteProcess
from kittiwake.world.world import World

IMU, FIX = "sensor_msgs/Imu", "sensor_msgs/NavSatFix"
PRESSURE, FIELD = "sensor_msgs/FluidPressure", "sensor_msgs/MagneticField"
TWIST, POSE = "geometry_msgs/TwistStamped", "geometry_msgs/PoseWithCovarianceStamped"
NO_FIX, FIX_FOUND, GPS = -1, 0, 1
APPROXIMATED, NOT_KNOWN = 1, 0
UNKNOWN = [0.0] * 9
NOT_MEASURED = [-1.0, *[0.0] * 8]
# the deviation of what is evenly spread within a bound, over the bound
EVENLY_SPREAD = 1.0 / sqrt(3.0)


@dataclass(frozen=True)
class Known:
    """What messages of a sensor need of what is around it.

    Attributes:
        world: in which it measures.
        earth: the world's axes on the Earth.
        orientation: the one of the same vehicle that measures it, if there is one.
    """

    world: World
    earth: LocalFrame
    orientation: MountedSensor | None = None


def sensor_topics(carried: MountedSensor, known: Known) -> list[Topic]:
    """All that is told of a sensor; nothing of one for which ROS has no message."""
    said = SAID.get(carried.sensor.measures)
    return [] if said is None else said(carried, known)


def orientation_among(sensors: Iterable[MountedSensor]) -> MountedSensor | None:
    """The first that measures the orientation."""
    return next((one for one in sensors if one.sensor.measures is OrientationMeasurement), None)


def _inertial(carried: MountedSensor, known: Known) -> list[Topic]:
    columns = carried.vectors("specific_force_body_mps2", "angular_velocity_body_radps")
    force, rate = (diagonal(*[d * d] * 3) for d in _inertial_deviations(carried))
    attitude, spread = _attitude(known.orientation)

    def message(row: Row, ns: int) -> PlainMessage:
        fx, fy, fz, wx, wy, wz = row.take(columns).tolist()
        return {
            "header": header(ns, carried.frame),
            "orientation": xyzw(attitude(row)),
            "orientation_covariance": spread,
            "angular_velocity": xyz((wx, wy, wz)),
            "angular_velocity_covariance": rate,
            "linear_acceleration": xyz((fx, fy, fz)),
            "linear_acceleration_covariance": force,
        }

    return [Topic(carried.name, IMU, message)]


def _inertial_deviations(carried: MountedSensor) -> tuple[float, float]:
    """Of the white noise of a sample: of the force in m/s^2 and of the rate in rad/s."""
    sensor, period_s = carried.sensor, carried.period_s
    if isinstance(sensor, Imu):
        densities = (
            sensor.accelerometer.noise_mps2_per_rthz,
            sensor.gyroscope.noise_radps_per_rthz,
        )
        force, rate = (float(white_deviation(density, period_s)) for density in densities)
        return force, rate
    if isinstance(sensor, QrsimImu):
        return float(sensor.force_deviation_mps2), float(sensor.rate_deviation_radps)
    if isinstance(sensor, MicklischImu):
        bounds = float(sensor.force_bound_mps2), float(sensor.rate_bound_radps)
        return EVENLY_SPREAD * bounds[0], EVENLY_SPREAD * bounds[1]
    return 0.0, 0.0


def _attitude(carried: MountedSensor | None) -> tuple[Callable[[Row], Attitude], list[float]]:
    """What a sensor says of the attitude, and its covariance."""
    if carried is None:
        return lambda _: UPRIGHT, NOT_MEASURED
    columns = carried.numbers("roll_rad", "pitch_rad", "yaw_rad")
    deviation = float(getattr(carried.sensor, "deviation_rad", 0.0))
    spread = diagonal(*[deviation * deviation] * 3)
    return lambda row: turned(*row.take(columns).tolist()), spread


def _orientation(carried: MountedSensor, _: Known) -> list[Topic]:
    attitude, spread = _attitude(carried)

    def message(row: Row, ns: int) -> PlainMessage:
        nothing = xyz((0.0, 0.0, 0.0))
        return {
            "header": header(ns, carried.frame),
            "orientation": xyzw(attitude(row)),
            "orientation_covariance": spread,
            "angular_velocity": nothing,
            "angular_velocity_covariance": NOT_MEASURED,
            "linear_acceleration": nothing,
            "linear_acceleration_covariance": NOT_MEASURED,
        }

    return [Topic(carried.name, IMU, message)]


def _gnss(carried: MountedSensor, known: Known) -> list[Topic]:
    place = carried.vectors("position_world_m")
    columns = np.concatenate([place, carried.numbers("hdop", "vdop", "valid")])
    velocity = carried.vectors("velocity_world_mps")
    range_variance = _range_variance(carried, known.world)

    def fix(row: Row, ns: int) -> PlainMessage:
        x, y, z, hdop, vdop, valid = row.take(columns).tolist()
        there = geodetic_from_ecef(known.earth.ecef_from_local(Vec3(x, y, z)))
        across = 0.5 * hdop * hdop * range_variance
        told = bool(valid) and range_variance > 0.0
        spread = diagonal(across, across, vdop * vdop * range_variance) if told else UNKNOWN
        return {
            "header": header(ns, carried.frame),
            "status": {"status": FIX_FOUND if valid else NO_FIX, "service": GPS},
            "latitude": _degrees(there.latitude_rad),
            "longitude": _degrees(there.longitude_rad),
            "altitude": there.altitude_m,
            "position_covariance": spread,
            "position_covariance_type": APPROXIMATED if told else NOT_KNOWN,
        }

    return [
        Topic(carried.name, FIX, fix),
        Topic(f"{carried.name}/velocity", TWIST, _velocity(carried.world_frame, velocity)),
    ]


def _range_variance(carried: MountedSensor, world: World) -> float:
    """Of the distance of a satellite: the error that all receivers share and the own noise."""
    sky = world.processes[SKY].component if SKY in world.processes else None
    shared = getattr(sky.errors, "deviation_m", 0.0) if isinstance(sky, SatelliteProcess) else 0.0
    own = carried.sensor.noise_m if isinstance(carried.sensor, Gnss) else 0.0
    return float(shared) ** 2 + float(own) ** 2


def _velocity(frame: str, columns: Columns) -> Callable[[Row, int], PlainMessage]:
    """``geometry_msgs/TwistStamped`` of a velocity alone."""

    def message(row: Row, ns: int) -> PlainMessage:
        twist = {"linear": xyz(row.take(columns).tolist()), "angular": xyz((0.0, 0.0, 0.0))}
        return {"header": header(ns, frame), "twist": twist}

    return message


def _pressure(carried: MountedSensor, _: Known) -> list[Topic]:
    place, sensor = carried.place("pressure_pa"), carried.sensor
    deviation = 0.0
    if isinstance(sensor, Barometer):
        deviation = float(sensor.noise_pa)
    elif isinstance(sensor, MicklischBarometer):
        deviation = EVENLY_SPREAD * float(sensor.bound_pa)

    def message(row: Row, ns: int) -> PlainMessage:
        pascal = float(row[place])
        variance = deviation * deviation
        return {"header": header(ns, carried.frame), "fluid_pressure": pascal, "variance": variance}

    return [Topic(carried.name, PRESSURE, message)]


def _magnetic(carried: MountedSensor, _: Known) -> list[Topic]:
    columns, sensor = carried.vectors("magnetic_field_body_t"), carried.sensor
    deviation = float(sensor.noise_t) if isinstance(sensor, Magnetometer) else 0.0
    spread = diagonal(*[deviation * deviation] * 3)

    def message(row: Row, ns: int) -> PlainMessage:
        return {
            "header": header(ns, carried.frame),
            "magnetic_field": xyz(row.take(columns).tolist()),
            "magnetic_field_covariance": spread,
        }

    return [Topic(carried.name, FIELD, message)]


def _marker(carried: MountedSensor, _: Known) -> list[Topic]:
    columns = np.append(carried.vectors("position_body_m"), carried.place("yaw_body_rad"))
    valid = carried.place("valid")

    def message(row: Row, ns: int) -> PlainMessage | None:
        if not row[valid] > 0.0:
            return None
        return _pose(ns, carried.body_frame, row.take(columns).tolist(), [0.0] * 36)

    return [Topic(carried.name, POSE, message)]


def _deck(carried: MountedSensor, _: Known) -> list[Topic]:
    columns = np.append(carried.vectors("position_world_m"), carried.place("yaw_rad"))
    spread, sensor = [0.0] * 36, carried.sensor
    if isinstance(sensor, Beacon):
        along = float(sensor.position_deviation_m) ** 2
        spread = diagonal(along, along, along, 0.0, 0.0, float(sensor.yaw_deviation_rad) ** 2)

    def message(row: Row, ns: int) -> PlainMessage:
        return _pose(ns, carried.world_frame, row.take(columns).tolist(), spread)

    velocity = _velocity(carried.world_frame, carried.vectors("velocity_world_mps"))
    return [Topic(carried.name, POSE, message), Topic(f"{carried.name}/velocity", TWIST, velocity)]


def _pose(ns: int, frame: str, numbers: list[float], spread: list[float]) -> PlainMessage:
    """``geometry_msgs/PoseWithCovarianceStamped`` of a place and a yaw."""
    x, y, z, yaw_rad = numbers
    where = Placement((x, y, z), turned(0.0, 0.0, yaw_rad))
    return {"header": header(ns, frame), "pose": {"pose": pose(where), "covariance": spread}}


def _degrees(angle_rad: float) -> float:
    return angle_rad / DEGREE_RAD


def _alone(
    topics: Callable[[MountedSensor], list[Topic]],
) -> Callable[[MountedSensor, Known], list[Topic]]:
    """Of what needs to know nothing of what is around it."""
    return lambda carried, _: topics(carried)


SAID: dict[Any, Callable[[MountedSensor, Known], list[Topic]]] = {
    InertialMeasurement: _inertial,
    OrientationMeasurement: _orientation,
    GnssMeasurement: _gnss,
    PressureMeasurement: _pressure,
    MagneticMeasurement: _magnetic,
    RangeMeasurement: _alone(range_topics),
    HeadMeasurement: _alone(range_topics),
    RangesMeasurement: _alone(ranges_topics),
    TurnsMeasurement: _alone(turn_topics),
    DepthMeasurement: _alone(depth_topics),
    ImageMeasurement: _alone(picture_topics),
    MarkerMeasurement: _marker,
    DeckMeasurement: _deck,
}
