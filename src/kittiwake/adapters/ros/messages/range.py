"""Range messages of single-beam and multi-beam sensors and of lidars.

A range without a return is infinite (REP 117).
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
# radiation type of all sensors with single ranges
ULTRASOUND = 0


def single_range_topics(mounted: MountedSensor) -> list[Topic]:
    """Return the topic of a sensor with one beam."""
    return [_range(mounted, "", mounted.column("range_m"), mounted.column("valid"))]


def round_robin_topics(mounted: MountedSensor) -> list[Topic]:
    """Return a topic for each sensor of a round-robin array; inactive ones publish nothing."""
    return _ranges(mounted, SENSORS, "active")


def multi_range_topics(mounted: MountedSensor) -> list[Topic]:
    """Return the scan of a lidar, or a topic for each beam of any other sensor."""
    if isinstance(mounted.sensor, Lidar2D):
        return [_scan(mounted, mounted.sensor)]
    count = len(mounted.sensor.beam_directions_body() or ())
    return _ranges(mounted, [fan_name(number) for number in range(count)])


def _ranges(mounted: MountedSensor, names: Sequence[str], active: str | None = None) -> list[Topic]:
    ranges, valid = (
        mounted.array_columns(field, len(names)).start for field in ("ranges_m", "valid")
    )
    active_at = None if active is None else mounted.array_columns(active, len(names)).start
    return [
        _range(mounted, name, ranges + i, valid + i, None if active_at is None else active_at + i)
        for i, name in enumerate(names)
    ]


def _range(
    mounted: MountedSensor, part: str, reading: int, valid: int, active: int | None = None
) -> Topic:
    frame, sensor = mounted.part_frame(part), mounted.sensor
    nearest, farthest = (float(getattr(sensor, f"{end}_range_m")) for end in ("min", "max"))
    field_of_view_rad = _field_of_view_rad(sensor)

    def message(row: Row, ns: int) -> PlainMessage | None:
        if active is not None and not row[active] > 0.0:
            return None
        return {
            "header": header(ns, frame),
            "radiation_type": ULTRASOUND,
            "field_of_view": field_of_view_rad,
            "min_range": nearest,
            "max_range": farthest,
            "range": float(row[reading]) if row[valid] > 0.0 else inf,
        }

    return Topic(f"{mounted.name}/{part}" if part else mounted.name, RANGE, message)


def _scan(mounted: MountedSensor, lidar: Lidar2D) -> Topic:
    ranges, valid = (mounted.array_columns(field, lidar.beams) for field in ("ranges_m", "valid"))
    # in double precision, whatever the precision of the flight
    with jax.enable_x64(True):  # noqa: FBT003  JAX's own
        angles = np.asarray(lidar.angles_rad())
    first, last = float(angles[0]), float(angles[-1])
    step = (last - first) / (lidar.beams - 1)
    nearest, farthest = float(lidar.min_range_m), float(lidar.max_range_m)

    def message(row: Row, ns: int) -> PlainMessage:
        return {
            "header": header(ns, mounted.frame),
            "angle_min": first,
            "angle_max": last,
            "angle_increment": step,
            # all beams measure at the same instant
            "time_increment": 0.0,
            "scan_time": mounted.period_s,
            "range_min": nearest,
            "range_max": farthest,
            "ranges": np.where(row[valid] > 0.0, row[ranges], inf).tolist(),
            "intensities": [],
        }

    return Topic(mounted.name, SCAN, message)


def _field_of_view_rad(sensor: AbstractSensor) -> float:
    """Return the opening angle of a sensor's cone; 0 for a line."""
    if isinstance(sensor, SonarCone):
        return 2.0 * float(sensor.half_angle_rad)
    if isinstance(sensor, UltrasonicFan):
        return float(sensor.horizontal_rad)
    return 0.0
