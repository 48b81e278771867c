"""Sensor beams: sonar cones, light beams and camera fields of view.

A cone ends at the measured range, or at the maximum range. It is bright while its sensor measures
and receives an echo, and faint while it waits for its turn. Chosen: the opening angle of sensors
that are modeled as a line, and the length of camera frustums.
"""

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from kittiwake.core.columns import axis_column
from kittiwake.core.measurements import HeightMeasurement
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.beam import Beam, FieldOfView
from kittiwake.interfaces.sensor import AbstractSensor
from kittiwake.rendering.colored_mesh import ColoredMesh
from kittiwake.rendering.rotation import about, composed, from_x_to, rotated, yaws_rad
from kittiwake.rendering.shapes import Shape, revolved
from kittiwake.scene.moving_bodies import Poses
from kittiwake.scene.scene_state import FlightInfo, SceneState
from kittiwake.scene.selection import STATE, Selection

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


class Cones(NamedTuple):
    """Poses, scales, colors and opacities of unit cones."""

    poses: Poses
    scales: Float[np.ndarray, "n 3"]
    rgb: Int[np.ndarray, "n 3"]
    opacities: Float[np.ndarray, " n"]


class _LoggedBeam(NamedTuple):
    """Beam of a vehicle and its log columns; an optional column is empty if missing."""

    vehicle: int
    beam: Beam
    range_column: str
    valid_column: str
    active_column: str
    pitch_column: str
    yaw_column: str


