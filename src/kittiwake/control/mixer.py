"""From thrust and torque to the speeds of four rotors.

Each rotor's thrust T_i = k_T Omega_i^2 gives the body the thrust T_i and the torque (y_i T_i,
-x_i T_i, -s_i (k_Q / k_T) T_i): four equations, solved once. What gives way where a rotor would
have to pull down or turn too fast is said in ``allocation``: yaw, then thrust, then tilt.
"""

from typing import Annotated, Any, ClassVar

import jax.numpy as jnp
from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.control.allocation import Row, allocated, allocation
from kittiwake.core.bounds import POSITIVE
from kittiwake.core.commands import RotorSpeeds, ThrustTorque
from kittiwake.core.errors import ScenarioError
from kittiwake.core.kinematics import Kinematics
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.controller import AbstractController
from kittiwake.interfaces.dynamics import AbstractDynamics

# of the largest square of a speed
ROUNDING = 1e-12


class Mixer(AbstractController):
    """Allocation for rotors of equal coefficient; ``allocation`` gives the rows."""

    consumes: ClassVar[type] = ThrustTorque
    produces: ClassVar[type] = RotorSpeeds

    thrusts_from_wrench: tuple[Row, Row, Row, Row]
    thrust_ns2: Annotated[Real, POSITIVE]
    max_speed_radps: Annotated[Real, POSITIVE]

    @classmethod
    @override
    def with_vehicle_defaults(
        cls, dynamics: AbstractDynamics, gravity_mps2: Real
    ) -> dict[str, Any]:
        told = dynamics.vehicle_parameters(gravity_mps2)
        if "hubs_body_m" not in told:
            message = (
                f"mixer gives RotorSpeeds, and this vehicle ({type(dynamics).__name__}) is "
                f"commanded by {dynamics.command_type.__name__}; leave mixer out"
            )
            raise ScenarioError(message)
        hubs = tuple(Vec3.of(hub) for hub in told["hubs_body_m"])
        rows = allocation(hubs, tuple(told["spins"]), told["torque_per_thrust_m"])
        return super().with_vehicle_defaults(dynamics, gravity_mps2) | {"thrusts_from_wrench": rows}

    @override
    def step(
        self,
        state: tuple[()],
        inputs: tuple[ThrustTorque, Kinematics],
        dt_s: Real,
        key: PRNGKeyArray,
    ) -> tuple[tuple[()], RotorSpeeds]:
        del dt_s, key
        wanted, _ = inputs
        thrusts = allocated(
            self.thrusts_from_wrench,
            wanted.thrust_n,
            wanted.torque_body_nm,
            self.thrust_ns2 * self.max_speed_radps**2,
        )
        one, two, three, four = (self._speed(thrust) for thrust in thrusts)
        return state, RotorSpeeds((one, two, three, four))

    def _speed(self, thrust_n: Real) -> Real:
        square = jnp.minimum(thrust_n / self.thrust_ns2, self.max_speed_radps**2)
        # beyond what rounding leaves to a rotor that stands
        turning = square > ROUNDING * self.max_speed_radps**2
        # the square root has no derivative where a rotor stands still
        return jnp.where(turning, jnp.sqrt(jnp.where(turning, square, 1.0)), 0.0)
