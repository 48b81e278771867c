"""Linearization of a vehicle's motion about hover.

With x = (p, theta, v, omega), the deviations of position, angles (roll, pitch, yaw), velocity and
body rates from hover at yaw zero, and u = (F - m g, tau) those of thrust and torque::

    p' = v,   theta' = omega + theta x omega / 2,   (v', omega') = the vehicle's accelerations
    x' = A x + B u          A, B: the derivatives of these at hover

The accelerations are those of the model, with all aerodynamic effects of motion: drag, and the
effect of the flow on rotors at their hover speed. They are differentiated by JAX in double
precision, in still air at sea level, far from surfaces. The lag of the motors is omitted.

Without a vehicle they are those of a rigid body in a vacuum: v' = g (theta_y, -theta_x, 0) + e_z (F
- m g) / m, omega' = J^-1 tau.
"""

from dataclasses import replace
from typing import Any, Protocol, TypeAlias, runtime_checkable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from kittiwake.core.kinematics import Start
from kittiwake.geometry.inertia import Inertia
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.continuous import FREE_BODY, ContinuousState, StateRates, deviated
from kittiwake.world.surroundings import Air, ExternalWrench, Surroundings

Rows: TypeAlias = tuple[tuple[Real, ...], ...]
STATES, INPUTS = 12, 4
SEA_LEVEL = Air(288.15, 101325.0, 1.225)
FAR_M = 1000.0


@runtime_checkable
class Hovers(Protocol):
    """Dynamics that can be linearized about hover."""

    def hover_command(self, gravity_mps2: Real) -> Any:
        """Return the actuator command of hover in still air."""
        ...

    def steady_actuators(self, command: Any) -> dict[str, Real]:
        """Return the actuators' states under a constant command."""
        ...

    def rates(self, state: ContinuousState, command: Any, surroundings: Surroundings) -> StateRates:
        """Return the rates of the continuous state."""
        ...


def linearize(dynamics: Hovers, gravity_mps2: Real) -> tuple[Rows, Rows]:
    """Return A and B of a vehicle."""
    # evaluate at once, even while another function is being traced
    with jax.enable_x64(True), jax.ensure_compile_time_eval():  # noqa: FBT003  JAX's own
        a, b = _jacobians(dynamics, float(gravity_mps2))
        return _rows(np.asarray(a)), _rows(np.asarray(b))


def linearize_rigid_body(mass_kg: Real, inertia: Inertia, gravity_mps2: Real) -> tuple[Rows, Rows]:
    """Return A and B of a rigid body in a vacuum."""
    a, b = np.zeros((STATES, STATES)), np.zeros((STATES, INPUTS))
    a[0:3, 6:9] = a[3:6, 9:12] = np.eye(3)
    a[6, 4], a[7, 3] = gravity_mps2, -gravity_mps2
    b[8, 0] = 1.0 / mass_kg
    b[9:12, 1:4] = np.linalg.inv(inertia.matrix)
    return _rows(a), _rows(b)


@jax.jit
def _jacobians(
    dynamics: Hovers, gravity_mps2: Real
) -> tuple[Float[Array, "12 12"], Float[Array, "12 4"]]:
    still = Surroundings(gravity_mps2, SEA_LEVEL, Vec3.zero(), FAR_M, FAR_M)
    hover, command = Start().kinematics(), dynamics.hover_command(gravity_mps2)
    actuators = dynamics.steady_actuators(command)

    def state_rate(x: Float[Array, "12"], u: Float[Array, "4"]) -> Float[Array, "12"]:
        motion = deviated(hover, dict(zip(FREE_BODY, x, strict=True)))
        force, torque = Vec3(0.0, 0.0, u[0]), Vec3.of(u[1:])
        q, theta = motion.q_world_from_body, Vec3.of(x[3:6])
        around = replace(still, external_wrench=ExternalWrench(q.rotate(force), q.rotate(torque)))
        rates = dynamics.rates(ContinuousState(motion, actuators), command, around)
        turning = rates.turning_body_radps
        vectors = (
            motion.velocity_world_mps,
            turning + theta.cross(turning) * 0.5,
            # at rest the axes of the velocity make no difference
            rates.velocity_rate_body_mps2,
            rates.angular_acceleration_body_radps2,
        )
        return jnp.concatenate([v.array for v in vectors])

    return jax.jacfwd(state_rate, argnums=(0, 1))(jnp.zeros(STATES), jnp.zeros(INPUTS))


def _rows(matrix: np.ndarray) -> Rows:
    return tuple(tuple(row) for row in matrix.tolist())
