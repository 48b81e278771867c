"""Sensor beams: sonar cones, light beams and camera fields of view.

A cone ends at the measured range, or at the maximum range. It is bright while its sensor measures
and receives an echo, and faint while it waits for its turn. Chosen: the opening angle of sensors
that are modeled as a line, and the length of camera frustums.
"""

from collections.abc import Sequence
from typing import NamedTuple

import jax
import numpy as np
from jaxtyping import Float, Int

from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.sensor import AbstractSensor
from kittiwake.rendering.look import Look
from kittiwake.rendering.rotation import about, composed, from_x_to, rotated, yaws_rad
from kittiwake.rendering.shapes import Shape, revolved
from kittiwake.scene.frame import FlightInfo, Frame
from kittiwake.scene.moving_bodies import Poses
from kittiwake.scene.selection import STATE, Selection
from kittiwake.sensors.altimeter import Altimeter
from kittiwake.sensors.camera import Camera
from kittiwake.sensors.lidar import Lidar2D
from kittiwake.sensors.marker import Marker
from kittiwake.sensors.mount import Mount
from kittiwake.sensors.range_camera import RangeCamera
from kittiwake.sensors.round_robin import SENSORS
from kittiwake.sensors.sonar_cone import SonarCone
from kittiwake.sensors.ultrasonic import Ultrasonic
from kittiwake.sensors.ultrasonic_array import UltrasonicArray
from kittiwake.sensors.ultrasonic_fan import UltrasonicFan
from kittiwake.sensors.ultrasonic_head import UltrasonicHead

# vehicles with sensor beams, and light beams in total
MAX_VEHICLES, MAX_RAYS = 50, 3000
LINE_HALF_ANGLE_RAD = np.radians(7.5)
FIELD_M = 0.8
ECHO_RGB, SILENT_RGB, WAITING_RGB = (255, 176, 32), (110, 170, 220), (150, 160, 170)
ECHO_OPACITY, SILENT_OPACITY, WAITING_OPACITY = 0.42, 0.12, 0.05
RAY_RGB, FIELD_RGB = (230, 70, 60), (90, 100, 115)
CONE_SECTIONS = 16
Y, Z = 1, 2

Segments = Float[np.ndarray, "pieces 2 3"]
Direction = tuple[float, float, float]


class Cones(NamedTuple):
    """Poses, scales, colors and opacities of unit cones."""

    poses: Poses
    scales: Float[np.ndarray, "n 3"]
    rgb: Int[np.ndarray, "n 3"]
    opacities: Float[np.ndarray, " n"]


class _Cone(NamedTuple):
    """Sonar cone and its log columns; an optional column is empty if missing."""

    vehicle: int
    position_body_m: Direction
    direction_body: Direction
    half_angle_rad: float
    max_range_m: float
    range_column: str
    valid_column: str
    active_column: str = ""
    pitch_column: str = ""
    yaw_column: str = ""


class _Ray(NamedTuple):
    """Light beam and its log columns; its length is ``stretch`` times the measured value."""

    vehicle: int
    position_body_m: Direction
    direction_body: Direction
    stretch: float
    range_column: str
    valid_column: str


class _Field(NamedTuple):
    """Camera field of view; half width and half height at a distance of 1 m."""

    vehicle: int
    mount: Mount
    stabilised: bool
    half_width: float
    half_height: float


