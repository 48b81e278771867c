"""Thrust and torque to rotor speeds.

Each rotor's thrust T_i = k_T Omega_i^2 contributes the thrust T_i and the torque (y_i T_i,
-x_i T_i, -s_i (k_Q / k_T) T_i): four equations, solved once for the least sum of
squares. At saturation, yaw is reduced first,
then thrust, then tilt, as described in ``allocation``.
"""

from typing import Annotated, ClassVar

import jax.numpy as jnp
from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.control.allocation import Row, allocate, allocation_rows
from kittiwake.core.bounds import POSITIVE
from kittiwake.core.commands import RotorSpeeds, ThrustTorque
from kittiwake.core.errors import ScenarioError
from kittiwake.core.kinematics import Kinematics
from kittiwake.core.parameters import Parameters
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.controller import AbstractController
from kittiwake.interfaces.dynamics import AbstractDynamics

# squared speeds below this fraction of the largest count as zero
ROUNDING = 1e-12


class Mixer(AbstractController[tuple[()], ThrustTorque, RotorSpeeds]):
    """Allocation to rotors of equal coefficients.

    ``thrusts_from_wrench`` are the rows of ``allocation_rows``.

    Attributes:
        thrusts_from_wrench: a row for each rotor; the vehicle's by default.
        thrust_ns2: k_T of the rotors.
        max_speed_radps: highest speed of the motors.
    """

    consumes: ClassVar[type] = ThrustTorque
    produces: ClassVar[type] = RotorSpeeds

    thrusts_from_wrench: tuple[Row, ...]
    thrust_ns2: Annotated[Real, POSITIVE]
    max_speed_radps: Annotated[Real, POSITIVE]

    @classmethod
    @override
    def with_vehicle_defaults(cls, dynamics: AbstractDynamics, gravity_mps2: Real) -> Parameters:
        parameters = dynamics.vehicle_parameters(gravity_mps2)
        if "hubs_body_m" not in parameters:
            message = (
                f"mixer gives RotorSpeeds, and this vehicle ({type(dynamics).__name__}) is "
                f"commanded by {dynamics.command_type.__name__}; leave mixer out"
            )
            raise ScenarioError(message)
        hubs = tuple(Vec3.of(hub) for hub in parameters["hubs_body_m"])
        rows = allocation_rows(hubs, tuple(parameters["spins"]), parameters["torque_per_thrust_m"])
        return super().with_vehicle_defaults(dynamics, gravity_mps2) | {"thrusts_from_wrench": rows}

    @override
    def check(self, dynamics: AbstractDynamics) -> None:
        given, rotors = len(self.thrusts_from_wrench), dynamics.actuator_count
        if given != rotors:
            message = f"thrusts_from_wrench: got {given} rows; must be {rotors}, one for each rotor"
            raise ScenarioError(message)

    @override
    def step(
        self,
        state: tuple[()],
        inputs: tuple[ThrustTorque, Kinematics],
        dt_s: Real,
        key: PRNGKeyArray,
    ) -> tuple[tuple[()], RotorSpeeds]:
        del dt_s, key
        command, _ = inputs
        thrusts = allocate(
            self.thrusts_from_wrench,
            command.thrust_n,
            command.torque_body_nm,
            self.thrust_ns2 * self.max_speed_radps**2,
        )
        return state, RotorSpeeds(tuple(self._speed(thrust) for thrust in thrusts))

    def _speed(self, thrust_n: Real) -> Real:
        square = jnp.minimum(thrust_n / self.thrust_ns2, self.max_speed_radps**2)
        # above the rounding error of a rotor at rest
        turning = square > ROUNDING * self.max_speed_radps**2
        # the square root is not differentiable for a rotor at rest
        return jnp.where(turning, jnp.sqrt(jnp.where(turning, square, 1.0)), 0.0)

    @classmethod
    @override
    def examples(cls) -> dict[str, "Mixer"]:
        hubs = (
            Vec3(0.2, 0.0, 0.0),
            Vec3(0.0, -0.2, 0.0),
            Vec3(-0.2, 0.0, 0.0),
            Vec3(0.0, 0.2, 0.0),
        )
        rows = allocation_rows(hubs, (1.0, -1.0, 1.0, -1.0), 0.02)
        return {"plus": cls(rows, 1e-5, 800.0)}
