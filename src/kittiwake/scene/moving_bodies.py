"""Moving bodies of a flight in batches of equal meshes: bodies, rotors, rudders, heads and decks.

Rotors are drawn at speeds proportional to their own, with ``SHOWN_RADPS`` at full speed, because
frames would alias their true speed. Their angles are integrated from frame to frame; after a jump
in time they continue from the previous angle.
"""

from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float
from typing_extensions import TypeVar

from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.dynamics import AbstractDynamics
from kittiwake.interfaces.head import AbstractHead
from kittiwake.interfaces.vehicle import AssembledVehicle
from kittiwake.rendering.airframe import Airframe, airframe_meshes, airframe_of, rotor_meshes
from kittiwake.rendering.colored_mesh import ColoredMesh
from kittiwake.rendering.head import head_mesh
from kittiwake.rendering.hull import Vessel, propeller_mesh, rudder_mesh, vessel_meshes, vessel_of
from kittiwake.rendering.parts import BodyPart, Poses
from kittiwake.rendering.rotation import about, composed, rotated
from kittiwake.scene.decks import Decks
from kittiwake.scene.scene_state import FlightInfo, SceneState
from kittiwake.scene.selection import STATE, Selection

X, Y, Z = 0, 1, 2
# drawn speed of a rotor at full speed
SHOWN_RADPS = 24.0
# a longer interval between two frames counts as a jump
MAX_INTERVAL_S = 0.2
# for models that log only their thrust: relative rotor speed in hover, and largest thrust relative
# to the weight that counts as off
HOVER_SHARE, OFF_SHARE = 0.6, 0.05
# larger fleets have no rotor discs, which would cost bandwidth without being visible
MAX_WITH_DISCS = 200

Position = tuple[float, float, float]

Found = TypeVar("Found", Vessel, Airframe)


class MovingBodies:
    """Moving bodies of a flight and their poses in each frame."""

    def __init__(self, flight: FlightInfo) -> None:
        self._flight = flight
        batches = _Batches(flight)
        for number, (name, vehicle) in enumerate(flight.scenario.vehicles.items()):
            _add_vehicle(batches, number, name, vehicle)
        self._batches = [batch.to_arrays() for batch in batches.batches.values()]
        names = tuple(flight.scenario.vehicles)
        self._names = names
        self._selection = Selection(flight, names, batches.columns)
        # before its first row a vehicle is at its start
        starts = [vehicle.start.kinematics() for vehicle in flight.scenario.vehicles.values()]
        self._last = np.array(
            [[*_numbers(k.position_world_m, "xyz"), *_numbers(k.q_world_from_body, "wxyz")]
             for k in starts]
        )  # fmt: skip
        self._time_s: float | None = None
        self._decks = Decks(flight.scenario.world.platforms)
        self.parts: tuple[BodyPart, ...] = (
            *(
                BodyPart(
                    one.name, one.mesh, len(one.vehicles), tuple(names[i] for i in one.vehicles)
                )
                for one in self._batches
            ),
            *self._decks.parts,
        )

    @property
    def positions_world_m(self) -> Float[np.ndarray, "vehicles 3"]:
        """Last known positions of the vehicles, in the order of the scenario."""
        return self._last[:, :3]

    def poses(self, scene_state: SceneState) -> list[Poses]:
        """Return the poses of all parts, in the order of ``parts``."""
        values = self._selection.of(scene_state)
        state = values[:, : len(STATE)]
        known = np.isfinite(state).all(axis=1)
        self._last[known] = state[known]
        position, q = self._last[:, :3], self._last[:, 3:]
        elapsed_s = 0.0 if self._time_s is None else scene_state.time_s - self._time_s
        elapsed_s = min(max(elapsed_s, 0.0), MAX_INTERVAL_S)
        self._time_s = scene_state.time_s
        poses = [batch.poses(position, q, values, elapsed_s) for batch in self._batches]
        return poses + self._decks.poses(scene_state.time_s)


class _JointRotation(NamedTuple):
    """Rotation of a part in its vehicle: an axis, and a log column times a factor.

    ``spinning``: the column is a speed, not an angle; with a ``weight_n`` it is the total thrust.
    """

    axis: int
    column: str
    factor: float
    spinning: bool = False
    weight_n: float = 0.0
    initial_rad: float = 0.0


