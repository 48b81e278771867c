"""Range messages of single-beam and multi-beam sensors and of lidars.

A range without a return is infinite (REP 117).
"""

from math import inf

import jax
import numpy as np
from jaxtyping import Float

from kittiwake.adapters.ros.messages.plain import PlainMessage, header
from kittiwake.adapters.ros.messages.sensor_frames import MountedSensor
from kittiwake.adapters.ros.messages.topic import Row, Topic
from kittiwake.interfaces.sensor import AbstractSensor

RANGE, SCAN = "sensor_msgs/Range", "sensor_msgs/LaserScan"
# radiation type of all sensors with single ranges
ULTRASOUND = 0


def single_range_topics(mounted: MountedSensor) -> list[Topic]:
    """Return the topic of a sensor with one beam."""
    beam = mounted.sensor.beam_geometry().get("")
    opening_rad = 0.0 if beam is None else float(beam.opening_rad)
    return [_range(mounted, "", mounted.column("range_m"), mounted.column("valid"), opening_rad)]


def multi_range_topics(mounted: MountedSensor) -> list[Topic]:
    """Return the scan of a lidar, or a topic for each beam; inactive ones publish nothing."""
    # in double precision, whatever the precision of the flight
    with jax.enable_x64(True):  # noqa: FBT003  JAX's own
        angles = mounted.sensor.scan_angles_rad()
    if angles is not None:
        return [_scan(mounted, np.asarray(angles))]
    beams = mounted.sensor.beam_geometry()
    ranges, valid = (
        mounted.array_columns(field, len(beams)).start for field in ("ranges_m", "valid")
    )
    first_active = mounted.column_index.get(f"{mounted.prefix}active_0")
    return [
        _range(
            mounted,
            name,
            ranges + i,
            valid + i,
            float(beam.opening_rad),
            None if first_active is None else first_active + i,
        )
        for i, (name, beam) in enumerate(beams.items())
    ]


def _range(
    mounted: MountedSensor,
    part: str,
    reading: int,
    valid: int,
    opening_rad: float,
    active: int | None = None,
) -> Topic:
    frame = mounted.part_frame(part)
    nearest, farthest = _limits_m(mounted.sensor)

    def message(row: Row, ns: int) -> PlainMessage | None:
        if active is not None and not row[active] > 0.0:
            return None
        return {
            "header": header(ns, frame),
            "radiation_type": ULTRASOUND,
            "field_of_view": opening_rad,
            "min_range": nearest,
            "max_range": farthest,
            "range": float(row[reading]) if row[valid] > 0.0 else inf,
        }

    return Topic(f"{mounted.name}/{part}" if part else mounted.name, RANGE, message)


def _scan(mounted: MountedSensor, angles_rad: Float[np.ndarray, " beams"]) -> Topic:
    beams = len(angles_rad)
    ranges, valid = (mounted.array_columns(field, beams) for field in ("ranges_m", "valid"))
    first, last = float(angles_rad[0]), float(angles_rad[-1])
    step = (last - first) / (beams - 1)
    nearest, farthest = _limits_m(mounted.sensor)

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


def _limits_m(sensor: AbstractSensor) -> tuple[float, float]:
    """Return the shortest and the longest range; 0 and infinity for a sensor without limits."""
    nearest, farthest = getattr(sensor, "min_range_m", 0.0), getattr(sensor, "max_range_m", inf)
    return float(nearest), float(farthest)
