"""From thrust and torque to the speeds of four rotors.

Each rotor's thrust T_i = k_T Omega_i^2 gives the body the thrust T_i and the torque (y_i T_i,
-x_i T_i, -s_i (k_Q / k_T) T_i): four equations, solved once. Where a rotor would have to pull down
or turn too fast it stands at its limit.
"""

from typing import Annotated, Any, ClassVar

import jax.numpy as jnp
import numpy as np
from jaxtyping import PRNGKeyArray

from kittiwake.core.bounds import POSITIVE
from kittiwake.core.component import AbstractController, AbstractDynamics
from kittiwake.core.errors import ScenarioError
from kittiwake.core.kinematics import Kinematics
from kittiwake.core.signals import RotorSpeeds, ThrustTorque
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3

Row = tuple[Real, Real, Real, Real]
# the smallest share of the largest singular value that counts as another direction
RANK_TOLERANCE = 1e-9


def allocation(
    hubs_body_m: tuple[Vec3, ...], spins: tuple[Real, ...], torque_per_thrust_m: Real
) -> tuple[Row, Row, Row, Row]:
    """The rows that turn thrust and torque into four rotors' thrusts; of plain numbers.

    Raises:
        ScenarioError: if these rotors cannot give thrust and each torque by itself.
    """
    wrench_from_thrusts = np.array(
        [
            [1.0, float(hub.y), -float(hub.x), -float(spin) * float(torque_per_thrust_m)]
            for hub, spin in zip(hubs_body_m, spins, strict=True)
        ]
    ).T
    if np.linalg.matrix_rank(wrench_from_thrusts, RANK_TOLERANCE) < len(spins):
        message = (
            "hubs_body_m and spins: these rotors cannot give thrust and the three torques one by "
            "one; let opposite rotors turn the same way and neighbours the other"
        )
        raise ScenarioError(message)
    one, two, three, four = (tuple(row) for row in np.linalg.inv(wrench_from_thrusts).tolist())
    return one, two, three, four


class Mixer(AbstractController):
    """Allocation for rotors of equal coefficient; ``allocation`` gives the rows."""

    consumes: ClassVar[type] = ThrustTorque
    produces: ClassVar[type] = RotorSpeeds

    thrusts_from_wrench: tuple[Row, Row, Row, Row]
    thrust_ns2: Annotated[Real, POSITIVE]
    max_speed_radps: Annotated[Real, POSITIVE]

    @classmethod
    def fitted(cls, dynamics: AbstractDynamics, gravity_mps2: Real) -> dict[str, Any]:
        """The rows for a vehicle that tells where its rotors are."""
        told = dynamics.told(gravity_mps2)
        if "hubs_body_m" not in told:
            return {}
        hubs = tuple(Vec3.of(hub) for hub in told["hubs_body_m"])
        rows = allocation(hubs, tuple(told["spins"]), told["torque_per_thrust_m"])
        return super().fitted(dynamics, gravity_mps2) | {"thrusts_from_wrench": rows}

    def step(
        self,
        state: tuple[()],
        inputs: tuple[ThrustTorque, Kinematics],
        dt_s: Real,
        key: PRNGKeyArray,
    ) -> tuple[tuple[()], RotorSpeeds]:
        """The speeds that give the wanted wrench at rest."""
        del dt_s, key
        wanted, _ = inputs
        torque = wanted.torque_body_nm
        wrench = (wanted.thrust_n, torque.x, torque.y, torque.z)
        one, two, three, four = (
            self._speed(sum(share * part for share, part in zip(row, wrench, strict=True)))
            for row in self.thrusts_from_wrench
        )
        return state, RotorSpeeds((one, two, three, four))

    def _speed(self, thrust_n: Real) -> Real:
        square = jnp.clip(thrust_n / self.thrust_ns2, 0.0, self.max_speed_radps**2)
        turning = square > 0.0
        # the square root has no derivative where a rotor stands still
        return jnp.where(turning, jnp.sqrt(jnp.where(turning, square, 1.0)), 0.0)
