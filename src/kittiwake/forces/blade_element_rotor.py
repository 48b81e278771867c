"""Rotor by blade-element theory, with the inflow of momentum theory.

For blades without flapping, of constant chord, whose pitch falls from theta_0 at the hub by
theta_tw to the tip, integrated over radius and azimuth in a uniform inflow (Fay 2001, "Derivation
of the aerodynamic forces for the Mesicopter simulation"; Bouabdallah 2007, "Design and control of
quadrotors with application to autonomous flying")::

    C_T / (sigma a) = (1/6 + mu^2/4) theta_0 - (1 + mu^2) theta_tw/8 - lambda/4
    C_H / (sigma a) = mu C_d/(4 a) + lambda mu (theta_0 - theta_tw/2)/4
    C_Q / (sigma a) = (1 + mu^2) C_d/(8 a) + lambda (theta_0/6 - theta_tw/8 - lambda/4)
    C_R / (sigma a) = mu (theta_0/6 - theta_tw/8 - lambda/8)

    (T, H) = (C_T, C_H) rho A (Omega R)^2,    (Q, R_m) = (C_Q, C_R) rho A (Omega R)^2 R

mu = V / (Omega R) and lambda = (v_1 + w) / (Omega R), with V across and w along the axis the hub's
velocity relative to the air; sigma = n c / (pi R); a, C_d: the profile's lift slope and drag. H
points against V, Q against the rotation. R_m lowers the side on which the blades retreat: for a
rotor that turns to the left it points against V. With ``inflow: at-rest``, as in the sources, the
wash v_1 is that of the thrust T_0 = b Omega^2 that the rotor has at this speed at rest::

    v_1^2 = -V^2/2 + sqrt((V^2/2)^2 + (T_0 / (2 rho A))^2)

With ``inflow: momentum`` it is that of the thrust that the blades have in it (Glauert 1926, "A
general theory of the autogyro"), solved by Newton's rule::

    v_1 sqrt(V^2 + (w + v_1)^2) = T(v_1) / (2 rho A),    v_1 >= 0

Momentum theory has no meaning in a descent through the rotor's own wash, and there the equation has
several solutions. A descent faster than the wash at rest, -w > lambda R Omega, therefore keeps the
v_1 of a descent just so fast: it stays finite and continuous, and thrust grows with the descent.
Where the blades no longer push, as in a fast climb, there is no wash.

At rest both theories have to agree, C_T = 2 lambda^2, which gives b in closed form, and a vehicle
that hovers has the wash of its weight, as in the sources. Multiplied out nothing is divided by
Omega, so a rotor that stands still is no exception.

The air takes exactly v_1 T and the profile's drag: no motion gains energy while T >= 0, and with
``momentum`` none at all. Valid for mu < 0.3 and lambda small. Neglected: flapping, stall and
reverse flow, the vortex ring (a descent lifts too much), the body's rates within the disc; with
``at-rest`` also that the wash follows the thrust when it changes at one speed, so that motion along
the axis is damped 3.4 times as much as with ``momentum`` (the OS4 in hover). The motor follows its
command like a first-order lag.
"""

import math
from functools import partial
from typing import Annotated, Literal

import jax.numpy as jnp
from typing_extensions import override

from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE
from kittiwake.core.wrench import Wrench
from kittiwake.geometry.scalar import Integer, Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.parts import AbstractRotor, Flow
from kittiwake.pytree import field

# (m/s)^4: keeps the square roots away from zero, where they are not differentiable
LEAST_FLOW = 1e-24
# starting from the wash at rest; tests/physics/test_blade_element.py measures the residual
NEWTON_STEPS = 5


