"""Objects of a scenario's world on maps: obstacles, regions of wind or force, decks, layers."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float64
from matplotlib.artist import Artist
from matplotlib.colors import to_rgba
from matplotlib.patches import Patch

from kittiwake.analysis.plots.environment_layers import (
    NO_LAYERS,
    EnvironmentLayers,
    find_environment_layers,
    relevant_keys,
)
from kittiwake.analysis.plots.map_path import MapPath
from kittiwake.analysis.plots.style import Looks
from kittiwake.analysis.probed import mapping_in

if TYPE_CHECKING:
    from kittiwake.world.environment import AbstractPlatform, AbstractRegion
    from kittiwake.world.ray import AbstractObstacle
    from kittiwake.world.world import WorldModel

# number of drawn positions of a deck's path
PLACES = 100
STILL_M = 1e-3
# faces of a box by the indices of its corners
FACES = ((0, 1, 3, 2), (4, 5, 7, 6), (0, 1, 5, 4), (2, 3, 7, 6), (0, 2, 6, 4), (1, 3, 7, 5))
# label and color by ground class; open ground is white
GROUNDS = {1: ("clutter", "#EFE6CF"), 2: ("hides persons", "#CFDDC0")}
WIND, FORCE, DECK, OBSTACLE = "#56B4E9", "#E69F00", "#4D4D4D", "#7A4B2A"
PERSON: Looks = {"marker": "*", "color": "#A4262C", "markersize": 7.0, "linestyle": ""}
SOURCE: Looks = {"marker": "^", "color": "#7B4F9D", "markersize": 6.0, "linestyle": ""}
OBSTACLE_LOOKS: Looks = {"color": OBSTACLE, "linewidth": 0.9, "zorder": 1.3}
START_LOOKS: Looks = {"color": DECK, "linewidth": 0.9, "linestyle": (0, (3, 2)), "zorder": 1.4}
PATH_LOOKS: Looks = START_LOOKS | {"linestyle": (0, (1, 1.5))}

Corner = Float64[np.ndarray, "3"]


@dataclass(frozen=True)
class FlightConditions:
    """Properties of a flight that determine the positions of objects.

    Attributes:
        span_s: its first and its last time.
        seed: its seed.
        single_precision: whether it was computed in single precision.
        folder: the run folder, whose files describe obstacles.
    """

    span_s: tuple[float, float] = (0.0, 0.0)
    seed: int = 0
    single_precision: bool = False
    folder: Path | None = None


@dataclass(frozen=True, eq=False)
class MapObjects:
    """Objects of a world.

    Attributes:
        paths: their outlines, faces and marks.
        solids: the obstacles, with their outlines.
        layers: ground, persons and plumes.
        unread: the names of obstacles whose files are missing.
    """

    paths: tuple[MapPath, ...] = ()
    solids: tuple[tuple["AbstractObstacle", MapPath], ...] = ()
    layers: EnvironmentLayers = NO_LAYERS
    unread: tuple[str, ...] = ()

    @property
    def extents(self) -> list[tuple[Corner, Corner]]:
        """Lowest and highest coordinates of each outline."""
        points = [path.points_world_m for path in self.paths if len(path.points_world_m)]
        return [(np.nanmin(places, axis=0), np.nanmax(places, axis=0)) for places in points]

    @property
    def ground_entries(self) -> list[Artist]:
        """Entries of the key for the classes of the ground."""
        ground = self.layers.ground
        if ground is None:
            return []
        present = [GROUNDS[kind] for kind in GROUNDS if (ground.classes == kind).any()]
        return [Patch(facecolor=shade, label=label) for label, shade in present]


def find_map_objects(scenario: Mapping[str, Any], flown: FlightConditions) -> MapObjects:
    """Return the objects of a scenario's world during a flight.

    The result is empty for an invalid world.
    """
    world = mapping_in(scenario, "world")
    given = {key: world[key] for key in ("regions", "platforms") if world.get(key)}
    named = mapping_in(world, "obstacles")
    files = {name: mapping_in(named, name).get("file") for name in named}
    unread = tuple(name for name, file in files.items() if file and not _is_there(file, flown))
    obstacles = {name: shape for name, shape in named.items() if name not in unread}
    given |= {"obstacles": obstacles} if obstacles else {}
    built = _built(given, flown) if given else None
    layers = _layers(scenario, world, flown)
    paths = [*_layer_paths(layers)]
    solids: list[tuple[AbstractObstacle, MapPath]] = []
    if built is not None:
        for name, region in zip(given.get("regions", ()), built.regions, strict=True):
            paths += _region_paths(name, region)
        for name, platform in zip(given.get("platforms", ()), built.platforms, strict=True):
            paths += _deck_paths(name, platform, flown.span_s)
        solids = [
            (solid, _outline(name, lines))
            for name, solid in zip(obstacles, built.obstacles, strict=True)
            if (lines := solid.outline_world())
        ]
    paths += [outline for _, outline in solids]
    return MapObjects(tuple(paths), tuple(solids), layers, unread)


def _is_there(file: object, flown: FlightConditions) -> bool:
    """Return True if a file is directly in the folder, as the files of a run are."""
    plain = Path(str(file)).name == str(file)
    return flown.folder is not None and plain and (flown.folder / str(file)).is_file()


def _built(
    given: dict[str, Any], flown: FlightConditions, rate_hz: float = 1.0
) -> "WorldModel | None":
    # imported here, as it takes a second and most pictures do not need it
    from kittiwake.scenario.components import ComponentBuilder
    from kittiwake.scenario.document import Document
    from kittiwake.scenario.problems import ProblemList
    from kittiwake.scenario.world_builder import WorldBuilder

    document = Document(given, {}, "scenario")
    problems = ProblemList(document.where)
    builder = ComponentBuilder(document, flown.folder or Path(), rate_hz, problems)
    return WorldBuilder(builder).build(given).world


def _layers(
    scenario: Mapping[str, Any], world: Mapping[str, Any], flown: FlightConditions
) -> EnvironmentLayers:
    given = relevant_keys(world)
    rate_hz = mapping_in(scenario, "time").get("rate_hz")
    built = _built(given, flown, float(rate_hz)) if given and rate_hz is not None else None
    if built is None:
        return NO_LAYERS
    return find_environment_layers(built, flown.seed, single_precision=flown.single_precision)


def _layer_paths(layers: EnvironmentLayers) -> Iterator[MapPath]:
    if layers.persons is not None and len(layers.persons.positions_world_m):
        yield MapPath(
            layers.persons.positions_world_m, PERSON | {"zorder": 2.7}, layers.persons.name
        )
    for spots in layers.sources:
        for place in spots.positions_world_m:
            looks = SOURCE | {"zorder": 2.7}
            yield MapPath(place[None], looks, "source of a plume", name=spots.name)


def _region_paths(name: str, region: "AbstractRegion") -> Iterator[MapPath]:
    """Yield the faces of a region; the first one has its name."""
    from kittiwake.environment.regions import ForceRegion, WindRegion

    match region:
        case WindRegion():
            effect, unit, color, label = region.wind_world_mps, "m/s", WIND, "box of wind"
        case ForceRegion():
            effect, unit, color, label = region.force_world_n, "N", FORCE, "box of force"
        case _:
            return
    vector = np.array([float(effect.x), float(effect.y), float(effect.z)])
    text = f"{name} {np.linalg.norm(vector):.3g} {unit}"
    looks = {"facecolor": to_rgba(color, 0.1), "edgecolor": color, "linewidth": 0.8, "zorder": 1.2}
    corners = region.corners_world_m()
    for place, face in enumerate(FACES):
        first = place == 0
        yield MapPath(
            corners[[*face]],
            looks,
            label,
            name=text if first else "",
            filled=True,
            effect_world=vector if first else None,
        )


def _deck_paths(
    name: str, platform: "AbstractPlatform", span_s: tuple[float, float]
) -> Iterator[MapPath]:
    """Yield a deck at the end, and if it moves, the deck at the start and the way between."""
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
    found = jax.jit(jax.vmap(lambda time_s: corners(platform.deck_state(time_s))))(times_s)
    outlines = np.asarray(found, float)
    moves = bool(np.abs(outlines[-1] - outlines[0]).max() > STILL_M)
    looks = {"facecolor": to_rgba(DECK, 0.25), "edgecolor": DECK, "linewidth": 0.9, "zorder": 1.4}
    yield MapPath(
        outlines[-1], looks, "deck at the end" if moves else "deck", name=name, filled=True
    )
    if moves:
        yield MapPath(outlines[0][[0, 1, 2, 3, 0]], START_LOOKS, "deck at the start")
        yield MapPath(outlines.mean(axis=1), PATH_LOOKS)


def _outline(name: str, lines: Sequence[Float64[np.ndarray, "_points 3"]]) -> MapPath:
    gap = np.full((1, 3), np.nan)
    points = np.concatenate([part for line in lines for part in (line, gap)])
    return MapPath(points, OBSTACLE_LOOKS, "obstacle", name=name)


@dataclass(frozen=True, eq=False)
class MapSurface:
    """Heights of a surface over a grid; NaN outside the map."""

    x_m: Float64[np.ndarray, " east"]
    y_m: Float64[np.ndarray, " north"]
    z_m: Float64[np.ndarray, "north east"]

    @property
    def cells_world_m(self) -> Float64[np.ndarray, "cells 4 3"]:
        """Corners of the cells that are completely in the map."""
        corners = np.stack([*np.meshgrid(self.x_m, self.y_m), self.z_m], axis=-1)
        ring = (corners[:-1, :-1], corners[:-1, 1:], corners[1:, 1:], corners[1:, :-1])
        cells = np.stack(ring, axis=2).reshape(-1, 4, 3)
        return cells[np.isfinite(cells).all(axis=(1, 2))]


# points along each side of the map at which a surface's height is computed
GRID = 33


def heights_below(
    solid: "AbstractObstacle", points_world_m: Float64[np.ndarray, "points 3"]
) -> Float64[np.ndarray, " points"]:
    """Return the height at which a vertical ray from each point hits it; NaN without a hit."""
    import jax
    import jax.numpy as jnp

    from kittiwake.geometry.vec3 import Vec3
    from kittiwake.world.ray import Ray

    def distance_m(x: Any, y: Any, z: Any) -> Any:
        return jnp.asarray(solid.distance_m(Ray(Vec3(x, y, z), Vec3(0.0, 0.0, -1.0))))

    found = jax.jit(jax.vmap(distance_m))(*jnp.asarray(points_world_m).T)
    distances_m = np.asarray(found, float)
    return np.where(np.isfinite(distances_m), points_world_m[:, 2] - distances_m, np.nan)


def surfaces_in(
    solids: Sequence["AbstractObstacle"], low: Corner, high: Corner
) -> list[MapSurface]:
    """Return the upper surfaces of obstacles that pass through a box."""
    x_m, y_m = (np.linspace(low[axis], high[axis], GRID) for axis in (0, 1))
    across, up = np.meshgrid(x_m, y_m)
    points = np.stack([across.ravel(), up.ravel(), np.full(across.size, high[2])], axis=1)
    surfaces = []
    for solid in solids:
        z_m = heights_below(solid, points).reshape(across.shape)
        z_m = np.where((z_m >= low[2]) & (z_m <= high[2]), z_m, np.nan)
        if np.isfinite(z_m).any():
            surfaces.append(MapSurface(x_m, y_m, z_m))
    return surfaces
