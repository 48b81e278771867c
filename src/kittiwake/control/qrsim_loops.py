"""The loops that QRSim's controllers share: height, yaw and horizontal velocity.

Source: QRSim (De Nardi 2013), ``WaypointPID``, ``VelocityPID``, ``VelocityHeightPID``, written in
its axes (world NED, body FRD). All derivatives are zero in the sample in which any component of the
controller's set point (velocity or position; not the heading) differs from the one before. Two
changes: the yaw error takes the short way round, where the original unwinds whole turns; and gains
are parameters.
"""

from typing import Annotated

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE, Bounds
from kittiwake.core.kinematics import Kinematics
from kittiwake.geometry.euler import RotationZYX
from kittiwake.geometry.frames import swap_enu_ned, swap_euler, swap_flu_frd
from kittiwake.geometry.scalar import Flag, Real
from kittiwake.geometry.trigonometry import wrap_angle
from kittiwake.geometry.vec3 import Vec3

# what the identified vehicle's inputs may say of its battery
PELICAN_BATTERY_V = Bounds(9.0, 12.0)


class YawLoop(eqx.Module):
    """Yaw error to yaw rate."""

    gain_per_s: Annotated[Real, NOT_NEGATIVE] = 6.0
    max_rate_radps: Annotated[Real, POSITIVE] = 4.4

    def yaw_rate(self, wanted_yaw_rad: Real, yaw_rad: Real) -> Float[Array, ""]:
        """The yaw rate that turns the short way to the wanted yaw."""
        error = wrap_angle(wanted_yaw_rad - yaw_rad)
        return jnp.clip(self.gain_per_s * error, -self.max_rate_radps, self.max_rate_radps)


class HeightState(eqx.Module):
    """Integral of the height error, and the last error with the set point that it belongs to."""

    integral_ms: Real
    last_error_m: Real
    last_height_m: Real
    started: Flag

    @classmethod
    def initial(cls) -> "HeightState":
        """Before the first step."""
        return cls(jnp.asarray(0.0), jnp.asarray(0.0), jnp.asarray(0.0), jnp.asarray(False))


class HeightLoop(eqx.Module):
    """Height error to throttle: PID about the hover throttle with back-calculation."""

    hover_throttle: Real = 0.59
    proportional_per_m: Real = 0.03
    integral_per_ms: Real = 0.0008
    derivative_s_per_m: Real = 0.04
    unwinding_ms: Annotated[Real, NOT_NEGATIVE] = 2.0

    def throttle(
        self, state: HeightState, wanted_m: Real, height_m: Real, same_setpoint: Flag, dt_s: Real
    ) -> tuple[HeightState, Float[Array, ""]]:
        """The next state and the throttle; the derivative is zero on a new set point."""
        error = wanted_m - height_m
        known = state.started & same_setpoint
        rate = jnp.where(known, (error - state.last_error_m) / dt_s, 0.0)
        integral = state.integral_ms + error * dt_s
        wanted = (
            self.hover_throttle
            + self.proportional_per_m * error
            + self.integral_per_ms * integral
            + self.derivative_s_per_m * rate
        )
        throttle = jnp.clip(wanted, 0.0, 1.0)
        integral = integral - self.unwinding_ms * (wanted - throttle)
        return HeightState(integral, error, wanted_m, jnp.asarray(True)), throttle


class VelocityState(eqx.Module):
    """Sums of past errors and the last error, per body axis, with the last velocity set point."""

    sum_mps: Vec3
    last_error_mps: Vec3
    last_velocity_world_mps: Vec3
    started: Flag

    @classmethod
    def initial(cls) -> "VelocityState":
        """Before the first step."""
        zero = Vec3(jnp.asarray(0.0), jnp.asarray(0.0), jnp.asarray(0.0))
        return cls(zero, zero, zero, jnp.asarray(False))

    def has_setpoint(self, velocity_world_mps: Vec3) -> Flag:
        """Return whether this was the set point of the last sample."""
        last = self.last_velocity_world_mps
        return (
            (velocity_world_mps.x == last.x)
            & (velocity_world_mps.y == last.y)
            & (velocity_world_mps.z == last.z)
        )


class VelocityLoop(eqx.Module):
    """Velocity error in the body's axes to tilt: a PID whose sum counts samples, as in the source.

    The sum used at a sample holds the errors up to the one before, so the gain ``integral`` belongs
    to the sample rate of 50 Hz that it was tuned at.
    """

    proportional_rad_per_mps: Real = 0.25
    integral_rad_per_mps: Real = 0.003
    derivative_rad_per_mps2: Real = 0.05
    max_speed_mps: Annotated[Real, POSITIVE] = 3.0
    max_tilt_rad: Annotated[Real, POSITIVE] = 0.34

    def error_frd_mps(self, wanted_world_mps: Vec3, estimate: Kinematics) -> Vec3:
        """Wanted minus actual velocity in FRD axes, the wanted one limited axis by axis."""
        rotation = RotationZYX.of(swap_euler(estimate.euler_world_from_body))
        wanted_frd = rotation.body_from_reference(swap_enu_ned(wanted_world_mps))
        limit = self.max_speed_mps
        limited_frd = Vec3(
            *(jnp.clip(c, -limit, limit) for c in (wanted_frd.x, wanted_frd.y, wanted_frd.z))
        )
        return limited_frd - swap_flu_frd(estimate.velocity_body_mps)

    def tilt_flu(
        self, state: VelocityState, error_frd_mps: Vec3, same_setpoint: Flag, dt_s: Real
    ) -> tuple[Float[Array, ""], Float[Array, ""]]:
        """Pitch (nose down positive) and roll that reduce the error."""
        last, known = state.last_error_mps, state.started & same_setpoint

        def tilt(error: Real, last_error: Real, summed: Real) -> Float[Array, ""]:
            rate = jnp.where(known, (error - last_error) / dt_s, 0.0)
            wanted = (
                self.proportional_rad_per_mps * error
                + self.integral_rad_per_mps * summed
                + self.derivative_rad_per_mps2 * rate
            )
            return jnp.clip(wanted, -self.max_tilt_rad, self.max_tilt_rad)

        pitch = tilt(error_frd_mps.x, last.x, state.sum_mps.x)
        roll = tilt(error_frd_mps.y, last.y, state.sum_mps.y)
        return pitch, roll

    def remember(
        self, state: VelocityState, error_frd_mps: Vec3, wanted_world_mps: Vec3
    ) -> VelocityState:
        """The state for the next sample."""
        return VelocityState(
            state.sum_mps + error_frd_mps, error_frd_mps, wanted_world_mps, jnp.asarray(True)
        )
