"""Distances: of one direction, of several, and of a lidar.

Where nothing answered they are infinite, as REP 117 has it.
"""

from collections.abc import Sequence
from math import inf

import jax
import numpy as np

from kittiwake.adapters.ros.messages.plain import PlainMessage, header
from kittiwake.adapters.ros.messages.sensor_frames import MountedSensor, fan_name
from kittiwake.adapters.ros.messages.topic import Row, Topic
from kittiwake.interfaces.sensor import AbstractSensor
from kittiwake.sensors.lidar import Lidar2D
from kittiwake.sensors.round_robin import SENSORS
from kittiwake.sensors.sonar_cone import SonarCone
from kittiwake.sensors.ultrasonic_fan import UltrasonicFan

RANGE, SCAN = "sensor_msgs/Range", "sensor_msgs/LaserScan"
# all that tell single ranges are heard
ULTRASOUND = 0


def range_topics(carried: MountedSensor) -> list[Topic]:
    """Of one direction."""
    return [_range(carried, "", carried.place("range_m"), carried.place("valid"))]


def turn_topics(carried: MountedSensor) -> list[Topic]:
    """Of sensors that take turns, each of those that have measured anew."""
    return _ranges(carried, SENSORS, "active")


def ranges_topics(carried: MountedSensor) -> list[Topic]:
    """A scan of a lidar, else a topic for each direction."""
    if isinstance(carried.sensor, Lidar2D):
        return [_scan(carried, carried.sensor)]
    count = len(carried.sensor.looks_body() or ())
    return _ranges(carried, [fan_name(number) for number in range(count)])


def _ranges(carried: MountedSensor, names: Sequence[str], active: str | None = None) -> list[Topic]:
    ranges, valid = (carried.array(field, len(names)).start for field in ("ranges_m", "valid"))
    active_at = None if active is None else carried.array(active, len(names)).start
    return [
        _range(carried, name, ranges + i, valid + i, None if active_at is None else active_at + i)
        for i, name in enumerate(names)
    ]


def _range(
    carried: MountedSensor, part: str, place: int, valid: int, active: int | None = None
) -> Topic:
    frame, sensor = carried.part(part), carried.sensor
    nearest, farthest = (float(getattr(sensor, f"{end}_range_m")) for end in ("min", "max"))
    wide_rad = _wide_rad(sensor)

    def message(row: Row, ns: int) -> PlainMessage | None:
        if active is not None and not row[active] > 0.0:
            return None
        return {
            "header": header(ns, frame),
            "radiation_type": ULTRASOUND,
            "field_of_view": wide_rad,
            "min_range": nearest,
            "max_range": farthest,
            "range": float(row[place]) if row[valid] > 0.0 else inf,
        }

    return Topic(f"{carried.name}/{part}" if part else carried.name, RANGE, message)


def _scan(carried: MountedSensor, lidar: Lidar2D) -> Topic:
    ranges, valid = (carried.array(field, lidar.beams) for field in ("ranges_m", "valid"))
    # in full precision, whatever the flight has
    with jax.enable_x64(True):  # noqa: FBT003  JAX's own
        angles = np.asarray(lidar.angles_rad())
    first, last = float(angles[0]), float(angles[-1])
    step = (last - first) / (lidar.beams - 1)
    nearest, farthest = float(lidar.min_range_m), float(lidar.max_range_m)

    def message(row: Row, ns: int) -> PlainMessage:
        return {
            "header": header(ns, carried.frame),
            "angle_min": first,
            "angle_max": last,
            "angle_increment": step,
            # all beams are taken at one instant
            "time_increment": 0.0,
            "scan_time": carried.period_s,
            "range_min": nearest,
            "range_max": farthest,
            "ranges": np.where(row[valid] > 0.0, row[ranges], inf).tolist(),
            "intensities": [],
        }

    return Topic(carried.name, SCAN, message)


def _wide_rad(sensor: AbstractSensor) -> float:
    """The opening of what it hears; a line has none."""
    if isinstance(sensor, SonarCone):
        return 2.0 * float(sensor.half_angle_rad)
    if isinstance(sensor, UltrasonicFan):
        return float(sensor.horizontal_rad)
    return 0.0
