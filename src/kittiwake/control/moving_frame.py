"""The attitude that a force and a heading ask for, with its rates and their derivative.

With the force A that the thrust has to give and the wanted heading c, both functions of time::

    b_3 = A / |A|,   b_2 = b_3 x c / |b_3 x c|,   b_1 = b_2 x b_3
    omega = (-b_2 b_3', b_1 b_3', b_2 b_1')         in the axes of the frame itself

Each vector is carried with its first two derivatives, so that sums, products and directions follow
by the rules of differentiation. Sources: Lee, Leok, McClamroch (2010), "Geometric tracking control
of a quadrotor UAV on SE(3)", equations 11 and 12 (without its signs: z is up here); Mellinger and
Kumar (2011), "Minimum snap trajectory generation and control for quadrotors", equations 6 to 8,
which is the same frame.

Where b_3 lies along the heading b_2 has no direction; within ``SINGULAR`` of it (a sine) the
present b_2 is kept as far as it is perpendicular to b_3. A force
shorter than ``LEAST_FORCE_MPS2`` (near free fall) counts as one that points up and stands still.
"""

from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp

from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.trigonometry import sin_cos
from kittiwake.geometry.vec3 import Vec3

SINGULAR = 0.02
# the shorter a force is, the faster its direction turns: below this, than a body can follow
LEAST_FORCE_MPS2 = 2.0


class Moving(eqx.Module):
    """A vector with its first and second derivative in time."""

    now: Vec3
    rate: Vec3
    second: Vec3

    def cross(self, other: "Moving") -> "Moving":
        """The vector product, by the product rule."""
        return Moving(
            self.now.cross(other.now),
            self.rate.cross(other.now) + self.now.cross(other.rate),
            self.second.cross(other.now)
            + self.rate.cross(other.rate) * 2.0
            + self.now.cross(other.second),
        )

    def direction(self, otherwise: Vec3, least: Real) -> "Moving":
        """The unit vector along it; where it is shorter than ``least`` another one at rest."""
        length = self.now.norm()
        long = length > least
        safe = jnp.where(long, length, 1.0)
        kept = jnp.where(long, 1.0, 0.0)
        unit = self.now * (kept / safe) + otherwise * (1.0 - kept)
        growth = unit.dot(self.rate)
        rate = (self.rate - unit * growth) * (kept / safe)
        bending = rate.dot(self.rate) + unit.dot(self.second)
        second = (self.second - unit * bending - rate * (2.0 * growth)) * (kept / safe)
        return Moving(unit, rate, second)

    def __mul__(self, factor: Real) -> "Moving":
        return Moving(self.now * factor, self.rate * factor, self.second * factor)


class AttitudeFrame(NamedTuple):
    """The axes of a body that is to be, and how it turns, in its own axes."""

    forward: Vec3
    left: Vec3
    up: Vec3
    angular_velocity_radps: Vec3
    angular_acceleration_radps2: Vec3

    def inside(self, v: Vec3) -> Vec3:
        """The components of a world vector in this frame."""
        return Vec3(self.forward.dot(v), self.left.dot(v), self.up.dot(v))

    def outside(self, v: Vec3) -> Vec3:
        """The world vector with these components in this frame."""
        return self.forward * v.x + self.left * v.y + self.up * v.z


def heading(yaw_rad: Real, yaw_rate_radps: Real) -> Moving:
    """The horizontal unit vector at a yaw that turns evenly."""
    sine, cosine = sin_cos(yaw_rad)
    along, across = Vec3(cosine, sine, 0.0), Vec3(-sine, cosine, 0.0)
    return Moving(along, across * yaw_rate_radps, along * (-yaw_rate_radps * yaw_rate_radps))


def frame_of(
    force_mps2: Moving, towards: Moving, q_world_from_body: Quaternion, *, nearest: bool
) -> AttitudeFrame:
    """The frame; with ``nearest`` a thrust that points down keeps the side the body is on.

    The frames with b_2 and -b_2 both have b_1 in the vertical plane of the heading. The one with
    b_2 looks along the heading while b_3 points up; below the horizon neither is better, and the
    nearer one lets a body go through the vertical without turning round.
    """
    up = force_mps2.direction(Vec3(0.0, 0.0, 1.0), LEAST_FORCE_MPS2)
    present = q_world_from_body.rotate(Vec3(0.0, 1.0, 0.0))
    flat = present - up.now * present.dot(up.now)
    sideways = Moving(flat, Vec3.zero(), Vec3.zero()).direction(up.now.cross(towards.now), SINGULAR)
    left = up.cross(towards).direction(sideways.now, SINGULAR)
    if nearest:
        turned = (up.now.z < 0.0) & (left.now.dot(present) < 0.0)
        left = left * jnp.where(turned, -1.0, 1.0)
    forward = left.cross(up)
    return AttitudeFrame(
        forward.now,
        left.now,
        up.now,
        Vec3(-left.now.dot(up.rate), forward.now.dot(up.rate), left.now.dot(forward.rate)),
        Vec3(
            -left.rate.dot(up.rate) - left.now.dot(up.second),
            forward.rate.dot(up.rate) + forward.now.dot(up.second),
            left.rate.dot(forward.rate) + left.now.dot(forward.second),
        ),
    )


def attitude_error(present: Quaternion, wanted: AttitudeFrame) -> Vec3:
    """e_R = (R_d^T R - R^T R_d)^vee / 2: to first order the angles the body is ahead."""
    x, y, z = (
        wanted.inside(present.rotate(axis))
        for axis in (Vec3(1.0, 0.0, 0.0), Vec3(0.0, 1.0, 0.0), Vec3(0.0, 0.0, 1.0))
    )
    return Vec3(0.5 * (y.z - z.y), 0.5 * (z.x - x.z), 0.5 * (x.y - y.x))
