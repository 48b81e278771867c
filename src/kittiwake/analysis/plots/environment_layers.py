"""Environment layers of a map: ground classes, persons, and sources of plumes.

They depend on the seed and are not in a log, so this module computes them again.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float64, Int, PRNGKeyArray

if TYPE_CHECKING:
    from kittiwake.world.world import WorldModel

PERSON = "person"


@dataclass(frozen=True, eq=False)
class GroundClasses:
    """Class of each ground cell, and the edges of the ground: west, east, south, north."""

    classes: Int[np.ndarray, "east north"]
    edges_m: tuple[float, float, float, float]


@dataclass(frozen=True, eq=False)
class PointLayer:
    """Positions of persons, or of the sources of a plume."""

    name: str
    positions_world_m: Float64[np.ndarray, "positions 3"]


@dataclass(frozen=True, eq=False)
class EnvironmentLayers:
    """Ground, persons and sources of plumes."""

    ground: GroundClasses | None = None
    persons: PointLayer | None = None
    sources: tuple[PointLayer, ...] = ()


NO_LAYERS = EnvironmentLayers()


def find_environment_layers(
    world: "WorldModel", seed: int, *, single_precision: bool
) -> EnvironmentLayers:
    """Return the layers at the start of a flight with this seed and precision."""
    import jax

    from kittiwake.world.plume import PLUME
    from kittiwake.world.terrain import TERRAIN

    with jax.enable_x64(not single_precision):
        states = jax.tree.map(np.asarray, _initial_states(world, seed))
    ground = states.pop(TERRAIN, None)
    plumes = [name for name in world.processes if name in states]
    sources = [_sources(name.removeprefix(PLUME), states[name]) for name in plumes]
    known = tuple(spots for spots in sources if spots is not None)
    if ground is None:
        return EnvironmentLayers(sources=known)
    (west, east), (south, north) = ground.area.x_m, ground.area.y_m
    edges_m = (float(west), float(east), float(south), float(north))
    level = ground.persons_world_m.astype(float)[ground.person_exists]
    persons = np.pad(level, ((0, 0), (0, 1)), constant_values=float(world.ground_z_m))
    return EnvironmentLayers(
        GroundClasses(ground.classes.astype(int), edges_m), PointLayer(PERSON, persons), known
    )


def _initial_states(world: "WorldModel", seed: int) -> dict[str, Any]:
    """Return the initial states of the processes, from the random streams of a fleet."""
    import jax

    from kittiwake.core.keys import fold_in_name, seed_key
    from kittiwake.core.streams import Stream

    def begin(key: PRNGKeyArray) -> dict[str, Any]:
        return {
            name: part.component.init(
                fold_in_name(fold_in_name(key, Stream.WORLD.of(name)), Stream.INIT)
            )
            for name, part in world.processes.items()
        }

    return jax.jit(begin)(seed_key(seed))


def _sources(name: str, cloud: Any) -> PointLayer | None:
    """Return the sources of a plume; its center if it has none."""
    if hasattr(cloud, "position_world_m"):
        middle = cloud.position_world_m
        return PointLayer(name, np.array([[middle.x, middle.y, middle.z]], float))
    if not hasattr(cloud, "sources_world_m"):
        return None
    present = getattr(cloud, "source_exists", None)
    emitting = cloud.emissions_per_s > 0.0 if present is None else present
    return PointLayer(name, cloud.sources_world_m.astype(float)[emitting])


def relevant_keys(world: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys of a scenario's world that layers depend on; empty without layers."""
    if not world.get("terrain") and not world.get("plumes"):
        return {}
    keys = ("area", "ground_z_m", "wind", "terrain", "plumes")
    return {key: world[key] for key in keys if key in world}
