"""Surface following: flies along a slope at a distance from it.

With the surface's unit normal n towards the vehicle, beta its angle to the vertical, h the
horizontal direction to the surface, d the distance, d_0 its setpoint after a first-order low-pass
filter, and v_0 the setpoint of the speed along the steepest line after another one::

    e = (d_0 - d) / cos(beta)
    w = v_0 sin(beta) + d_0' / cos(beta)                 vertical
    u = v_0 cos(beta) h                                  horizontal
    F = m g + m / m_0 (1.2950 e + 4.2775 (w - v_z) + i + m_0 (v_0' sin(beta) + C_z w))
    theta = 0.24 (u - v)_x + j + (u'_x + C_x u_x) / g                          at most 15 deg
    psi_0 = 0.3 e_psi + k + 0.001 s e_psi',              e_psi = yaw(h) - psi
    i' = e / 150 s,   j' = (u - v)_x / 10 s,   k' = e_psi / 1 s

F is the thrust, theta the pitch (positive nose down), x ahead in the axes of the heading, m_0 the
1.5 kg for which the gains are given. Thrust controls the distance and pitch the speed, so this
controller is for slopes, not for walls: cos(beta) is limited to ``LEAST_COSINE``. Where a surface
is level, the heading is kept and is the direction of motion.

Source: R. Coronel Loza, dronSimulatorMatlab (public), its surface-following controller, in NED with
thrust as the deviation from hovering; signs are derived again for ENU and FLU. Differences:

- There d_0 begins at 0 and d_0' is not fed forward. The integral then accumulates the whole
  approach, and decays within 150 s x 1.295: an error of 6 cm remains after a minute. Here d_0
  begins at the measured distance, v_0 at the present speed, and psi_0 at the present yaw.
- There the rates of the references have a gain of 2 and a filter of 5 rad/s; here they are exact.
- There is no roll there. ``sideways``, with the gains of pitch, keeps the speed across the slope
  at zero.
- The derivative of the yaw, with a pole at 1000 rad/s, is a finite difference here.
"""

from collections.abc import Callable
from dataclasses import replace
from math import pi, tau
from typing import Annotated, ClassVar

import jax.numpy as jnp
from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.control.pid import Pid, PidState
from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE
from kittiwake.core.commands import SurfaceMotion, ThrustAttitude
from kittiwake.core.kinematics import Kinematics
from kittiwake.geometry.euler import EulerZYX
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.trigonometry import sin_cos, wrap_angle
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.controller import AbstractController
from kittiwake.pytree import Module

# mass of the vehicle for which the source's gains are given
SOURCE_MASS_KG = 1.5
MAX_TILT_RAD = pi / 12.0
YAW = Pid(0.3, 1.0, 0.001, turn=tau)
# a unit vector with a smaller horizontal part counts as vertical, as in the source
LEAST_ACROSS = 0.02
LEAST_COSINE = 0.2


class Heading(Module):
    """Horizontal axes of a vehicle: ahead and to the left."""

    yaw_rad: Real
    sine: Real
    cosine: Real

    @classmethod
    def of(cls, estimate: Kinematics) -> "Heading":
        """Return the heading of an estimated attitude."""
        yaw = estimate.euler_world_from_body.yaw_rad
        return cls(yaw, *sin_cos(yaw))

    def ahead(self, v_world: Vec3) -> Real:
        """Return the component of a vector ahead."""
        return self.cosine * v_world.x + self.sine * v_world.y

    def left(self, v_world: Vec3) -> Real:
        """Return the component of a vector to the left."""
        return self.cosine * v_world.y - self.sine * v_world.x

    def horizontal(self, direction_world: Vec3) -> Vec3:
        """Return the horizontal unit vector of a direction; ahead if that is vertical."""
        length = Vec3(direction_world.x, direction_world.y, 0.0).norm()
        slanting = length > LEAST_ACROSS
        scale = 1.0 / jnp.where(slanting, length, 1.0)
        return Vec3(
            jnp.where(slanting, direction_world.x * scale, self.cosine),
            jnp.where(slanting, direction_world.y * scale, self.sine),
            0.0,
        )

    def yaw_step(
        self, pid: Pid, state: PidState, direction_world: Vec3, dt_s: Real
    ) -> tuple[PidState, Real]:
        """Return the next state and the yaw setpoint to face along a horizontal direction."""
        error = wrap_angle(jnp.arctan2(direction_world.y, direction_world.x) - self.yaw_rad)
        initial = pid.state_for_output(error, self.yaw_rad)
        integral = jnp.where(state.started, state.integral, initial.integral)
        return pid.step(replace(state, integral=integral), error, dt_s)


