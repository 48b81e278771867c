"""Landing gear: compliant contact of feet with the ground and decks, with Coulomb friction.

With d the depth of a foot below the surface, e its tangential offset from its grip (the anchor of
static friction), v_t its tangential velocity, and k = m omega_0^2 / n for n feet::

    N = max(0, k d + c min(1, d / d_0) dd/dt),    c = 2 zeta m omega_0 / n
    f = -k e - c min(1, d / d_0) v_t,             limited to mu N

A vehicle at rest on all feet sinks in by d_0 = g / omega_0^2. The damper increases gradually, so
that the force is continuous at touchdown; the surface never pulls, and depths are limited to
``DEPTH_M``. Where friction reaches mu N the foot slides and e stays at the value of mu N: an
elastic, perfectly plastic spring (Cundall and Strack 1979, "A discrete numerical model for granular
assemblies"). The grip is reset when the foot leaves the surface.

Each foot stands on the deck that it came upon from above, else on the ground; over the step the
surface moves with its velocity at the foot. The error of that does not accumulate: the grip is a
point of the surface, so that a foot at rest does not creep on a deck that tilts and turns.
Neglected: the reaction on a vessel that carries the deck, rolling, the sides of a deck.

A body rocks on its feet faster than it bounces, by a factor sqrt(r): r is at most 1 plus the
largest eigenvalue of I^-1 J, where I is its inertia and J that of its mass distributed evenly over
the feet. So that a step resolves this, omega_0 is at most 1 / (dt sqrt(r)) and zeta omega_0 at most
0.7 / (dt r): the fastest oscillation then has dt^2 k / m = 1 and dt c / m = 1.4. The stability of
an integrator is checked for the linear oscillation of that body,

    x'' = -r (omega_0^2 x + 2 zeta omega_0 x'),

with two thirds of its damping, because the damper is weaker in deep oscillations. Explicit Euler is
unstable where 2 zeta < omega_0 dt, for any r; Heun's method only with nearly no damping.
"""

import math
from typing import Annotated

import jax.numpy as jnp
import numpy as np

from kittiwake.contact.ground_contact import UNKNOWN, GroundContact
from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE
from kittiwake.core.errors import ScenarioError
from kittiwake.geometry.scalar import Real, namespace
from kittiwake.geometry.vec3 import Vec3
from kittiwake.physics.integrators import INTEGRATORS, IntegratorName, MechanicalState
from kittiwake.physics.rigid_body import RigidBody
from kittiwake.pytree import Module

# largest depth of the feet at rest
SOFTEST_M = 0.05
# largest zeta omega_0 dt of the fastest oscillation; within the stable region of Heun's method
DAMPING_OF_A_STEP = 0.7
# with this fraction of the damping, the linear check agrees with drops from 5 cm (explicit Euler)
DAMPING_OF_A_DEEP_SWING = 2.0 / 3.0
ROUNDING = 1e-12


