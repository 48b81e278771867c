"""Flocking behavior interface: maps the own motion and the neighbor table to a velocity."""

from abc import abstractmethod
from typing import Annotated, ClassVar

from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE
from kittiwake.core.component import AbstractModel
from kittiwake.core.kinematics import Kinematics
from kittiwake.core.neighbors import NeighborTable
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.build_context import BuildContext, independent_of_start
from kittiwake.pytree import field


class AbstractBehavior(AbstractModel):
    """One rule of a flock that proposes a velocity; ``guidance.flock`` combines several.

    A behavior is stateless: its output follows from the vehicle's own estimate and from its
    neighbor table alone.

    Attributes:
        limit_mps: the largest speed that it proposes.
        weight: its weight in the weighted sum of several behaviors.
    """

    # true for a behavior that refers to a leader
    requires_leader: ClassVar[bool] = False

    limit_mps: Annotated[Real, POSITIVE] = field(kw_only=True, default=1.0)
    weight: Annotated[Real, NOT_NEGATIVE] = field(kw_only=True, default=1.0)

    @independent_of_start
    def prepare(self, context: BuildContext) -> "AbstractBehavior":
        """Return this behavior prepared for the world in which it will be flown.

        Raises:
            ScenarioError: if it cannot be flown there.
        """
        del context
        return self

    @abstractmethod
    def desired_velocity_world_mps(self, own: Kinematics, neighbors: NeighborTable) -> Vec3:
        """Return the proposed velocity, before the limit is applied."""

    def limited_world_mps(self, own: Kinematics, neighbors: NeighborTable) -> Vec3:
        """Return the proposed velocity, cut to ``limit_mps``."""
        return self.desired_velocity_world_mps(own, neighbors).clip_norm(self.limit_mps)
