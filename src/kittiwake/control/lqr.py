"""Linear-quadratic regulator about hover: position and yaw to thrust and torque.

With x = (p, theta, v, omega), the errors of position, angles, velocity and body rates, and u = (F -
m g, tau)::

    x' = A x + B u: the vehicle's motion about hover (``linearize``)
    u = -K x,    K = R^-1 B^T P
    A^T P + P A - P B R^-1 B^T P + Q = 0        Q = diag(1 / x_max^2),  R = diag(1 / u_max^2)

A and B are those of the vehicle, including drag and the effect of the flow on the rotors, without
the lag of the motors; K is computed when the controller is built and then constant. The weights
follow Bryson's rule: the largest acceptable deviation of each state and input, those of inputs per
mass and inertia. Sources: Bryson and Ho (1975), "Applied Optimal Control", sections 5.2 and 5.4;
Anderson and Moore (1990), "Optimal Control: Linear Quadratic Methods", chapters 2 and 3.

In flight p, v and theta are expressed in the axes of the present heading, in which hover is the
same at any yaw; theta is the tilt and the yaw error. Feed-forward acceleration and jerk add thrust,
tilt and rates, to first order in tilt. Errors of position and yaw are limited, so that a distant
setpoint demands no more tilt than one at ``max_step_m``. Far from hover, above about .5 rad of
tilt, the linear law is not valid. There is no integral: drag and wind leave an offset.
"""

from typing import Annotated, ClassVar

import jax.numpy as jnp
import numpy as np
from jaxtyping import PRNGKeyArray
from scipy.linalg import solve_continuous_are
from typing_extensions import override

from kittiwake.control.linearize import (
    INPUTS,
    STATES,
    Hovers,
    Rows,
    linearize,
    linearize_rigid_body,
)
from kittiwake.core.bounds import POSITIVE
from kittiwake.core.commands import PositionYaw, ThrustTorque
from kittiwake.core.errors import ScenarioError
from kittiwake.core.kinematics import Kinematics
from kittiwake.core.parameters import Parameters
from kittiwake.geometry.euler import EulerZYX
from kittiwake.geometry.inertia import Inertia
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.trigonometry import sin_cos, wrap_angle
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.controller import AbstractController
from kittiwake.interfaces.dynamics import AbstractDynamics
from kittiwake.pytree import Module, field


class Deviations(Module):
    """Largest acceptable deviations of states and inputs; a larger one has a smaller weight."""

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
        """Return x_max."""
        across, tilt = (self.horizontal_position_m,) * 2, (self.tilt_rad,) * 2
        speed, rate = (self.horizontal_velocity_mps,) * 2, (self.tilt_rate_radps,) * 2
        return np.array(
            [
                *across,
                self.height_m,
                *tilt,
                self.yaw_rad,
                *speed,
                self.vertical_velocity_mps,
                *rate,
                self.yaw_rate_radps,
            ],
            float,
        )

    def largest_input(self, mass_kg: Real, inertia: Inertia) -> np.ndarray:
        """Return u_max of a vehicle."""
        tilt, yaw = self.tilt_acceleration_radps2, self.yaw_acceleration_radps2
        thrust_n = mass_kg * self.vertical_acceleration_mps2
        return np.array([thrust_n, inertia.xx * tilt, inertia.yy * tilt, inertia.zz * yaw], float)


