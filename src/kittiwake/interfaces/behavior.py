"""What a member of a flock wants to do because of others, as one of several reasons."""

from abc import abstractmethod
from typing import Annotated, ClassVar

import equinox as eqx

from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE
from kittiwake.core.kinematics import Kinematics
from kittiwake.core.neighbors import NeighborTable
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.build_context import BuildContext


class AbstractBehavior(eqx.Module):
    """A velocity that a vehicle would like to have; several are combined by ``guidance.flock``.

    It has no memory: what it wants follows from the estimate of the vehicle itself and from what it
    knows of others.

    Attributes:
        limit_mps: it never wants to be faster.
        weight: what it counts for where the wishes of several are added up.
    """

    # whether it has to do with a leader
    follows: ClassVar[bool] = False

    limit_mps: Annotated[Real, POSITIVE] = eqx.field(kw_only=True, default=1.0)
    weight: Annotated[Real, NOT_NEGATIVE] = eqx.field(kw_only=True, default=1.0)

    def prepare(self, context: BuildContext) -> "AbstractBehavior":
        """This behavior in the world in which it will be flown.

        Raises:
            ScenarioError: if it cannot be done there.
        """
        del context
        return self

    @abstractmethod
    def desired_velocity_world_mps(self, own: Kinematics, peers: NeighborTable) -> Vec3:
        """The velocity that it wants, before its limit."""

    def limited_world_mps(self, own: Kinematics, peers: NeighborTable) -> Vec3:
        """The velocity that it wants, within its limit."""
        return self.desired_velocity_world_mps(own, peers).shortened(self.limit_mps)
