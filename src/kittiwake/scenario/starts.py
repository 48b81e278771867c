"""Where vehicles start: on their feet by default, and not where they would be lost at once."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice, product
from math import cos, dist, isfinite, sin
from typing import Any, NamedTuple, TypeAlias, TypeVar

import jax
import numpy as np
from jaxtyping import Float64

from kittiwake.contact.deck import Deck
from kittiwake.core.copies import replicate_with
from kittiwake.core.kinematics import Start
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.dynamics import AbstractDynamics
from kittiwake.interfaces.vehicle import Vehicle
from kittiwake.world.ray import Nearest
from kittiwake.world.world import NEAREST_OBSTACLE, World

# feet that start deeper in the ground would be thrown out of it
MAX_DEPTH_M = 0.01
# of vehicles too near to each other, that are counted
MAX_PAIRS = 1000
Cell = tuple[float, ...]
# from a cell to itself and to those that touch it
AROUND = tuple(product((-1, 0, 1), repeat=3))
Found = TypeVar("Found")
Places: TypeAlias = Float64[np.ndarray, "vehicles 3"]


class LostStart(NamedTuple):
    """Why a vehicle would be lost before it has moved.

    Attributes:
        vehicle: its name; empty for a sentence about several.
        kind: is equal for equal mistakes.
        said: the sentence.
    """

    vehicle: str
    kind: str
    said: str


def placed(
    given: dict[str, Any], dynamics: AbstractDynamics | None, ground_z_m: Real
) -> dict[str, Any]:
    """A start as it is given; without a position, a vehicle with feet stands at the origin."""
    height_m = None if dynamics is None else dynamics.standing_height_m
    if height_m is None or "position_world_m" in given:
        return given
    return {"position_world_m": [0.0, 0.0, float(ground_z_m + height_m)], **given}


def shifted(start: Start, ways_m: Places) -> Places:
    """Where starts lie that are so far away from one; infinity where that is beyond all numbers."""
    begin = start.position_world_m
    with np.errstate(over="ignore"):
        return np.array([begin.x, begin.y, begin.z], float) + ways_m


def lost_sentences(world: World, vehicles: Mapping[str, Vehicle]) -> Iterator[str]:
    """Return a sentence for each way to be lost at the start: the first vehicle, how many more."""
    alike: dict[str, list[LostStart]] = defaultdict(list)
    for lost in lost_starts(world, vehicles):
        alike[lost.kind].append(lost)
    for first, *others in alike.values():
        more = f", and {len(others)} more like it" if others else ""
        yield f"{first.vehicle}{more}: {first.said}" if first.vehicle else first.said


def lost_starts(world: World, vehicles: Mapping[str, Vehicle]) -> Iterator[LostStart]:
    """Return why each vehicle that would be lost before it has moved would be so."""
    places_m = _places_m({name: v.start.position_world_m for name, v in vehicles.items()})
    yield from _outside([*vehicles], places_m, world)
    yield from _sunk(vehicles, places_m, world)
    yield from _in_vessels(vehicles)
    if world.obstacles and vehicles:
        yield from _inside(vehicles, world)
    if world.collision_distance_m:
        yield from _touching(vehicles, float(world.collision_distance_m))


def _of_dynamics(
    vehicles: Mapping[str, Vehicle], quantity: Callable[[AbstractDynamics], Found]
) -> dict[str, Found]:
    """A quantity of each vehicle's dynamics, asked once of those that are one object."""
    every = {name: vehicle.dynamics for name, vehicle in vehicles.items()}
    known = {key: quantity(one) for key, one in {id(one): one for one in every.values()}.items()}
    return {name: known[id(one)] for name, one in every.items()}


def _places_m(places_m: Mapping[str, Vec3]) -> Places:
    rows = [(place_m.x, place_m.y, place_m.z) for place_m in places_m.values()]
    return np.array(rows, float).reshape(-1, 3)


def _outside(names: Sequence[str], places_m: Places, world: World) -> Iterator[LostStart]:
    """Those that are not in the area, in order."""
    if not names:
        return
    limits = world.area.limits(Vec3.of(places_m[0].tolist()))
    low, high = (
        np.array([getattr(limit, end) for limit in limits], float) for end in ("low", "high")
    )
    left = ~((low <= places_m) & (places_m <= high))
    values = (places_m[gone, axis].tolist() for axis, gone in enumerate(left.T))
    violated = [replicate_with(*one) for one in zip(limits, ["value"] * 3, values, strict=True)]
    for vehicle, axis in np.argwhere(left).tolist():
        limit = next(violated[axis])
        yield LostStart(names[vehicle], limit.key, f"it starts where {limit.violation()}")


