"""Construction of MuJoCo geometry, for contact and for rendering."""

from types import ModuleType
from typing import Any, TypeAlias

from kittiwake.contact.deck import DEPTH_M
from kittiwake.contact.solid import Solid
from kittiwake.world.environment import AbstractPlatform

MUJOCO, EXTRA = "mujoco", "mujoco"

# model, specification, body or context of MuJoCo, which has no type information
MujocoObject: TypeAlias = Any


def add_solid(
    mujoco: ModuleType, spec: MujocoObject, body: MujocoObject, solid: Solid, name: str = ""
) -> MujocoObject:
    """Add a solid to a body and return its geom."""
    geom_types, geom = mujoco.mjtGeom, body.add_geom(name=name)
    if solid.shape == "hull":
        assert solid.corners_m is not None
        mesh = spec.add_mesh(name=f"hull {len(spec.meshes)}", uservert=solid.corners_m.ravel())
        geom.type, geom.meshname = geom_types.mjGEOM_MESH, mesh.name
    else:
        geom.type = getattr(geom_types, f"mjGEOM_{solid.shape.upper()}")
        size = [*solid.sizes_m, 0.0, 0.0, 0.0][:3]
        geom.size = [0.0, 0.0, 1.0] if solid.shape == "plane" else size
        geom.pos, geom.quat = solid.position_m, solid.attitude
    return geom


def add_ground(mujoco: ModuleType, spec: MujocoObject, height_m: float) -> MujocoObject:
    """Add the infinite ground plane and return its geom."""
    return spec.worldbody.add_geom(
        name="ground",
        type=mujoco.mjtGeom.mjGEOM_PLANE,
        size=[0.0, 0.0, 1.0],
        pos=[0.0, 0.0, height_m],
    )


def plate(platform: AbstractPlatform) -> Solid:
    """Return the plate of a platform, in the axes of its surface."""
    deck = platform.deck_state(0.0)
    size = (0.5 * float(deck.length_m), 0.5 * float(deck.width_m), 0.5 * DEPTH_M)
    return Solid("box", size, (0.0, 0.0, -0.5 * DEPTH_M))
