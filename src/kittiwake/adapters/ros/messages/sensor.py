"""Messages of sensors, by the type of their measurements.

``TOPIC_FACTORIES`` maps a measurement type, or a base class of it, to a function that returns the
topics of a mounted sensor. Measurements without a standard message, such as those of altimeters,
are published as arrays of their numbers.

Covariances are those of a sensor's configured white noise, if it has any. Zeros mean unknown; -1 as
the first element means that the sensor does not measure the quantity.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from kittiwake.adapters.ros.messages.image import depth_topics, image_topics
from kittiwake.adapters.ros.messages.plain import (
    IDENTITY,
    Attitude,
    Placement,
    PlainMessage,
    diagonal,
    header,
    pose,
    quaternion_from_euler,
    xyz,
    xyzw,
)
from kittiwake.adapters.ros.messages.range import (
    multi_range_topics,
    single_range_topics,
)
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
from kittiwake.core.units import DEGREE_RAD
from kittiwake.geometry.geodesy import LocalFrame, geodetic_from_ecef
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.head import HeadMeasurement
from kittiwake.sensors.camera import ImageMeasurement
from kittiwake.sensors.range_camera import DepthMeasurement
from kittiwake.sensors.ultrasonic_array import TurnsMeasurement
from kittiwake.world.satellites import SKY, SatelliteProcess
from kittiwake.world.world import WorldModel

IMU, FIX = "sensor_msgs/Imu", "sensor_msgs/NavSatFix"
PRESSURE, FIELD = "sensor_msgs/FluidPressure", "sensor_msgs/MagneticField"
TWIST, POSE = "geometry_msgs/TwistStamped", "geometry_msgs/PoseWithCovarianceStamped"
NUMBERS = "std_msgs/Float64MultiArray"
NO_FIX, FIX_FOUND, GPS = -1, 0, 1
APPROXIMATED, NOT_KNOWN = 1, 0
UNKNOWN = [0.0] * 9
NOT_MEASURED = [-1.0, *[0.0] * 8]


@dataclass(frozen=True)
class SensorContext:
    """Surroundings of a sensor that its messages depend on.

    Attributes:
        world: the world it measures in.
        earth: the world's local frame on the Earth.
        orientation: the orientation sensor of the same vehicle, if it has one.
    """

    world: WorldModel
    earth: LocalFrame
    orientation: MountedSensor | None = None


def sensor_topics(mounted: MountedSensor, context: SensorContext) -> list[Topic]:
    """Return the topics of a sensor."""
    bases = mounted.sensor.measures.__mro__
    factory = next((TOPIC_FACTORIES[one] for one in bases if one in TOPIC_FACTORIES), _numbers)
    return factory(mounted, context)


def _numbers(mounted: MountedSensor, _: SensorContext) -> list[Topic]:
    """Return the topic of the numbers of a measurement without a message; none of an image."""
    if mounted.sensor.image_size:
        return []
    start = len(mounted.prefix)
    names = [name[start:] for name in mounted.column_index if name.startswith(mounted.prefix)]
    names = [name for name in names if name != "fresh"]
    columns, size = mounted.columns(*names), len(names)
    layout = {"dim": [{"label": ",".join(names), "size": size, "stride": size}]}

    def message(row: Row, ns: int) -> PlainMessage:
        del ns
        return {"layout": layout, "data": row.take(columns).tolist()}

    return [Topic(mounted.name, NUMBERS, message)]


def orientation_sensor(sensors: Iterable[MountedSensor]) -> MountedSensor | None:
    """Return the first sensor that measures the orientation."""
    return next((one for one in sensors if one.sensor.measures is OrientationMeasurement), None)


def _inertial(mounted: MountedSensor, context: SensorContext) -> list[Topic]:
    columns = mounted.vector_columns("specific_force_body_mps2", "angular_velocity_body_radps")
    force = _variances(mounted, "specific_force_body_mps2")
    rate = _variances(mounted, "angular_velocity_body_radps")
    attitude, covariance = _attitude(context.orientation)

    def message(row: Row, ns: int) -> PlainMessage:
        fx, fy, fz, wx, wy, wz = row.take(columns).tolist()
        return {
            "header": header(ns, mounted.frame),
            "orientation": xyzw(attitude(row)),
            "orientation_covariance": covariance,
            "angular_velocity": xyz((wx, wy, wz)),
            "angular_velocity_covariance": rate,
            "linear_acceleration": xyz((fx, fy, fz)),
            "linear_acceleration_covariance": force,
        }

    return [Topic(mounted.name, IMU, message)]


def _variances(mounted: MountedSensor, field: str) -> list[float]:
    """Return the covariance matrix of a field of three axes."""
    return diagonal(*[_variance(mounted, field)] * 3)


def _variance(mounted: MountedSensor, field: str) -> float:
    """Return the variance of a field's noise; 0 if it is unknown."""
    deviation = float(mounted.sensor.noise_deviations(mounted.period_s).get(field, 0.0))
    return deviation * deviation


