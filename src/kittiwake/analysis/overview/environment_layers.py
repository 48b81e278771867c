"""What evolves in a world by itself, as far as it has a place on a map: the ground and plumes.

Much of it is drawn from the seed, and no log holds it: it is made again here.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float64, Int, PRNGKeyArray

if TYPE_CHECKING:
    from kittiwake.world.world import World

PERSON = "person"


@dataclass(frozen=True, eq=False)
class GroundClasses:
    """Classes of the ground by cells, and its edges: west, east, south and north."""

    classes: Int[np.ndarray, "east north"]
    edges_m: tuple[float, float, float, float]


@dataclass(frozen=True, eq=False)
class Spots:
    """Persons, or the sources of a plume."""

    name: str
    places_world_m: Float64[np.ndarray, "places 3"]


@dataclass(frozen=True, eq=False)
class EnvironmentLayers:
    """All of it."""

    ground: GroundClasses | None = None
    persons: Spots | None = None
    sources: tuple[Spots, ...] = ()


NOTHING = EnvironmentLayers()


def find_environment_layers(
    world: "World", seed: int, *, single_precision: bool
) -> EnvironmentLayers:
    """What was there at the start of a flight with this seed and in this precision."""
    import jax

    from kittiwake.world.plume import PLUME
    from kittiwake.world.terrain import TERRAIN

    with jax.enable_x64(not single_precision):
        begun = jax.tree.map(np.asarray, _begun(world, seed))
    ground = begun.pop(TERRAIN, None)
    plumes = [name for name in world.processes if name in begun]
    sources = [_sources(name.removeprefix(PLUME), begun[name]) for name in plumes]
    there = tuple(spots for spots in sources if spots is not None)
    if ground is None:
        return EnvironmentLayers(sources=there)
    (west, east), (south, north) = ground.area.x_m, ground.area.y_m
    edges_m = (float(west), float(east), float(south), float(north))
    level = ground.persons_world_m.astype(float)[ground.there]
    persons = np.pad(level, ((0, 0), (0, 1)), constant_values=float(world.ground_z_m))
    return EnvironmentLayers(
        GroundClasses(ground.classes.astype(int), edges_m), Spots(PERSON, persons), there
    )


def _begun(world: "World", seed: int) -> dict[str, Any]:
    """The processes' states at the start, from the streams that a fleet gives them."""
    import jax

    from kittiwake.core.keys import named, seed_key
    from kittiwake.core.streams import Stream

    def begin(key: PRNGKeyArray) -> dict[str, Any]:
        return {
            name: part.component.init(named(named(key, Stream.WORLD.of(name)), Stream.INIT))
            for name, part in world.processes.items()
        }

    return jax.jit(begin)(seed_key(seed))


def _sources(name: str, cloud: Any) -> Spots | None:
    """Where a plume comes from; the middle of one that comes from nowhere."""
    if hasattr(cloud, "position_world_m"):
        middle = cloud.position_world_m
        return Spots(name, np.array([[middle.x, middle.y, middle.z]], float))
    if not hasattr(cloud, "sources_world_m"):
        return None
    there = getattr(cloud, "there", None)
    emitting = cloud.emissions_per_s > 0.0 if there is None else there
    return Spots(name, cloud.sources_world_m.astype(float)[emitting])


def wanted_of(world: Mapping[str, Any]) -> dict[str, Any]:
    """The keys of a scenario's world that matter here, none if there is nothing to find."""
    if not world.get("terrain") and not world.get("plumes"):
        return {}
    keys = ("area", "ground_z_m", "wind", "terrain", "plumes")
    return {key: world[key] for key in keys if key in world}
