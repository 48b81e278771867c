"""Obstacles and platforms of a world as a ``visualization_msgs/MarkerArray``, for RViz.

Boxes, spheres and cylinders have markers of these types; other shapes are triangle lists. Hallways
are translucent, as in the cockpit. Platforms are at their initial positions.
"""

from collections.abc import Iterable, Iterator

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
from kittiwake.world.world import WorldModel

OBSTACLES = "visualization_msgs/MarkerArray"
CUBE, SPHERE, CYLINDER, TRIANGLE_LIST = 1, 2, 3, 11
WHITE = 255.0


def obstacles(world: WorldModel, settings: RosSettings) -> PlainMessage:
    """Return the markers of all obstacles and platforms, each with its name as namespace."""
    found: list[PlainMessage] = []
    for number, obstacle in enumerate(world.obstacles):
        name = world.obstacle_called(number).removeprefix("world.obstacles.")
        rgb = OBSTACLES_RGB[number % len(OBSTACLES_RGB)]
        opacity = WALLS_OPACITY if isinstance(obstacle, Hallway) else 1.0
        found += _numbered(name, _color(rgb, opacity), _markers(obstacle))
    names = world.platform_names or [f"platform {n + 1}" for n in range(len(world.platforms))]
    for name, platform in zip(names, world.platforms, strict=True):
        found += _numbered(name, _color(PLATFORM_RGB, 1.0), [_platform_marker(platform)])
    world_header = header(FIRST_NS, settings.world_frame)
    return {"markers": [{"header": world_header, **marker} for marker in found]}


def _numbered(
    name: str, color: PlainMessage, markers: Iterable[PlainMessage]
) -> Iterator[PlainMessage]:
    for number, marker in enumerate(markers):
        yield {"ns": name, "id": number, "action": 0, "color": color, **marker}


def _markers(obstacle: AbstractObstacle) -> Iterator[PlainMessage]:
    """Yield an obstacle's markers, without name and color; none if it has no solids."""
    if isinstance(obstacle, Mesh):
        yield _triangle_list(mesh_shape(obstacle))
        return
    try:
        solids = obstacle.solids_world()
    except ScenarioError:
        return
    for solid in solids:
        yield _marker(solid)


def _marker(solid: Solid) -> PlainMessage:
    match solid.shape, solid.sizes_m:
        case "box", (x, y, z):
            return _primitive(CUBE, solid, (2.0 * x, 2.0 * y, 2.0 * z))
        case "sphere", (radius,):
            return _primitive(SPHERE, solid, (2.0 * radius,) * 3)
        case "cylinder", (radius, half):
            return _primitive(CYLINDER, solid, (2.0 * radius, 2.0 * radius, 2.0 * half))
        case _:
            return _triangle_list(shape_of(solid))


def _primitive(marker_type: int, solid: Solid, sizes_m: tuple[float, ...]) -> PlainMessage:
    placement = Placement(solid.position_m, solid.attitude)
    return {"type": marker_type, "pose": pose(placement), "scale": xyz(sizes_m), "points": []}


def _triangle_list(shape: Shape) -> PlainMessage:
    """Return a marker of triangles, vertex by vertex in world axes."""
    vertices = np.asarray(shape.vertices_m, float)[np.asarray(shape.faces).ravel()]
    return {
        "type": TRIANGLE_LIST,
        "pose": pose(Placement()),
        "scale": xyz((1.0, 1.0, 1.0)),
        "points": [xyz(vertex) for vertex in vertices.tolist()],
    }


def _platform_marker(platform: AbstractPlatform) -> PlainMessage:
    """Return a box whose upper face is the deck."""
    deck = platform.deck_state(0.0)
    below = deck.q_world_from_deck.rotate(Vec3(0.0, 0.0, -0.5 * THICK_M))
    half = (0.5 * float(deck.length_m), 0.5 * float(deck.width_m), 0.5 * THICK_M)
    return _marker(Solid.at("box", half, deck.center_world_m + below, deck.q_world_from_deck))


def _color(rgb: Rgb, opacity: float) -> PlainMessage:
    red, green, blue = (part / WHITE for part in rgb)
    return {"r": red, "g": green, "b": blue, "a": opacity}
