"""What sensors see: cones of sound, beams of light, the fields of cameras.

A cone ends where its sensor measured something, or at its longest range. It is bright while its
sensor measures and hears an echo, and hardly seen while it waits for its turn. Chosen: the opening
of sensors that are modeled as a line, and the length of a camera's field.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import numpy as np
from jaxtyping import Float, Int

from kittiwake.rendering.look import Look
from kittiwake.rendering.rotation import about, composed, from_x_to, rotated, yaws_rad
from kittiwake.rendering.shapes import Shape, revolved
from kittiwake.scene.frame import Frame, Show
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

# of how many vehicles the sensors are shown, and of how many light beams in all
MOST_VEHICLES, MOST_RAYS = 50, 3000
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
    """How the unit cone is to be placed, stretched and colored."""

    poses: Poses
    scales: Float[np.ndarray, "n 3"]
    rgb: Int[np.ndarray, "n 3"]
    opacities: Float[np.ndarray, " n"]


class _Cone(NamedTuple):
    """One cone of sound; columns by name, none if it has no turns, and of its head."""

    vehicle: int
    position_body_m: Direction
    direction_body: Direction
    half_angle_rad: float
    farthest_m: float
    range_column: str
    valid_column: str
    active_column: str = ""
    pitch_column: str = ""
    yaw_column: str = ""


class _Ray(NamedTuple):
    """One beam of light; of what is told, the way along it is so many times as long."""

    vehicle: int
    position_body_m: Direction
    direction_body: Direction
    stretch: float
    range_column: str
    valid_column: str


class _Field(NamedTuple):
    """What a camera sees, as corners at a distance of one."""

    vehicle: int
    mount: Mount
    stabilised: bool
    wide: float
    high: float


class SensorBeams:
    """The beams of all sensors of a show."""

    def __init__(self, show: Show) -> None:
        names = [name for name, one in show.scenario.vehicles.items() if one.sensors]
        self._names = names[:MOST_VEHICLES]
        self._ground_m = float(show.scenario.world.ground_z_m)
        cones, rays, self._fields, self._heights = self._gathered(show)
        stride = max(1, -(-len(rays) // MOST_RAYS))
        self._cones, self._rays = cones, rays[::stride]
        columns = list(STATE)
        told = [*self._cones, *self._rays]
        extra = {c for one in told for name, c in one._asdict().items() if name.endswith("column")}
        columns += sorted(extra - {""}) + sorted({column for _, column in self._heights})
        self._selection = Selection(show, self._names, columns)
        place = {column: number for number, column in enumerate(columns)}
        self._cone = _Arrays(self._cones, place)
        self._ray = _Arrays(self._rays, place)
        self._height_columns = [(vehicle, place[column]) for vehicle, column in self._heights]

    @property
    def cones(self) -> int:
        """How many there are."""
        return len(self._cones)

    @property
    def rays(self) -> int:
        """How many pieces ``ray_segments`` gives."""
        return len(self._rays) + len(self._heights)

    @property
    def fields(self) -> int:
        """How many cameras there are."""
        return len(self._fields)

    def cones_at(self, frame: Frame) -> Cones:
        """All cones of sound."""
        values, one = self._selection.of(frame), self._cone
        q, place = values[one.vehicles, 3:7], values[one.vehicles, :3]
        turn = one.turn.copy()
        headed = one.pitch >= 0
        if headed.any():
            at = one.vehicles[headed]
            down = about(Y, np.nan_to_num(values[at, one.pitch[headed]]))
            left = about(Z, np.nan_to_num(values[at, one.yaw[headed]]))
            turn[headed] = composed(down, left)
        told, heard, on = one.read(values)
        heard, known = heard & on, np.isfinite(told) & np.isfinite(place).all(axis=1)
        long = np.where(known, told, 0.0)
        kind = np.where(heard, 0, np.where(on, 1, 2))
        wide = long * one.tangents
        return Cones(
            Poses(
                np.nan_to_num(place + rotated(q, one.positions)), np.nan_to_num(composed(q, turn))
            ),
            np.column_stack([long, wide, wide]),
            np.array([ECHO_RGB, SILENT_RGB, WAITING_RGB], np.uint8)[kind],
            np.array([ECHO_OPACITY, SILENT_OPACITY, WAITING_OPACITY])[kind],
        )

    def ray_segments(self, frame: Frame) -> Segments:
        """Beams that met something, and heights over the ground; without length if none."""
        values, one = self._selection.of(frame), self._ray
        q, place = values[one.vehicles, 3:7], values[one.vehicles, :3]
        told, valid, _ = one.read(values)
        long = np.where(valid & np.isfinite(told), told, 0.0) * one.stretches
        start = place + rotated(q, one.positions)
        rays = np.stack([start, start + rotated(q, one.directions) * long[:, None]], axis=1)
        down = [
            (
                values[vehicle, :3],
                [*values[vehicle, :2], self._under(values, vehicle, column)],
            )
            for vehicle, column in self._height_columns
        ]
        return np.nan_to_num(np.concatenate([rays, np.array(down).reshape(-1, 2, 3)]))

    def field_segments(self, frame: Frame) -> Float[np.ndarray, "pieces 2 3"]:
        """The edges of what cameras see."""
        values = self._selection.of(frame)
        pieces = [self._field(field, values[field.vehicle]) for field in self._fields]
        return np.nan_to_num(np.array(pieces).reshape(-1, 2, 3))

    def _under(self, values: np.ndarray, vehicle: int, column: int) -> float:
        """Where the ground would be by an altimeter, which tells the height in the world."""
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
        rays = np.column_stack([np.ones(4), signs * [field.wide, field.high]]) * FIELD_M
        corners = apex + rotated(np.repeat(turn, 4, axis=0), rays)
        rim = [(corners[i], corners[(i + 1) % 4]) for i in range(4)]
        return np.array([*((apex, corner) for corner in corners), *rim])

    def _gathered(
        self, show: Show
    ) -> tuple[list[_Cone], list[_Ray], list[_Field], list[tuple[int, str]]]:
        cones: list[_Cone] = []
        rays: list[_Ray] = []
        fields: list[_Field] = []
        heights: list[tuple[int, str]] = []
        for number, vehicle in enumerate(self._names):
            there = set(show.columns[vehicle])
            for name, scheduled in show.scenario.vehicles[vehicle].sensors.items():
                sensor, read = scheduled.component.sensor, f"sensor.{name}."
                cones += [c for c in _cones(number, sensor, read) if c.range_column in there]
                rays += [r for r in _rays(number, sensor, read) if r.range_column in there]
                if isinstance(sensor, Altimeter) and f"{read}height_world_m" in there:
                    heights.append((number, f"{read}height_world_m"))
                if isinstance(sensor, Camera | Marker | RangeCamera):
                    fields.append(_camera_field(number, sensor))
        return cones, rays, fields, heights


class _Arrays:
    """Cones or rays as arrays, with the places of their columns; -1 of what they do not have."""

    def __init__(self, beams: Sequence[_Cone] | Sequence[_Ray], place: dict[str, int]) -> None:
        def column(name: str) -> np.ndarray:
            return np.array([place.get(getattr(beam, name, ""), -1) for beam in beams], int)

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
        """What is measured, whether it is valid, and whether it is the sensor's turn."""
        told = values[self.vehicles, self._range]
        valid = values[self.vehicles, self._valid] > 0.0
        active = (self._active < 0) | (values[self.vehicles, self._active] > 0.0)
        return told, valid, active