def _sunk(vehicles: Mapping[str, Vehicle], places_m: Places, world: World) -> Iterator[LostStart]:
    heights = _of_dynamics(vehicles, lambda dynamics: dynamics.standing_height_m)
    for (name, height_m), z_m in zip(heights.items(), places_m[:, 2].tolist(), strict=True):
        if height_m is None:
            continue
        stands_z_m = world.ground_z_m + height_m
        below_m = stands_z_m - z_m
        if below_m > MAX_DEPTH_M:
            said = (
                f"its feet start {below_m:.3g} m below the ground (world.ground_z_m); "
                f"it stands at a z of {stands_z_m:.6g}"
            )
            yield LostStart(name, f"ground {height_m}", said)


def _in_vessels(vehicles: Mapping[str, Vehicle]) -> Iterator[LostStart]:
    decks = _of_dynamics(vehicles, lambda dynamics: dynamics.deck)
    flying = {name: vehicle for name, vehicle in vehicles.items() if decks[name] is None}
    if not 0 < len(flying) < len(vehicles):
        return
    starts_m = _places_m({name: v.start.position_world_m for name, v in flying.items()})
    for name, deck in decks.items():
        if deck is not None:
            yield from _in_vessel(name, vehicles[name], deck, flying, starts_m)


def _in_vessel(
    name: str, vessel: Vehicle, deck: Deck, flying: Mapping[str, Vehicle], starts_m: Places
) -> Iterator[LostStart]:
    """Those that fly and start in a vessel, below its deck."""
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
            said = (
                f"it starts in {name}, {stands_m - height_m:.3g} m below where it would "
                f"stand on its deck; write a z of {float(place.z) + stands_m:.6g} or more"
            )
            yield LostStart(other, f"deck of {name}", said)


def _inside(vehicles: Mapping[str, Vehicle], world: World) -> Iterator[LostStart]:
    """Those whose bodies reach into an obstacle."""
    bodies = [(vehicle.start, vehicle.dynamics.size_body_m) for vehicle in vehicles.values()]
    together = jax.tree.map(lambda *leaves: np.array(leaves, float), bodies[0], *bodies[1:])

    @jax.jit
    @jax.vmap
    def nearest(start: Start, size_body_m: Vec3) -> Nearest:
        return world.nearest(start.kinematics(), size_body_m)

    with jax.enable_x64(True):  # noqa: FBT003  JAX's own
        found = nearest(*together)
    for name, left_m, number in zip(
        vehicles, found.distance_m.tolist(), found.place.tolist(), strict=True
    ):
        if not left_m >= 0.0:
            obstacle = world.obstacle_called(number)
            said = f"it starts where {NEAREST_OBSTACLE} = {left_m:.6g} is not at least 0"
            yield LostStart(name, obstacle, f"{said} ({obstacle})")


def _touching(vehicles: Mapping[str, Vehicle], distance_m: float) -> Iterator[LostStart]:
    starts_m = {name: vehicle.start.position_world_m for name, vehicle in vehicles.items()}
    pairs = [*islice(near_pairs(starts_m, distance_m), MAX_PAIRS)]
    for one, other, apart_m in pairs[:1]:
        several = "" if len(pairs) < MAX_PAIRS else " or more"
        more = f", and so do {len(pairs) - 1}{several} other pairs" if len(pairs) > 1 else ""
        said = (
            f"{one} and {other} start {apart_m:.6g} m apart, which is not at least "
            f"{distance_m:g} (world.collision_distance_m){more}"
        )
        yield LostStart("", "collision distance", said)


def near_pairs(places_m: Mapping[str, Vec3], distance_m: float) -> Iterator[tuple[str, str, float]]:
    """Each pair nearer than a distance, with its own distance, without comparing each with each.

    Places are sorted into cells as wide as the distance: a near one lies in the same cell or in one
    of those around it.
    """
    cells: dict[Cell, list[tuple[str, list[float]]]] = defaultdict(list)
    here_m = _places_m(places_m)
    with np.errstate(over="ignore"):
        own = np.floor(here_m / distance_m)
    for name, place_m, cell in zip(
        places_m, here_m.tolist(), map(tuple, own.tolist()), strict=True
    ):
        if not all(map(isfinite, cell)):
            continue  # as far from all others as numbers go
        x, y, z = cell
        for i, j, k in AROUND:
            for other, there_m in cells.get((x + i, y + j, z + k), ()):
                apart_m = dist(place_m, there_m)
                if apart_m < distance_m:
                    yield other, name, apart_m
        cells[cell].append((name, place_m))
