"""What evolves in a world by itself and can be seen: classes of the ground, persons, plumes."""

import numpy as np

from kittiwake.analysis.overview.environment_layers import (
    GroundClasses,
    Spots,
    find_environment_layers,
)
from kittiwake.rendering.look import Look
from kittiwake.rendering.shapes import Shape, capsule, joined, quads
from kittiwake.scene.frame import Show
from kittiwake.world.plume import PLUME
from kittiwake.world.terrain import TERRAIN

CLASSES_RGB = ((168, 170, 132), (92, 128, 84), (150, 140, 120), (120, 150, 160), (176, 160, 110))
PERSON_RGB, SOURCE_RGB = (220, 60, 60), (150, 90, 170)
# chosen: a person, and a ball for the source of a plume
PERSON_RADIUS_M, PERSON_HALF_M, SOURCE_RADIUS_M = 0.25, 0.6, 0.3
# of the ground's classes over its level, so that neither shines through the other
ABOVE_M = 0.02


def environment_looks(show: Show) -> list[tuple[str, Look]]:
    """All of it as it is at the start, by name."""
    world = show.scenario.world
    if not any(name == TERRAIN or name.startswith(PLUME) for name in world.processes):
        return []
    nature = find_environment_layers(world, show.seed, single_precision=False)
    found = [] if nature.ground is None else _ground(nature.ground, float(world.ground_z_m))
    if nature.persons is not None and len(nature.persons.places_world_m):
        upright = capsule(PERSON_RADIUS_M, PERSON_HALF_M, 12)
        middle = np.array([0.0, 0.0, PERSON_HALF_M + PERSON_RADIUS_M])
        found.append(("persons", _spots(nature.persons, upright, middle).look(PERSON_RGB)))
    for spots in nature.sources:
        if len(spots.places_world_m):
            ball = _spots(spots, capsule(SOURCE_RADIUS_M, 0.0, 16), np.zeros(3))
            found.append((f"plume {spots.name}", ball.look(SOURCE_RGB)))
    return found


def _spots(spots: Spots, shape: Shape, above: np.ndarray) -> Shape:
    return joined(*(shape.at(place + above) for place in spots.places_world_m))


def _ground(ground: GroundClasses, z: float) -> list[tuple[str, Look]]:
    """The cells of each class."""
    west, east, south, north = ground.edges_m
    columns, rows = ground.classes.shape
    x, y = np.linspace(west, east, columns + 1), np.linspace(south, north, rows + 1)
    looks = []
    for number in np.unique(ground.classes).tolist():
        i, j = np.nonzero(ground.classes == number)
        corners = [(x[i + a], y[j + b]) for a, b in ((0, 0), (1, 0), (1, 1), (0, 1))]
        points = np.stack([np.column_stack([*c, np.full(len(i), z + ABOVE_M)]) for c in corners], 1)
        rgb = CLASSES_RGB[number % len(CLASSES_RGB)]
        looks.append((f"terrain {number}", quads(points).look(rgb)))
    return looks
