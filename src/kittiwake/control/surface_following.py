"""Flies along a slope at a distance from it, as in a Matlab simulator for ultrasonic sensors.

With the surface's unit normal n to the vehicle, beta its angle to the vertical, h the horizontal
direction to the surface, d and d_0 the distance and the wanted one behind a first-order low pass,
and v_0 the speed along the steepest line behind another one::

    e = (d_0 - d) / cos(beta)
    w = v_0 sin(beta) + d_0' / cos(beta)                 upwards
    u = v_0 cos(beta) h                                  across
    F = m g + m / m_0 (1.2950 e + 4.2775 (w - v_z) + i + m_0 (v_0' sin(beta) + C_z w))
    theta = 0.24 (u - v)_x + j + (u'_x + C_x u_x) / g                          at most 15 deg
    psi_0 = 0.3 e_psi + k + 0.001 s e_psi',              e_psi = yaw(h) - psi
    i' = e / 150 s,   j' = (u - v)_x / 10 s,   k' = e_psi / 1 s

F is the thrust, theta the pitch that lowers the nose, x ahead in the axes of the heading, m_0 the
1.5 kg that the gains are for. Thrust holds the distance and pitch makes the speed, so this is for
slopes and not for walls: cos(beta) is never taken below ``LEAST_COSINE``. Where a surface is level
the heading stays and is the direction along it.

Source: R. Coronel Loza, dronSimulatorMatlab (public), its surface-following controller, in NED with
thrust as the deviation from hovering; signs are derived anew for ENU and FLU. What differs:

- Its d_0 begins at 0 and d_0' is not fed forward. The integral then sums the whole way to the
  surface, and forgets it within 150 s x 1.295: 6 cm are lacking after a minute. Here d_0 begins at
  the distance that is found, v_0 at the present speed, and psi_0 at the present yaw.
- Its rates of references have the gain 2, behind a filter of 5 rad/s; here they are the rates.
- It has no roll. ``sideways``, with the gains of pitch, holds the speed across the slope at zero.
- The derivative of its yaw, with a pole at 1000 rad/s, is a plain difference here.
"""

from collections.abc import Callable
from dataclasses import replace
from math import pi, tau
from typing import Annotated, ClassVar

import equinox as eqx
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

# of the vehicle that the source's thrusts are for
SOURCE_MASS_KG = 1.5
MAX_TILT_RAD = pi / 12.0
YAW = Pid(0.3, 1.0, 0.001, turn=tau)
# a direction with less of its unit length across than this, the source's, counts as vertical
LEAST_ACROSS = 0.02
LEAST_COSINE = 0.2


class Heading(eqx.Module):
    """The vehicle's horizontal axes."""

    yaw_rad: Real
    sine: Real
    cosine: Real

    @classmethod
    def of(cls, estimate: Kinematics) -> "Heading":
        """Of a vehicle that is believed to be turned so."""
        yaw = estimate.euler_world_from_body.yaw_rad
        return cls(yaw, *sin_cos(yaw))

    def ahead(self, v_world: Vec3) -> Real:
        """A vector's part forwards."""
        return self.cosine * v_world.x + self.sine * v_world.y

    def left(self, v_world: Vec3) -> Real:
        """A vector's part to the left."""
        return self.cosine * v_world.y - self.sine * v_world.x

    def across(self, direction_world: Vec3) -> Vec3:
        """The horizontal unit vector of a direction; forwards if that is vertical."""
        length = Vec3(direction_world.x, direction_world.y, 0.0).norm()
        slanting = length > LEAST_ACROSS
        scale = 1.0 / jnp.where(slanting, length, 1.0)
        return Vec3(
            jnp.where(slanting, direction_world.x * scale, self.cosine),
            jnp.where(slanting, direction_world.y * scale, self.sine),
            0.0,
        )

    def turned(
        self, pid: Pid, state: PidState, direction_world: Vec3, dt_s: Real
    ) -> tuple[PidState, Real]:
        """The next state, and the yaw to ask for, to look along a horizontal direction."""
        error = wrap_angle(jnp.arctan2(direction_world.y, direction_world.x) - self.yaw_rad)
        begun = pid.continued(error, self.yaw_rad)
        integral = jnp.where(state.started, state.integral, begun.integral)
        return pid.step(replace(state, integral=integral), error, dt_s)


def direction(v: Vec3) -> Vec3:
    """The vector with unit length; zero if it has none."""
    length = v.norm()
    return v * jnp.where(length > 0.0, 1.0 / jnp.where(length > 0.0, length, 1.0), 0.0)


def lifting(vertical: Pid, mass_kg: Real, gravity_mps2: Real, max_thrust_n: Real) -> Pid:
    """The law of the source's thrust, with the limits of a vehicle whose thrust follows it."""
    weight = SOURCE_MASS_KG * gravity_mps2
    most = max_thrust_n * (SOURCE_MASS_KG / mass_kg) - weight
    lower, upper = jnp.maximum(vertical.lower, -weight), jnp.minimum(vertical.upper, most)
    return replace(vertical, lower=lower, upper=upper)


def thrust_n(beyond_hover_n: Real, mass_kg: Real, gravity_mps2: Real) -> Real:
    """Of a vehicle, from the source's deviation from hovering."""
    return mass_kg * (gravity_mps2 + beyond_hover_n / SOURCE_MASS_KG)


