"""Start positions: default on the landing gear, and checks for an immediate loss."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice, product
from math import cos, dist, isfinite, sin
from typing import Any, NamedTuple, TypeAlias, TypeVar

import jax
import numpy as np
from jaxtyping import Float64

from kittiwake.contact.deck import Deck
from kittiwake.core.copies import distinct, replicate_with
from kittiwake.core.kinematics import Start
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.dynamics import AbstractDynamics
from kittiwake.interfaces.vehicle import AssembledVehicle
from kittiwake.world.ray import Nearest
from kittiwake.world.world import NEAREST_OBSTACLE, WorldModel

# feet deeper in the ground than this would be thrown out of it
MAX_DEPTH_M = 0.01
# maximum number of counted pairs of vehicles that are too close
MAX_PAIRS = 1000
Cell = tuple[float, ...]
# offsets from a cell to itself and its neighbors
NEIGHBORS = tuple(product((-1, 0, 1), repeat=3))
Quantity = TypeVar("Quantity")
Places: TypeAlias = Float64[np.ndarray, "vehicles 3"]


class LostStart(NamedTuple):
    """Reason for which a vehicle would be lost at the start.

    Attributes:
        vehicle: its name; empty for a message about several vehicles.
        cause: a key that is equal for similar mistakes.
        message: the reason in words.
    """

    vehicle: str
    cause: str
    message: str


def default_start(
    given: dict[str, Any], dynamics: AbstractDynamics | None, ground_z_m: Real
) -> dict[str, Any]:
    """Return a start; by default a vehicle with landing gear stands at the origin."""
    height_m = None if dynamics is None else dynamics.standing_height_m
    if height_m is None or "position_world_m" in given:
        return given
    return {"position_world_m": [0.0, 0.0, float(ground_z_m + height_m)], **given}


def shifted_positions(start: Start, offsets_m: Places) -> Places:
    """Return the positions at these offsets from a start; infinite on overflow."""
    begin = start.position_world_m
    with np.errstate(over="ignore"):
        return np.array([begin.x, begin.y, begin.z], float) + offsets_m


def lost_start_messages(
    world: WorldModel, vehicles: Mapping[str, AssembledVehicle]
) -> Iterator[str]:
    """Yield a message for each kind of loss: its first vehicle, and the number of others."""
    by_cause: dict[str, list[LostStart]] = defaultdict(list)
    for lost in lost_starts(world, vehicles):
        by_cause[lost.cause].append(lost)
    for first, *others in by_cause.values():
        more = f", and {len(others)} more like it" if others else ""
        yield f"{first.vehicle}{more}: {first.message}" if first.vehicle else first.message


def lost_starts(world: WorldModel, vehicles: Mapping[str, AssembledVehicle]) -> Iterator[LostStart]:
    """Yield the reason for each vehicle that would be lost at the start."""
    positions_m = _position_rows(_positions(vehicles))
    yield from _outside([*vehicles], positions_m, world)
    yield from _below_ground(vehicles, positions_m, world)
    yield from _below_decks(vehicles)
    if world.obstacles and vehicles:
        yield from _in_obstacles(vehicles, world)
    if world.collision_distance_m:
        yield from _too_close(vehicles, float(world.collision_distance_m))


def _of_dynamics(
    vehicles: Mapping[str, AssembledVehicle], quantity: Callable[[AbstractDynamics], Quantity]
) -> dict[str, Quantity]:
    """Return a quantity of each vehicle's dynamics, computed once for each shared object."""
    every = [vehicle.dynamics for vehicle in vehicles.values()]
    known = {key: quantity(one) for key, one in distinct(every).items()}
    return {name: known[id(one)] for name, one in zip(vehicles, every, strict=True)}


def _positions(vehicles: Mapping[str, AssembledVehicle]) -> list[Vec3]:
    return [vehicle.start.position_world_m for vehicle in vehicles.values()]


def _position_rows(positions_m: Sequence[Vec3]) -> Places:
    columns = [[getattr(place, axis) for place in positions_m] for axis in "xyz"]
    return np.array(columns, float).T.reshape(-1, 3)


def _outside(names: Sequence[str], positions_m: Places, world: WorldModel) -> Iterator[LostStart]:
    """Yield the vehicles that start outside the flight area, in order."""
    if not names:
        return
    limits = world.area.limits(Vec3.of(positions_m[0].tolist()))
    low, high = (
        np.array([getattr(limit, end) for limit in limits], float) for end in ("low", "high")
    )
    left = ~((low <= positions_m) & (positions_m <= high))
    values = (positions_m[gone, axis].tolist() for axis, gone in enumerate(left.T))
    violated = [
        iter(replicate_with(limit, value=own)) for limit, own in zip(limits, values, strict=True)
    ]
    for vehicle, axis in np.argwhere(left).tolist():
        limit = next(violated[axis])
        yield LostStart(names[vehicle], limit.key, f"it starts where {limit.violation()}")


