"""How a floating body rides the waves: heave, roll and pitch follow the water below it.

    x'' = w_n^2 (x_w - x) - 2 zeta w_n x'

x: heave, roll or pitch; x_w: the height of the water under the body, and the tilt at which its deck
would lie along the water's slope; w_n^2: stiffness (of the waterplane, of the metacentric heights)
over inertia with the water that moves along, zeta: damping over the critical one. Each is on its
own, as Fossen (2011), "Handbook of Marine Craft Hydrodynamics and Motion Control", section 4.3, has
them decoupled for a body symmetric fore and aft. A long wave is followed as it is, one at w_n with
1 / (2 zeta) of its height and a quarter of a period late, a much shorter one not at all.

Steps are of the trapezoidal rule, which is stable at any length: over a step dt with h = dt / 2 and
the water held, ``x1 = x + h (x' + x1')``, ``x1' = x' + h (x'' + x1'')``.

Neglected: what couples them to each other and to the speed, damping by the water's own rising and
falling, diffraction, whatever stiffness does at large angles.
"""

from functools import partial
from typing import Annotated

import equinox as eqx
import jax
import jax.numpy as jnp

from kittiwake.core.bounds import POSITIVE
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.trigonometry import sin_cos
from kittiwake.geometry.vec3 import Vec3
from kittiwake.world.water import WaterSurface


class Swing(eqx.Module):
    """Heave in m, or an angle in rad, and its rate."""

    displacement: Real
    rate: Real


class SecondOrderResponse(eqx.Module):
    """How heave, roll or pitch follow."""

    natural_frequency_radps: Annotated[Real, POSITIVE]
    damping_ratio: Annotated[Real, POSITIVE]

    def begin(self, wanted: Real, rate: Real) -> Swing:
        """As it follows a long wave: at its rate and so far behind that nothing pulls."""
        return Swing(wanted - 2.0 * self.damping_ratio / self.natural_frequency_radps * rate, rate)

    def next(self, swing: Swing, wanted: Real, dt_s: Real) -> Swing:
        """A step later."""
        half = 0.5 * dt_s * self.natural_frequency_radps
        stiff, slow = half * half, 2.0 * self.damping_ratio * half
        pull = 2.0 * half * self.natural_frequency_radps * (wanted - swing.displacement)
        rate = ((1.0 - stiff - slow) * swing.rate + pull) / (1.0 + stiff + slow)
        return Swing(swing.displacement + 0.5 * dt_s * (swing.rate + rate), rate)


class Riding(eqx.Module):
    """Heave over the height at which the body floats on calm water, roll and pitch."""

    heave: Swing
    roll: Swing
    pitch: Swing

    @property
    def angles_rad(self) -> tuple[Real, Real]:
        """Roll and pitch."""
        return self.roll.displacement, self.pitch.displacement


class Ride(eqx.Module):
    """How a body rides the waves; the defaults are of a light craft of about a meter."""

    heave: SecondOrderResponse = SecondOrderResponse(12.0, 0.3)
    roll: SecondOrderResponse = SecondOrderResponse(12.0, 0.2)
    pitch: SecondOrderResponse = SecondOrderResponse(9.0, 0.3)

    def begin(self, water: WaterSurface, yaw_rad: Real, velocity_world_mps: Vec3) -> Riding:
        """On the water and with it, at a velocity over ground."""
        slopes = water.slope_east, water.slope_north
        rates = water.slope_east_rate_ps, water.slope_north_rate_ps
        tilt, turning = jax.jvp(partial(along, yaw_rad), slopes, rates)
        v = velocity_world_mps
        rising = water.height_rate_mps + v.x * water.slope_east + v.y * water.slope_north
        return Riding(
            self.heave.begin(water.height_world_m, rising),
            self.roll.begin(tilt[0], turning[0]),
            self.pitch.begin(tilt[1], turning[1]),
        )

    def next(self, riding: Riding, water: WaterSurface, yaw_rad: Real, dt_s: Real) -> Riding:
        """A step later; the water is held over it."""
        roll, pitch = along(yaw_rad, water.slope_east, water.slope_north)
        return Riding(
            self.heave.next(riding.heave, water.height_world_m, dt_s),
            self.roll.next(riding.roll, roll, dt_s),
            self.pitch.next(riding.pitch, pitch, dt_s),
        )


def along(yaw_rad: Real, slope_east: Real, slope_north: Real) -> tuple[Real, Real]:
    """The roll and pitch with which a deck of a yaw lies along a slope."""
    sine, cosine = sin_cos(yaw_rad)
    forward = cosine * slope_east + sine * slope_north
    left = cosine * slope_north - sine * slope_east
    level = 1.0 / jnp.sqrt(1.0 + forward * forward)
    return jnp.arctan(left * level), -jnp.arctan(forward)
