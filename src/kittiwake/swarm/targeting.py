"""Targeting: moves the center of the flock to a target (after Su, Wang, Lin 2009).

    v = k (target - C_N)

All members that know each other get the same velocity, so their center moves to the target while
other behaviors determine the positions relative to it.
"""

from typing import Annotated

from typing_extensions import override

from kittiwake.core.bounds import NOT_NEGATIVE
from kittiwake.core.kinematics import Kinematics
from kittiwake.core.neighbors import NeighborTable
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.behavior import AbstractBehavior
from kittiwake.pytree import field
from kittiwake.swarm.teammates import center_world_m


class Targeting(AbstractBehavior):
    """Moves the mean position of itself and its teammates to the target; k is ``gain_hz``.

    Attributes:
        target_world_m: target of the center.
        gain_hz: k.
    """

    target_world_m: Vec3 = field(kw_only=True)
    gain_hz: Annotated[Real, NOT_NEGATIVE] = 0.5

    @override
    def desired_velocity_world_mps(self, own: Kinematics, neighbors: NeighborTable) -> Vec3:
        return (self.target_world_m - center_world_m(own, neighbors)) * self.gain_hz

    @classmethod
    @override
    def examples(cls) -> dict[str, "Targeting"]:
        return {"plain": cls(target_world_m=Vec3(5.0, 5.0, 5.0))}