def _below_ground(
    vehicles: Mapping[str, AssembledVehicle], positions_m: Places, world: WorldModel
) -> Iterator[LostStart]:
    heights = _of_dynamics(vehicles, lambda dynamics: dynamics.standing_height_m)
    for (name, height_m), z_m in zip(heights.items(), positions_m[:, 2].tolist(), strict=True):
        if height_m is None:
            continue
        stands_z_m = world.ground_z_m + height_m
        below_m = stands_z_m - z_m
        if below_m > MAX_DEPTH_M:
            message = (
                f"its feet start {below_m:.3g} m below the ground (world.ground_z_m); "
                f"it stands at a z of {stands_z_m:.6g}"
            )
            yield LostStart(name, f"ground {height_m}", message)


def _below_decks(vehicles: Mapping[str, AssembledVehicle]) -> Iterator[LostStart]:
    decks = _of_dynamics(vehicles, lambda dynamics: dynamics.deck)
    flying = {name: vehicle for name, vehicle in vehicles.items() if decks[name] is None}
    if not 0 < len(flying) < len(vehicles):
        return
    starts_m = _position_rows(_positions(flying))
    for name, deck in decks.items():
        if deck is not None:
            yield from _below_deck(name, vehicles[name], deck, flying, starts_m)


def _below_deck(
    name: str,
    vessel: AssembledVehicle,
    deck: Deck,
    flying: Mapping[str, AssembledVehicle],
    starts_m: Places,
) -> Iterator[LostStart]:
    """Yield the flying vehicles that start in a vessel, below its deck."""
    place = vessel.start.position_world_m
    east, north, up = (starts_m - place.array).T
    c, s = cos(vessel.start.yaw_rad), sin(vessel.start.yaw_rad)
    ahead, aside = c * east + s * north, c * north - s * east
    center, sides = deck.center_body_m, vessel.dynamics.size_body_m
    within = np.abs(ahead - float(center.x)) <= 0.5 * float(deck.length_m)
    within &= np.abs(aside - float(center.y)) <= 0.5 * float(deck.width_m)
    within &= up > -0.5 * float(sides.z)
    names = [*flying] if within.any() else []
    for inside in np.flatnonzero(within).tolist():
        other, height_m = names[inside], float(up[inside])
        stands_m = float(center.z) + float(flying[other].dynamics.standing_height_m or 0.0)
        if stands_m - height_m > MAX_DEPTH_M:
            message = (
                f"it starts in {name}, {stands_m - height_m:.3g} m below where it would "
                f"stand on its deck; write a z of {float(place.z) + stands_m:.6g} or more"
            )
            yield LostStart(other, f"deck of {name}", message)


def _in_obstacles(
    vehicles: Mapping[str, AssembledVehicle], world: WorldModel
) -> Iterator[LostStart]:
    """Yield the vehicles whose bodies intersect an obstacle."""
    bodies = [(vehicle.start, vehicle.dynamics.size_body_m) for vehicle in vehicles.values()]
    together = jax.tree.map(lambda *leaves: np.array(leaves, float), bodies[0], *bodies[1:])

    @jax.jit
    @jax.vmap
    def nearest(start: Start, size_body_m: Vec3) -> Nearest:
        return world.nearest(start.kinematics(), size_body_m)

    with jax.enable_x64(True):  # noqa: FBT003  JAX's own
        found = nearest(*together)
    for name, left_m, index in zip(
        vehicles, found.distance_m.tolist(), found.index.tolist(), strict=True
    ):
        if not left_m >= 0.0:
            obstacle = world.obstacle_called(index)
            message = f"it starts where {NEAREST_OBSTACLE} = {left_m:.6g} is not at least 0"
            yield LostStart(name, obstacle, f"{message} ({obstacle})")


def _too_close(vehicles: Mapping[str, AssembledVehicle], distance_m: float) -> Iterator[LostStart]:
    starts_m = dict(zip(vehicles, _positions(vehicles), strict=True))
    pairs = [*islice(near_pairs(starts_m, distance_m), MAX_PAIRS)]
    for one, other, apart_m in pairs[:1]:
        several = "" if len(pairs) < MAX_PAIRS else " or more"
        more = f", and so do {len(pairs) - 1}{several} other pairs" if len(pairs) > 1 else ""
        message = (
            f"{one} and {other} start {apart_m:.6g} m apart, which is not at least "
            f"{distance_m:g} (world.collision_distance_m){more}"
        )
        yield LostStart("", "collision distance", message)


def near_pairs(
    positions_m: Mapping[str, Vec3], distance_m: float
) -> Iterator[tuple[str, str, float]]:
    """Yield each pair closer than a distance, with the distance between them.

    Positions are sorted into cells as wide as the distance, so that a neighbor is in the same cell
    or in an adjacent one.
    """
    cells: dict[Cell, list[tuple[str, list[float]]]] = defaultdict(list)
    here_m = _position_rows([*positions_m.values()])
    with np.errstate(over="ignore"):
        own = np.floor(here_m / distance_m)
    for name, position_m, cell in zip(
        positions_m, here_m.tolist(), map(tuple, own.tolist()), strict=True
    ):
        if not all(map(isfinite, cell)):
            continue  # overflowed, so it is far from all others
        x, y, z = cell
        for i, j, k in NEIGHBORS:
            for other, there_m in cells.get((x + i, y + j, z + k), ()):
                apart_m = dist(position_m, there_m)
                if apart_m < distance_m:
                    yield other, name, apart_m
        cells[cell].append((name, position_m))
