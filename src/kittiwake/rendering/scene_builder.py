"""Builder of MuJoCo models of a world for cameras.

Ground, obstacles, platforms and vehicles are solids in plain colors. The ground is a checkerboard
of squares of ``SQUARE_M``, blue if vessels float on it. Obstacles take the colors of
``OBSTACLE_COLORS`` in turn. Light comes from above, without shadows. A deck has the AprilTag of its
number (family 36h11; Olson 2011, "AprilTag: A robust and flexible visual fiducial system"): the
side of the black square is ``TAG_SHARE`` of the deck's smaller side, with a white border.
"""

from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import NamedTuple

import numpy as np

from kittiwake.contact.engine import Collider, box_of
from kittiwake.contact.solid import Solid
from kittiwake.core.errors import ScenarioError
from kittiwake.core.extras import import_optional
from kittiwake.interfaces.vehicle import AssembledVehicle
from kittiwake.physics.mujoco_model import MujocoObject, add_ground, add_solid, plate
from kittiwake.world.april_tags import TAG_SHARE, TAGS
from kittiwake.world.environment import AbstractPlatform
from kittiwake.world.waves import WAVES
from kittiwake.world.world import WorldModel

EXTRA = "camera"
# cells per side of a tag, without and with its white border
TAG_CELLS, BORDERED_CELLS = 8, 10
CELL_PIXELS = 32
# height of a tag above its deck, against z-fighting
TAG_ABOVE_M = 2e-4
SQUARE_M, GROUND_PIXELS = 1.0, 256
# tessellation of round solids, to 0.1 % of the radius
SLICES, STACKS = 64, 64
OBSTACLE_COLORS = (
    (0.8, 0.1, 0.1),
    (0.9, 0.6, 0.1),
    (0.1, 0.5, 0.2),
    (0.4, 0.2, 0.6),
    (0.5, 0.4, 0.3),
)
VEHICLE_COLOR, DECK_COLOR = (0.2, 0.25, 0.3), (0.55, 0.55, 0.55)
LAND_COLORS = ((0.35, 0.45, 0.3), (0.45, 0.52, 0.38))
WATER_COLORS = ((0.13, 0.32, 0.45), (0.17, 0.38, 0.52))
SKY_COLOR = (0.7, 0.8, 0.9)
AMBIENT, DIFFUSE = 0.55, 0.45
LIGHT_WORLD = (0.2, 0.1, -1.0)


def build_scene(
    mujoco: ModuleType, world: WorldModel, vehicles: Mapping[str, AssembledVehicle]
) -> MujocoObject:
    """Return a MuJoCo model of the world, with platforms and vehicles as mocap bodies.

    Raises:
        ScenarioError: if there are more decks than tags.
    """
    spec = mujoco.MjSpec()
    _add_light(mujoco, spec)
    _add_ground(mujoco, spec, world, vehicles)
    for number, obstacle in enumerate(world.obstacles):
        color = OBSTACLE_COLORS[number % len(OBSTACLE_COLORS)]
        for solid in obstacle.solids_world():
            _add_solid(mujoco, spec, spec.worldbody, solid, color)
    looks = [*map(_platform_look, world.platforms), *map(_vehicle_look, vehicles.values())]
    decks = [look.deck for look in looks if look.deck is not None]
    if len(decks) > TAGS:
        message = f"Cameras: got {len(decks)} decks; must be at most {TAGS}, one per AprilTag"
        raise ScenarioError(message)
    tag = 0
    for number, look in enumerate(looks):
        body = spec.worldbody.add_body(name=body_name(number), mocap=True)
        for solid in look.solids:
            _add_solid(mujoco, spec, body, solid, VEHICLE_COLOR)
        if look.deck is not None:
            _add_solid(mujoco, spec, body, look.deck, DECK_COLOR)
            _add_tag(mujoco, spec, body, look.deck, tag)
            tag += 1
    spec.worldbody.add_camera(name="camera")
    return spec.compile()


def body_name(number: int) -> str:
    """Return the name of a platform or vehicle by its index among the bodies."""
    return f"body {number}"


class _Look(NamedTuple):
    """Solids and deck of a body in its own axes."""

    solids: Sequence[Solid]
    deck: Solid | None


def _platform_look(platform: AbstractPlatform) -> _Look:
    return _Look((), plate(platform))


def _vehicle_look(vehicle: AssembledVehicle) -> _Look:
    body = vehicle.dynamics
    collider = _collider(vehicle)
    solids = box_of(body.size_body_m) if collider is None else collider.solids
    return _Look(solids, None if body.deck is None else body.deck.solid())