class Lqr(AbstractController[tuple[()], PositionYaw, ThrustTorque]):
    """Optimal state feedback about hover, at any yaw.

    ``motion_rows`` and ``input_rows`` are A and B; without them the vehicle is a rigid body in a
    vacuum. ``gains`` is K, one row per input; it is computed and must not be given.

    Attributes:
        mass_kg: mass of the vehicle.
        inertia_kgm2: inertia of the vehicle.
        max_thrust_n: largest thrust of the vehicle.
        gravity_mps2: gravity that the controller compensates.
        acceptable: largest acceptable deviations, of which the weights follow.
        max_step_m: limit of the position error.
        max_yaw_step_rad: limit of the yaw error.
        motion_rows: 12 rows of A, in place of the vehicle's.
        input_rows: 12 rows of B, in place of the vehicle's.
    """

    consumes: ClassVar[type] = PositionYaw
    produces: ClassVar[type] = ThrustTorque

    mass_kg: Annotated[Real, POSITIVE]
    inertia_kgm2: Inertia
    max_thrust_n: Annotated[Real, POSITIVE]
    gravity_mps2: Annotated[Real, POSITIVE] = 9.81
    acceptable: Deviations = Deviations()
    max_step_m: Annotated[Real, POSITIVE] = 2.0
    max_yaw_step_rad: Annotated[Real, POSITIVE] = 0.8
    motion_rows: Rows | None = field(static=True, default=None)
    input_rows: Rows | None = field(static=True, default=None)
    gains: Rows | None = None

    def __post_init__(self) -> None:
        """Compute K from the parameters."""
        a, b = linearize_rigid_body(self.mass_kg, self.inertia_kgm2, self.gravity_mps2)
        gains = lqr_gains(
            _matrix("motion_rows", self.motion_rows or a, STATES),
            _matrix("input_rows", self.input_rows or b, INPUTS),
            self.acceptable.largest_state(),
            self.acceptable.largest_input(self.mass_kg, self.inertia_kgm2),
        )
        if self.gains not in (None, gains):
            message = (
                "gains: must not differ from those computed from acceptable, motion_rows and "
                "input_rows; leave gains out, and write the weights in acceptable"
            )
            raise ValueError(message)
        object.__setattr__(self, "gains", gains)

    @classmethod
    @override
    def with_vehicle_defaults(cls, dynamics: AbstractDynamics, gravity_mps2: Real) -> Parameters:
        if not isinstance(dynamics, Hovers):
            message = (
                "lqr requires a vehicle that is a rigid body near hover, and this one ("
                f"{type(dynamics).__name__}) is not; use a rigid body, or another controller "
                "for PositionYaw"
            )
            raise ScenarioError(message)
        motion, inputs = linearize(dynamics, gravity_mps2)
        rows = {"motion_rows": motion, "input_rows": inputs}
        return super().with_vehicle_defaults(dynamics, gravity_mps2) | rows

    @override
    def step(
        self,
        state: tuple[()],
        inputs: tuple[PositionYaw, Kinematics],
        dt_s: Real,
        key: PRNGKeyArray,
    ) -> tuple[tuple[()], ThrustTorque]:
        del dt_s, key
        command, estimate = inputs
        error = (
            *_parts(self._position_error(command, estimate)),
            *_parts(self._attitude_error(command, estimate)),
            *_parts(self._velocity_error(command, estimate)),
            *_parts(self._rate_error(command, estimate)),
        )
        lift, x, y, z = (
            -sum(gain * part for gain, part in zip(row, error, strict=True))
            for row in self.gains or ()
        )
        feed_forward = self.gravity_mps2 + command.acceleration_world_mps2.z
        thrust = jnp.clip(self.mass_kg * feed_forward + lift, 0.0, self.max_thrust_n)
        return state, ThrustTorque(thrust, Vec3(x, y, z))

    def _position_error(self, command: PositionYaw, estimate: Kinematics) -> Vec3:
        error = estimate.position_world_m - command.position_world_m
        return _in_heading(error.clip_norm(self.max_step_m), estimate)

    def _attitude_error(self, command: PositionYaw, estimate: Kinematics) -> Vec3:
        """Return the errors of tilt and yaw."""
        yaw = estimate.euler_world_from_body.yaw_rad
        level = Quaternion.from_euler(EulerZYX(0.0, 0.0, yaw))
        tilt = level.inverse() * estimate.q_world_from_body
        twice = jnp.where(tilt.w < 0.0, -2.0, 2.0)
        demanded = _in_heading(command.acceleration_world_mps2, estimate) / self.gravity_mps2
        limit = self.max_yaw_step_rad
        yaw_error = jnp.clip(wrap_angle(yaw - command.yaw_rad), -limit, limit)
        return Vec3(twice * tilt.x + demanded.y, twice * tilt.y - demanded.x, yaw_error)

    def _velocity_error(self, command: PositionYaw, estimate: Kinematics) -> Vec3:
        return _in_heading(estimate.velocity_world_mps - command.velocity_world_mps, estimate)

    def _rate_error(self, command: PositionYaw, estimate: Kinematics) -> Vec3:
        omega = estimate.angular_velocity_body_radps
        demanded = _in_heading(command.jerk_world_mps3, estimate) / self.gravity_mps2
        return omega - Vec3(-demanded.y, demanded.x, command.yaw_rate_radps)

    @classmethod
    @override
    def examples(cls) -> dict[str, "Lqr"]:
        return {"of 1.5 kg": cls(1.5, Inertia(0.02, 0.03, 0.04), 28.8)}


def _in_heading(world: Vec3, estimate: Kinematics) -> Vec3:
    sine, cosine = sin_cos(estimate.euler_world_from_body.yaw_rad)
    return Vec3(cosine * world.x + sine * world.y, cosine * world.y - sine * world.x, world.z)


def _parts(v: Vec3) -> tuple[Real, Real, Real]:
    return v.x, v.y, v.z


def _matrix(name: str, rows: Rows, columns: int) -> np.ndarray:
    if len(rows) != STATES or any(len(row) != columns for row in rows):
        lengths = ", ".join(sorted({str(len(row)) for row in rows}))
        message = (
            f"{name}: {len(rows)} rows of {lengths} numbers are not allowed; write {STATES} rows "
            f"of {columns} numbers, or leave {name} out"
        )
        raise ValueError(message)
    return np.array(rows, float)


def lqr_gains(
    a: np.ndarray, b: np.ndarray, largest_state: np.ndarray, largest_input: np.ndarray
) -> Rows:
    """Return K, one row per input.

    Raises:
        ValueError: if no feedback stabilizes the vehicle.
    """
    state_weights = np.diag(np.square(1.0 / largest_state))
    input_weights = np.diag(np.square(1.0 / largest_input))
    try:
        cost = solve_continuous_are(a, b, state_weights, input_weights)
    except ValueError as error:
        message = (
            f"motion_rows, input_rows: no feedback stabilizes such a vehicle ({error}); leave "
            "them out, or write those of a controllable vehicle"
        )
        raise ValueError(message) from error
    gains = np.linalg.solve(input_weights, b.T @ cost)
    return tuple(tuple(row) for row in gains.tolist())