def cone_look() -> Look:
    """From the origin one meter along x, one meter wide to all sides there."""
    profile = np.array([(0.0, 0.0), (1e-3, 1e-3), (1.0, 1.0), (0.0, 1.0)])
    upright = revolved(profile, CONE_SECTIONS)
    return Shape(upright.vertices_m[:, [2, 0, 1]], upright.faces).look(ECHO_RGB, ECHO_OPACITY)


def _cones(vehicle: int, sensor: Any, read: str) -> list[_Cone]:
    single = f"{read}range_m", f"{read}valid"
    match sensor:
        case Ultrasonic():
            place, looks = _triple(sensor.position_body_m), _looks(sensor)
            shape = LINE_HALF_ANGLE_RAD, float(sensor.max_range_m)
            return [_Cone(vehicle, place, looks[0], *shape, *single)]
        case SonarCone():
            place, looks = _triple(sensor.mount.position_body_m), _looks(sensor)
            shape = float(sensor.half_angle_rad), float(sensor.max_range_m)
            return [_Cone(vehicle, place, looks[0], *shape, *single)]
        case UltrasonicHead():
            shape = LINE_HALF_ANGLE_RAD, float(sensor.max_range_m)
            angles = f"{read}pitch_rad", f"{read}yaw_rad"
            place = _triple(sensor.position_body_m)
            return [_Cone(vehicle, place, (1.0, 0.0, 0.0), *shape, *single, "", *angles)]
        case UltrasonicArray():
            places = [_triple(getattr(sensor, name).position_body_m) for name in SENSORS]
            return _several(vehicle, sensor, read, places, LINE_HALF_ANGLE_RAD, "active_")
        case UltrasonicFan():
            middle, radius = np.array(_triple(sensor.mount.position_body_m)), sensor.ring_radius_m
            places = [tuple(middle + float(radius) * np.array(look)) for look in _looks(sensor)]
            return _several(vehicle, sensor, read, places, 0.5 * float(sensor.horizontal_rad), "")
        case _:
            return []