class SensorBeams:
    """Beams of all sensors of a flight."""

    def __init__(self, flight: FlightInfo) -> None:
        names = [name for name, one in flight.scenario.vehicles.items() if one.sensors]
        self._names = names[:MAX_VEHICLES]
        self._ground_m = float(flight.scenario.world.ground_z_m)
        cones, rays, self._fields, self._heights = self._collect(flight)
        stride = max(1, -(-len(rays) // MAX_RAYS))
        self._cones, self._rays = cones, rays[::stride]
        columns = list(STATE)
        beams = [*self._cones, *self._rays]
        extra = {c for one in beams for name, c in one._asdict().items() if name.endswith("column")}
        columns += sorted(extra - {""}) + sorted({column for _, column in self._heights})
        self._selection = Selection(flight, self._names, columns)
        indices = {column: index for index, column in enumerate(columns)}
        self._cone = _Arrays(self._cones, indices)
        self._ray = _Arrays(self._rays, indices)
        self._height_columns = [(vehicle, indices[column]) for vehicle, column in self._heights]

    @property
    def cones(self) -> int:
        """Number of cones."""
        return len(self._cones)

    @property
    def rays(self) -> int:
        """Number of segments that ``ray_segments`` returns."""
        return len(self._rays) + len(self._heights)

    @property
    def fields(self) -> int:
        """Number of cameras."""
        return len(self._fields)

    def cones_at(self, frame: Frame) -> Cones:
        """Return all sonar cones."""
        values, one = self._selection.of(frame), self._cone
        q, position = values[one.vehicles, 3:7], values[one.vehicles, :3]
        turn = one.turn.copy()
        on_head = one.pitch >= 0
        if on_head.any():
            at = one.vehicles[on_head]
            down = about(Y, np.nan_to_num(values[at, one.pitch[on_head]]))
            left = about(Z, np.nan_to_num(values[at, one.yaw[on_head]]))
            turn[on_head] = composed(down, left)
        measured, echo, active = one.read(values)
        echo, known = echo & active, np.isfinite(measured) & np.isfinite(position).all(axis=1)
        length = np.where(known, measured, 0.0)
        kind = np.where(echo, 0, np.where(active, 1, 2))
        half_width = length * one.tangents
        return Cones(
            Poses(
                np.nan_to_num(position + rotated(q, one.positions)),
                np.nan_to_num(composed(q, turn)),
            ),
            np.column_stack([length, half_width, half_width]),
            np.array([ECHO_RGB, SILENT_RGB, WAITING_RGB], np.uint8)[kind],
            np.array([ECHO_OPACITY, SILENT_OPACITY, WAITING_OPACITY])[kind],
        )

    def ray_segments(self, frame: Frame) -> Segments:
        """Return light beams and altimeter heights; zero length without a valid measurement."""
        values, one = self._selection.of(frame), self._ray
        q, position = values[one.vehicles, 3:7], values[one.vehicles, :3]
        measured, valid, _ = one.read(values)
        length = np.where(valid & np.isfinite(measured), measured, 0.0) * one.stretches
        start = position + rotated(q, one.positions)
        rays = np.stack([start, start + rotated(q, one.directions) * length[:, None]], axis=1)
        down = [
            (
                values[vehicle, :3],
                [*values[vehicle, :2], self._ground_below(values, vehicle, column)],
            )
            for vehicle, column in self._height_columns
        ]
        return np.nan_to_num(np.concatenate([rays, np.array(down).reshape(-1, 2, 3)]))

    def field_segments(self, frame: Frame) -> Float[np.ndarray, "pieces 2 3"]:
        """Return the edges of the camera frustums, eight per camera."""
        values = self._selection.of(frame)
        pieces = [self._field(field, values[field.vehicle]) for field in self._fields]
        return np.nan_to_num(np.array(pieces).reshape(-1, 2, 3))

    def _ground_below(self, values: np.ndarray, vehicle: int, column: int) -> float:
        """Return the ground height by an altimeter, which measures the height in world axes."""
        return float(values[vehicle, 2] - (values[vehicle, column] - self._ground_m))

    def _field(self, field: _Field, row: np.ndarray) -> np.ndarray:
        q = row[None, 3:7]
        q_view = about(Z, yaws_rad(q)) if field.stabilised else q
        mount = field.mount
        own = mount.q_body_from_sensor
        turn = composed(
            q_view, np.array([[float(own.w), float(own.x), float(own.y), float(own.z)]])
        )
        position = _triple(mount.position_body_m)
        apex = row[:3] + rotated(q, np.array([position]))[0]
        signs = np.array([(1, 1), (1, -1), (-1, -1), (-1, 1)])
        rays = (
            np.column_stack([np.ones(4), signs * [field.half_width, field.half_height]]) * FIELD_M
        )
        corners = apex + rotated(np.repeat(turn, 4, axis=0), rays)
        rim = [(corners[i], corners[(i + 1) % 4]) for i in range(4)]
        return np.array([*((apex, corner) for corner in corners), *rim])

    def _collect(
        self, flight: FlightInfo
    ) -> tuple[list[_Cone], list[_Ray], list[_Field], list[tuple[int, str]]]:
        cones: list[_Cone] = []
        rays: list[_Ray] = []
        fields: list[_Field] = []
        heights: list[tuple[int, str]] = []
        for number, vehicle in enumerate(self._names):
            columns = set(flight.columns[vehicle])
            for name, scheduled in flight.scenario.vehicles[vehicle].sensors.items():
                sensor, prefix = scheduled.component.sensor, f"sensor.{name}."
                cones += [c for c in _cones(number, sensor, prefix) if c.range_column in columns]
                rays += [r for r in _rays(number, sensor, prefix) if r.range_column in columns]
                if isinstance(sensor, Altimeter) and f"{prefix}height_world_m" in columns:
                    heights.append((number, f"{prefix}height_world_m"))
                if isinstance(sensor, Camera | Marker | RangeCamera):
                    fields.append(_camera_field(number, sensor))
        return cones, rays, fields, heights


class _Arrays:
    """Cones or rays as arrays, with their column indices; -1 for missing columns."""

    def __init__(self, beams: Sequence[_Cone] | Sequence[_Ray], indices: dict[str, int]) -> None:
        def column(name: str) -> np.ndarray:
            return np.array([indices.get(getattr(beam, name, ""), -1) for beam in beams], int)

        self.vehicles = np.array([beam.vehicle for beam in beams], int)
        self.positions = np.array([beam.position_body_m for beam in beams], float).reshape(-1, 3)
        self.directions = np.array([beam.direction_body for beam in beams], float).reshape(-1, 3)
        self.turn = from_x_to(self.directions)
        angles = [getattr(beam, "half_angle_rad", 0.0) for beam in beams]
        self.tangents = np.tan(np.array(angles, float))
        self.stretches = np.array([getattr(beam, "stretch", 1.0) for beam in beams], float)
        self._range, self._valid = column("range_column"), column("valid_column")
        self._active = column("active_column")
        self.pitch, self.yaw = column("pitch_column"), column("yaw_column")

    def read(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the measured values and masks of valid and of active sensors."""
        measured = values[self.vehicles, self._range]
        valid = values[self.vehicles, self._valid] > 0.0
        active = (self._active < 0) | (values[self.vehicles, self._active] > 0.0)
        return measured, valid, active


def cone_look() -> Look:
    """Return a cone from the origin along x, with height and base radius of 1 m."""
    profile = np.array([(0.0, 0.0), (1e-3, 1e-3), (1.0, 1.0), (0.0, 1.0)])
    upright = revolved(profile, CONE_SECTIONS)
    return Shape(upright.vertices_m[:, [2, 0, 1]], upright.faces).look(ECHO_RGB, ECHO_OPACITY)


def _cones(vehicle: int, sensor: AbstractSensor, prefix: str) -> list[_Cone]:
    single = f"{prefix}range_m", f"{prefix}valid"
    match sensor:
        case Ultrasonic():
            position, directions = _triple(sensor.position_body_m), _directions(sensor)
            shape = LINE_HALF_ANGLE_RAD, float(sensor.max_range_m)
            return [_Cone(vehicle, position, directions[0], *shape, *single)]
        case SonarCone():
            position, directions = _triple(sensor.mount.position_body_m), _directions(sensor)
            shape = float(sensor.half_angle_rad), float(sensor.max_range_m)
            return [_Cone(vehicle, position, directions[0], *shape, *single)]
        case UltrasonicHead():
            shape = LINE_HALF_ANGLE_RAD, float(sensor.max_range_m)
            angles = f"{prefix}pitch_rad", f"{prefix}yaw_rad"
            position = _triple(sensor.position_body_m)
            return [_Cone(vehicle, position, (1.0, 0.0, 0.0), *shape, *single, "", *angles)]
        case UltrasonicArray():
            places = [_triple(getattr(sensor, name).position_body_m) for name in SENSORS]
            return _array_cones(vehicle, sensor, prefix, places, LINE_HALF_ANGLE_RAD, "active_")
        case UltrasonicFan():
            middle, radius = np.array(_triple(sensor.mount.position_body_m)), sensor.ring_radius_m
            places = [
                tuple(middle + float(radius) * np.array(direction))
                for direction in _directions(sensor)
            ]
            return _array_cones(
                vehicle, sensor, prefix, places, 0.5 * float(sensor.horizontal_rad), ""
            )
        case _:
            return []


def _array_cones(
    vehicle: int,
    sensor: UltrasonicArray | UltrasonicFan,
    prefix: str,
    places: Sequence[Direction],
    half_rad: float,
    active: str,
) -> list[_Cone]:
    return [
        _Cone(
            vehicle,
            position,
            direction,
            float(half_rad),
            float(sensor.max_range_m),
            f"{prefix}ranges_{i}_m",
            f"{prefix}valid_{i}",
            active and f"{prefix}{active}{i}",
        )
        for i, (position, direction) in enumerate(zip(places, _directions(sensor), strict=True))
    ]


def _rays(vehicle: int, sensor: AbstractSensor, prefix: str) -> list[_Ray]:
    match sensor:
        case Lidar2D():
            position = _triple(sensor.mount.position_body_m)
            return [
                _Ray(
                    vehicle, position, direction, 1.0, f"{prefix}ranges_{i}_m", f"{prefix}valid_{i}"
                )
                for i, direction in enumerate(_directions(sensor))
            ]
        case RangeCamera():
            return _camera_rays(vehicle, sensor, prefix)
        case _:
            return []


def _camera_rays(vehicle: int, sensor: RangeCamera, prefix: str) -> list[_Ray]:
    with jax.enable_x64(True):  # noqa: FBT003  JAX's own
        rays = np.array(sensor.directions(), float)
    own = sensor.mount.q_body_from_sensor
    turn = np.array([[float(own.w), float(own.x), float(own.y), float(own.z)]])
    directions = rotated(np.repeat(turn, len(rays), axis=0), rays)
    stretches = 1.0 / rays[:, 0] if sensor.along == "axis" else np.ones(len(rays))
    position, width = _triple(sensor.mount.position_body_m), sensor.width
    numbers = [f"{pixel // width}_{pixel % width}" for pixel in range(len(rays))]
    return [
        _Ray(
            vehicle,
            position,
            _row_triple(direction),
            float(far),
            f"{prefix}depth_{n}_m",
            f"{prefix}valid_{n}",
        )
        for direction, far, n in zip(directions, stretches, numbers, strict=True)
    ]


def _camera_field(vehicle: int, sensor: Camera | Marker | RangeCamera) -> _Field:
    half_width = float(np.tan(0.5 * float(sensor.horizontal_field_of_view_rad)))
    half_height = half_width * float(sensor.height) / float(sensor.width)
    stabilised = getattr(sensor, "gimbal", "fixed") == "stabilised"
    return _Field(vehicle, sensor.mount, stabilised, half_width, half_height)


def _directions(sensor: AbstractSensor) -> list[Direction]:
    return [_triple(direction) for direction in sensor.beam_directions_body() or ()]


def _triple(vector: Vec3) -> Direction:
    return float(vector.x), float(vector.y), float(vector.z)


def _row_triple(row: np.ndarray) -> Direction:
    x, y, z = row.tolist()
    return x, y, z
