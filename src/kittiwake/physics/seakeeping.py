"""Seakeeping of a floating body: second-order response of heave, roll and pitch to waves.

    x'' = w_n^2 (x_w - x) - 2 zeta w_n x'

x: heave, roll or pitch; x_w: the height of the water under the body, or the angle at which its deck
is parallel to the water surface; w_n^2: stiffness (of the waterplane, of the metacentric heights)
over inertia with added mass; zeta: damping ratio. The three are decoupled, as in Fossen (2011),
"Handbook of Marine Craft Hydrodynamics and Motion Control", section 4.3, for a body with fore-aft
symmetry. The body follows long waves exactly, waves at w_n with 1 / (2 zeta) of their height and a
quarter of a period late, and much shorter waves not at all.

Steps are of the trapezoidal rule, which is stable for any step: over a step dt with h = dt / 2 and
constant water, ``x1 = x + h (x' + x1')``, ``x1' = x' + h (x'' + x1'')``.

Neglected: coupling of the motions with each other and with the speed, damping relative to the
moving water, diffraction, nonlinear stiffness at large angles.
"""

from functools import partial
from typing import Annotated

import jax
import jax.numpy as jnp

from kittiwake.core.bounds import POSITIVE
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.trigonometry import sin_cos
from kittiwake.geometry.vec3 import Vec3
from kittiwake.pytree import Module
from kittiwake.world.water import WaterSurface


class Oscillation(Module):
    """Displacement in m or rad, and its rate."""

    displacement: Real
    rate: Real


class SecondOrderResponse(Module):
    """Second-order response of heave, roll or pitch."""

    natural_frequency_radps: Annotated[Real, POSITIVE]
    damping_ratio: Annotated[Real, POSITIVE]

    def init(self, target: Real, rate: Real) -> Oscillation:
        """Return the steady response to a target that moves at a constant rate."""
        return Oscillation(
            target - 2.0 * self.damping_ratio / self.natural_frequency_radps * rate, rate
        )

    def next(self, oscillation: Oscillation, target: Real, dt_s: Real) -> Oscillation:
        """Return the response after a step."""
        half = 0.5 * dt_s * self.natural_frequency_radps
        stiff, slow = half * half, 2.0 * self.damping_ratio * half
        pull = 2.0 * half * self.natural_frequency_radps * (target - oscillation.displacement)
        rate = ((1.0 - stiff - slow) * oscillation.rate + pull) / (1.0 + stiff + slow)
        return Oscillation(oscillation.displacement + 0.5 * dt_s * (oscillation.rate + rate), rate)


class SeakeepingState(Module):
    """Heave relative to calm water, roll and pitch."""

    heave: Oscillation
    roll: Oscillation
    pitch: Oscillation

    @property
    def angles_rad(self) -> tuple[Real, Real]:
        """Roll and pitch."""
        return self.roll.displacement, self.pitch.displacement


class Seakeeping(Module):
    """Response of a body to waves; the defaults are those of a light craft of about a meter."""

    heave: SecondOrderResponse = SecondOrderResponse(12.0, 0.3)
    roll: SecondOrderResponse = SecondOrderResponse(12.0, 0.2)
    pitch: SecondOrderResponse = SecondOrderResponse(9.0, 0.3)

    def init(self, water: WaterSurface, yaw_rad: Real, velocity_world_mps: Vec3) -> SeakeepingState:
        """Return the steady response to the water's motion, at a velocity over ground."""
        slopes = water.slope_east, water.slope_north
        rates = water.slope_east_rate_ps, water.slope_north_rate_ps
        tilt, turning = jax.jvp(partial(along, yaw_rad), slopes, rates)
        v = velocity_world_mps
        rising = water.height_rate_mps + v.x * water.slope_east + v.y * water.slope_north
        return SeakeepingState(
            self.heave.init(water.height_world_m, rising),
            self.roll.init(tilt[0], turning[0]),
            self.pitch.init(tilt[1], turning[1]),
        )

    def next(
        self, state: SeakeepingState, water: WaterSurface, yaw_rad: Real, dt_s: Real
    ) -> SeakeepingState:
        """Return the state after a step with constant water."""
        roll, pitch = along(yaw_rad, water.slope_east, water.slope_north)
        return SeakeepingState(
            self.heave.next(state.heave, water.height_world_m, dt_s),
            self.roll.next(state.roll, roll, dt_s),
            self.pitch.next(state.pitch, pitch, dt_s),
        )


def along(yaw_rad: Real, slope_east: Real, slope_north: Real) -> tuple[Real, Real]:
    """Return the roll and pitch at which a deck is parallel to a slope, for a yaw."""
    sine, cosine = sin_cos(yaw_rad)
    forward = cosine * slope_east + sine * slope_north
    left = cosine * slope_north - sine * slope_east
    level = 1.0 / jnp.sqrt(1.0 + forward * forward)
    return jnp.arctan(left * level), -jnp.arctan(forward)
