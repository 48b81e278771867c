"""What stands in the world as ``visualization_msgs/MarkerArray``, for RViz.

Boxes, balls and cylinders are such markers; what has another form is triangles. Hallways can be
seen through, as in the cockpit. Platforms are where they begin.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from kittiwake.adapters.ros.messages.plain import (
    FIRST_NS,
    Placement,
    PlainMessage,
    header,
    pose,
    xyz,
)
from kittiwake.contact.solid import Solid
from kittiwake.core.errors import ScenarioError
from kittiwake.environment.obstacles.hallway import Hallway
from kittiwake.environment.obstacles.mesh import Mesh
from kittiwake.geometry.vec3 import Vec3
from kittiwake.rendering.shapes import Rgb, Shape
from kittiwake.rendering.solids import shape_of
from kittiwake.scenario.ros_settings import RosSettings
from kittiwake.scene.decks import RGB as PLATFORM_RGB
from kittiwake.scene.decks import THICK_M
from kittiwake.scene.static_objects import OBSTACLES_RGB, WALLS_OPACITY, mesh_shape
from kittiwake.world.environment import AbstractPlatform
from kittiwake.world.ray import AbstractObstacle
from kittiwake.world.world import World

OBSTACLES = "visualization_msgs/MarkerArray"
CUBE, SPHERE, CYLINDER, TRIANGLE_LIST = 1, 2, 3, 11
WHITE = 255.0


def obstacles(world: World, settings: RosSettings) -> PlainMessage:
    """All obstacles and platforms of a world, each in its own namespace of markers."""
    found: list[PlainMessage] = []
    for number, obstacle in enumerate(world.obstacles):
        name = world.obstacle_called(number).removeprefix("world.obstacles.")
        rgb = OBSTACLES_RGB[number % len(OBSTACLES_RGB)]
        opacity = WALLS_OPACITY if isinstance(obstacle, Hallway) else 1.0
        found += _numbered(name, _color(rgb, opacity), _forms(obstacle))
    names = world.platform_names or [f"platform {n + 1}" for n in range(len(world.platforms))]
    for name, platform in zip(names, world.platforms, strict=True):
        found += _numbered(name, _color(PLATFORM_RGB, 1.0), [_plate(platform)])
    top = header(FIRST_NS, settings.world_frame)
    return {"markers": [{"header": top, **marker} for marker in found]}


def _numbered(
    name: str, color: PlainMessage, forms: Iterable[PlainMessage]
) -> Iterator[PlainMessage]:
    for number, form in enumerate(forms):
        yield {"ns": name, "id": number, "action": 0, "color": color, **form}


def _forms(obstacle: AbstractObstacle) -> Iterator[PlainMessage]:
    """Its markers without names and colors; none of what no solids stand for."""
    if isinstance(obstacle, Mesh):
        yield _triangles(mesh_shape(obstacle))
        return
    try:
        solids = obstacle.solids_world()
    except ScenarioError:
        return
    for solid in solids:
        yield _form(solid)


def _form(solid: Solid) -> PlainMessage:
    match solid.kind, solid.sizes_m:
        case "box", (x, y, z):
            return _simple(CUBE, solid, (2.0 * x, 2.0 * y, 2.0 * z))
        case "sphere", (radius,):
            return _simple(SPHERE, solid, (2.0 * radius,) * 3)
        case "cylinder", (radius, half):
            return _simple(CYLINDER, solid, (2.0 * radius, 2.0 * radius, 2.0 * half))
        case _:
            return _triangles(shape_of(solid))


def _simple(kind: int, solid: Solid, sizes_m: tuple[float, ...]) -> PlainMessage:
    where = Placement(solid.place_m, solid.attitude)
    return {"type": kind, "pose": pose(where), "scale": xyz(sizes_m), "points": []}


def _triangles(shape: Shape) -> PlainMessage:
    """In the world's axes, corner by corner."""
    corners: Any = np.asarray(shape.vertices_m, float)[np.asarray(shape.faces).ravel()]
    return {
        "type": TRIANGLE_LIST,
        "pose": pose(Placement()),
        "scale": xyz((1.0, 1.0, 1.0)),
        "points": [xyz(corner) for corner in corners.tolist()],
    }


def _plate(platform: AbstractPlatform) -> PlainMessage:
    """Its upper side is where things stand."""
    support = platform.support(0.0)
    below = support.q_world_from_deck.rotate(Vec3(0.0, 0.0, -0.5 * THICK_M))
    half = (0.5 * float(support.length_m), 0.5 * float(support.width_m), 0.5 * THICK_M)
    return _form(Solid.at("box", half, support.center_world_m + below, support.q_world_from_deck))


def _color(rgb: Rgb, opacity: float) -> PlainMessage:
    red, green, blue = (part / WHITE for part in rgb)
    return {"r": red, "g": green, "b": blue, "a": opacity}
