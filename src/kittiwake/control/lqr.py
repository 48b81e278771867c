"""Linear-quadratic regulator about hover: from a place to thrust and torque.

With x = (p, theta, v, omega), the errors of place, rotation vector, velocity and body rates, and
u = (F - m g, tau)::

    p' = v,   theta' = omega + theta x omega / 2,   v' = R(theta) e_z F / m - g e_z
    omega' = J^-1 (tau - omega x J omega)
    A, B: the derivatives of these at hover,    u = -K x,    K = R^-1 B^T P
    A^T P + P A - P B R^-1 B^T P + Q = 0        Q = diag(1 / x_max^2),  R = diag(1 / u_max^2)

K is computed when the controller is built, unless ``gains`` gives it. The weights are Bryson's: the
largest acceptable deviation of each state and input, those of inputs per mass and inertia. Sources:
Bryson and Ho (1975), "Applied Optimal Control", sections 5.2 and 5.4; Anderson and Moore (1990),
"Optimal Control: Linear Quadratic Methods", chapters 2 and 3.

In flight p, v and theta are counted in the axes of the present heading, in which hover is the same
at any yaw; theta is the tilt there and the error of yaw. Acceleration and jerk that are fed forward
give a thrust, a tilt and rates of their own, to first order in tilt. Errors of place and yaw are
cut, so that a far set point asks for no more tilt than one at ``max_step_m``. Far from hover, above
some .5 rad of tilt, the linear law means little. It has no integral: drag and wind leave an offset.
"""

import dataclasses
from functools import cache
from typing import Annotated, Any, ClassVar, TypeAlias

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray
from scipy.linalg import solve_continuous_are

from kittiwake.core.bounds import POSITIVE
from kittiwake.core.component import AbstractController, AbstractDynamics
from kittiwake.core.errors import ScenarioError
from kittiwake.core.kinematics import Kinematics
from kittiwake.core.signals import PositionYaw, ThrustTorque
from kittiwake.geometry.euler import EulerZYX
from kittiwake.geometry.inertia import Inertia
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.trigonometry import sin_cos, wrap_angle
from kittiwake.geometry.vec3 import Vec3

Gains: TypeAlias = tuple[tuple[Real, ...], ...]
ALONG = Vec3(0.0, 0.0, 1.0)


class Deviations(eqx.Module):
    """What is acceptable at most, of states and inputs: the larger, the less it is minded."""

    horizontal_position_m: Annotated[Real, POSITIVE] = 1.0
    height_m: Annotated[Real, POSITIVE] = 1.0
    tilt_rad: Annotated[Real, POSITIVE] = 0.3
    yaw_rad: Annotated[Real, POSITIVE] = 0.5
    horizontal_velocity_mps: Annotated[Real, POSITIVE] = 1.0
    vertical_velocity_mps: Annotated[Real, POSITIVE] = 1.0
    tilt_rate_radps: Annotated[Real, POSITIVE] = 2.0
    yaw_rate_radps: Annotated[Real, POSITIVE] = 1.0
    vertical_acceleration_mps2: Annotated[Real, POSITIVE] = 3.0
    tilt_acceleration_radps2: Annotated[Real, POSITIVE] = 20.0
    yaw_acceleration_radps2: Annotated[Real, POSITIVE] = 4.0

    def largest_state(self) -> np.ndarray:
        """x_max."""
        across, tilt = (self.horizontal_position_m,) * 2, (self.tilt_rad,) * 2
        speed, rate = (self.horizontal_velocity_mps,) * 2, (self.tilt_rate_radps,) * 2
        return np.array(
            [
                *(*across, self.height_m, *tilt, self.yaw_rad),
                *(*speed, self.vertical_velocity_mps, *rate, self.yaw_rate_radps),
            ],
            float,
        )

    def largest_input(self, mass_kg: Real, inertia: Inertia) -> np.ndarray:
        """u_max of a vehicle."""
        tilt, yaw = self.tilt_acceleration_radps2, self.yaw_acceleration_radps2
        thrust_n = mass_kg * self.vertical_acceleration_mps2
        return np.array([thrust_n, inertia.xx * tilt, inertia.yy * tilt, inertia.zz * yaw], float)


