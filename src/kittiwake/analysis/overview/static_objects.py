"""Static objects of a scenario's world: obstacles, regions of wind or force, decks, layers."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float64

from kittiwake.analysis.overview.environment_layers import (
    NO_LAYERS,
    EnvironmentLayers,
    find_environment_layers,
    relevant_keys,
)

if TYPE_CHECKING:
    from kittiwake.geometry.vec3 import Vec3
    from kittiwake.world.environment import AbstractPlatform, AbstractRegion
    from kittiwake.world.ray import AbstractObstacle
    from kittiwake.world.world import World

# number of drawn positions of a deck's path
PLACES = 100

Corner = Float64[np.ndarray, "3"]


@dataclass(frozen=True, eq=False)
class RegionBox:
    """Region of wind or force ``effect_world`` in ``unit``.

    The corners are in order of the region's own axes: x varies slowest, z fastest, each from the
    lower to the higher end.
    """

    name: str
    corners_world_m: Float64[np.ndarray, "8 3"]
    effect_world: Corner
    unit: str

    @property
    def low(self) -> Corner:
        """Lowest coordinates of the corners."""
        return self.corners_world_m.min(axis=0)

    @property
    def high(self) -> Corner:
        """Highest coordinates of the corners."""
        return self.corners_world_m.max(axis=0)

    @property
    def is_upright(self) -> bool:
        """True if its edges are parallel to the world's axes."""
        return bool(np.isin(self.corners_world_m, (self.low, self.high)).all())

    @property
    def label(self) -> str:
        """Name and magnitude of the wind or force."""
        return f"{self.name} {np.linalg.norm(self.effect_world):.3g} {self.unit}"


@dataclass(frozen=True, eq=False)
class DeckOutline:
    """Deck: its four corners at regular times from the start to the end of a flight."""

    name: str
    corners_world_m: Float64[np.ndarray, "times 4 3"]

    @property
    def center_world_m(self) -> Float64[np.ndarray, "times 3"]:
        """Path of the center."""
        return self.corners_world_m.mean(axis=1)


@dataclass(frozen=True, eq=False)
class Obstacle:
    """Obstacle: its outline as lines in the world, and its shape for ray casting."""

    name: str
    lines_world_m: tuple[Float64[np.ndarray, "_points 3"], ...]
    shape: "AbstractObstacle"

    @property
    def points_world_m(self) -> Float64[np.ndarray, "points 3"]:
        """Points of all lines."""
        return np.concatenate(self.lines_world_m)


@dataclass(frozen=True, eq=False)
class StaticObjects:
    """Static objects of a world; ``unread`` are obstacles whose files are missing."""

    boxes: tuple[RegionBox, ...] = ()
    platforms: tuple[DeckOutline, ...] = ()
    obstacles: tuple[Obstacle, ...] = ()
    layers: EnvironmentLayers = NO_LAYERS
    unread: tuple[str, ...] = ()

    @property
    def extents(self) -> list[tuple[Corner, Corner]]:
        """Lowest and highest coordinates of each object."""
        corners = [platform.corners_world_m.reshape(-1, 3) for platform in self.platforms]
        corners += [obstacle.points_world_m for obstacle in self.obstacles]
        corners += [spots.places_world_m for spots in self.layers.sources]
        return [(box.low, box.high) for box in self.boxes] + [
            (places.min(axis=0), places.max(axis=0)) for places in corners
        ]


@dataclass(frozen=True)
class FlightConditions:
    """Properties of a flight that determine the positions of objects.

    Attributes:
        span_s: the first and the last time.
        seed: the seed of random values.
        single_precision: whether it was computed in single precision.
        folder: the folder with the files that its scenario names.
    """

    span_s: tuple[float, float] = (0.0, 0.0)
    seed: int = 0
    single_precision: bool = False
    folder: Path | None = None