def _collider(vehicle: AssembledVehicle) -> Collider | None:
    """Return the collider of a vehicle; None if it has none."""
    try:
        return vehicle.dynamics.collider()
    except ScenarioError:
        return None


def _is_vessel(vehicle: AssembledVehicle) -> bool:
    collider = _collider(vehicle)
    return collider is not None and collider.collides_with == "all but the ground"


def _add_light(mujoco: ModuleType, spec: MujocoObject) -> None:
    # lengths below are in meters, whatever the size of the world
    spec.stat.extent = 1.0
    spec.visual.quality.numslices, spec.visual.quality.numstacks = SLICES, STACKS
    spec.visual.headlight.ambient = [AMBIENT] * 3
    spec.visual.headlight.diffuse = spec.visual.headlight.specular = [0.0] * 3
    spec.worldbody.add_light(
        type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL,
        dir=LIGHT_WORLD,
        ambient=[0.0] * 3,
        diffuse=[DIFFUSE] * 3,
        specular=[0.0] * 3,
        castshadow=False,
    )
    spec.add_texture(
        name="sky",
        type=mujoco.mjtTexture.mjTEXTURE_SKYBOX,
        builtin=mujoco.mjtBuiltin.mjBUILTIN_FLAT,
        rgb1=SKY_COLOR,
        rgb2=SKY_COLOR,
        width=8,
        height=8,
    )


def _add_ground(
    mujoco: ModuleType,
    spec: MujocoObject,
    world: WorldModel,
    vehicles: Mapping[str, AssembledVehicle],
) -> None:
    has_vessels = any(map(_is_vessel, vehicles.values()))
    one, other = WATER_COLORS if has_vessels or WAVES in world.processes else LAND_COLORS
    spec.add_texture(
        name="ground",
        type=mujoco.mjtTexture.mjTEXTURE_2D,
        builtin=mujoco.mjtBuiltin.mjBUILTIN_CHECKER,
        rgb1=one,
        rgb2=other,
        width=GROUND_PIXELS,
        height=GROUND_PIXELS,
    )
    repeat = 0.5 / SQUARE_M
    _add_material(mujoco, spec, "ground", (repeat, repeat), in_meters=True)
    add_ground(mujoco, spec, float(world.ground_z_m)).material = "ground"


def _add_material(
    mujoco: ModuleType,
    spec: MujocoObject,
    name: str,
    repeat: tuple[float, float],
    *,
    in_meters: bool,
) -> None:
    material = spec.add_material(name=name)
    material.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = name
    material.texrepeat, material.texuniform = repeat, in_meters
    material.specular = material.reflectance = 0.0


def _add_solid(
    mujoco: ModuleType,
    spec: MujocoObject,
    body: MujocoObject,
    solid: Solid,
    color: tuple[float, float, float],
) -> None:
    add_solid(mujoco, spec, body, solid).rgba = [*color, 1.0]


def _add_tag(
    mujoco: ModuleType, spec: MujocoObject, body: MujocoObject, deck: Solid, number: int
) -> None:
    """Add a tag with a white border that fills the smaller side of a deck."""
    name = f"tag {number}"
    pixels = np.kron(_cells(number), np.ones((CELL_PIXELS, CELL_PIXELS), np.uint8))
    texture = spec.add_texture(
        name=name,
        type=mujoco.mjtTexture.mjTEXTURE_2D,
        width=len(pixels),
        height=len(pixels),
        nchannel=3,
    )
    texture.data = np.repeat(pixels[..., None], 3, axis=-1).tobytes()
    _add_material(mujoco, spec, name, (1.0, 1.0), in_meters=False)
    half = min(deck.sizes_m[:2]) * TAG_SHARE * BORDERED_CELLS / TAG_CELLS
    x, y, z = deck.position_m
    body.add_geom(
        type=mujoco.mjtGeom.mjGEOM_PLANE,
        size=[half, half, 1.0],
        pos=[x, y, z + deck.sizes_m[2] + TAG_ABOVE_M],
        material=name,
    )


def _cells(number: int) -> np.ndarray:
    """Return the black and white cells of a tag, by row from the top."""
    aruco = import_optional("cv2", EXTRA).aruco
    family = aruco.getPredefinedDictionary(aruco.DICT_APRILTAG_36h11)
    tag = aruco.generateImageMarker(family, number, TAG_CELLS)
    return np.pad(np.asarray(tag), (BORDERED_CELLS - TAG_CELLS) // 2, constant_values=255)