def _several(
    vehicle: int, sensor: Any, read: str, places: Sequence[Any], half_rad: float, active: str
) -> list[_Cone]:
    return [
        _Cone(
            *(vehicle, place, look, float(half_rad), float(sensor.max_range_m)),
            *(f"{read}ranges_{i}_m", f"{read}valid_{i}"),
            active and f"{read}{active}{i}",
        )
        for i, (place, look) in enumerate(zip(places, _looks(sensor), strict=True))
    ]


def _rays(vehicle: int, sensor: Any, read: str) -> list[_Ray]:
    match sensor:
        case Lidar2D():
            place = _triple(sensor.mount.position_body_m)
            return [
                _Ray(vehicle, place, look, 1.0, f"{read}ranges_{i}_m", f"{read}valid_{i}")
                for i, look in enumerate(_looks(sensor))
            ]
        case RangeCamera():
            return _camera_rays(vehicle, sensor, read)
        case _:
            return []


def _camera_rays(vehicle: int, sensor: RangeCamera, read: str) -> list[_Ray]:
    with jax.enable_x64(True):  # noqa: FBT003  JAX's own
        rays = np.array(sensor.directions(), float)
    own = sensor.mount.q_body_from_sensor
    turn = np.array([[float(own.w), float(own.x), float(own.y), float(own.z)]])
    looks = rotated(np.repeat(turn, len(rays), axis=0), rays)
    stretches = 1.0 / rays[:, 0] if sensor.along == "axis" else np.ones(len(rays))
    place, width = _triple(sensor.mount.position_body_m), sensor.width
    numbers = [f"{pixel // width}_{pixel % width}" for pixel in range(len(rays))]
    return [
        _Ray(vehicle, place, _plain(look), float(far), f"{read}depth_{n}_m", f"{read}valid_{n}")
        for look, far, n in zip(looks, stretches, numbers, strict=True)
    ]


def _camera_field(vehicle: int, sensor: Camera | Marker | RangeCamera) -> _Field:
    wide = float(np.tan(0.5 * float(sensor.horizontal_field_of_view_rad)))
    high = wide * float(sensor.height) / float(sensor.width)
    stabilised = getattr(sensor, "gimbal", "fixed") == "stabilised"
    return _Field(vehicle, sensor.mount, stabilised, wide, high)


def _looks(sensor: Any) -> list[Direction]:
    return [_triple(look) for look in sensor.looks_body()]


def _triple(vector: Any) -> Direction:
    return float(vector.x), float(vector.y), float(vector.z)


def _plain(row: np.ndarray) -> Direction:
    x, y, z = row.tolist()
    return x, y, z
