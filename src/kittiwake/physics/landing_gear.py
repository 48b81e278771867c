"""Feet that stand on the ground and on decks: compliant contact with Coulomb friction.

With d the depth of a foot below the surface, e its way along it from where it grips, v_t its
velocity along it, and k = m omega_0^2 / n for n feet::

    N = max(0, k d + c min(1, d / d_0) dd/dt),    c = 2 zeta m omega_0 / n
    f = -k e - c min(1, d / d_0) v_t,             shortened to mu N

A vehicle at rest on all feet sinks in by d_0 = g / omega_0^2. The damper sets in gradually, so
that the force does not jump at the touch; the surface never pulls, and no depth beyond ``DEPTH_M``
counts. Where friction has reached mu N the foot slides and e stays at what mu N holds, an elastic
and perfectly plastic spring (Cundall and Strack 1979, "A discrete numerical model for granular
assemblies"); a foot that leaves the surface forgets it.

Each foot stands on the deck that it came upon from above, else on the ground; over the step the
surface moves on with its velocity there. What that misses is not summed up: a foot remembers
its grip as a place of the surface, so that one at rest does not creep on a deck that tilts and
turns. Neglected: the reaction on a vessel that carries the deck, rolling, the sides of a deck.

A body swings on its feet faster than it bounces: by sqrt(r), with r at most 1 and the largest
eigenvalue of I^-1 J, I its inertia and J that of its mass spread evenly over the feet. So that a
step resolves that, omega_0 is at most 1 / (dt sqrt(r)) and zeta omega_0 at most 0.7 / (dt r): the
worst swing then has dt^2 k / m = 1 and dt c / m = 1.4. Whether an integrator's steps make a swing
grow is tried on the linear one of that body,

    x'' = -r (omega_0^2 x + 2 zeta omega_0 x'),

with two thirds of its damping, because the damper is weaker in a deep swing. Explicit Euler grows
where 2 zeta < omega_0 dt, whatever r is; Heun's method only where there is hardly any damping.
"""

import math
from typing import Annotated

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from kittiwake.contact.ground_contact import UNKNOWN, GroundContact
from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE
from kittiwake.core.errors import ScenarioError
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.physics.integrators import INTEGRATORS, IntegratorName, Phase
from kittiwake.physics.rigid_body import RigidBody

# feet that sink in deeper at rest are refused
SOFTEST_M = 0.05
# zeta omega_0 dt of the fastest swing, at most; inside the stable region of Heun's method
DAMPING_OF_A_STEP = 0.7
# drops from 5 cm came to rest with explicit Euler where a swing with this share of it did
DAMPING_OF_A_DEEP_SWING = 2.0 / 3.0
ROUNDING = 1e-12