class Lqr(AbstractController):
    """Optimal state feedback about hover, at any yaw."""

    consumes: ClassVar[type] = PositionYaw
    produces: ClassVar[type] = ThrustTorque

    mass_kg: Annotated[Real, POSITIVE]
    inertia_kgm2: Inertia
    max_thrust_n: Annotated[Real, POSITIVE]
    gravity_mps2: Annotated[Real, POSITIVE] = 9.81
    acceptable: Deviations = Deviations()
    max_step_m: Annotated[Real, POSITIVE] = 2.0
    max_yaw_step_rad: Annotated[Real, POSITIVE] = 0.8
    gains: Gains | None = None

    def __post_init__(self) -> None:
        """K of these parameters, where none is given."""
        if self.gains is not None:
            return
        largest = self.acceptable.largest_input(self.mass_kg, self.inertia_kgm2)
        moments = self.inertia_kgm2
        self.gains = designed(
            (float(self.mass_kg), float(self.gravity_mps2)),
            tuple(map(float, dataclasses.astuple(moments))),
            tuple(self.acceptable.largest_state().tolist()),
            tuple(largest.tolist()),
        )

    @classmethod
    def fitted(cls, dynamics: AbstractDynamics, gravity_mps2: Real) -> dict[str, Any]:
        """Mass, inertia and thrust of the vehicle.

        Raises:
            ScenarioError: if it does not tell them.
        """
        fitted = super().fitted(dynamics, gravity_mps2)
        missing = [name for name in ("mass_kg", "inertia_kgm2") if name not in fitted]
        if missing:
            message = (
                f"lqr is designed for a vehicle's mass and inertia, and this one ("
                f"{type(dynamics).__name__}) does not tell {' and '.join(missing)}; take a rigid "
                "body, or another controller from PositionYaw"
            )
            raise ScenarioError(message)
        return fitted

    def step(
        self,
        state: tuple[()],
        inputs: tuple[PositionYaw, Kinematics],
        dt_s: Real,
        key: PRNGKeyArray,
    ) -> tuple[tuple[()], ThrustTorque]:
        """Thrust and torque; the thrust is cut to what the vehicle has."""
        del dt_s, key
        wanted, estimate = inputs
        error = (
            *_parts(self._place(wanted, estimate)),
            *_parts(self._turn(wanted, estimate)),
            *_parts(self._velocity(wanted, estimate)),
            *_parts(self._rates(wanted, estimate)),
        )
        lift, x, y, z = (
            -sum(gain * part for gain, part in zip(row, error, strict=True))
            for row in self.gains or ()
        )
        known = self.gravity_mps2 + wanted.acceleration_world_mps2.z
        thrust = jnp.clip(self.mass_kg * known + lift, 0.0, self.max_thrust_n)
        return state, ThrustTorque(thrust, Vec3(x, y, z))

    def _place(self, wanted: PositionYaw, estimate: Kinematics) -> Vec3:
        ahead = estimate.position_world_m - wanted.position_world_m
        return _in_heading(ahead.shortened(self.max_step_m), estimate)

    def _turn(self, wanted: PositionYaw, estimate: Kinematics) -> Vec3:
        """The tilt that is not meant, and the error of yaw."""
        yaw = estimate.euler_world_from_body.yaw_rad
        level = Quaternion.from_euler(EulerZYX(0.0, 0.0, yaw))
        tilt = level.inverse() * estimate.q_world_from_body
        twice = jnp.where(tilt.w < 0.0, -2.0, 2.0)
        meant = _in_heading(wanted.acceleration_world_mps2, estimate) / self.gravity_mps2
        limit = self.max_yaw_step_rad
        turned = jnp.clip(wrap_angle(yaw - wanted.yaw_rad), -limit, limit)
        return Vec3(twice * tilt.x + meant.y, twice * tilt.y - meant.x, turned)

    def _velocity(self, wanted: PositionYaw, estimate: Kinematics) -> Vec3:
        return _in_heading(estimate.velocity_world_mps - wanted.velocity_world_mps, estimate)

    def _rates(self, wanted: PositionYaw, estimate: Kinematics) -> Vec3:
        omega = estimate.angular_velocity_body_radps
        meant = _in_heading(wanted.jerk_world_mps3, estimate) / self.gravity_mps2
        return omega - Vec3(-meant.y, meant.x, wanted.yaw_rate_radps)


def _in_heading(world: Vec3, estimate: Kinematics) -> Vec3:
    sine, cosine = sin_cos(estimate.euler_world_from_body.yaw_rad)
    return Vec3(cosine * world.x + sine * world.y, cosine * world.y - sine * world.x, world.z)


def _parts(v: Vec3) -> tuple[Real, Real, Real]:
    return v.x, v.y, v.z


def motion(
    x: Float[Array, "12"], u: Float[Array, "4"], mass_kg: Real, inertia: Inertia, gravity: Real
) -> Float[Array, "12"]:
    """How a rigid body near hover moves on: x', with u counted from hover."""
    theta, velocity, omega = Vec3.of(x[3:6]), x[6:9], Vec3.of(x[9:])
    up = Quaternion.from_rotation_vector(theta).rotate(ALONG)
    turning = omega + theta.cross(omega) * 0.5
    acceleration = up * (gravity + u[0] / mass_kg) - ALONG * gravity
    spin = inertia.solve(Vec3.of(u[1:]) - omega.cross(inertia.times(omega)))
    return jnp.concatenate([velocity, turning.array, acceleration.array, spin.array])


@cache
def designed(
    mass_and_gravity: tuple[float, float],
    inertia: tuple[float, ...],
    largest_state: tuple[float, ...],
    largest_input: tuple[float, ...],
) -> Gains:
    """K, a row for each input."""
    mass_kg, gravity = mass_and_gravity

    def moved(x: Float[Array, "12"], u: Float[Array, "4"]) -> Float[Array, "12"]:
        return motion(x, u, mass_kg, Inertia(*inertia), gravity)

    # also while something else is being compiled
    with jax.ensure_compile_time_eval():
        slopes = jax.jacfwd(moved, argnums=(0, 1))(jnp.zeros(12), jnp.zeros(4))
        a, b = (np.asarray(slope, np.float64) for slope in slopes)
    state_weights = np.diag(np.square(1.0 / np.array(largest_state)))
    input_weights = np.diag(np.square(1.0 / np.array(largest_input)))
    cost = solve_continuous_are(a, b, state_weights, input_weights)
    gains = np.linalg.solve(input_weights, b.T @ cost)
    return tuple(tuple(row) for row in gains.tolist())
