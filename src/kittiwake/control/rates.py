"""Thrust and body rates to thrust and torque: a first-order response of the body rates.

    w' = w'* + k_w (w* - w),    tau = I w' + w x I w

The thrust passes through. Source: uav_gazebo (francofusco), "Thrust & angular velocity" and
equation 2, with its plugin's k_w; there in world axes, here in body axes, in which the law is the
same.
"""

from typing import Annotated, ClassVar

from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import NOT_NEGATIVE
from kittiwake.core.commands import ThrustRates, ThrustTorque
from kittiwake.core.kinematics import Kinematics
from kittiwake.geometry.inertia import Inertia
from kittiwake.geometry.scalar import Real
from kittiwake.interfaces.controller import AbstractController


class Rates(AbstractController[tuple[()], ThrustRates, ThrustTorque]):
    """Thrust and body rates to thrust and torque.

    Attributes:
        inertia_kgm2: inertia of the vehicle.
        gain_per_s: K_w.
    """

    consumes: ClassVar[type] = ThrustRates
    produces: ClassVar[type] = ThrustTorque

    inertia_kgm2: Inertia
    gain_per_s: Annotated[Real, NOT_NEGATIVE] = 15.0

    @override
    def step(
        self,
        state: tuple[()],
        inputs: tuple[ThrustRates, Kinematics],
        dt_s: Real,
        key: PRNGKeyArray,
    ) -> tuple[tuple[()], ThrustTorque]:
        del dt_s, key
        command, estimate = inputs
        omega = estimate.angular_velocity_body_radps
        error = command.angular_velocity_body_radps - omega
        acceleration = command.angular_acceleration_body_radps2 + error * self.gain_per_s
        gyroscopic = self.inertia_kgm2.gyroscopic(omega)
        return state, ThrustTorque(
            command.thrust_n, self.inertia_kgm2.times(acceleration) + gyroscopic
        )

    @classmethod
    @override
    def examples(cls) -> dict[str, "Rates"]:
        return {"uneven": cls(Inertia(0.02, 0.03, 0.04, 0.001))}
