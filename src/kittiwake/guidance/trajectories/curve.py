"""Curves of harmonic motions: a circle, a helix, a figure of eight, a turn in place.

Along each axis of the world, with amplitude A, angular rate w and phase p::

    x(t) = c + d t + A sin(w t + p)

and the yaw rate is constant. The derivatives of the curve are known, so the setpoint includes them
as feed-forward, with which a vehicle follows without lag.
"""

from typing import Literal, get_args

import jax.numpy as jnp
from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.core.commands import PositionYaw
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.trigonometry import sin_cos, wrap_angle
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.guidance import AbstractGuidance, GuidanceInputs
from kittiwake.pytree import field

FeedForward = Literal["position", "velocity", "acceleration", "jerk"]
# number of derivatives of the position
DERIVATIVES = {name: order for order, name in enumerate(get_args(FeedForward))}


class Curve(AbstractGuidance[tuple[()]]):
    """Setpoint that moves along a curve, with a selected number of its derivatives.

    Attributes:
        center_world_m: center.
        amplitude_world_m: amplitude along each axis.
        angular_rates_radps: angular rate along each axis.
        phases_rad: phase along each axis.
        drift_world_mps: velocity of the center.
        yaw_rad: initial heading.
        yaw_rate_radps: yaw rate.
        feed_forward: highest derivative that is fed forward.
    """

    center_world_m: Vec3
    amplitude_world_m: Vec3 = Vec3.zero()
    angular_rates_radps: Vec3 = Vec3.zero()
    phases_rad: Vec3 = Vec3.zero()
    drift_world_mps: Vec3 = Vec3.zero()
    yaw_rad: Real = 0.0
    yaw_rate_radps: Real = 0.0
    feed_forward: FeedForward = field(static=True, default="jerk")

    @override
    def command_types(self) -> tuple[type[PositionYaw]]:
        return (PositionYaw,)

    @override
    def step(
        self, state: tuple[()], inputs: GuidanceInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[tuple[()], PositionYaw]:
        del dt_s, key
        known = DERIVATIVES[self.feed_forward]
        place, *derivatives = self._motion(inputs.time_s)
        velocity, acceleration, jerk = (
            derivative if order <= known else Vec3.zero()
            for order, derivative in enumerate(derivatives, start=1)
        )
        return state, PositionYaw(
            place,
            wrap_angle(self.yaw_rad + self.yaw_rate_radps * inputs.time_s),
            velocity,
            acceleration,
            jerk,
            self.yaw_rate_radps if known else 0.0,
        )

    def _motion(self, time_s: Real) -> tuple[Vec3, Vec3, Vec3, Vec3]:
        """Return position, velocity, acceleration and jerk."""
        center, drift, size = self.center_world_m, self.drift_world_mps, self.amplitude_world_m
        rate, phase = self.angular_rates_radps, self.phases_rad
        x = _along(center.x, drift.x, size.x, rate.x, phase.x, time_s)
        y = _along(center.y, drift.y, size.y, rate.y, phase.y, time_s)
        z = _along(center.z, drift.z, size.z, rate.z, phase.z, time_s)
        place, velocity, acceleration, jerk = (Vec3(*parts) for parts in zip(x, y, z, strict=True))
        return place, velocity, acceleration, jerk

    @classmethod
    @override
    def examples(cls) -> dict[str, "Curve"]:
        return {
            "helix": cls(
                Vec3(1.0, 2.0, 10.0),
                Vec3(2.0, 1.0, 0.5),
                Vec3(0.5, 0.5, 1.0),
                Vec3(1.5, 0.0, 0.2),
                Vec3(0.0, 0.0, 0.1),
                yaw_rate_radps=0.3,
            )
        }


def _along(
    center: Real, speed: Real, size: Real, rate: Real, phase: Real, time_s: Real
) -> tuple[Real, Real, Real, Real]:
    """Return position, velocity, acceleration and jerk along one axis."""
    sine, cosine = sin_cos(jnp.asarray(rate * time_s + phase))
    return (
        center + speed * time_s + size * sine,
        speed + size * rate * cosine,
        -size * rate * rate * sine,
        -size * rate * rate * rate * cosine,
    )
