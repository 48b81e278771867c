"""Meshes of multirotors from the parameters of their models.

Rotors have the positions and sizes of the model. For a model without rotor positions, four rotors
are fitted into its bounding box, with the blade tips at its sides. Chosen: the shapes of body, arms
and blades. Front arms have a different color.
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.dynamics import AbstractDynamics
from kittiwake.physics.multirotor import Multirotor
from kittiwake.rendering.colored_mesh import ColoredMesh
from kittiwake.rendering.shapes import Shape, capsule, disc, lofted, merge, revolved, rod

Position = tuple[float, float, float]

BODY_RGB, ARM_RGB, FRONT_RGB, FEET_RGB = (45, 52, 64), (96, 104, 116), (246, 128, 40), (70, 76, 86)
BLADE_RGB = (38, 40, 46)
# rotor discs turning to the left and to the right
LEFT_RGB, RIGHT_RGB, DISC_OPACITY = (64, 150, 225), (150, 110, 220), 0.22
# size of a model without one
DEFAULT_SIZE_M = (0.5, 0.5, 0.12)
# radius of fitted rotors relative to the smaller side of the box
FITTED_RADIUS = 0.21
# front arms are within this angle of the forward direction
FRONT_COSINE = math.cos(math.radians(60.0))


class Rotors(NamedTuple):
    """Hub positions, directions of rotation (+1: left) and radius of the rotors."""

    hubs_body_m: tuple[Position, ...]
    spins: tuple[int, ...]
    radius_m: float


class Airframe(NamedTuple):
    """Geometry of a multirotor; equal airframes have the same mesh."""

    rotors: Rotors
    feet_body_m: tuple[Position, ...]
    height_m: float

    @property
    def arm_m(self) -> float:
        """Largest horizontal distance from the center to a rotor hub."""
        return max(math.hypot(x, y) for x, y, _ in self.rotors.hubs_body_m)


def airframe_of(dynamics: AbstractDynamics) -> Airframe:
    """Return the airframe of a multirotor model."""
    size = _position(dynamics.size_body_m)
    if not any(size):
        size = DEFAULT_SIZE_M
    feet = getattr(dynamics, "landing_gear", None)
    points = () if feet is None else tuple(map(_position, feet.points_body_m))
    if isinstance(dynamics, Multirotor):
        spins = tuple(1 if float(spin) > 0.0 else -1 for spin in dynamics.spins)
        radius = float(dynamics.rotor.disc_radius_m)
        rotors = Rotors(tuple(map(_position, dynamics.hubs_body_m)), spins, radius)
        height = size[2] if any(_position(dynamics.size_body_m)) else radius
        return Airframe(rotors, points, height)
    return Airframe(_fitted(size), points, size[2])


@lru_cache(maxsize=256)
def airframe_meshes(airframe: Airframe) -> tuple[tuple[str, ColoredMesh], ...]:
    """Return the meshes of body, arms, front arms and feet, by name."""
    arm, rotors = airframe.arm_m, airframe.rotors
    thick = 0.045 * arm
    ahead = [hub for hub in rotors.hubs_body_m if _is_front(hub)]
    others = [hub for hub in rotors.hubs_body_m if not _is_front(hub)]
    meshes = [("body", _body(airframe).colored(BODY_RGB))]
    for name, hubs, rgb in (("arms", others, ARM_RGB), ("arms ahead", ahead, FRONT_RGB)):
        if hubs:
            meshes.append((name, merge(*(_arm(hub, thick) for hub in hubs)).colored(rgb)))
    if airframe.feet_body_m:
        legs = [_leg(foot, 0.6 * thick) for foot in airframe.feet_body_m]
        meshes.append(("feet", merge(*legs).colored(FEET_RGB)))
    return tuple(meshes)


@lru_cache(maxsize=256)
def rotor_meshes(radius_m: float, spin: int) -> tuple[tuple[str, ColoredMesh], ...]:
    """Return the meshes of two blades and of the disc that they sweep, about the hub."""
    lift = 0.06 * radius_m
    blades = merge(
        _blade(radius_m, spin),
        _blade(radius_m, spin).at((0.0, 0.0, 0.0), np.array([0.0, 0.0, 0.0, 1.0])),
        revolved(np.array([(0.0, -1.2), (1.0, -1.0), (1.0, 0.8), (0.0, 1.6)]) * lift, 10),
    ).at((0.0, 0.0, lift))
    swept = disc(radius_m, 28).at((0.0, 0.0, lift))
    rgb = LEFT_RGB if spin > 0 else RIGHT_RGB
    return ("blades", blades.colored(BLADE_RGB)), ("disc", swept.colored(rgb, DISC_OPACITY))


def _position(vector: Vec3) -> Position:
    return float(vector.x), float(vector.y), float(vector.z)


def _is_front(hub: Position) -> bool:
    return hub[0] > FRONT_COSINE * math.hypot(hub[0], hub[1])


def _fitted(size_m: Sequence[float]) -> Rotors:
    """Return four rotors in X configuration, counterclockwise from the front left."""
    x, y, z = size_m
    radius = FITTED_RADIUS * min(x, y)
    ahead, left, up = 0.5 * x - radius, 0.5 * y - radius, 0.3 * z
    hubs = ((ahead, left, up), (-ahead, left, up), (-ahead, -left, up), (ahead, -left, up))
    return Rotors(hubs, (1, -1, 1, -1), radius)


def _body(airframe: Airframe) -> Shape:
    """Return a flat rounded body, slightly longer than wide."""
    # clear of the blades
    wide = max(min(0.42 * airframe.arm_m, airframe.arm_m - 0.9 * airframe.rotors.radius_m), 0.02)
    half = min(0.4 * airframe.height_m, 0.6 * wide)
    profile = [(0.0, -1.0), (0.7, -1.0), (1.0, -0.45), (1.0, 0.25), (0.72, 0.75), (0.3, 1.0)]
    shell = revolved(np.array([*profile, (0.0, 1.05)]) * [wide, half], 20)
    return Shape(shell.vertices_m * [1.15, 0.9, 1.0], shell.faces)


def _arm(hub: Position, thick_m: float) -> Shape:
    """Return an arm from the center to a rotor, with the motor."""
    x, y, z = hub
    low = z - 1.2 * thick_m
    profile = [(0.0, -1.0), (0.9, -1.0), (1.0, 0.0), (0.8, 1.0), (0.0, 1.0)]
    motor = revolved(np.array(profile) * [1.5 * thick_m, 1.2 * thick_m], 12).at((x, y, low))
    return merge(rod((0.0, 0.0, low), (x, y, low), thick_m), motor)


def _leg(foot: Position, thick_m: float) -> Shape:
    """Return a leg that ends in a ball, whose lowest point is the foot."""
    x, y, z = foot
    low = z + 1.2 * thick_m
    bar = rod((0.85 * x, 0.85 * y, max(0.0, low + 2.0 * thick_m)), (x, y, low), thick_m, 6)
    return merge(bar, capsule(1.2 * thick_m, 0.0, 8).at((x, y, low)))


def _blade(radius_m: float, spin: int) -> Shape:
    """Return a thin twisted blade along x."""
    along = np.array([0.08, 0.3, 0.75, 1.0]) * radius_m
    chords = np.array([0.08, 0.2, 0.15, 0.05]) * radius_m
    tilts = np.radians([25.0, 22.0, 13.0, 8.0]) * spin
    thick = 0.012 * radius_m
    outline = np.array([(-0.5, -1.0), (0.5, -1.0), (0.5, 1.0), (-0.5, 1.0)])
    sections = []
    for x, chord, tilt in zip(along, chords, tilts, strict=True):
        y, z = (outline * [chord, thick]).T
        turned = (np.cos(tilt) * y - np.sin(tilt) * z, np.sin(tilt) * y + np.cos(tilt) * z)
        sections.append(np.column_stack([np.full(4, x), *turned]))
    return lofted(np.array(sections))
