"""Loops that QRSim's controllers share: height, yaw and horizontal velocity.

Source: QRSim (De Nardi 2013), ``WaypointPID``, ``VelocityPID``, ``VelocityHeightPID``, written in
its axes (world NED, body FRD). All derivatives are zero in the sample in which any component of the
controller's setpoint (velocity or position; not the heading) changes. Two changes: the yaw error is
wrapped, where the original unwinds whole turns; and gains are parameters.
"""

from typing import Annotated

import jax.numpy as jnp
from jaxtyping import Array, Float

from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE, Bounds
from kittiwake.core.kinematics import Kinematics
from kittiwake.geometry.euler import RotationZYX
from kittiwake.geometry.frames import swap_enu_ned, swap_euler, swap_flu_frd
from kittiwake.geometry.scalar import Flag, Real
from kittiwake.geometry.trigonometry import wrap_angle
from kittiwake.geometry.vec3 import Vec3
from kittiwake.pytree import Module

# range of the battery voltage in the inputs of the identified vehicle
PELICAN_BATTERY_V = Bounds(9.0, 12.0)


class YawLoop(Module):
    """Proportional law from yaw error to yaw rate."""

    gain_per_s: Annotated[Real, NOT_NEGATIVE] = 6.0
    max_rate_radps: Annotated[Real, POSITIVE] = 4.4

    def yaw_rate(self, setpoint_rad: Real, yaw_rad: Real) -> Float[Array, ""]:
        """Return the yaw rate for the wrapped yaw error."""
        error = wrap_angle(setpoint_rad - yaw_rad)
        return jnp.clip(self.gain_per_s * error, -self.max_rate_radps, self.max_rate_radps)


class HeightState(Module):
    """Integral of the height error, and the last error and setpoint."""

    integral_ms: Real
    last_error_m: Real
    last_height_m: Real
    started: Flag

    @classmethod
    def initial(cls) -> "HeightState":
        """Return the initial state."""
        return cls(jnp.asarray(0.0), jnp.asarray(0.0), jnp.asarray(0.0), jnp.asarray(False))


class HeightLoop(Module):
    """Height error to throttle: PID about the hover throttle, with back-calculation."""

    hover_throttle: Real = 0.59
    proportional_per_m: Real = 0.03
    integral_per_ms: Real = 0.0008
    derivative_s_per_m: Real = 0.04
    unwinding_ms: Annotated[Real, NOT_NEGATIVE] = 2.0

    def throttle(
        self, state: HeightState, setpoint_m: Real, height_m: Real, same_setpoint: Flag, dt_s: Real
    ) -> tuple[HeightState, Float[Array, ""]]:
        """Return the next state and the throttle; the derivative is zero for a new setpoint."""
        error = setpoint_m - height_m
        has_rate = state.started & same_setpoint
        rate = jnp.where(has_rate, (error - state.last_error_m) / dt_s, 0.0)
        integral = state.integral_ms + error * dt_s
        demanded = (
            self.hover_throttle
            + self.proportional_per_m * error
            + self.integral_per_ms * integral
            + self.derivative_s_per_m * rate
        )
        throttle = jnp.clip(demanded, 0.0, 1.0)
        integral = integral - self.unwinding_ms * (demanded - throttle)
        return HeightState(integral, error, setpoint_m, jnp.asarray(True)), throttle


class VelocityState(Module):
    """Sum of past errors and last error per body axis, and the last velocity setpoint."""

    sum_mps: Vec3
    last_error_mps: Vec3
    last_velocity_world_mps: Vec3
    started: Flag

    @classmethod
    def initial(cls) -> "VelocityState":
        """Return the initial state."""
        zero = Vec3(jnp.asarray(0.0), jnp.asarray(0.0), jnp.asarray(0.0))
        return cls(zero, zero, zero, jnp.asarray(False))

    def has_setpoint(self, velocity_world_mps: Vec3) -> Flag:
        """Return True if this was the setpoint of the last sample."""
        last = self.last_velocity_world_mps
        return (
            (velocity_world_mps.x == last.x)
            & (velocity_world_mps.y == last.y)
            & (velocity_world_mps.z == last.z)
        )


class VelocityLoop(Module):
    """Velocity error in body axes to tilt: a PID with a sum over samples, as in the source.

    The sum at a sample contains the errors up to the previous one. The integral gain is valid for
    the sample rate of 50 Hz for which it was tuned.
    """

    proportional_rad_per_mps: Real = 0.25
    integral_rad_per_mps: Real = 0.003
    derivative_rad_per_mps2: Real = 0.05
    max_speed_mps: Annotated[Real, POSITIVE] = 3.0
    max_tilt_rad: Annotated[Real, POSITIVE] = 0.34

    def error_frd_mps(self, setpoint_world_mps: Vec3, estimate: Kinematics) -> Vec3:
        """Return setpoint minus actual velocity in FRD axes; the setpoint is limited per axis."""
        rotation = RotationZYX.of(swap_euler(estimate.euler_world_from_body))
        setpoint_frd = rotation.body_from_reference(swap_enu_ned(setpoint_world_mps))
        limit = self.max_speed_mps
        limited_frd = Vec3(
            jnp.clip(setpoint_frd.x, -limit, limit),
            jnp.clip(setpoint_frd.y, -limit, limit),
            jnp.clip(setpoint_frd.z, -limit, limit),
        )
        return limited_frd - swap_flu_frd(estimate.velocity_body_mps)

    def tilt_flu(
        self, state: VelocityState, error_frd_mps: Vec3, same_setpoint: Flag, dt_s: Real
    ) -> tuple[Float[Array, ""], Float[Array, ""]]:
        """Return pitch (positive nose down) and roll that reduce the error."""
        last, has_rate = state.last_error_mps, state.started & same_setpoint

        def tilt(error: Real, last_error: Real, summed: Real) -> Float[Array, ""]:
            rate = jnp.where(has_rate, (error - last_error) / dt_s, 0.0)
            demanded = (
                self.proportional_rad_per_mps * error
                + self.integral_rad_per_mps * summed
                + self.derivative_rad_per_mps2 * rate
            )
            return jnp.clip(demanded, -self.max_tilt_rad, self.max_tilt_rad)

        pitch = tilt(error_frd_mps.x, last.x, state.sum_mps.x)
        roll = tilt(error_frd_mps.y, last.y, state.sum_mps.y)
        return pitch, roll

    def next_state(
        self, state: VelocityState, error_frd_mps: Vec3, setpoint_world_mps: Vec3
    ) -> VelocityState:
        """Return the state for the next sample."""
        return VelocityState(
            state.sum_mps + error_frd_mps, error_frd_mps, setpoint_world_mps, jnp.asarray(True)
        )
