"""Attitude frame of a time-varying force and heading, with rates and accelerations.

With the demanded force A and the commanded heading c, both functions of time::

    b_3 = A / |A|,   b_2 = b_3 x c / |b_3 x c|,   b_1 = b_2 x b_3
    omega = (-b_2 b_3', b_1 b_3', b_2 b_1')         in the axes of the frame itself

Each vector has its first two derivatives, so that sums, products and directions follow from the
rules of differentiation. Sources: Lee, Leok, McClamroch (2010), "Geometric tracking control
of a quadrotor UAV on SE(3)", equations 11 and 12 (without its signs: z is up here); Mellinger and
Kumar (2011), "Minimum snap trajectory generation and control for quadrotors", equations 6 to 8,
which is the same frame.

Where b_3 is parallel to the heading, b_2 is undefined; within ``SINGULAR`` of that (a sine) the
present b_2 is kept, projected perpendicular to b_3. A force shorter than ``LEAST_FORCE_MPS2`` (near
free fall) counts as constant and upwards.
"""

from typing import NamedTuple

import jax.numpy as jnp

from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.trigonometry import sin_cos
from kittiwake.geometry.vec3 import Vec3
from kittiwake.pytree import Module

SINGULAR = 0.02
# the direction of a shorter force rotates faster than a body can follow
LEAST_FORCE_MPS2 = 2.0


class TimeVarying(Module):
    """Vector with its first and second time derivatives."""

    now: Vec3
    rate: Vec3
    second: Vec3

    def cross(self, other: "TimeVarying") -> "TimeVarying":
        """Return the vector product, by the product rule."""
        return TimeVarying(
            self.now.cross(other.now),
            self.rate.cross(other.now) + self.now.cross(other.rate),
            self.second.cross(other.now)
            + self.rate.cross(other.rate) * 2.0
            + self.now.cross(other.second),
        )

    def direction(self, otherwise: Vec3, least: Real) -> "TimeVarying":
        """Return the unit vector; ``otherwise``, constant, for vectors shorter than ``least``."""
        length = self.now.norm()
        long = length > least
        safe = jnp.where(long, length, 1.0)
        kept = jnp.where(long, 1.0, 0.0)
        unit = self.now * (kept / safe) + otherwise * (1.0 - kept)
        growth = unit.dot(self.rate)
        rate = (self.rate - unit * growth) * (kept / safe)
        bending = rate.dot(self.rate) + unit.dot(self.second)
        second = (self.second - unit * bending - rate * (2.0 * growth)) * (kept / safe)
        return TimeVarying(unit, rate, second)

    def __mul__(self, factor: Real) -> "TimeVarying":
        return TimeVarying(self.now * factor, self.rate * factor, self.second * factor)


class AttitudeFrame(NamedTuple):
    """Axes of a frame in the world, with angular velocity and acceleration in its own axes."""

    forward: Vec3
    left: Vec3
    up: Vec3
    angular_velocity_radps: Vec3
    angular_acceleration_radps2: Vec3

    def from_world(self, v: Vec3) -> Vec3:
        """Return the components of a world vector in this frame."""
        return Vec3(self.forward.dot(v), self.left.dot(v), self.up.dot(v))

    def to_world(self, v: Vec3) -> Vec3:
        """Return the world vector with these components in this frame."""
        return self.forward * v.x + self.left * v.y + self.up * v.z


def heading(yaw_rad: Real, yaw_rate_radps: Real) -> TimeVarying:
    """Return the horizontal unit vector of a yaw with constant rate."""
    sine, cosine = sin_cos(yaw_rad)
    along, across = Vec3(cosine, sine, 0.0), Vec3(-sine, cosine, 0.0)
    return TimeVarying(along, across * yaw_rate_radps, along * (-yaw_rate_radps * yaw_rate_radps))


def frame_of(
    force_mps2: TimeVarying, towards: TimeVarying, q_world_from_body: Quaternion, *, nearest: bool
) -> AttitudeFrame:
    """Return the frame of a force and a heading.

    The frames with b_2 and -b_2 both have b_1 in the vertical plane of the heading. While b_3
    points up, the one with b_2 faces along the heading. While b_3 points down, ``nearest`` selects
    the one closer to the body, which avoids half a turn of yaw at the vertical.
    """
    up = force_mps2.direction(Vec3(0.0, 0.0, 1.0), LEAST_FORCE_MPS2)
    present = q_world_from_body.rotate(Vec3(0.0, 1.0, 0.0))
    flat = present - up.now * present.dot(up.now)
    sideways = TimeVarying(flat, Vec3.zero(), Vec3.zero()).direction(
        up.now.cross(towards.now), SINGULAR
    )
    left = up.cross(towards).direction(sideways.now, SINGULAR)
    if nearest:
        flipped = (up.now.z < 0.0) & (left.now.dot(present) < 0.0)
        left = left * jnp.where(flipped, -1.0, 1.0)
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


def attitude_error(present: Quaternion, frame: AttitudeFrame) -> Vec3:
    """Return e_R = (R_d^T R - R^T R_d)^vee / 2: to first order the angles of the error."""
    x, y, z = (
        frame.from_world(present.rotate(axis))
        for axis in (Vec3(1.0, 0.0, 0.0), Vec3(0.0, 1.0, 0.0), Vec3(0.0, 0.0, 1.0))
    )
    return Vec3(0.5 * (y.z - z.y), 0.5 * (z.x - x.z), 0.5 * (x.y - y.x))
