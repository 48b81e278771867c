"""Meshes of the world's processes: terrain classes, persons and plumes."""

import numpy as np

from kittiwake.analysis.plots.environment_layers import (
    GroundClasses,
    PointLayer,
    find_environment_layers,
)
from kittiwake.rendering.colored_mesh import ColoredMesh
from kittiwake.rendering.shapes import Shape, capsule, merge, quads
from kittiwake.scene.scene_state import FlightInfo
from kittiwake.world.plume import PLUME
from kittiwake.world.terrain import TERRAIN

CLASSES_RGB = ((168, 170, 132), (92, 128, 84), (150, 140, 120), (120, 150, 160), (176, 160, 110))
PERSON_RGB, SOURCE_RGB = (220, 60, 60), (150, 90, 170)
# chosen: dimensions of a person, and of the sphere at the source of a plume
PERSON_RADIUS_M, PERSON_HALF_M, SOURCE_RADIUS_M = 0.25, 0.6, 0.3
# height of terrain classes above the ground, against z-fighting
ABOVE_M = 0.02


def environment_meshes(flight: FlightInfo) -> list[tuple[str, ColoredMesh]]:
    """Return the meshes of all processes at the start of the flight, by name."""
    world = flight.scenario.world
    if not any(name == TERRAIN or name.startswith(PLUME) for name in world.processes):
        return []
    layers = find_environment_layers(world, flight.seed, single_precision=False)
    meshes = [] if layers.ground is None else _ground(layers.ground, float(world.ground_z_m))
    if layers.persons is not None and len(layers.persons.positions_world_m):
        upright = capsule(PERSON_RADIUS_M, PERSON_HALF_M, 12)
        middle = np.array([0.0, 0.0, PERSON_HALF_M + PERSON_RADIUS_M])
        meshes.append(("persons", _spots(layers.persons, upright, middle).colored(PERSON_RGB)))
    for spots in layers.sources:
        if len(spots.positions_world_m):
            ball = _spots(spots, capsule(SOURCE_RADIUS_M, 0.0, 16), np.zeros(3))
            meshes.append((f"plume {spots.name}", ball.colored(SOURCE_RGB)))
    return meshes


def _spots(spots: PointLayer, shape: Shape, above: np.ndarray) -> Shape:
    return merge(*(shape.at(place + above) for place in spots.positions_world_m))


def _ground(ground: GroundClasses, z: float) -> list[tuple[str, ColoredMesh]]:
    """Return the cells of each terrain class."""
    west, east, south, north = ground.edges_m
    columns, rows = ground.classes.shape
    x, y = np.linspace(west, east, columns + 1), np.linspace(south, north, rows + 1)
    meshes = []
    for number in np.unique(ground.classes).tolist():
        i, j = np.nonzero(ground.classes == number)
        corners = [(x[i + a], y[j + b]) for a, b in ((0, 0), (1, 0), (1, 1), (0, 1))]
        points = np.stack([np.column_stack([*c, np.full(len(i), z + ABOVE_M)]) for c in corners], 1)
        rgb = CLASSES_RGB[number % len(CLASSES_RGB)]
        meshes.append((f"terrain {number}", quads(points).colored(rgb)))
    return meshes
