"""What happens where bodies touch, computed for all of them at once.

Each vehicle moves through a step by its own model as if nothing were there. An engine is given all
motions before and after that, and gives back those of the bodies that touched something: what led a
body from one to the other is what pushed it, and contact comes on top. Models do not know of it.
"""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

import equinox as eqx
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from kittiwake.contact.ground_contact import GroundContact
from kittiwake.contact.solid import Solid
from kittiwake.core.kinematics import Kinematics
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3

Meets = Literal["all", "all but the ground", "bodies"]
# along the world's axes, and about the body's own
ALONG, ABOUT = 3, 3
# of a box that has no thickness itself
THINNEST_M = 2e-3
# of a motion: position, quaternion, velocity in the world, body rates
COLUMNS = 13
FREE = (False,) * (ALONG + ABOUT)
NO_TURNING = (False,) * ALONG + (True,) * ABOUT

Motions = Float[Array | np.ndarray, "bodies 13"]


@dataclass(frozen=True)
class ContactParameters:
    """How firmly a body stands: the swing on its feet, its damping, and friction."""

    frequency_radps: float = 120.0
    damping: float = 0.7
    friction: float = 0.7


@dataclass(frozen=True)
class Collider:
    """What others meet of a body, and how it gives way.

    Attributes:
        mass_kg: of the body.
        inertia_kgm2: about its center of mass; of no account where all turning is held.
        center_of_mass_body_m: from its origin.
        added: mass and inertia of the water that moves along, about the origin, for each motion.
        solids: in its own axes.
        feet_body_m: points that it stands on.
        deck: the box whose upper side is its deck, if it has one.
        held: which of its six motions, along the world's axes and about its own, nothing changes.
        grip: of its feet, or of all of it.
        meets: what it may touch; what floats does not touch the ground, which is the water then.
    """

    mass_kg: float
    inertia_kgm2: Float[np.ndarray, "3 3"]
    solids: tuple[Solid, ...]
    feet_body_m: tuple[tuple[float, float, float], ...] = ()
    deck: Solid | None = None
    held: tuple[bool, ...] = FREE
    grip: ContactParameters = ContactParameters()
    meets: Meets = "all"
    center_of_mass_body_m: tuple[float, float, float] = (0.0, 0.0, 0.0)
    added: tuple[float, ...] = (0.0,) * (ALONG + ABOUT)


def box_of(size_body_m: Any, above_m: float | None = None) -> tuple[Solid, ...]:
    """The box around a vehicle, or the part of it above a level; none around a point."""
    sides = [float(side) for side in (size_body_m.x, size_body_m.y, size_body_m.z)]
    if not any(sides):
        return ()
    half = [0.5 * max(side, THINNEST_M) for side in sides]
    low = -half[2] if above_m is None else max(-half[2], above_m)
    tall = max(half[2] - low, THINNEST_M)
    return (Solid("box", (half[0], half[1], 0.5 * tall), (0.0, 0.0, half[2] - 0.5 * tall)),)


class ContactMotion(NamedTuple):
    """How a body moves after a step in which it touched something.

    Attributes:
        motion: as the engine has it.
        impulse_world_ns: of contact over the step, at the body's origin.
        impulse_body_nms: and its moment about the origin.
        dt_s: the step.
        footing: None for a body without feet.
    """

    motion: Kinematics
    impulse_world_ns: Vec3
    impulse_body_nms: Vec3
    dt_s: Real
    ground_contact: GroundContact | None


class Contacts(eqx.Module):
    """What the bodies met in a step.

    Attributes:
        motions: of all bodies after it.
        touched: which of them met anything.
        feet_touching: how many feet of each stood on something.
        surface: the number of the surface that presses it most, as in ``core.support``; 0 if none.
        impulses: of contact on each in N s and N m s, along the world's axes and about its own.
    """

    motions: Motions
    touched: Bool[Array | np.ndarray, " bodies"]
    feet_touching: Int[Array | np.ndarray, " bodies"]
    surface: Int[Array | np.ndarray, " bodies"]
    impulses: Float[Array | np.ndarray, "bodies 6"]


class AbstractContactEngine(eqx.Module):
    """Bodies in a fixed order: those of the world's platforms, then all vehicles of the fleet."""

    @abstractmethod
    def contacts(
        self, before: Motions, after: Motions, present: Bool[Array, " bodies"], dt_s: float
    ) -> Contacts:
        """What becomes of motions that would have led from ``before`` to ``after``.

        Bodies that are not ``present`` touch nothing.
        """


class AbstractPhysics(eqx.Module):
    """How a scenario wants contact to be computed.

    ``solid`` says whether everything pushes back that is touched.
    """

    solid: ClassVar[bool] = False

    @abstractmethod
    def engine(self, world: Any, vehicles: Mapping[str, Any]) -> AbstractContactEngine | None:
        """The engine for a ``core.world.World`` and its vehicles in this order; None for none.

        Raises:
            ScenarioError: if something of them cannot be touched.
        """
