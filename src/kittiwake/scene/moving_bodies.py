"""All that moves in a flight, as batches of equal looks: bodies, rotors, rudders, heads and decks.

Rotors are shown in proportion to their speeds, at ``SHOWN_RADPS`` when they turn as fast as they
can: at their true speed an eye, or a film, would see them anywhere. Their angles go on from frame
to frame; after a jump in time they go on from where they were.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from kittiwake.interfaces.vehicle import Vehicle
from kittiwake.rendering.airframe import Airframe, airframe_looks, airframe_of, rotor_looks
from kittiwake.rendering.head import head_look
from kittiwake.rendering.hull import propeller_look, rudder_look, vessel_looks, vessel_of
from kittiwake.rendering.look import Look
from kittiwake.rendering.parts import CastPart, Poses
from kittiwake.rendering.rotation import about, composed, rotated
from kittiwake.scene.decks import Decks
from kittiwake.scene.frame import Frame, Show
from kittiwake.scene.selection import STATE, Selection
from kittiwake.sensors.ultrasonic_head import UltrasonicHead

X, Y, Z = 0, 1, 2
# of a rotor that turns as fast as it can
SHOWN_RADPS = 24.0
# a longer time between two frames counts as a jump
LONGEST_S = 0.2
# of a model that tells its thrust only: what a rotor turns at in hover, and what counts as off
HOVER_SHARE, OFF_OF_WEIGHT = 0.6, 0.05
# of larger flocks no discs are shown, which nobody would see and every browser would be sent
MOST_WITH_DISCS = 200

Place = tuple[float, float, float]


class MovingBodies:
    """Who plays in a show, and where everybody is in a frame of it."""

    def __init__(self, show: Show) -> None:
        self._show = show
        batches = _Batches(show)
        for number, (name, vehicle) in enumerate(show.scenario.vehicles.items()):
            _add_vehicle(batches, number, name, vehicle)
        self._batches = [batch.ready() for batch in batches.found.values()]
        names = tuple(show.scenario.vehicles)
        self._names = names
        self._selection = Selection(show, names, batches.columns)
        # before it is known where a vehicle is, it is where it starts
        starts = [vehicle.start.kinematics() for vehicle in show.scenario.vehicles.values()]
        self._last = np.array(
            [[*_numbers(k.position_world_m, "xyz"), *_numbers(k.q_world_from_body, "wxyz")]
             for k in starts]
        )  # fmt: skip
        self._time_s: float | None = None
        self._decks = Decks(show.scenario.world.platforms)
        self.parts: tuple[CastPart, ...] = (
            *(
                CastPart(
                    one.name, one.look, len(one.vehicles), tuple(names[i] for i in one.vehicles)
                )
                for one in self._batches
            ),
            *self._decks.parts,
        )

    def poses(self, frame: Frame) -> list[Poses]:
        """Of all parts, in their order."""
        values = self._selection.of(frame)
        state = values[:, : len(STATE)]
        known = np.isfinite(state).all(axis=1)
        self._last[known] = state[known]
        place, q = self._last[:, :3], self._last[:, 3:]
        elapsed_s = 0.0 if self._time_s is None else frame.time_s - self._time_s
        elapsed_s = min(max(elapsed_s, 0.0), LONGEST_S)
        self._time_s = frame.time_s
        of_vehicles = [batch.poses(place, q, values, elapsed_s) for batch in self._batches]
        return of_vehicles + self._decks.poses(frame.time_s)


class _JointRotation(NamedTuple):
    """How a part turns in its vehicle: about an axis, by columns and what they are multiplied with.

    ``spinning``: the column says how fast, not how far; or the thrust of all, if there is a weight
    to compare it with.
    """

    axis: int
    column: str
    factor: float
    spinning: bool = False
    of_weight_n: float = 0.0
    begun_rad: float = 0.0


class _Batch:
    """Instances of a look while they are gathered."""

    def __init__(self, name: str, look: Look) -> None:
        self.name, self.look = name, look
        self.vehicles: list[int] = []
        self.places: list[Place] = []
        self.turns: list[tuple[_JointRotation, ...]] = []
        self.columns: list[tuple[int, ...]] = []

    def ready(self) -> "_Ready":
        """As arrays."""
        return _Ready(self)


class _Ready:
    """The same with arrays, and the angles of what spins."""

    def __init__(self, batch: _Batch) -> None:
        self.name, self.look = batch.name, batch.look
        self.vehicles = np.array(batch.vehicles, int)
        self._places = np.array(batch.places, float)
        # a batch is of one look, and so of one kind of turning
        self._steps: list[tuple[int, bool, np.ndarray, np.ndarray, np.ndarray]] = []
        self._angles: list[np.ndarray] = []
        for level, turn in enumerate(batch.turns[0]):
            turns = [one[level] for one in batch.turns]
            columns = np.array([one[level] for one in batch.columns], int)
            factors = np.array([one.factor for one in turns])
            weights = np.array([one.of_weight_n for one in turns])
            self._steps.append((turn.axis, turn.spinning, columns, factors, weights))
            self._angles.append(np.array([one.begun_rad for one in turns]))

    def poses(
        self, place: np.ndarray, q: np.ndarray, values: np.ndarray, elapsed_s: float
    ) -> Poses:
        """Carried by their vehicles."""
        turned, where = q[self.vehicles], place[self.vehicles]
        if self._places.any():
            where = where + rotated(turned, self._places)
        for number, (axis, spinning, columns, factors, weights) in enumerate(self._steps):
            told = np.nan_to_num(values[self.vehicles, columns])
            if spinning:
                if weights.any():
                    told = _speed_share(told, weights)
                self._angles[number] += told * factors * elapsed_s
                self._angles[number] %= 2.0 * np.pi
            else:
                self._angles[number] = told * factors
            turned = composed(turned, about(axis, self._angles[number]))
        return Poses(where, turned)


def _speed_share(thrust_n: np.ndarray, weight_n: np.ndarray) -> np.ndarray:
    """What a rotor turns at, of its fastest, where only the thrust of all is told."""
    ratio = thrust_n / weight_n
    return np.where(ratio > OFF_OF_WEIGHT, HOVER_SHARE * np.sqrt(np.maximum(ratio, 0.0)), 0.0)


class _Batches:
    """All batches by what they show, and the columns that they need."""

    def __init__(self, show: Show) -> None:
        self.columns: list[str] = list(STATE)
        self.found: dict[Any, _Batch] = {}
        self.gravity_mps2 = float(show.scenario.world.gravity_mps2)
        self.layouts = show.columns
        # vehicles of one entry share a model, whose shape is looked up once
        self._shapes: dict[tuple[int, str], Any] = {}
        self._places: dict[str, int] = {name: place for place, name in enumerate(STATE)}

    def shape(self, dynamics: Any, find: Callable[[Any], Any]) -> Any:
        """What ``find`` makes of a model."""
        key = id(dynamics), find.__name__
        if key not in self._shapes:
            self._shapes[key] = find(dynamics)
        return self._shapes[key]

    def add(
        self,
        key: Any,
        look: tuple[str, Look],
        vehicle: int,
        place: Place = (0.0, 0.0, 0.0),
        turns: tuple[_JointRotation, ...] = (),
    ) -> None:
        """One more instance of what is shown under a key."""
        name, what = look
        if (key, name) not in self.found:
            used = {batch.name for batch in self.found.values()}
            self.found[key, name] = _Batch(_free(name, used), what)
        batch = self.found[key, name]
        batch.vehicles.append(vehicle)
        batch.places.append(place)
        batch.turns.append(turns)
        batch.columns.append(tuple(self._column(turn.column) for turn in turns))

    def _column(self, name: str) -> int:
        if name not in self._places:
            self._places[name] = len(self.columns)
            self.columns.append(name)
        return self._places[name]


def _free(name: str, used: set[str]) -> str:
    number, found = 1, name
    while found in used:
        number += 1
        found = f"{name} {number}"
    return found


def _add_vehicle(batches: _Batches, number: int, name: str, vehicle: Vehicle) -> None:
    if vehicle.dynamics.floats:
        _add_vessel(batches, number, vehicle)
    else:
        _add_airframe(batches, number, name, vehicle)
    for sensor_name, scheduled in vehicle.sensors.items():
        sensor = scheduled.component.sensor
        if isinstance(sensor, UltrasonicHead):
            x, y, z = _numbers(sensor.position_body_m, "xyz")
            read = f"sensor.{sensor_name}."
            turns = (
                _JointRotation(Y, f"{read}pitch_rad", 1.0),
                _JointRotation(Z, f"{read}yaw_rad", 1.0),
            )
            batches.add("head", ("head", head_look()), number, (x, y, z), turns)


def _add_vessel(batches: _Batches, number: int, vehicle: Vehicle) -> None:
    vessel = batches.shape(vehicle.dynamics, vessel_of)
    for name, look in vessel_looks(vessel):
        batches.add(vessel, (f"{vehicle.model} {name}", look), number)
    stern, deep = vessel.stern_m
    if vessel.rudder_x_m is not None:
        place, turn = (vessel.rudder_x_m, 0.0, 0.0), (_JointRotation(Z, "act_rudder_rad", 1.0),)
        look = f"{vehicle.model} rudder", rudder_look(vessel)
        batches.add(vessel, look, number, place, turn)
    for side, y in zip(("left", "right"), vessel.propellers_y_m, strict=False):
        fastest = float(getattr(vehicle.dynamics, f"{side}_propeller").max_ahead_radps)
        turn = (_JointRotation(X, f"act_{side}_radps", SHOWN_RADPS / fastest, spinning=True),)
        look = f"{vehicle.model} propellers", propeller_look(vessel)
        batches.add(vessel, look, number, (stern, y, deep), turn)


def _add_airframe(batches: _Batches, number: int, name: str, vehicle: Vehicle) -> None:
    airframe: Airframe = batches.shape(vehicle.dynamics, airframe_of)
    for look_name, look in airframe_looks(airframe):
        batches.add(airframe, (f"{vehicle.model} {look_name}", look), number)
    rotors, columns = airframe.rotors, batches.layouts[name]
    for i, (hub, spin) in enumerate(zip(rotors.hubs_body_m, rotors.spins, strict=True)):
        turn = _rotor_turn(vehicle.dynamics, i, spin, columns, batches.gravity_mps2)
        (_, blades), (_, disc) = rotor_looks(rotors.radius_m, spin)
        side = "left" if spin > 0 else "right"
        key = rotors.radius_m, spin
        batches.add(key, (f"{vehicle.model} rotors {side}", blades), number, hub, (turn,))
        if len(batches.layouts) <= MOST_WITH_DISCS:
            batches.add(key, (f"{vehicle.model} discs {side}", disc), number, hub)


def _rotor_turn(
    dynamics: Any, number: int, spin: int, columns: tuple[str, ...], gravity_mps2: float
) -> _JointRotation:
    """By its own speed if that is told, else by the thrust of all."""
    begun = 0.9 * number
    own = f"act_rotor_{number}_radps"
    if own in columns:
        fastest = float(dynamics.rotor.speed_range_radps[1])
        return _JointRotation(Z, own, spin * SHOWN_RADPS / fastest, spinning=True, begun_rad=begun)
    weight_n = float(getattr(dynamics, "mass_kg", 1.0)) * gravity_mps2
    turning = spin * SHOWN_RADPS
    return _JointRotation(Z, "act_thrust_n", turning, True, max(weight_n, 1e-3), begun)  # noqa: FBT003


def _numbers(vector: Any, axes: str) -> list[float]:
    return [float(getattr(vector, axis)) for axis in axes]
