"""Keeps a distance from a surface in three dimensions, as in a Matlab simulator.

With the unit vector a away from the surface, e the wanted less the measured distance, x ahead in
the axes of the heading, and D a derivative behind a low pass of 0.417 rad/s::

    F = m g + m / m_0 (3 x 1.4987 e a_z - 4.4987 v_z + i),   i' = e a_z / 150 s
    theta = (0.24 e a_x - 24 D(v_x) + j) / 10 - 0.24 v_x,    j' = e a_x / 150 s,   at most 15 deg

F is the thrust, theta the pitch that lowers the nose, m_0 the 1.5 kg that the gains are for; yaw
looks along -a, by the law of ``surface_following``. a is the surface's normal. Where
``direction_world`` is given, as (1, 15, 2) east, north, up in the source, a is against that, but
with a_z upwards where the normal points up and downwards where it points down: to where the
distance grows. The distance is that across the surface in both cases.

Pitch makes a slow loop: in front of a wall 0.07 rad/s. Nothing holds the place along the surface,
nor is there a roll; the drag has to end a motion there.

Source: R. Coronel Loza, dronSimulatorMatlab (public), its 3-D distance lock, in NED with thrust as
the deviation from hovering. Its D of the velocity has the sign that speeds up what moves, which
ends at the limits of the tilt; it brakes here. That alone acts like a mass, and leaves a wall's
distance swinging with a damping of 0.02: the last term of theta is not the source's, its gain is
that of the velocity in its surface following.
"""

from typing import Annotated, ClassVar

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.control.pid import Pid, PidState
from kittiwake.control.surface_following import (
    MAX_TILT_RAD,
    YAW,
    Heading,
    direction,
    lifting,
    thrust_n,
)
from kittiwake.core.bounds import POSITIVE
from kittiwake.core.commands import SurfaceMotion, ThrustAttitude
from kittiwake.core.kinematics import Kinematics
from kittiwake.geometry.euler import EulerZYX
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.controller import AbstractController
from kittiwake.world.ray import refuse_without_direction


class DistanceLockState(eqx.Module):
    """Of the four PIDs."""

    vertical: PidState
    forward: PidState
    damping: PidState
    yaw: PidState


class DistanceLock(AbstractController):
    """Distance from a surface to thrust and attitude; a speed along it is left out.

    Attributes:
        mass_kg: of the vehicle.
        max_thrust_n: of the vehicle.
        gravity_mps2: where it flies.
        direction_world: to the surface, of any length; None for straight to it.
        vertical: m to N beyond hovering, of a vehicle of 1.5 kg; its derivative is that of m/s.
        forward: m to rad of pitch, with its limits.
        damping: m/s to rad of pitch.
        yaw: rad to rad.
    """

    consumes: ClassVar[type] = SurfaceMotion
    produces: ClassVar[type] = ThrustAttitude

    mass_kg: Annotated[Real, POSITIVE]
    max_thrust_n: Annotated[Real, POSITIVE]
    gravity_mps2: Annotated[Real, POSITIVE] = 9.81
    direction_world: Vec3 | None = None
    vertical: Pid = Pid(3.0 * 1.4987, 1.0 / 150.0, 4.4987)
    forward: Pid = Pid(0.024, 1.0 / 1500.0, lower=-MAX_TILT_RAD, upper=MAX_TILT_RAD)
    damping: Pid = Pid(0.24, derivative_s=2.4, filter_radps=10.0 / 24.0)
    yaw: Pid = YAW

    def __check_init__(self) -> None:
        """A direction has to be one."""
        if self.direction_world is not None:
            refuse_without_direction(self.direction_world, "direction_world", "[1, 15, 2]")

    @override
    def init(self, key: PRNGKeyArray) -> DistanceLockState:
        del key
        return DistanceLockState(
            self.vertical.begin(), self.forward.begin(), self.damping.begin(), PidState.initial()
        )

    @override
    def step(
        self,
        state: DistanceLockState,
        inputs: tuple[SurfaceMotion, Kinematics],
        dt_s: Real,
        key: PRNGKeyArray,
    ) -> tuple[DistanceLockState, ThrustAttitude]:
        del key
        wanted, estimate = inputs
        heading = Heading.of(estimate)
        away = self._away(wanted.normal_world)
        velocity = estimate.velocity_world_mps
        error = away * (wanted.wanted_distance_m - wanted.distance_m)
        lift = lifting(self.vertical, self.mass_kg, self.gravity_mps2, self.max_thrust_n)
        vertical, beyond_hover = lift.step(state.vertical, error.z, dt_s, error_rate=-velocity.z)
        damping, brake = self.damping.step(state.damping, -heading.ahead(velocity), dt_s)
        forward, pitch = self.forward.step(
            state.forward, heading.ahead(error), dt_s, feed_forward=brake
        )
        turned, yaw = heading.turned(self.yaw, state.yaw, heading.across(-away), dt_s)
        return DistanceLockState(vertical, forward, damping, turned), ThrustAttitude(
            thrust_n(beyond_hover, self.mass_kg, self.gravity_mps2),
            Quaternion.from_euler(EulerZYX(0.0, pitch, yaw)),
        )

    def _away(self, normal_world: Vec3) -> Vec3:
        """The unit vector along which the error is shared."""
        if self.direction_world is None:
            return direction(normal_world)
        towards = direction(self.direction_world)
        up = jnp.abs(towards.z) * jnp.sign(normal_world.z)
        return Vec3(-towards.x, -towards.y, up)