class SensorBeams:
    """Beams of all sensors of a flight."""

    def __init__(self, flight: FlightInfo) -> None:
        names = [name for name, one in flight.scenario.vehicles.items() if one.sensors]
        self._names = names[:MAX_VEHICLES]
        self._ground_m = float(flight.scenario.world.ground_z_m)
        beams: list[_LoggedBeam] = []
        self._heights: list[tuple[int, str]] = []
        self._fields: list[tuple[int, FieldOfView]] = []
        for number, vehicle in enumerate(self._names):
            logged = set(flight.columns[vehicle])
            for name, scheduled in flight.scenario.vehicles[vehicle].sensors.items():
                sensor, prefix = scheduled.component.sensor, f"sensor.{name}."
                beams += _logged_beams(number, sensor, prefix, logged)
                height = f"{prefix}height_world_m"
                if issubclass(sensor.measures, HeightMeasurement) and height in logged:
                    self._heights.append((number, height))
                if (field := sensor.field_of_view()) is not None:
                    self._fields.append((number, field))
        self._cones = [one for one in beams if one.beam.sound]
        rays = [one for one in beams if not one.beam.sound]
        self._rays = rays[:: max(1, -(-len(rays) // MAX_RAYS))]
        extra = {c for one in (*self._cones, *self._rays) for c in one[2:]}
        columns = [*STATE, *sorted(extra - {""}), *sorted({c for _, c in self._heights})]
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

    def cones_at(self, scene_state: SceneState) -> Cones:
        """Return all sonar cones."""
        values, one = self._selection.of(scene_state), self._cone
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
        beam_state = np.where(echo, 0, np.where(active, 1, 2))
        half_width = length * one.tangents
        return Cones(
            Poses(
                np.nan_to_num(position + rotated(q, one.positions)),
                np.nan_to_num(composed(q, turn)),
            ),
            np.column_stack([length, half_width, half_width]),
            np.array([ECHO_RGB, SILENT_RGB, WAITING_RGB], np.uint8)[beam_state],
            np.array([ECHO_OPACITY, SILENT_OPACITY, WAITING_OPACITY])[beam_state],
        )

    def ray_segments(self, scene_state: SceneState) -> Segments:
        """Return light beams and altimeter heights; zero length without a valid measurement."""
        values, one = self._selection.of(scene_state), self._ray
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

    def field_segments(self, scene_state: SceneState) -> Float[np.ndarray, "pieces 2 3"]:
        """Return the edges of the camera frustums, eight per camera."""
        values = self._selection.of(scene_state)
        pieces = [_frustum(field, values[vehicle]) for vehicle, field in self._fields]
        return np.nan_to_num(np.array(pieces).reshape(-1, 2, 3))

    def _ground_below(self, values: np.ndarray, vehicle: int, column: int) -> float:
        """Return the ground height by an altimeter, which measures the height in world axes."""
        return float(values[vehicle, 2] - (values[vehicle, column] - self._ground_m))


def _frustum(field: FieldOfView, row: np.ndarray) -> np.ndarray:
    """Return the edges of a camera's frustum."""
    q = row[None, 3:7]
    q_view = about(Z, yaws_rad(q)) if field.stabilised else q
    own = field.q_body_from_camera
    turn = composed(q_view, np.array([[float(own.w), float(own.x), float(own.y), float(own.z)]]))
    apex = row[:3] + rotated(q, np.array([_triple(field.position_body_m)]))[0]
    signs = np.array([(1, 1), (1, -1), (-1, -1), (-1, 1)])
    rays = np.column_stack([np.ones(4), signs * [field.half_width, field.half_height]]) * FIELD_M
    corners = apex + rotated(np.repeat(turn, 4, axis=0), rays)
    rim = [(corners[i], corners[(i + 1) % 4]) for i in range(4)]
    return np.array([*((apex, corner) for corner in corners), *rim])


class _Arrays:
    """Cones or rays as arrays, with their column indices; -1 for missing columns."""

    def __init__(self, logged: Sequence[_LoggedBeam], indices: dict[str, int]) -> None:
        def column(name: str) -> np.ndarray:
            return np.array([indices.get(getattr(one, name), -1) for one in logged], int)

        beams = [one.beam for one in logged]
        self.vehicles = np.array([one.vehicle for one in logged], int)
        positions = [_triple(beam.position_body_m) for beam in beams]
        directions = [_triple(beam.direction_body) for beam in beams]
        self.positions = np.array(positions, float).reshape(-1, 3)
        self.directions = np.array(directions, float).reshape(-1, 3)
        self.turn = from_x_to(self.directions)
        half_angles = [0.5 * float(beam.opening_rad) or LINE_HALF_ANGLE_RAD for beam in beams]
        self.tangents = np.tan(np.array(half_angles, float))
        self.stretches = np.array([beam.stretch for beam in beams], float)
        self._range, self._valid = column("range_column"), column("valid_column")
        self._active = column("active_column")
        self.pitch, self.yaw = column("pitch_column"), column("yaw_column")

    def read(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the measured values and masks of valid and of active sensors."""
        measured = values[self.vehicles, self._range]
        valid = values[self.vehicles, self._valid] > 0.0
        active = (self._active < 0) | (values[self.vehicles, self._active] > 0.0)
        return measured, valid, active


def cone_mesh() -> ColoredMesh:
    """Return a cone from the origin along x, with height and base radius of 1 m."""
    profile = np.array([(0.0, 0.0), (1e-3, 1e-3), (1.0, 1.0), (0.0, 1.0)])
    upright = revolved(profile, CONE_SECTIONS)
    return Shape(upright.vertices_m[:, [2, 0, 1]], upright.faces).colored(ECHO_RGB, ECHO_OPACITY)


def _logged_beams(
    vehicle: int, sensor: AbstractSensor, prefix: str, logged: Collection[str]
) -> list[_LoggedBeam]:
    """Return the beams of a sensor that are logged; their fields follow from the measurement."""
    beams = sensor.beam_geometry().values()
    if not beams:
        return []
    measured = next(iter(sensor.measures.quantities()))

    def column(field: str, index: str = "") -> str:
        name = prefix + (axis_column(field, index) if index else field)
        return name if name in logged else ""

    found = [
        _LoggedBeam(
            vehicle,
            beam,
            column(measured, beam.element),
            column("valid", beam.element),
            column("active", beam.element),
            column("pitch_rad"),
            column("yaw_rad"),
        )
        for beam in beams
    ]
    return [one for one in found if one.range_column and one.valid_column]


def _triple(vector: Vec3) -> tuple[float, float, float]:
    return float(vector.x), float(vector.y), float(vector.z)
