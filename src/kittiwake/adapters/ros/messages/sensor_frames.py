"""Frames of sensors in tf.

The readings of a sensor are given in its frame. Inertial units and magnetometers report in body
axes, however they are mounted: their frames have the axes of the body. A sensor that measures along
a line has its x axis along that line. A camera has a second, optical frame with the axes of its
image (z along the optical axis, x to the right, y down). The frames of heads, and of cameras on a
gimbal, move in flight.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import atan2

import numpy as np

from kittiwake.adapters.ros.messages.plain import (
    IDENTITY,
    Attitude,
    Placement,
    PlainMessage,
    Triple,
    inverse,
    multiply,
    quaternion_from_euler,
    transform,
)
from kittiwake.adapters.ros.messages.topic import Columns, Row
from kittiwake.core.columns import axis_column
from kittiwake.core.measurements import InertialMeasurement
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.head import AbstractHead
from kittiwake.interfaces.sensor import AbstractSensor
from kittiwake.rendering.rotation import from_x_to
from kittiwake.sensors.camera import ImageMeasurement
from kittiwake.sensors.mount import Mount
from kittiwake.sensors.range_camera import DepthMeasurement

# suffix of a camera's optical frame
OPTICAL = "optical"
# attitude of the optical frame in the camera's: x to the right, y down, z ahead
OPTICAL_ATTITUDE: Attitude = (0.5, -0.5, 0.5, -0.5)


@dataclass(frozen=True)
class MountedSensor:
    """Sensor of a vehicle, with its frames and its columns in a row.

    Attributes:
        name: its name in ROS.
        frame: its frame.
        body_frame: the vehicle's frame.
        world_frame: the world's frame.
        sensor: the sensor, without simulated transmission errors.
        period_s: time between two samples.
        prefix: of its columns.
        column_index: index of each column in a row, by name.
    """

    name: str
    frame: str
    body_frame: str
    world_frame: str
    sensor: AbstractSensor
    period_s: float
    prefix: str
    column_index: Mapping[str, int]

    def column(self, field: str) -> int:
        """Return the column of a scalar field."""
        return self.column_index[self.prefix + field]

    def columns(self, *fields: str) -> Columns:
        """Return the columns of scalar fields."""
        return np.array([self.column(field) for field in fields])

    def vector_columns(self, *fields: str) -> Columns:
        """Return the columns of vector fields, three for each."""
        return self.columns(*(axis_column(field, axis) for field in fields for axis in "xyz"))

    def array_columns(self, field: str, *shape: int) -> slice:
        """Return the contiguous columns of an array field."""
        first = self.column(axis_column(field, "_".join("0" for _ in shape)))
        return slice(first, first + int(np.prod(shape)))

    def part_frame(self, suffix: str) -> str:
        """Return the frame of a part of the sensor; an empty suffix stands for the sensor."""
        return f"{self.frame}/{suffix}" if suffix else self.frame


def sensor_placements(sensor: AbstractSensor) -> dict[str, Placement]:
    """Return the placements of a sensor and its parts in the body, by suffix of their frames."""
    own = _placement(sensor)
    if issubclass(sensor.measures, ImageMeasurement | DepthMeasurement):
        optical = Placement(own.position_m, multiply(own.attitude, OPTICAL_ATTITUDE))
        return {"": own, OPTICAL: optical}
    beams = sensor.beam_geometry()
    if len(beams) > 1 and sensor.scan_angles_rad() is None:
        return {
            name: _facing(_floats(beam.position_body_m), beam.direction_body)
            for name, beam in beams.items()
        }
    return {"": own}


def static_frames(mounted: MountedSensor, ns: int) -> list[PlainMessage]:
    """Return the fixed frames of a sensor, as ``geometry_msgs/TransformStamped``."""
    if _moves(mounted.sensor):
        return []
    return [
        transform(ns, mounted.body_frame, mounted.part_frame(suffix), placement)
        for suffix, placement in sensor_placements(mounted.sensor).items()
    ]


def moving_frames(
    mounted: MountedSensor, vehicle_attitude: Callable[[Row], Attitude]
) -> Callable[[Row, int], list[PlainMessage]] | None:
    """Return a function that makes the transforms of a sensor's moving frames, None without any.

    Args:
        mounted: the sensor.
        vehicle_attitude: returns the vehicle's attitude in a row.
    """
    if not _moves(mounted.sensor):
        return None
    attitude = _moving_attitude(mounted, vehicle_attitude)
    placements = sensor_placements(mounted.sensor)
    fixed = placements[""].attitude

    def transforms(row: Row, ns: int) -> list[PlainMessage]:
        now = attitude(row)
        return [
            transform(
                ns,
                mounted.body_frame,
                mounted.part_frame(suffix),
                Placement(
                    placement.position_m,
                    multiply(now, multiply(inverse(fixed), placement.attitude)),
                ),
            )
            for suffix, placement in placements.items()
        ]

    return transforms


def _moves(sensor: AbstractSensor) -> bool:
    return isinstance(sensor, AbstractHead) or getattr(sensor, "gimbal", "fixed") == "stabilised"


def _moving_attitude(
    mounted: MountedSensor, vehicle_attitude: Callable[[Row], Attitude]
) -> Callable[[Row], Attitude]:
    """Return a function that computes the attitude of a moving sensor in the body."""
    if isinstance(mounted.sensor, AbstractHead):
        pitch, yaw = mounted.column("pitch_rad"), mounted.column("yaw_rad")

        def head_attitude(row: Row) -> Attitude:
            about_y = quaternion_from_euler(0.0, float(row[pitch]), 0.0)
            return multiply(about_y, quaternion_from_euler(0.0, 0.0, float(row[yaw])))

        return head_attitude
    mount_attitude = _placement(mounted.sensor).attitude

    def gimbal_attitude(row: Row) -> Attitude:
        w, x, y, z = vehicle_attitude(row)
        yaw_rad = atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
        level = multiply(quaternion_from_euler(0.0, 0.0, yaw_rad), mount_attitude)
        return multiply(inverse((w, x, y, z)), level)

    return gimbal_attitude


def _placement(sensor: AbstractSensor) -> Placement:
    """Return a sensor's placement, from its mount or position and direction, or the origin."""
    mount = getattr(sensor, "mount", None)
    if isinstance(mount, Mount):
        q = mount.q_body_from_sensor
        body_axes = sensor.measures is InertialMeasurement
        attitude = IDENTITY if body_axes else (float(q.w), float(q.x), float(q.y), float(q.z))
        return Placement(_floats(mount.position_body_m), attitude)
    position_m = _floats(getattr(sensor, "position_body_m", Vec3(0.0, 0.0, 0.0)))
    direction = getattr(sensor, "direction_body", None)
    return Placement(position_m) if direction is None else _facing(position_m, direction)


def _facing(position_m: Triple, direction: Vec3) -> Placement:
    """Return a placement with its x axis along a direction of any length."""
    numbers = np.array(_floats(direction))
    w, x, y, z = from_x_to(numbers[None] / np.linalg.norm(numbers))[0].tolist()
    return Placement(position_m, (w, x, y, z))


def _floats(vector: Vec3) -> Triple:
    return float(vector.x), float(vector.y), float(vector.z)