def find_static_objects(scenario: Mapping[str, Any], flown: FlightConditions) -> StaticObjects:
    """Return the static objects of a scenario's world during a flight.

    The result is empty for an invalid world.
    """
    world = _mapping(scenario.get("world"))
    given = {key: world[key] for key in ("regions", "platforms") if world.get(key)}
    named = _mapping(world.get("obstacles"))
    files = {name: _mapping(shape).get("file") for name, shape in named.items()}
    unread = tuple(name for name, file in files.items() if file and not _is_there(file, flown))
    obstacles = {name: shape for name, shape in named.items() if name not in unread}
    given |= {"obstacles": obstacles} if obstacles else {}
    built = _built(given, flown) if given else None
    layers = _layers(scenario, world, flown)
    if built is None:
        return StaticObjects(layers=layers, unread=unread)
    boxes = [_box(*named) for named in zip(given.get("regions", ()), built.regions, strict=True)]
    return StaticObjects(
        tuple(box for box in boxes if box is not None),
        tuple(
            _platform(name, platform, flown.span_s)
            for name, platform in zip(given.get("platforms", ()), built.platforms, strict=True)
        ),
        tuple(
            Obstacle(name, tuple(lines), obstacle)
            for name, obstacle in zip(obstacles, built.obstacles, strict=True)
            if (lines := obstacle.outline_world())
        ),
        layers,
        unread,
    )


def _layers(
    scenario: Mapping[str, Any], world: Mapping[str, Any], flown: FlightConditions
) -> EnvironmentLayers:
    given = relevant_keys(world)
    rate_hz = _mapping(scenario.get("time")).get("rate_hz")
    if not given or not isinstance(rate_hz, int | float):
        return NO_LAYERS
    built = _built(given, flown, float(rate_hz))
    if built is None:
        return NO_LAYERS
    return find_environment_layers(built, flown.seed, single_precision=flown.single_precision)


def _mapping(given: object) -> Mapping[str, Any]:
    return given if isinstance(given, Mapping) else {}


def _is_there(file: object, flown: FlightConditions) -> bool:
    """Return True if a file is directly in the folder, as the files of a run are."""
    plain = Path(str(file)).name == str(file)
    return flown.folder is not None and plain and (flown.folder / str(file)).is_file()


def _built(given: dict[str, Any], flown: FlightConditions, rate_hz: float = 1.0) -> "World | None":
    # imported here, as it takes a second and most pictures do not need it
    from kittiwake.scenario.components import ComponentBuilder
    from kittiwake.scenario.document import Document
    from kittiwake.scenario.problems import ProblemList
    from kittiwake.scenario.world_builder import WorldBuilder

    document = Document(given, {}, "scenario")
    problems = ProblemList(document.where)
    builder = ComponentBuilder(document, flown.folder or Path(), rate_hz, problems)
    return WorldBuilder(builder).build(given).world


def _box(name: str, region: "AbstractRegion") -> RegionBox | None:
    from kittiwake.environment.regions import ForceRegion, WindRegion

    match region:
        case WindRegion():
            effect, unit = region.wind_world_mps, "m/s"
        case ForceRegion():
            effect, unit = region.force_world_n, "N"
        case _:
            return None
    return RegionBox(name, region.corners_world_m(), _array(effect), unit)


def _platform(name: str, platform: "AbstractPlatform", span_s: tuple[float, float]) -> DeckOutline:
    import jax
    import jax.numpy as jnp

    from kittiwake.contact.deck import DeckState
    from kittiwake.geometry.vec3 import Vec3

    def corners(support: DeckState) -> jax.Array:
        x, y = 0.5 * support.length_m, 0.5 * support.width_m
        sides = [Vec3(x, y, 0.0), Vec3(-x, y, 0.0), Vec3(-x, -y, 0.0), Vec3(x, -y, 0.0)]
        q, center = support.q_world_from_deck, support.center_world_m
        places = [center + q.rotate(side) for side in sides]
        return jnp.stack([jnp.stack([*map(jnp.asarray, (p.x, p.y, p.z))]) for p in places])

    times_s = jnp.linspace(span_s[0], span_s[1], PLACES)
    found = jax.jit(jax.vmap(lambda time_s: corners(platform.support(time_s))))(times_s)
    return DeckOutline(name, np.asarray(found, float))


def _array(vector: "Vec3") -> Corner:
    return np.array([float(vector.x), float(vector.y), float(vector.z)])