def direction(v: Vec3) -> Vec3:
    """Return the vector with unit length; zero for a zero vector."""
    length = v.norm()
    return v * jnp.where(length > 0.0, 1.0 / jnp.where(length > 0.0, length, 1.0), 0.0)


def vertical_pid(vertical: Pid, mass_kg: Real, gravity_mps2: Real, max_thrust_n: Real) -> Pid:
    """Return the PID of the source's thrust, with limits by the vehicle's thrust."""
    weight = SOURCE_MASS_KG * gravity_mps2
    most = max_thrust_n * (SOURCE_MASS_KG / mass_kg) - weight
    lower, upper = jnp.maximum(vertical.lower, -weight), jnp.minimum(vertical.upper, most)
    return replace(vertical, lower=lower, upper=upper)


def thrust_n(beyond_hover_n: Real, mass_kg: Real, gravity_mps2: Real) -> Real:
    """Return a vehicle's thrust, from the source's deviation from hovering."""
    return mass_kg * (gravity_mps2 + beyond_hover_n / SOURCE_MASS_KG)


class SurfaceFollowingState(Module):
    """States of the four PIDs and of the two low-pass filters."""

    vertical: PidState
    forward: PidState
    sideways: PidState
    yaw: PidState
    distance: PidState
    speed: PidState


class Reference(Module):
    """References of the PIDs, in world axes; ``up_per_distance`` is 1 / cos(beta), with sign."""

    distance_m: Real
    up_per_distance: Real
    velocity_world_mps: Vec3
    acceleration_world_mps2: Vec3


