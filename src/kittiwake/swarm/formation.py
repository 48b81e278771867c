"""Formation keeping: position of each member in a shape of the whole team.

With s_j the position of member j in the shape, relative to its center, each member estimates the
center from its neighbors, and flies to its own position relative to it::

    C = mean_j (p_j - s_j),    v = k (C + s_i - p_i) + f mean_j v_j

which is the consensus of Olfati-Saber, Fax, Murray, "Consensus and cooperation in networked
multi-agent systems", Proceedings of the IEEE 95 (2007), section II.B. The mean goes over the member
itself and its teammates.
"""

from typing import Annotated, Any, Literal

import jax.numpy as jnp
from typing_extensions import override

from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE
from kittiwake.core.kinematics import Kinematics
from kittiwake.core.neighbors import Neighbor, NeighborTable
from kittiwake.geometry.scalar import Integer, Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.behavior import AbstractBehavior
from kittiwake.pytree import field
from kittiwake.swarm.teammates import count_teammates, sum_over_teammates

Shape = Literal["line", "column", "wedge", "circle", "grid"]


class Formation(AbstractBehavior):
    """Flies to its position in a line abreast, a column, a wedge, a circle or a square grid.

    Attributes:
        shape: shape of the formation; its front points along ``heading_rad``.
        spacing_m: distance of neighbors in the shape.
        heading_rad: direction of the front, from east to north.
        gain_hz: k.
        feed_forward: f, the share of the mean velocity that is fed forward.
    """

    shape: Shape = field(static=True, default="wedge")
    spacing_m: Annotated[Real, POSITIVE] = 3.0
    heading_rad: Real = 0.0
    gain_hz: Annotated[Real, NOT_NEGATIVE] = 0.6
    feed_forward: Annotated[Real, NOT_NEGATIVE] = 0.5

    @override
    def desired_velocity_world_mps(self, own: Kinematics, neighbors: NeighborTable) -> Vec3:
        def center(teammate: Neighbor) -> Vec3:
            return teammate.position_world_m - self.offset_world_m(
                teammate.index_in_team, neighbors.size
            )

        count = 1.0 + count_teammates(neighbors)
        own_center = own.position_world_m - self.offset_world_m(
            neighbors.index_in_team, neighbors.size
        )
        error = (own_center + sum_over_teammates(neighbors, center)) / count - own_center
        velocities = sum_over_teammates(neighbors, lambda teammate: teammate.velocity_world_mps)
        mean = (own.velocity_world_mps + velocities) / count
        return error * self.gain_hz + mean * self.feed_forward

    def offset_world_m(self, index: Integer, size: Integer) -> Vec3:
        """Return the position of a member relative to the center of the shape."""
        real = jnp.result_type(float)
        ahead, left = _offsets(self.shape, jnp.asarray(index, real), jnp.asarray(size, real))
        ahead, left = ahead * self.spacing_m, left * self.spacing_m
        cosine, sine = jnp.cos(self.heading_rad), jnp.sin(self.heading_rad)
        return Vec3(ahead * cosine - left * sine, ahead * sine + left * cosine, 0.0 * ahead)

    @classmethod
    @override
    def examples(cls) -> dict[str, "Formation"]:
        shapes: tuple[Any, ...] = ("wedge", "line", "column", "circle", "grid")
        return {shape: cls(shape, heading_rad=0.5) for shape in shapes}


def _offsets(shape: Shape, index: Real, size: Real) -> tuple[Real, Real]:
    """Return a member's offset (ahead, left) from the center of a shape with spacing 1."""
    along = index - 0.5 * (size - 1.0)
    if shape == "line":
        return 0.0 * along, -along
    if shape == "column":
        return -along, 0.0 * along
    if shape == "wedge":
        rank = (index + 1) // 2
        # ranks are 0, 1, 1, 2, 2, ...: for an even size the last member is alone in its rank
        whole = size // 2 * ((size + 1) // 2)
        side = jnp.where(index % 2 == 1, 1.0, -1.0)
        lone = jnp.where(size % 2 == 0, 0.5, 0.0)
        back = whole / size - rank
        return back * 0.5**0.5, (side * rank - lone) * 0.5**0.5
    if shape == "circle":
        angle = 2.0 * jnp.pi * index / size
        # neighbors on the circle are 1 apart
        radius = jnp.where(size > 1, 0.5 / jnp.sin(jnp.pi / jnp.maximum(size, 2)), 0.0)
        return radius * jnp.cos(angle), radius * jnp.sin(angle)
    side = jnp.ceil(jnp.sqrt(size - 0.5))
    row, rank = jnp.floor(index / side), index % side
    rows = jnp.ceil(size / side)
    last = size - (rows - 1.0) * side
    mean_row = (0.5 * (rows - 1.0) * (rows - 2.0) * side + (rows - 1.0) * last) / size
    mean_rank = (0.5 * (side - 1.0) * side * (rows - 1.0) + 0.5 * (last - 1.0) * last) / size
    return mean_row - row, mean_rank - rank
