"""Following a leader at an offset.

v = v_L + k (p_L + o - p_i)
"""

from typing import Annotated, ClassVar

import jax.numpy as jnp
from typing_extensions import override

from kittiwake.core.bounds import NOT_NEGATIVE
from kittiwake.core.kinematics import Kinematics
from kittiwake.core.neighbors import NeighborTable
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.behavior import AbstractBehavior


class FollowLeader(AbstractBehavior):
    """Keeps ``offset_world_m`` (o) from the vehicle that the scenario names as ``leader``.

    Attributes:
        offset_world_m: position relative to the leader.
        gain_hz: k.
    """

    requires_leader: ClassVar[bool] = True

    offset_world_m: Vec3 = Vec3(0.0, 0.0, 0.0)
    gain_hz: Annotated[Real, NOT_NEGATIVE] = 0.5

    @override
    def desired_velocity_world_mps(self, own: Kinematics, neighbors: NeighborTable) -> Vec3:
        leader = neighbors.leader
        error = leader.position_world_m + self.offset_world_m - own.position_world_m
        velocity = leader.velocity_world_mps + error * self.gain_hz
        return velocity * jnp.where(leader.received, 1.0, 0.0)