class LandingGear(eqx.Module):
    """Where a vehicle stands, and how firmly.

    ``points_body_m`` are seen from the center of mass. ``frequency_radps`` is omega_0 of the
    vehicle bouncing on all its feet, ``damping`` the zeta of that, ``friction`` the mu.
    """

    points_body_m: tuple[Vec3, ...]
    frequency_radps: Annotated[Real, POSITIVE] = 120.0
    damping: Annotated[Real, NOT_NEGATIVE] = 0.7
    friction: Annotated[Real, NOT_NEGATIVE] = 0.7

    def __check_init__(self) -> None:
        """Refuses a vehicle that stands on nothing."""
        if not self.points_body_m:
            message = "points_body_m: is empty; write where at least one foot is, or leave out feet"
            raise ValueError(message)

    @property
    def reach_m(self) -> Real:
        """How far the feet are from the center of mass, at most."""
        return jnp.max(jnp.stack([jnp.asarray(point.norm()) for point in self.points_body_m]))

    @property
    def standing_height_m(self) -> Real:
        """Of the center of mass, level on the lowest foot."""
        return max(-point.z for point in self.points_body_m)

    def check_rate(
        self, body: RigidBody, integrator: IntegratorName, rate_hz: Real, gravity_mps2: Real
    ) -> None:
        """Refuses coarse steps with which they would sink in deeply, or swing up by themselves.

        Raises:
            ScenarioError: with what to write instead.
        """
        liveliness = float(self.liveliness(body))
        self._check_depth(liveliness, rate_hz, gravity_mps2)
        growth = self._growth(liveliness, integrator, 1.0 / float(rate_hz))
        if growth > 1.0 + ROUNDING:
            message = (
                f"landing_gear: with {integrator} at {rate_hz:g} Hz their swing grows by "
                f"{growth - 1.0:.2g} of itself each step; write a finer time.rate_hz, a larger "
                f"damping than {self.damping:g}, or integrator: rk4"
            )
            raise ScenarioError(message)

    def _check_depth(self, liveliness: float, rate_hz: Real, gravity_mps2: Real) -> None:
        if not math.isfinite(liveliness):
            message = (
                "landing_gear: they cannot carry a body of this mass and inertia, which are too "
                "unlike; write others, or landing_gear: null"
            )
            raise ScenarioError(message)
        faster = math.sqrt(liveliness)
        least_radps = math.sqrt(gravity_mps2 / SOFTEST_M)
        resolved_radps = rate_hz / faster
        if min(self.frequency_radps, resolved_radps) >= least_radps:
            return
        square = min(self.frequency_radps, resolved_radps) ** 2
        depth_m = gravity_mps2 / square if square > 0.0 else math.inf
        advice = (
            f"write time.rate_hz: {math.ceil(least_radps * faster)} or more"
            if resolved_radps < least_radps
            else f"write a frequency_radps of at least {least_radps:.3g}"
        )
        message = (
            f"landing_gear: at {rate_hz:g} Hz feet would sink {depth_m:.3g} m into what it "
            f"stands on, more than {SOFTEST_M:g} m; {advice}, or landing_gear: null"
        )
        raise ScenarioError(message)

    def _growth(self, liveliness: float, integrator: IntegratorName, dt_s: float) -> float:
        """Of the linear swing in a step: the largest modulus of the step's eigenvalues."""
        frequency_radps, decay_per_s = self.springiness(liveliness, dt_s)
        stiffness_ps2 = liveliness * float(frequency_radps) ** 2
        damping_ps = 2.0 * liveliness * float(decay_per_s) * DAMPING_OF_A_DEEP_SWING

        def swing(phase: Phase[Real, Real], elapsed_s: Real) -> Phase[Real, Real]:
            del elapsed_s
            place, speed = phase.configuration, phase.motion
            return Phase(speed, -stiffness_ps2 * place - damping_ps * speed)

        step = INTEGRATORS[integrator].step
        ended = [step(swing, Phase(*begun), dt_s) for begun in ((1.0, 0.0), (0.0, 1.0))]
        columns = [[float(end.configuration), float(end.motion)] for end in ended]
        return float(np.max(np.abs(np.linalg.eigvals(np.array(columns).T))))

    def springiness(self, liveliness: Real, dt_s: Real) -> tuple[Real, Real]:
        """omega_0 and zeta omega_0, as far as such steps resolve them."""
        frequency_radps = jnp.minimum(self.frequency_radps, 1.0 / (dt_s * jnp.sqrt(liveliness)))
        decay_per_s = jnp.minimum(
            self.damping * frequency_radps, DAMPING_OF_A_STEP / (dt_s * liveliness)
        )
        return frequency_radps, decay_per_s

    def liveliness(self, body: RigidBody) -> Real:
        """The square of how much faster it can swing on its feet than bounce, at most."""
        columns = map(body.inertia_kgm2.solve, self._spread_m2())
        # no eigenvalue of a matrix is larger than the largest sum along a row
        share_kg = body.mass_kg / len(self.points_body_m)
        sizes = [(abs(column.x), abs(column.y), abs(column.z)) for column in columns]
        sums = [sum(row) for row in zip(*sizes, strict=True)]
        return 1.0 + share_kg * jnp.max(jnp.stack([jnp.asarray(total) for total in sums]))

    def _spread_m2(self) -> tuple[Vec3, Vec3, Vec3]:
        """Of a kilogram on each foot, the columns of the inertia."""
        places = [(point.x, point.y, point.z) for point in self.points_body_m]
        xx = sum(y * y + z * z for _, y, z in places)
        yy = sum(z * z + x * x for x, _, z in places)
        zz = sum(x * x + y * y for x, y, _ in places)
        xy, xz, yz = (-sum(p[i] * p[j] for p in places) for i, j in ((0, 1), (0, 2), (1, 2)))
        return Vec3(xx, xy, xz), Vec3(xy, yy, yz), Vec3(xz, yz, zz)

    def init(self) -> GroundContact:
        """Before the first step, as if it stood already."""
        none, zero = jnp.zeros(len(self.points_body_m)), jnp.asarray(0, jnp.int32)
        over = jnp.full(len(self.points_body_m), UNKNOWN, jnp.int32)
        return GroundContact(none, none, over, zero, 0.0, zero, 0.0, zero, 0.0, zero)
