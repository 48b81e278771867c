"""Cohesion (Reynolds 1987): towards the center of the flock.

v = k (C_N - p_i)
"""

from typing import Annotated

from typing_extensions import override

from kittiwake.core.bounds import NOT_NEGATIVE
from kittiwake.core.kinematics import Kinematics
from kittiwake.core.neighbors import NeighborTable
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.behavior import AbstractBehavior
from kittiwake.swarm.teammates import center_world_m


class Cohesion(AbstractBehavior):
    """Flies towards the mean position of itself and its teammates (C_N); k is ``gain_hz``.

    Attributes:
        gain_hz: k.
    """

    gain_hz: Annotated[Real, NOT_NEGATIVE] = 0.3

    @override
    def desired_velocity_world_mps(self, own: Kinematics, neighbors: NeighborTable) -> Vec3:
        return (center_world_m(own, neighbors) - own.position_world_m) * self.gain_hz