class SurfaceFollowing(AbstractController[SurfaceFollowingState, SurfaceMotion, ThrustAttitude]):
    """Motion along a surface to thrust and attitude.

    Attributes:
        mass_kg: the mass of the vehicle.
        max_thrust_n: the largest thrust of the vehicle.
        gravity_mps2: the gravity of the world.
        vertical: PID from m to N relative to hover, for 1.5 kg; its derivative acts on m/s.
        forward: PID from m/s to rad of pitch, with limits.
        sideways: PID from m/s to rad of roll, with limits.
        yaw: PID from rad to rad.
        reference_filter_radps: the cutoff frequency of the low-pass filters.
        drag_forward_per_s: C_x, the vehicle's linear drag over mass, ahead.
        drag_vertical_per_s: C_z, the same vertically.
    """

    consumes: ClassVar[type] = SurfaceMotion
    produces: ClassVar[type] = ThrustAttitude

    mass_kg: Annotated[Real, POSITIVE]
    max_thrust_n: Annotated[Real, POSITIVE]
    gravity_mps2: Annotated[Real, POSITIVE] = 9.81
    vertical: Pid = Pid(1.2950, 1.0 / 150.0, 4.2775)
    forward: Pid = Pid(0.24, 0.1, lower=-MAX_TILT_RAD, upper=MAX_TILT_RAD)
    sideways: Pid = Pid(0.24, 0.1, lower=-MAX_TILT_RAD, upper=MAX_TILT_RAD)
    yaw: Pid = YAW
    reference_filter_radps: Annotated[Real, POSITIVE] = tau * 0.1
    drag_forward_per_s: Annotated[Real, NOT_NEGATIVE] = 0.0
    drag_vertical_per_s: Annotated[Real, NOT_NEGATIVE] = 0.0

    @override
    def init(self, key: PRNGKeyArray) -> SurfaceFollowingState:
        del key
        none = PidState.initial()
        return SurfaceFollowingState(
            self.vertical.init(), self.forward.init(), self.sideways.init(), none, none, none
        )

    @override
    def step(
        self,
        state: SurfaceFollowingState,
        inputs: tuple[SurfaceMotion, Kinematics],
        dt_s: Real,
        key: PRNGKeyArray,
    ) -> tuple[SurfaceFollowingState, ThrustAttitude]:
        del key
        command, estimate = inputs
        heading = Heading.of(estimate)
        normal = direction(command.normal_world)
        to_surface = heading.horizontal(-normal)
        distance, speed, reference = self._reference(state, command, estimate, to_surface, dt_s)
        vertical, beyond_hover = self._lift(state.vertical, command, estimate, reference, dt_s)
        forward, pitch = self._tilt(
            self.forward, state.forward, heading.ahead, estimate, reference, dt_s
        )
        sideways, left = self._tilt(
            self.sideways, state.sideways, heading.left, estimate, reference, dt_s
        )
        yaw_state, yaw = heading.yaw_step(self.yaw, state.yaw, to_surface, dt_s)
        later = SurfaceFollowingState(vertical, forward, sideways, yaw_state, distance, speed)
        # a positive roll lowers the right side
        q = Quaternion.from_euler(EulerZYX(-left, pitch, yaw))
        return later, ThrustAttitude(thrust_n(beyond_hover, self.mass_kg, self.gravity_mps2), q)

    def _reference(
        self,
        state: SurfaceFollowingState,
        command: SurfaceMotion,
        estimate: Kinematics,
        to_surface: Vec3,
        dt_s: Real,
    ) -> tuple[PidState, PidState, Reference]:
        """Return the next states of the low-pass filters, and the references."""
        normal = direction(command.normal_world)
        sine = Vec3(normal.x, normal.y, 0.0).norm()
        uphill = to_surface * normal.z + Vec3(0.0, 0.0, sine)
        present = uphill.dot(estimate.velocity_world_mps)
        smooth = Pid(0.0, derivative_s=1.0, filter_radps=self.reference_filter_radps)
        distance = _started(state.distance, command.distance_m)
        speed = _started(state.speed, present)
        distance_later, approach = smooth.step(distance, command.wanted_distance_m, dt_s)
        speed_later, gain = smooth.step(speed, command.speed_along_mps, dt_s)
        sign = jnp.where(normal.z < 0.0, -1.0, 1.0)
        up = sign / jnp.maximum(jnp.abs(normal.z), LEAST_COSINE)
        velocity = uphill * speed.filtered + Vec3(0.0, 0.0, approach * up)
        reference = Reference(distance.filtered, up, velocity, uphill * gain)
        return distance_later, speed_later, reference

    def _lift(
        self,
        state: PidState,
        command: SurfaceMotion,
        estimate: Kinematics,
        reference: Reference,
        dt_s: Real,
    ) -> tuple[PidState, Real]:
        """Return the next state and the thrust relative to hover, for the source's mass."""
        pid = vertical_pid(self.vertical, self.mass_kg, self.gravity_mps2, self.max_thrust_n)
        velocity, acceleration = reference.velocity_world_mps, reference.acceleration_world_mps2
        drag = self.drag_vertical_per_s * velocity.z
        return pid.step(
            state,
            (reference.distance_m - command.distance_m) * reference.up_per_distance,
            dt_s,
            error_rate=velocity.z - estimate.velocity_world_mps.z,
            feed_forward=SOURCE_MASS_KG * (acceleration.z + drag),
        )

    def _tilt(
        self,
        pid: Pid,
        state: PidState,
        component: Callable[[Vec3], Real],
        estimate: Kinematics,
        reference: Reference,
        dt_s: Real,
    ) -> tuple[PidState, Real]:
        """Return the next state and the tilt for one horizontal component of the velocity."""
        velocity = component(reference.velocity_world_mps)
        acceleration = (
            component(reference.acceleration_world_mps2) + self.drag_forward_per_s * velocity
        )
        return pid.step(
            state,
            velocity - component(estimate.velocity_world_mps),
            dt_s,
            feed_forward=acceleration / self.gravity_mps2,
        )

    @classmethod
    @override
    def examples(cls) -> dict[str, "SurfaceFollowing"]:
        return {"of 1.5 kg": cls(1.5, 28.8)}


def _started(state: PidState, value: Real) -> PidState:
    """Return the state of a low-pass filter, set to a value if it has not started."""
    filtered = jnp.where(state.started, state.filtered, value)
    return replace(state, filtered=filtered, started=jnp.asarray(True))