class LandingGear(Module):
    """Feet of a vehicle and their contact parameters.

    Attributes:
        points_body_m: the positions of the feet, relative to the center of mass.
        frequency_radps: omega_0, the natural frequency of the vehicle bouncing on all its feet.
        damping: zeta, the damping ratio of that oscillation.
        friction: mu, the friction coefficient.
    """

    points_body_m: tuple[Vec3, ...]
    frequency_radps: Annotated[Real, POSITIVE] = 120.0
    damping: Annotated[Real, NOT_NEGATIVE] = 0.7
    friction: Annotated[Real, NOT_NEGATIVE] = 0.7

    def __post_init__(self) -> None:
        """Raise ValueError for landing gear without feet."""
        if not self.points_body_m:
            message = "points_body_m: is empty; write where at least one foot is, or leave out feet"
            raise ValueError(message)

    @property
    def reach_m(self) -> Real:
        """Largest distance of a foot from the center of mass."""
        return jnp.max(jnp.stack([jnp.asarray(point.norm()) for point in self.points_body_m]))

    @property
    def standing_height_m(self) -> Real:
        """Height of the center of mass, standing level on the lowest foot."""
        return max(-point.z for point in self.points_body_m)

    def check_rate(
        self, body: RigidBody, integrator: IntegratorName, rate_hz: Real, gravity_mps2: Real
    ) -> None:
        """Check that feet neither sink in deeply nor are unstable at a physics rate.

        Raises:
            ScenarioError: if they do; the message says what to write instead.
        """
        # what is not finite is refused below
        with np.errstate(over="ignore", invalid="ignore"):
            rocking_ratio = float(self.rocking_ratio(body))
        self._check_depth(rocking_ratio, rate_hz, gravity_mps2)
        growth = self._growth(rocking_ratio, integrator, 1.0 / float(rate_hz))
        if growth > 1.0 + ROUNDING:
            message = (
                f"landing_gear: with {integrator} at {rate_hz:g} Hz its oscillation grows by "
                f"{growth - 1.0:.2g} of itself per step; write a higher time.rate_hz, a larger "
                f"damping than {self.damping:g}, or integrator: rk4"
            )
            raise ScenarioError(message)

    def _check_depth(self, rocking_ratio: float, rate_hz: Real, gravity_mps2: Real) -> None:
        if not math.isfinite(rocking_ratio):
            message = (
                "landing_gear: it cannot support a body of this mass and inertia, which do not fit "
                "together; write others, or landing_gear: null"
            )
            raise ScenarioError(message)
        faster = math.sqrt(rocking_ratio)
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
            f"landing_gear: at {rate_hz:g} Hz feet would sink {depth_m:.3g} m into the surface, "
            f"more than {SOFTEST_M:g} m; {advice}, or landing_gear: null"
        )
        raise ScenarioError(message)

    def _growth(self, rocking_ratio: float, integrator: IntegratorName, dt_s: float) -> float:
        """Return the growth of the linear oscillation per step: the spectral radius of a step."""
        frequency_radps, decay_per_s = self.frequency_and_decay(rocking_ratio, dt_s)
        stiffness_ps2 = rocking_ratio * float(frequency_radps) ** 2
        damping_ps = 2.0 * rocking_ratio * float(decay_per_s) * DAMPING_OF_A_DEEP_SWING

        def oscillation(
            mechanical_state: MechanicalState[Real, Real], elapsed_s: Real
        ) -> MechanicalState[Real, Real]:
            del elapsed_s
            place, speed = mechanical_state.configuration, mechanical_state.velocities
            return MechanicalState(speed, -stiffness_ps2 * place - damping_ps * speed)

        step = INTEGRATORS[integrator].step
        ends = [
            step(oscillation, MechanicalState(*start), dt_s) for start in ((1.0, 0.0), (0.0, 1.0))
        ]
        columns = [[float(end.configuration), float(end.velocities)] for end in ends]
        return float(np.max(np.abs(np.linalg.eigvals(np.array(columns).T))))

    def frequency_and_decay(self, rocking_ratio: Real, dt_s: Real) -> tuple[Real, Real]:
        """Return omega_0 and zeta omega_0, limited to what steps of this length resolve."""
        xp = namespace(self.frequency_radps, self.damping, rocking_ratio, dt_s)
        frequency_radps = xp.minimum(self.frequency_radps, 1.0 / (dt_s * xp.sqrt(rocking_ratio)))
        decay_per_s = xp.minimum(
            self.damping * frequency_radps, DAMPING_OF_A_STEP / (dt_s * rocking_ratio)
        )
        return frequency_radps, decay_per_s

    def rocking_ratio(self, body: RigidBody) -> Real:
        """Return r: an upper bound of the squared ratio of rocking and bouncing frequency."""
        columns = map(body.inertia_kgm2.solve, self._spread_m2())
        # no eigenvalue of a matrix is larger than the largest sum along a row
        share_kg = body.mass_kg / len(self.points_body_m)
        sizes = [(abs(column.x), abs(column.y), abs(column.z)) for column in columns]
        sums = [sum(row) for row in zip(*sizes, strict=True)]
        xp = namespace(*sums)
        return 1.0 + share_kg * xp.max(xp.stack([xp.asarray(total) for total in sums]))

    def _spread_m2(self) -> tuple[Vec3, Vec3, Vec3]:
        """Return the columns of the inertia matrix of one kilogram on each foot."""
        places = [(point.x, point.y, point.z) for point in self.points_body_m]
        xx = sum(y * y + z * z for _, y, z in places)
        yy = sum(z * z + x * x for x, _, z in places)
        zz = sum(x * x + y * y for x, y, _ in places)
        xy, xz, yz = (-sum(p[i] * p[j] for p in places) for i, j in ((0, 1), (0, 2), (1, 2)))
        return Vec3(xx, xy, xz), Vec3(xy, yy, yz), Vec3(xz, yz, zz)

    def init(self) -> GroundContact:
        """Return the initial state, as if the vehicle already stood."""
        none, zero = jnp.zeros(len(self.points_body_m)), jnp.asarray(0, jnp.int32)
        over = jnp.full(len(self.points_body_m), UNKNOWN, jnp.int32)
        return GroundContact(none, none, over, zero, 0.0, zero, 0.0, zero, 0.0, zero)