class BladeElementRotor(AbstractRotor):
    """Geometry and profile of one rotor; hover is computed in air of ``design_density_kgpm3``.

    Attributes:
        radius_m: R, of the disc.
        chord_m: c, of a blade.
        root_pitch_rad: theta_0, the pitch at the hub.
        profile_drag: C_d, of the blade's profile.
        max_speed_radps: highest speed of the motor.
        twist_rad: theta_tw, by which the tip has less pitch.
        blades: n, the number of blades.
        lift_slope: a, of the blade's profile.
        min_speed_radps: lowest speed of the motor.
        spin_up_s: time constant of the motor, both ways.
        inertia_kgm2: J of all that turns.
        design_density_kgpm3: air density for which controllers compute thrust and torque.
        inflow: wash of the rotor at rest, or that of its thrust.
    """

    radius_m: Annotated[Real, POSITIVE]
    chord_m: Annotated[Real, POSITIVE]
    root_pitch_rad: Annotated[Real, POSITIVE]
    profile_drag: Annotated[Real, NOT_NEGATIVE]
    max_speed_radps: Annotated[Real, POSITIVE]
    twist_rad: Real = 0.0
    blades: Annotated[Integer, POSITIVE] = 2
    lift_slope: Annotated[Real, POSITIVE] = 5.7
    min_speed_radps: Annotated[Real, NOT_NEGATIVE] = 0.0
    spin_up_s: Annotated[Real, POSITIVE] = 0.05
    inertia_kgm2: Annotated[Real, NOT_NEGATIVE] = 0.0
    design_density_kgpm3: Annotated[Real, POSITIVE] = 1.225
    inflow: Literal["at-rest", "momentum"] = field(static=True, default="at-rest")

    def __post_init__(self) -> None:
        """Raise ValueError for blades that cannot lift, if the angles are plain numbers."""
        angles = (self.root_pitch_rad, self.twist_rad)
        if all(isinstance(angle, int | float) for angle in angles) and not self._mean_pitch > 0.0:
            message = (
                f"twist_rad: {self.twist_rad:g} with a root_pitch_rad of {self.root_pitch_rad:g} "
                "gives no thrust; must be below 4/3 of it"
            )
            raise ValueError(message)

    @override
    def wrench(self, speed_radps: Real, spin: Real, flow: Flow, hub_body_m: Vec3) -> Wrench:
        airspeed = flow.airspeed_at(hub_body_m)
        u, v, w = airspeed.x, airspeed.y, airspeed.z
        tip = self.radius_m * jnp.maximum(speed_radps, 0.0)
        across2 = u * u + v * v
        through = w + self._wash_mps(tip, across2, w)
        pitch, lift = self._mean_pitch, self._lift_area_m2 * flow.surroundings.air.density_kgpm3
        drag_share = self.profile_drag / (4.0 * self.lift_slope)
        thrust = lift * self._thrust_share_m2ps2(tip, across2, through)
        # H and R_m per unit of V
        hub = -lift * (tip * drag_share + through * self._slant)
        roll = -spin * lift * self.radius_m * (tip * pitch - through / 8.0)
        torque = (tip * tip + across2) * drag_share / 2.0 + through * (tip * pitch - through / 4.0)
        return Wrench(
            Vec3(hub * u, hub * v, thrust),
            Vec3(roll * u, roll * v, -spin * lift * self.radius_m * torque),
        )

    @override
    def speed_rate_radps2(self, speed_radps: Real, commanded_radps: Real) -> Real:
        return (commanded_radps - speed_radps) / self.spin_up_s

    @property
    @override
    def disc_radius_m(self) -> Real:
        return self.radius_m

    @property
    @override
    def speed_range_radps(self) -> tuple[Real, Real]:
        return self.min_speed_radps, self.max_speed_radps

    @property
    @override
    def thrust_factor_ns2(self) -> Real:
        area = self.disc_area_m2 * self.radius_m**2
        return self.design_density_kgpm3 * area * 2.0 * self.inflow_at_rest**2

    @property
    @override
    def torque_factor_nms2(self) -> Real:
        inflow = self.inflow_at_rest
        profile = self.profile_drag / (8.0 * self.lift_slope)
        share = profile + inflow * (self._mean_pitch - inflow / 4.0)
        return self.design_density_kgpm3 * self._lift_area_m2 * self.radius_m**3 * share

    @property
    @override
    def axial_inertia_kgm2(self) -> Real:
        return self.inertia_kgm2

    @property
    def disc_area_m2(self) -> Real:
        """A: area that the blades sweep."""
        return math.pi * self.radius_m**2

    @property
    def solidity(self) -> Real:
        """Sigma: fraction of the disc that is covered by blades."""
        return self.blades * self.chord_m / (math.pi * self.radius_m)

    @property
    def inflow_at_rest(self) -> Real:
        """Lambda at which both theories give the same thrust: 2 lambda^2 = C_T."""
        loading = self.solidity * self.lift_slope
        return loading / 16.0 * ((1.0 + 128.0 * self._mean_pitch / loading) ** 0.5 - 1.0)

    @property
    def _mean_pitch(self) -> Real:
        """Mean pitch, weighted by the squared speed of the blade elements."""
        return self.root_pitch_rad / 6.0 - self.twist_rad / 8.0

    @property
    def _lift_area_m2(self) -> Real:
        return self.solidity * self.lift_slope * self.disc_area_m2

    @property
    def _slant(self) -> Real:
        """Mean pitch, weighted for the airspeed across the axis."""
        return (self.root_pitch_rad - self.twist_rad / 2.0) / 4.0

    def _thrust_share_m2ps2(self, tip: Real, across2: Real, through: Real) -> Real:
        """Return T / (rho A sigma a)."""
        return tip * (tip * self._mean_pitch - through / 4.0) + across2 * self._slant

    def _wash_mps(self, tip: Real, across2: Real, w: Real) -> Real:
        """Return v_1 by the selected inflow theory."""
        # in a form without cancellation at high speed
        square = (self.inflow_at_rest * tip) ** 2
        root = jnp.sqrt(jnp.maximum(across2 * across2 / 4.0 + square * square, LEAST_FLOW))
        wash = square / jnp.sqrt(across2 / 2.0 + root)
        return wash if self.inflow == "at-rest" else self._balanced_mps(wash, tip, across2, w)

    def _balanced_mps(self, start: Real, tip: Real, across2: Real, w: Real) -> Real:
        """Return the v_1 at which both theories give the same thrust."""
        loading = self.solidity * self.lift_slope / 2.0
        axial = jnp.maximum(w, -self.inflow_at_rest * tip)
        # a descent is added, so that the flow starts as at rest, where the left side is convex
        wash = start - jnp.minimum(axial, 0.0)
        for _ in range(NEWTON_STEPS):
            through = axial + wash
            flow = jnp.sqrt(jnp.maximum(across2 + through * through, LEAST_FLOW**0.5))
            excess = wash * flow - loading * self._thrust_share_m2ps2(tip, across2, through)
            slope = flow + wash * through / flow + loading * tip / 4.0
            wash = jnp.maximum(wash - excess / slope, 0.0)
        return wash

    @classmethod
    @override
    def examples(cls) -> dict[str, "BladeElementRotor"]:
        blades = partial(cls, 0.15, 0.0394, 0.2618, 0.052, 600.0, 0.045)
        return {"of the OS4": blades(), "with balanced wash": blades(inflow="momentum")}
