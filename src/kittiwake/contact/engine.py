"""Contact engine interface: contact of all bodies of a simulation, computed together.

In each step every vehicle first moves by its own model, without contact. The engine receives the
motions before and after this free step, derives the forces that caused it, adds contact forces, and
returns the corrected motions of the bodies that touched something.
"""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from jaxtyping import Array, Bool, Float, Int

from kittiwake.contact.ground_contact import GroundContact
from kittiwake.contact.solid import Solid
from kittiwake.core.kinematics import Kinematics
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.pytree import Module

CollidesWith = Literal["all", "all but the ground", "bodies"]
# numbers of motions along the world's axes, and about the body's axes
ALONG, ABOUT = 3, 3
# smallest side of a box
THINNEST_M = 2e-3
# numbers of a motion: position, quaternion, velocity in the world, body rates
COLUMNS = 13
FREE = (False,) * (ALONG + ABOUT)
NO_TURNING = (False,) * ALONG + (True,) * ABOUT

Motions = Float[Array | np.ndarray, "bodies 13"]


@dataclass(frozen=True)
class ContactParameters:
    """Contact stiffness as a natural frequency, damping ratio, and friction coefficient."""

    frequency_radps: float = 120.0
    damping: float = 0.7
    friction: float = 0.7


@dataclass(frozen=True)
class Collider:
    """Collision geometry and inertia of a body.

    Attributes:
        mass_kg: the mass.
        inertia_kgm2: the inertia about the center of mass; unused if all rotations are locked.
        solids: the collision geometry, in body axes.
        feet_body_m: the feet, in body axes.
        deck: the box whose upper side is the deck; None without a deck.
        locked: true for each of the six motions (three translations along world axes, three
            rotations about body axes) that contact cannot change.
        parameters: the contact parameters of the feet, or of the whole body without feet.
        collides_with: what the body can touch; a vessel does not touch the ground.
        center_of_mass_body_m: the center of mass, relative to the body's origin.
        added: the added mass or inertia of the water for each of the six motions, about the origin.
    """

    mass_kg: float
    inertia_kgm2: Float[np.ndarray, "3 3"]
    solids: tuple[Solid, ...]
    feet_body_m: tuple[tuple[float, float, float], ...] = ()
    deck: Solid | None = None
    locked: tuple[bool, ...] = FREE
    parameters: ContactParameters = ContactParameters()
    collides_with: CollidesWith = "all"
    center_of_mass_body_m: tuple[float, float, float] = (0.0, 0.0, 0.0)
    added: tuple[float, ...] = (0.0,) * (ALONG + ABOUT)


def box_of(size_body_m: Vec3, above_m: float | None = None) -> tuple[Solid, ...]:
    """Return the bounding box of a vehicle, or its part above a level; empty for zero size."""
    sides = [float(side) for side in (size_body_m.x, size_body_m.y, size_body_m.z)]
    if not any(sides):
        return ()
    half = [0.5 * max(side, THINNEST_M) for side in sides]
    low = -half[2] if above_m is None else max(-half[2], above_m)
    tall = max(half[2] - low, THINNEST_M)
    return (Solid("box", (half[0], half[1], 0.5 * tall), (0.0, 0.0, half[2] - 0.5 * tall)),)


class ContactMotion(NamedTuple):
    """Motion of a body after a step in which it touched something.

    Attributes:
        motion: the motion according to the engine.
        impulse_world_ns: the impulse of the contact forces over the step.
        impulse_body_nms: the angular impulse of the contact forces, about the body's origin.
        dt_s: the length of the step.
        ground_contact: the state of the landing gear; None for a body without.
    """

    motion: Kinematics
    impulse_world_ns: Vec3
    impulse_body_nms: Vec3
    dt_s: Real
    ground_contact: GroundContact | None


class Contacts(Module):
    """Result of a contact engine for a step.

    Attributes:
        motions: the motions of all bodies after the step.
        touched: true for bodies that touched anything.
        feet_touching: the number of feet of each body in contact.
        surface: the id of the surface with the largest contact force, as in ``contact.deck``;
            0 without contact.
        impulses: the contact impulse on each body in N s, along world axes, and the angular impulse
            in N m s, about body axes.
    """

    motions: Motions
    touched: Bool[Array | np.ndarray, " bodies"]
    feet_touching: Int[Array | np.ndarray, " bodies"]
    surface: Int[Array | np.ndarray, " bodies"]
    impulses: Float[Array | np.ndarray, "bodies 6"]


class AbstractContactEngine(Module):
    """A contact engine; its bodies are the world's platforms, then all vehicles of the fleet."""

    @abstractmethod
    def contacts(
        self, before: Motions, after: Motions, present: Bool[Array, " bodies"], dt_s: float
    ) -> Contacts:
        """Return the contacts in a step whose free motion leads from ``before`` to ``after``.

        Bodies that are not ``present`` touch nothing.
        """


class AbstractPhysics(Module):
    """Contact model of a scenario.

    ``solid`` is true if obstacles and vehicles push back, false if touching them is a collision.
    """

    solid: ClassVar[bool] = False

    @abstractmethod
    def engine(self, world: Any, vehicles: Mapping[str, Any]) -> AbstractContactEngine | None:
        """Return the engine of a ``world.world.World`` and its vehicles; None without an engine.

        Raises:
            ScenarioError: if a vehicle or an obstacle does not support contact.
        """
