"""Flocking after Olfati-Saber.

R. Olfati-Saber, "Flocking for multi-agent dynamic systems: algorithms and theory", IEEE
Transactions on Automatic Control 51 (2006), algorithm 2, in three dimensions::

    u_i = sum_j phi_alpha(|p_j - p_i|_sigma) n_ij + sum_j a_ij (v_j - v_i)
          - c_1 (p_i - p_r) - c_2 (v_i - v_r)

    |z|_sigma = (sqrt(1 + eps |z|^2) - 1) / eps,    n_ij = (p_j - p_i) / sqrt(1 + eps |p_j - p_i|^2)
    a_ij = rho_h(|p_j - p_i|_sigma / |r|_sigma)
    phi_alpha(z) = rho_h(z / |r|_sigma) phi(z - |d|_sigma)
    phi(z) = ((a + b) sigma_1(z + c) + (a - b)) / 2,   sigma_1(z) = z / sqrt(1 + z^2),
    c = |a - b| / sqrt(4 a b)

with eps = 0.1, a = b = 5, h = 0.2 and r = 1.2 d, as in section VIII there. At rest the distance of
neighbors is d. u is an acceleration; the vehicles here take velocity commands, and follow them with
a lag of about tau, so that the command v_i + tau u_i gives the acceleration u_i.
"""

from typing import Annotated

import jax.numpy as jnp
from typing_extensions import override

from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE, Bounds
from kittiwake.core.kinematics import Kinematics
from kittiwake.core.neighbors import Neighbor, NeighborTable
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.behavior import AbstractBehavior
from kittiwake.swarm.teammates import sum_over_teammates

EPSILON = 0.1
A = B = 5.0
H = 0.2
C = abs(A - B) / (4.0 * A * B) ** 0.5


class OlfatiSaber(AbstractBehavior):
    """Lattice of teammates at equal distances that flies to a target as one.

    Attributes:
        distance_m: d, the distance of neighbors.
        reach: r / d; teammates farther than r do not count.
        target_world_m: p_r, at rest; optional.
        position_gain_hz2: c_1.
        velocity_gain_hz: c_2.
        response_s: tau, the time constant of the vehicle's velocity.
    """

    distance_m: Annotated[Real, POSITIVE] = 3.0
    reach: Annotated[Real, Bounds(1.0, 10.0, open_below=True)] = 1.2
    target_world_m: Vec3 | None = None
    position_gain_hz2: Annotated[Real, NOT_NEGATIVE] = 0.1
    velocity_gain_hz: Annotated[Real, NOT_NEGATIVE] = 0.6
    response_s: Annotated[Real, POSITIVE] = 0.5

    @override
    def desired_velocity_world_mps(self, own: Kinematics, neighbors: NeighborTable) -> Vec3:
        return own.velocity_world_mps + self._u(own, neighbors) * self.response_s

    def _u(self, own: Kinematics, neighbors: NeighborTable) -> Vec3:
        d = _sigma_norm(jnp.square(self.distance_m))
        r = _sigma_norm(jnp.square(self.reach * self.distance_m))

        def from_teammate(teammate: Neighbor) -> Vec3:
            offset = teammate.position_world_m - own.position_world_m
            square = offset.dot(offset)
            z = _sigma_norm(square)
            a_ij = _rho(z / r)
            phi_alpha = a_ij * _phi(z - d)
            n_ij = offset / jnp.sqrt(1.0 + EPSILON * square)
            return n_ij * phi_alpha + (teammate.velocity_world_mps - own.velocity_world_mps) * a_ij

        u = sum_over_teammates(neighbors, from_teammate)
        if self.target_world_m is None:
            return u
        to_target = (self.target_world_m - own.position_world_m) * self.position_gain_hz2
        return u + to_target - own.velocity_world_mps * self.velocity_gain_hz

    @classmethod
    @override
    def examples(cls) -> dict[str, "OlfatiSaber"]:
        return {"to a target": cls(target_world_m=Vec3(5.0, 5.0, 5.0)), "adrift": cls()}


def _sigma_norm(square: Real) -> Real:
    """Return the sigma norm from the square of the length."""
    return (jnp.sqrt(1.0 + EPSILON * square) - 1.0) / EPSILON


def _rho(z: Real) -> Real:
    """Return the bump function: 1 up to h, and from there smoothly down to 0 at 1."""
    down = 0.5 * (1.0 + jnp.cos(jnp.pi * jnp.clip((z - H) / (1.0 - H), 0.0, 1.0)))
    return jnp.where(z < 1.0, down, 0.0)


def _phi(z: Real) -> Real:
    shifted = z + C
    return 0.5 * ((A + B) * shifted / jnp.sqrt(1.0 + shifted * shifted) + (A - B))
