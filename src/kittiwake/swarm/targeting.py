"""Targeting: brings the middle of the flock to a place (after Su, Wang, Lin 2009).

    v = k (target - C_N)

All members that know each other are shifted alike, so their middle goes to the target while their
places about it are left to other behaviors.
"""

from typing import Annotated

import equinox as eqx
from typing_extensions import override

from kittiwake.core.bounds import NOT_NEGATIVE
from kittiwake.core.kinematics import Kinematics
from kittiwake.core.neighbors import NeighborTable
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.behavior import AbstractBehavior
from kittiwake.swarm.teammates import middle_world_m


class Targeting(AbstractBehavior):
    """Brings C_N, the mean place of itself and its mates, to the target; k is ``gain_hz``."""

    target_world_m: Vec3 = eqx.field(kw_only=True)
    gain_hz: Annotated[Real, NOT_NEGATIVE] = 0.5

    @override
    def desired_velocity_world_mps(self, own: Kinematics, peers: NeighborTable) -> Vec3:
        return (self.target_world_m - middle_world_m(own, peers)) * self.gain_hz
