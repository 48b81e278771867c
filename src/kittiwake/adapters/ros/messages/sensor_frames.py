"""Where sensors are on their vehicles, as frames of tf.

A sensor's frame is that in which its readings are told. An inertial unit and a magnetometer tell
them in the body's axes, however they are mounted: their frames are not turned. What measures along
a line has its x axis there, and a camera a second frame with the axes of its picture (z along the
optical axis, x to the right, y downwards). Frames that turn in flight are those of heads, and of
cameras on a gimbal.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import atan2

import numpy as np

from kittiwake.adapters.ros.messages.plain import (
    UPRIGHT,
    Attitude,
    Placement,
    PlainMessage,
    Triple,
    composed,
    inverse,
    transform,
    turned,
)
from kittiwake.adapters.ros.messages.topic import Columns, Row
from kittiwake.core.columns import axis_column
from kittiwake.core.measurements import InertialMeasurement
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.head import AbstractHead
from kittiwake.interfaces.sensor import AbstractSensor
from kittiwake.rendering.rotation import from_x_to
from kittiwake.sensors.camera import Camera
from kittiwake.sensors.mount import Mount
from kittiwake.sensors.range_camera import RangeCamera
from kittiwake.sensors.round_robin import SENSORS
from kittiwake.sensors.ultrasonic_array import UltrasonicArray
from kittiwake.sensors.ultrasonic_fan import UltrasonicFan

# of a camera: that of its picture
OPTICAL = "optical"
# x to the right, y downwards, z ahead
AS_A_PICTURE: Attitude = (0.5, -0.5, 0.5, -0.5)


@dataclass(frozen=True)
class MountedSensor:
    """A sensor on its vehicle, and where its numbers stand in a row.

    Attributes:
        name: that of ROS.
        frame: its own.
        body_frame: the vehicle's.
        world_frame: the world's.
        sensor: itself, without what goes wrong behind it.
        period_s: from one sample to the next.
        prefix: of its columns.
        places: of all columns of a row, by name.
    """

    name: str
    frame: str
    body_frame: str
    world_frame: str
    sensor: AbstractSensor
    period_s: float
    prefix: str
    places: Mapping[str, int]

    def place(self, field: str) -> int:
        """The column of a number."""
        return self.places[self.prefix + field]

    def numbers(self, *fields: str) -> Columns:
        """The columns of some numbers."""
        return np.array([self.place(field) for field in fields])

    def vectors(self, *fields: str) -> Columns:
        """The columns of some vectors."""
        return self.numbers(*(axis_column(field, axis) for field in fields for axis in "xyz"))

    def array(self, field: str, *shape: int) -> slice:
        """The columns of an array, which stand beside each other."""
        first = self.place(axis_column(field, "_".join("0" for _ in shape)))
        return slice(first, first + int(np.prod(shape)))

    def part(self, suffix: str) -> str:
        """The frame of a part of it."""
        return f"{self.frame}/{suffix}" if suffix else self.frame


def frames_of(sensor: AbstractSensor) -> dict[str, Placement]:
    """Where a sensor is in its vehicle, and where its parts are, by what their frames end in."""
    if isinstance(sensor, UltrasonicArray):
        lines = ((name, getattr(sensor, name)) for name in SENSORS)
        return {n: _along(_numbers(o.position_body_m), o.direction_body) for n, o in lines}
    if isinstance(sensor, UltrasonicFan):
        center, out = sensor.mount.position_body_m, float(sensor.ring_radius_m)
        looks = sensor.looks_body() or ()
        return {fan_name(i): _along(_numbers(center + a * out), a) for i, a in enumerate(looks)}
    own = _mounted(sensor)
    if isinstance(sensor, Camera | RangeCamera):
        return {"": own, OPTICAL: Placement(own.place_m, composed(own.attitude, AS_A_PICTURE))}
    return {"": own}


def fan_name(number: int) -> str:
    """What a fan of a ring is called, which in ROS must not begin with a digit."""
    return f"fan_{number}"


def static_frames(carried: MountedSensor, ns: int) -> list[PlainMessage]:
    """Its frames that stay where they are, as ``geometry_msgs/TransformStamped``."""
    if _turns(carried.sensor):
        return []
    return [
        transform(ns, carried.body_frame, carried.part(suffix), where)
        for suffix, where in frames_of(carried.sensor).items()
    ]


def turning_frames(
    carried: MountedSensor, attitude: Callable[[Row], Attitude]
) -> Callable[[Row, int], list[PlainMessage]] | None:
    """What gives its frames that turn in flight, of a row; None if it has none.

    Args:
        carried: the sensor.
        attitude: the vehicle's, of a row.
    """
    if not _turns(carried.sensor):
        return None
    look = _look(carried, attitude)
    frames = frames_of(carried.sensor)
    middle = frames[""].attitude

    def at(row: Row, ns: int) -> list[PlainMessage]:
        now = look(row)
        return [
            transform(
                ns,
                carried.body_frame,
                carried.part(suffix),
                Placement(where.place_m, composed(now, composed(inverse(middle), where.attitude))),
            )
            for suffix, where in frames.items()
        ]

    return at


def _turns(sensor: AbstractSensor) -> bool:
    return isinstance(sensor, AbstractHead) or getattr(sensor, "gimbal", "fixed") == "stabilised"


def _look(carried: MountedSensor, attitude: Callable[[Row], Attitude]) -> Callable[[Row], Attitude]:
    """How its axes lie in the body, of a row."""
    if isinstance(carried.sensor, AbstractHead):
        pitch, yaw = carried.place("pitch_rad"), carried.place("yaw_rad")

        def turned_to(row: Row) -> Attitude:
            about_y = turned(0.0, float(row[pitch]), 0.0)
            return composed(about_y, turned(0.0, 0.0, float(row[yaw])))

        return turned_to
    mounted = _mounted(carried.sensor).attitude

    def held_level(row: Row) -> Attitude:
        w, x, y, z = attitude(row)
        yaw_rad = atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
        level = composed(turned(0.0, 0.0, yaw_rad), mounted)
        return composed(inverse((w, x, y, z)), level)

    return held_level


def _mounted(sensor: AbstractSensor) -> Placement:
    """By its mount, by its place and direction, or in the center of mass."""
    mount = getattr(sensor, "mount", None)
    if isinstance(mount, Mount):
        q = mount.q_body_from_sensor
        as_body = sensor.measures is InertialMeasurement
        attitude = UPRIGHT if as_body else (float(q.w), float(q.x), float(q.y), float(q.z))
        return Placement(_numbers(mount.position_body_m), attitude)
    place_m = _numbers(getattr(sensor, "position_body_m", Vec3(0.0, 0.0, 0.0)))
    direction = getattr(sensor, "direction_body", None)
    return Placement(place_m) if direction is None else _along(place_m, direction)


def _along(place_m: Triple, direction: Vec3) -> Placement:
    """With its x axis along a direction of any length."""
    numbers = np.array(_numbers(direction))
    w, x, y, z = from_x_to(numbers[None] / np.linalg.norm(numbers))[0].tolist()
    return Placement(place_m, (w, x, y, z))


def _numbers(vector: Vec3) -> Triple:
    return float(vector.x), float(vector.y), float(vector.z)