def _attitude(mounted: MountedSensor | None) -> tuple[Callable[[Row], Attitude], list[float]]:
    """Return the function that reads the measured attitude, and its covariance."""
    if mounted is None:
        return lambda _: IDENTITY, NOT_MEASURED
    columns = mounted.columns("roll_rad", "pitch_rad", "yaw_rad")
    covariance = _variances(mounted, "roll_rad")
    return lambda row: quaternion_from_euler(*row.take(columns).tolist()), covariance


def _orientation(mounted: MountedSensor, _: SensorContext) -> list[Topic]:
    attitude, covariance = _attitude(mounted)

    def message(row: Row, ns: int) -> PlainMessage:
        zero = xyz((0.0, 0.0, 0.0))
        return {
            "header": header(ns, mounted.frame),
            "orientation": xyzw(attitude(row)),
            "orientation_covariance": covariance,
            "angular_velocity": zero,
            "angular_velocity_covariance": NOT_MEASURED,
            "linear_acceleration": zero,
            "linear_acceleration_covariance": NOT_MEASURED,
        }

    return [Topic(mounted.name, IMU, message)]


def _gnss(mounted: MountedSensor, context: SensorContext) -> list[Topic]:
    position = mounted.vector_columns("position_world_m")
    columns = np.concatenate([position, mounted.columns("hdop", "vdop", "valid")])
    velocity = mounted.vector_columns("velocity_world_mps")
    range_variance = _range_variance(mounted, context.world)

    def fix(row: Row, ns: int) -> PlainMessage:
        x, y, z, hdop, vdop, valid = row.take(columns).tolist()
        geodetic = geodetic_from_ecef(context.earth.ecef_from_local(Vec3(x, y, z)))
        horizontal = 0.5 * hdop * hdop * range_variance
        known = bool(valid) and range_variance > 0.0
        vertical = vdop * vdop * range_variance
        covariance = diagonal(horizontal, horizontal, vertical) if known else UNKNOWN
        return {
            "header": header(ns, mounted.frame),
            "status": {"status": FIX_FOUND if valid else NO_FIX, "service": GPS},
            "latitude": _degrees(geodetic.latitude_rad),
            "longitude": _degrees(geodetic.longitude_rad),
            "altitude": geodetic.altitude_m,
            "position_covariance": covariance,
            "position_covariance_type": APPROXIMATED if known else NOT_KNOWN,
        }

    return [
        Topic(mounted.name, FIX, fix),
        Topic(f"{mounted.name}/velocity", TWIST, _velocity(mounted.world_frame, velocity)),
    ]


def _range_variance(mounted: MountedSensor, world: WorldModel) -> float:
    """Return the variance of a pseudorange: the error common to all receivers and own noise."""
    sky = world.processes[SKY].component if SKY in world.processes else None
    shared = getattr(sky.errors, "deviation_m", 0.0) if isinstance(sky, SatelliteProcess) else 0.0
    return float(shared) ** 2 + _variance(mounted, "position_world_m")