class _Batch:
    """Instances of a mesh, collected before the flight."""

    def __init__(self, name: str, mesh: ColoredMesh) -> None:
        self.name, self.mesh = name, mesh
        self.vehicles: list[int] = []
        self.positions: list[Position] = []
        self.joints: list[tuple[_JointRotation, ...]] = []
        self.columns: list[tuple[int, ...]] = []

    def to_arrays(self) -> "_BatchArrays":
        """Return the batch with arrays."""
        return _BatchArrays(self)


class _BatchArrays:
    """Batch with arrays and the current joint angles."""

    def __init__(self, batch: _Batch) -> None:
        self.name, self.mesh = batch.name, batch.mesh
        self.vehicles = np.array(batch.vehicles, int)
        self._positions = np.array(batch.positions, float)
        # all instances of a mesh have the same joints
        self._joints: list[tuple[int, bool, np.ndarray, np.ndarray, np.ndarray]] = []
        self._angles: list[np.ndarray] = []
        for index, joint in enumerate(batch.joints[0]):
            joints = [one[index] for one in batch.joints]
            columns = np.array([one[index] for one in batch.columns], int)
            factors = np.array([one.factor for one in joints])
            weights = np.array([one.weight_n for one in joints])
            self._joints.append((joint.axis, joint.spinning, columns, factors, weights))
            self._angles.append(np.array([one.initial_rad for one in joints]))

    def poses(
        self, position: np.ndarray, q: np.ndarray, values: np.ndarray, elapsed_s: float
    ) -> Poses:
        """Return the poses of the instances from the poses of their vehicles."""
        q_part, positions = q[self.vehicles], position[self.vehicles]
        if self._positions.any():
            positions = positions + rotated(q_part, self._positions)
        for number, (axis, spinning, columns, factors, weights) in enumerate(self._joints):
            values_of_column = np.nan_to_num(values[self.vehicles, columns])
            if spinning:
                if weights.any():
                    values_of_column = _speed_share(values_of_column, weights)
                self._angles[number] += values_of_column * factors * elapsed_s
                self._angles[number] %= 2.0 * np.pi
            else:
                self._angles[number] = values_of_column * factors
            q_part = composed(q_part, about(axis, self._angles[number]))
        return Poses(positions, q_part)


def _speed_share(thrust_n: np.ndarray, weight_n: np.ndarray) -> np.ndarray:
    """Return the relative rotor speed by the total thrust."""
    ratio = thrust_n / weight_n
    return np.where(ratio > OFF_SHARE, HOVER_SHARE * np.sqrt(np.maximum(ratio, 0.0)), 0.0)


class _Batches:
    """Batches by key, and the log columns that they require."""

    def __init__(self, flight: FlightInfo) -> None:
        self.columns: list[str] = list(STATE)
        self.batches: dict[tuple[Hashable, str], _Batch] = {}
        self.gravity_mps2 = float(flight.scenario.world.gravity_mps2)
        self.layouts = flight.columns
        # vehicles of one entry share a model, whose shape is computed once
        self._shapes: dict[tuple[int, str], Any] = {}
        self._column_indices: dict[str, int] = {name: i for i, name in enumerate(STATE)}

    def shape(self, dynamics: AbstractDynamics, find: Callable[[AbstractDynamics], Found]) -> Found:
        """Return the cached result of ``find`` for a model."""
        key = id(dynamics), find.__name__
        if key not in self._shapes:
            self._shapes[key] = find(dynamics)
        return self._shapes[key]

    def add(
        self,
        key: Hashable,
        named_mesh: tuple[str, ColoredMesh],
        vehicle: int,
        position: Position = (0.0, 0.0, 0.0),
        joints: tuple[_JointRotation, ...] = (),
    ) -> None:
        """Add an instance of a mesh to the batch of a key."""
        name, mesh = named_mesh
        if (key, name) not in self.batches:
            taken = {batch.name for batch in self.batches.values()}
            self.batches[key, name] = _Batch(_unique_name(name, taken), mesh)
        batch = self.batches[key, name]
        batch.vehicles.append(vehicle)
        batch.positions.append(position)
        batch.joints.append(joints)
        batch.columns.append(tuple(self._column(joint.column) for joint in joints))

    def _column(self, name: str) -> int:
        if name not in self._column_indices:
            self._column_indices[name] = len(self.columns)
            self.columns.append(name)
        return self._column_indices[name]