class SurfaceFollowingState(eqx.Module):
    """Of the four PIDs and of the two low passes."""

    vertical: PidState
    forward: PidState
    sideways: PidState
    yaw: PidState
    distance: PidState
    speed: PidState


class Reference(eqx.Module):
    """What the PIDs follow, in world axes, and how much of a distance is upwards."""

    distance_m: Real
    up_per_distance: Real
    velocity_world_mps: Vec3
    acceleration_world_mps2: Vec3


class SurfaceFollowing(AbstractController):
    """Motion along a surface to thrust and attitude.

    Attributes:
        mass_kg: of the vehicle.
        max_thrust_n: of the vehicle.
        gravity_mps2: where it flies.
        vertical: m to N beyond hovering, of a vehicle of 1.5 kg; its derivative is that of m/s.
        forward: m/s to rad of pitch, with its limits.
        sideways: m/s to rad of roll, with its limits.
        yaw: rad to rad.
        reference_filter_radps: of the low passes.
        drag_forward_per_s: C_x of the vehicle.
        drag_vertical_per_s: C_z.
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
            self.vertical.begin(), self.forward.begin(), self.sideways.begin(), none, none, none
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
        wanted, estimate = inputs
        heading = Heading.of(estimate)
        normal = direction(wanted.normal_world)
        to_surface = heading.across(-normal)
        distance, speed, reference = self._reference(state, wanted, estimate, to_surface, dt_s)
        vertical, beyond_hover = self._lift(state.vertical, wanted, estimate, reference, dt_s)
        forward, pitch = self._tilt(
            self.forward, state.forward, heading.ahead, estimate, reference, dt_s
        )
        sideways, left = self._tilt(
            self.sideways, state.sideways, heading.left, estimate, reference, dt_s
        )
        turned, yaw = heading.turned(self.yaw, state.yaw, to_surface, dt_s)
        later = SurfaceFollowingState(vertical, forward, sideways, turned, distance, speed)
        # a positive roll lowers the right side
        q = Quaternion.from_euler(EulerZYX(-left, pitch, yaw))
        return later, ThrustAttitude(thrust_n(beyond_hover, self.mass_kg, self.gravity_mps2), q)

    def _reference(
        self,
        state: SurfaceFollowingState,
        wanted: SurfaceMotion,
        estimate: Kinematics,
        to_surface: Vec3,
        dt_s: Real,
    ) -> tuple[PidState, PidState, Reference]:
        """The low passes' next states, and what they and the slope make of the command."""
        normal = direction(wanted.normal_world)
        sine = Vec3(normal.x, normal.y, 0.0).norm()
        uphill = to_surface * normal.z + Vec3(0.0, 0.0, sine)
        present = uphill.dot(estimate.velocity_world_mps)
        smooth = Pid(0.0, derivative_s=1.0, filter_radps=self.reference_filter_radps)
        distance = _from(state.distance, wanted.distance_m)
        speed = _from(state.speed, present)
        distance_later, approach = smooth.step(distance, wanted.wanted_distance_m, dt_s)
        speed_later, gain = smooth.step(speed, wanted.speed_along_mps, dt_s)
        sign = jnp.where(normal.z < 0.0, -1.0, 1.0)
        up = sign / jnp.maximum(jnp.abs(normal.z), LEAST_COSINE)
        velocity = uphill * speed.filtered + Vec3(0.0, 0.0, approach * up)
        reference = Reference(distance.filtered, up, velocity, uphill * gain)
        return distance_later, speed_later, reference

    def _lift(
        self,
        state: PidState,
        wanted: SurfaceMotion,
        estimate: Kinematics,
        reference: Reference,
        dt_s: Real,
    ) -> tuple[PidState, Real]:
        """The thrust beyond hovering of the source's vehicle."""
        pid = lifting(self.vertical, self.mass_kg, self.gravity_mps2, self.max_thrust_n)
        velocity, acceleration = reference.velocity_world_mps, reference.acceleration_world_mps2
        drag = self.drag_vertical_per_s * velocity.z
        return pid.step(
            state,
            (reference.distance_m - wanted.distance_m) * reference.up_per_distance,
            dt_s,
            error_rate=velocity.z - estimate.velocity_world_mps.z,
            feed_forward=SOURCE_MASS_KG * (acceleration.z + drag),
        )

    def _tilt(
        self,
        pid: Pid,
        state: PidState,
        part: Callable[[Vec3], Real],
        estimate: Kinematics,
        reference: Reference,
        dt_s: Real,
    ) -> tuple[PidState, Real]:
        """The lean that makes one horizontal part of the velocity."""
        velocity = part(reference.velocity_world_mps)
        push = part(reference.acceleration_world_mps2) + self.drag_forward_per_s * velocity
        return pid.step(
            state,
            velocity - part(estimate.velocity_world_mps),
            dt_s,
            feed_forward=push / self.gravity_mps2,
        )


def _from(state: PidState, value: Real) -> PidState:
    """A low pass as it goes on, or from this value if it has not begun."""
    filtered = jnp.where(state.started, state.filtered, value)
    return replace(state, filtered=filtered, started=jnp.asarray(True))