def _velocity(frame: str, columns: Columns) -> Callable[[Row, int], PlainMessage]:
    """Return a function that makes a ``geometry_msgs/TwistStamped`` of a linear velocity."""

    def message(row: Row, ns: int) -> PlainMessage:
        twist = {"linear": xyz(row.take(columns).tolist()), "angular": xyz((0.0, 0.0, 0.0))}
        return {"header": header(ns, frame), "twist": twist}

    return message


def _pressure(mounted: MountedSensor, _: SensorContext) -> list[Topic]:
    reading, variance = mounted.column("pressure_pa"), _variance(mounted, "pressure_pa")

    def message(row: Row, ns: int) -> PlainMessage:
        pascal = float(row[reading])
        return {"header": header(ns, mounted.frame), "fluid_pressure": pascal, "variance": variance}

    return [Topic(mounted.name, PRESSURE, message)]


def _magnetic(mounted: MountedSensor, _: SensorContext) -> list[Topic]:
    columns = mounted.vector_columns("magnetic_field_body_t")
    covariance = _variances(mounted, "magnetic_field_body_t")

    def message(row: Row, ns: int) -> PlainMessage:
        return {
            "header": header(ns, mounted.frame),
            "magnetic_field": xyz(row.take(columns).tolist()),
            "magnetic_field_covariance": covariance,
        }

    return [Topic(mounted.name, FIELD, message)]


def _marker(mounted: MountedSensor, _: SensorContext) -> list[Topic]:
    columns = np.append(mounted.vector_columns("position_body_m"), mounted.column("yaw_body_rad"))
    valid = mounted.column("valid")

    def message(row: Row, ns: int) -> PlainMessage | None:
        if not row[valid] > 0.0:
            return None
        return _pose(ns, mounted.body_frame, row.take(columns).tolist(), [0.0] * 36)

    return [Topic(mounted.name, POSE, message)]


def _deck(mounted: MountedSensor, _: SensorContext) -> list[Topic]:
    columns = np.append(mounted.vector_columns("position_world_m"), mounted.column("yaw_rad"))
    position, yaw = _variance(mounted, "position_world_m"), _variance(mounted, "yaw_rad")
    covariance = diagonal(position, position, position, 0.0, 0.0, yaw)

    def message(row: Row, ns: int) -> PlainMessage:
        return _pose(ns, mounted.world_frame, row.take(columns).tolist(), covariance)

    velocity = _velocity(mounted.world_frame, mounted.vector_columns("velocity_world_mps"))
    return [Topic(mounted.name, POSE, message), Topic(f"{mounted.name}/velocity", TWIST, velocity)]


def _pose(ns: int, frame: str, numbers: list[float], covariance: list[float]) -> PlainMessage:
    """Return a ``geometry_msgs/PoseWithCovarianceStamped`` of a position and a yaw."""
    x, y, z, yaw_rad = numbers
    placement = Placement((x, y, z), quaternion_from_euler(0.0, 0.0, yaw_rad))
    return {
        "header": header(ns, frame),
        "pose": {"pose": pose(placement), "covariance": covariance},
    }


def _degrees(angle_rad: float) -> float:
    return angle_rad / DEGREE_RAD


def _without_context(
    topics: Callable[[MountedSensor], list[Topic]],
) -> Callable[[MountedSensor, SensorContext], list[Topic]]:
    """Return a factory that ignores the context."""
    return lambda mounted, _: topics(mounted)


TOPIC_FACTORIES: dict[type, Callable[[MountedSensor, SensorContext], list[Topic]]] = {
    InertialMeasurement: _inertial,
    OrientationMeasurement: _orientation,
    GnssMeasurement: _gnss,
    PressureMeasurement: _pressure,
    MagneticMeasurement: _magnetic,
    RangeMeasurement: _without_context(single_range_topics),
    HeadMeasurement: _without_context(single_range_topics),
    RangesMeasurement: _without_context(multi_range_topics),
    TurnsMeasurement: _without_context(multi_range_topics),
    DepthMeasurement: _without_context(depth_topics),
    ImageMeasurement: _without_context(image_topics),
    MarkerMeasurement: _marker,
    DeckMeasurement: _deck,
}
