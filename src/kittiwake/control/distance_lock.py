"""Distance lock: keeps a distance from a surface in three dimensions.

With the unit vector a away from the surface, e the commanded minus the measured distance, x ahead
in the axes of the heading, and D a derivative with a low-pass filter of 0.417 rad/s::

    F = m g + m / m_0 (3 x 1.4987 e a_z - 4.4987 v_z + i),   i' = e a_z / 150 s
    theta = (0.24 e a_x - 24 D(v_x) + j) / 10 - 0.24 v_x,    j' = e a_x / 150 s,   at most 15 deg

F is the thrust, theta the pitch (positive nose down), m_0 the 1.5 kg for which the gains are given;
yaw points along -a, by the law of ``surface_following``. a is the surface normal. If
``direction_world`` is given, such as (1, 15, 2) east, north, up in the source, a is opposite to it,
but a_z has the sign of the normal, so that the distance increases along a. The distance is measured
along the normal in both cases.

The pitch loop is slow: 0.07 rad/s in front of a wall. The position along the surface is not
controlled, and roll is zero; only drag damps motion along the surface.

Source: R. Coronel Loza, dronSimulatorMatlab (public), its 3-D distance lock, in NED with thrust as
the deviation from hovering. There, D of the velocity accelerates the motion, up to the limits of
the tilt; here it decelerates. By itself it acts like added mass and leaves the distance to a wall
with a damping ratio of 0.02. The last term of theta is not in the source; its gain is that of the
velocity in the source's surface following.
"""

from typing import Annotated, ClassVar

import jax.numpy as jnp
from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.control.pid import Pid, PidState
from kittiwake.control.surface_following import (
    MAX_TILT_RAD,
    YAW,
    Heading,
    direction,
    thrust_n,
    vertical_pid,
)
from kittiwake.core.bounds import POSITIVE
from kittiwake.core.commands import SurfaceMotion, ThrustAttitude
from kittiwake.core.kinematics import Kinematics
from kittiwake.geometry.euler import EulerZYX
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.controller import AbstractController
from kittiwake.pytree import Module
from kittiwake.world.ray import validate_direction


class DistanceLockState(Module):
    """States of the four PIDs."""

    vertical: PidState
    forward: PidState
    damping: PidState
    yaw: PidState


class DistanceLock(AbstractController[DistanceLockState, SurfaceMotion, ThrustAttitude]):
    """Distance from a surface to thrust and attitude; the speed along it is not controlled.

    Attributes:
        mass_kg: the mass of the vehicle.
        max_thrust_n: the largest thrust of the vehicle.
        gravity_mps2: the gravity of the world.
        direction_world: the direction to the surface, of any length; None for along the normal.
        vertical: PID from m to N relative to hover, for 1.5 kg; its derivative acts on m/s.
        forward: PID from m to rad of pitch, with limits.
        damping: PID from m/s to rad of pitch.
        yaw: PID from rad to rad.
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

    def __post_init__(self) -> None:
        """Raise ValueError for a direction of zero length."""
        if self.direction_world is not None:
            validate_direction(self.direction_world, "direction_world", "[1, 15, 2]")

    @override
    def init(self, key: PRNGKeyArray) -> DistanceLockState:
        del key
        return DistanceLockState(
            self.vertical.init(), self.forward.init(), self.damping.init(), PidState.initial()
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
        command, estimate = inputs
        heading = Heading.of(estimate)
        away = self._away(command.normal_world)
        velocity = estimate.velocity_world_mps
        error = away * (command.wanted_distance_m - command.distance_m)
        lift = vertical_pid(self.vertical, self.mass_kg, self.gravity_mps2, self.max_thrust_n)
        vertical, beyond_hover = lift.step(state.vertical, error.z, dt_s, error_rate=-velocity.z)
        damping, brake = self.damping.step(state.damping, -heading.ahead(velocity), dt_s)
        forward, pitch = self.forward.step(
            state.forward, heading.ahead(error), dt_s, feed_forward=brake
        )
        to_surface = heading.horizontal(-away)
        yaw_state, yaw = heading.yaw_step(self.yaw, state.yaw, to_surface, dt_s)
        return DistanceLockState(vertical, forward, damping, yaw_state), ThrustAttitude(
            thrust_n(beyond_hover, self.mass_kg, self.gravity_mps2),
            Quaternion.from_euler(EulerZYX(0.0, pitch, yaw)),
        )

    def _away(self, normal_world: Vec3) -> Vec3:
        """Return the unit vector a."""
        if self.direction_world is None:
            return direction(normal_world)
        towards = direction(self.direction_world)
        up = jnp.abs(towards.z) * jnp.sign(normal_world.z)
        return Vec3(-towards.x, -towards.y, up)

    @classmethod
    @override
    def examples(cls) -> dict[str, "DistanceLock"]:
        return {
            "straight": cls(1.5, 28.8),
            "slanting": cls(1.5, 28.8, direction_world=Vec3(1.0, 15.0, 2.0)),
        }
