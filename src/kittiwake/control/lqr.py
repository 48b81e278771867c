"""Linear-quadratic regulator about hover: from a place to thrust and torque.

With x = (p, theta, v, omega), the errors of place, angles, velocity and body rates, and u = (F -
m g, tau)::

    x' = A x + B u: the vehicle's own motion at hover (``hover_motion``)
    u = -K x,    K = R^-1 B^T P
    A^T P + P A - P B R^-1 B^T P + Q = 0        Q = diag(1 / x_max^2),  R = diag(1 / u_max^2)

A and B are taken of the vehicle that it flies, drag and rotors in the flow included, the lag of
motors left out; K is computed from them when the controller is built, and fixed from then on. The
weights are Bryson's: the largest acceptable deviation of each state and input, those of inputs per
mass and inertia. Sources: Bryson and Ho (1975), "Applied Optimal Control", sections 5.2 and 5.4;
Anderson and Moore (1990), "Optimal Control: Linear Quadratic Methods", chapters 2 and 3.

In flight p, v and theta are counted in the axes of the present heading, in which hover is the same
at any yaw; theta is the tilt there and the error of yaw. Acceleration and jerk that are fed forward
give a thrust, a tilt and rates of their own, to first order in tilt. Errors of place and yaw are
cut, so that a far set point asks for no more tilt than one at ``max_step_m``. Far from hover, above
some .5 rad of tilt, the linear law means little. It has no integral: drag and wind leave an offset.
"""

from typing import Annotated, Any, ClassVar

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import PRNGKeyArray
from scipy.linalg import solve_continuous_are
from typing_extensions import override

from kittiwake.control.linearize import (
    INPUTS,
    STATES,
    FliesNearHover,
    Rows,
    linearised,
    of_rigid_body,
)
from kittiwake.core.bounds import POSITIVE
from kittiwake.core.commands import PositionYaw, ThrustTorque
from kittiwake.core.errors import ScenarioError
from kittiwake.core.kinematics import Kinematics
from kittiwake.geometry.euler import EulerZYX
from kittiwake.geometry.inertia import Inertia
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.trigonometry import sin_cos, wrap_angle
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.controller import AbstractController
from kittiwake.interfaces.dynamics import AbstractDynamics


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
    """Optimal state feedback about hover, at any yaw.

    ``motion_rows`` and ``input_rows`` are A and B; without them the vehicle is a rigid body in a
    vacuum. ``gains`` is K, a row for each input: it follows from the others, so nobody gives it.
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
    motion_rows: Rows | None = eqx.field(static=True, default=None)
    input_rows: Rows | None = eqx.field(static=True, default=None)
    gains: Rows | None = None

    def __post_init__(self) -> None:
        """K of these parameters."""
        a, b = of_rigid_body(self.mass_kg, self.inertia_kgm2, self.gravity_mps2)
        # no field(init=False): Equinox warns of numbers in those
        given, self.gains = (
            self.gains,
            designed(
                _matrix("motion_rows", self.motion_rows or a, STATES),
                _matrix("input_rows", self.input_rows or b, INPUTS),
                self.acceptable.largest_state(),
                self.acceptable.largest_input(self.mass_kg, self.inertia_kgm2),
            ),
        )
        if given is not None and given != self.gains:
            message = (
                "gains: other numbers than those that follow from acceptable, motion_rows and "
                "input_rows are not allowed; leave gains out, and write the weights in acceptable"
            )
            raise ValueError(message)

    @classmethod
    @override
    def with_vehicle_defaults(
        cls, dynamics: AbstractDynamics, gravity_mps2: Real
    ) -> dict[str, Any]:
        if not isinstance(dynamics, FliesNearHover):
            message = (
                "lqr is designed for the motion of a rigid body near hover, and this vehicle ("
                f"{type(dynamics).__name__}) is not one; take a rigid body, or another controller "
                "from PositionYaw"
            )
            raise ScenarioError(message)
        motion, inputs = linearised(dynamics, gravity_mps2)
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


def _matrix(name: str, rows: Rows, columns: int) -> np.ndarray:
    if len(rows) != STATES or any(len(row) != columns for row in rows):
        lengths = ", ".join(sorted({str(len(row)) for row in rows}))
        message = (
            f"{name}: {len(rows)} rows of {lengths} numbers are not allowed; write {STATES} rows "
            f"of {columns} numbers, or leave {name} out"
        )
        raise ValueError(message)
    return np.array(rows, float)


def designed(
    a: np.ndarray, b: np.ndarray, largest_state: np.ndarray, largest_input: np.ndarray
) -> Rows:
    """K, a row for each input.

    Raises:
        ValueError: if no feedback holds such a vehicle.
    """
    state_weights = np.diag(np.square(1.0 / largest_state))
    input_weights = np.diag(np.square(1.0 / largest_input))
    try:
        cost = solve_continuous_are(a, b, state_weights, input_weights)
    except ValueError as error:
        message = (
            f"motion_rows, input_rows: no feedback holds a vehicle that moves so ({error}); leave "
            "them out, or write those of a vehicle that thrust and torque can steer"
        )
        raise ValueError(message) from error
    gains = np.linalg.solve(input_weights, b.T @ cost)
    return tuple(tuple(row) for row in gains.tolist())