def _unique_name(name: str, taken: set[str]) -> str:
    number, unique = 1, name
    while unique in taken:
        number += 1
        unique = f"{name} {number}"
    return unique


def _add_vehicle(batches: _Batches, number: int, name: str, vehicle: AssembledVehicle) -> None:
    if vehicle.dynamics.is_vessel:
        _add_vessel(batches, number, vehicle)
    else:
        _add_airframe(batches, number, name, vehicle)
    for sensor_name, scheduled in vehicle.sensors.items():
        sensor = scheduled.component.sensor
        if isinstance(sensor, AbstractHead):
            x, y, z = _numbers(sensor.position_body_m, "xyz")
            prefix = f"sensor.{sensor_name}."
            joints = (
                _JointRotation(Y, f"{prefix}pitch_rad", 1.0),
                _JointRotation(Z, f"{prefix}yaw_rad", 1.0),
            )
            batches.add("head", ("head", head_mesh()), number, (x, y, z), joints)


def _add_vessel(batches: _Batches, number: int, vehicle: AssembledVehicle) -> None:
    vessel = batches.shape(vehicle.dynamics, vessel_of)
    for name, mesh in vessel_meshes(vessel):
        batches.add(vessel, (f"{vehicle.model} {name}", mesh), number)
    stern, z = vessel.stern_m
    if vessel.rudder_x_m is not None:
        position, joint = (vessel.rudder_x_m, 0.0, 0.0), (_JointRotation(Z, "act_rudder_rad", 1.0),)
        named_mesh = f"{vehicle.model} rudder", rudder_mesh(vessel)
        batches.add(vessel, named_mesh, number, position, joint)
    for side, y in zip(("left", "right"), vessel.propellers_y_m, strict=False):
        max_radps = float(getattr(vehicle.dynamics, f"{side}_propeller").max_ahead_radps)
        joint = (_JointRotation(X, f"act_{side}_radps", SHOWN_RADPS / max_radps, spinning=True),)
        named_mesh = f"{vehicle.model} propellers", propeller_mesh(vessel)
        batches.add(vessel, named_mesh, number, (stern, y, z), joint)


def _add_airframe(batches: _Batches, number: int, name: str, vehicle: AssembledVehicle) -> None:
    airframe: Airframe = batches.shape(vehicle.dynamics, airframe_of)
    for part_name, mesh in airframe_meshes(airframe):
        batches.add(airframe, (f"{vehicle.model} {part_name}", mesh), number)
    rotors, columns = airframe.rotors, batches.layouts[name]
    for i, (hub, spin) in enumerate(zip(rotors.hubs_body_m, rotors.spins, strict=True)):
        joint = _rotor_turn(vehicle.dynamics, i, spin, columns, batches.gravity_mps2)
        (_, blades), (_, disc) = rotor_meshes(rotors.radius_m, spin)
        side = "left" if spin > 0 else "right"
        key = rotors.radius_m, spin
        batches.add(key, (f"{vehicle.model} rotors {side}", blades), number, hub, (joint,))
        if len(batches.layouts) <= MAX_WITH_DISCS:
            batches.add(key, (f"{vehicle.model} discs {side}", disc), number, hub)


def _rotor_turn(
    dynamics: Any,
    number: int,
    spin: int,
    columns: tuple[str, ...],
    gravity_mps2: float,
) -> _JointRotation:
    """Return the rotation of a rotor by its logged speed, or else by the total thrust."""
    initial_rad = 0.9 * number
    own = f"act_rotor_{number}_radps"
    if own in columns:
        max_radps = float(dynamics.rotor.speed_range_radps[1])
        return _JointRotation(
            Z, own, spin * SHOWN_RADPS / max_radps, spinning=True, initial_rad=initial_rad
        )
    weight_n = float(getattr(dynamics, "mass_kg", 1.0)) * gravity_mps2
    factor = spin * SHOWN_RADPS
    return _JointRotation(
        Z,
        "act_thrust_n",
        factor,
        spinning=True,
        weight_n=max(weight_n, 1e-3),
        initial_rad=initial_rad,
    )


def _numbers(vector: Vec3 | Quaternion, axes: str) -> list[float]:
    return [float(getattr(vector, axis)) for axis in axes]
