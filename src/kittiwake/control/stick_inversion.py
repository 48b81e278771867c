"""Thrust and attitude to the stick inputs of a self-leveling quadrotor.

In steady state the autopilot has ``attitude_gain`` times the commanded angle, and a thrust that is
quadratic in the throttle. Both are inverted: ``angle / gain`` and the positive root of
``c_0 + c_1 x + c_2 x^2 = F``. There is no stick for the yaw angle: the yaw error gives a rate,
divided by the steady-state gain of the yaw rate.
"""

from typing import Annotated, ClassVar

import jax.numpy as jnp
from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.control.qrsim_loops import PELICAN_BATTERY_V
from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE
from kittiwake.core.commands import AttitudeThrottle, ThrustAttitude
from kittiwake.core.kinematics import Kinematics
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.trigonometry import wrap_angle
from kittiwake.interfaces.controller import AbstractController


class StickInversion(AbstractController[tuple[()], ThrustAttitude, AttitudeThrottle]):
    """Thrust and attitude to attitude, throttle and yaw-rate sticks.

    Attributes:
        attitude_gain: gain of the Pelican's attitude response.
        yaw_rate_gain: gain of its yaw rate response.
        thrust_polynomial_n: its thrust over the throttle.
        yaw_gain_per_s: yaw rate per yaw error.
        max_angle_rad: limit of roll and pitch.
        max_yaw_rate_radps: limit of the yaw rate.
        battery_v: voltage in the command.
    """

    consumes: ClassVar[type] = ThrustAttitude
    produces: ClassVar[type] = AttitudeThrottle

    attitude_gain: Annotated[Real, POSITIVE]
    yaw_rate_gain: Annotated[Real, POSITIVE]
    thrust_polynomial_n: tuple[Real, Real, Real]
    yaw_gain_per_s: Annotated[Real, NOT_NEGATIVE] = 2.0
    max_angle_rad: Annotated[Real, POSITIVE] = 0.9
    max_yaw_rate_radps: Annotated[Real, POSITIVE] = 4.4
    battery_v: Annotated[Real, PELICAN_BATTERY_V] = 12.0

    @override
    def step(
        self,
        state: tuple[()],
        inputs: tuple[ThrustAttitude, Kinematics],
        dt_s: Real,
        key: PRNGKeyArray,
    ) -> tuple[tuple[()], AttitudeThrottle]:
        del dt_s, key
        command, estimate = inputs
        angles = command.q_world_from_body.to_euler()
        yaw_error = wrap_angle(angles.yaw_rad - estimate.euler_world_from_body.yaw_rad)
        limit, max_rate = self.max_angle_rad, self.max_yaw_rate_radps
        sticks = AttitudeThrottle(
            pitch_rad=jnp.clip(angles.pitch_rad / self.attitude_gain, -limit, limit),
            roll_rad=jnp.clip(angles.roll_rad / self.attitude_gain, -limit, limit),
            throttle=self._throttle(command.thrust_n),
            yaw_rate_radps=jnp.clip(
                self.yaw_gain_per_s * yaw_error / self.yaw_rate_gain, -max_rate, max_rate
            ),
            battery_v=self.battery_v,
        )
        return state, sticks

    def _throttle(self, thrust_n: Real) -> Real:
        c0, c1, c2 = self.thrust_polynomial_n
        # below c0, the thrust at idle, there is no root
        discriminant = jnp.maximum(c1 * c1 + 4.0 * c2 * (thrust_n - c0), c1 * c1)
        return jnp.clip((jnp.sqrt(discriminant) - c1) / (2.0 * c2), 0.0, 1.0)

    @classmethod
    @override
    def examples(cls) -> dict[str, "StickInversion"]:
        return {"pelican": cls(0.745, 0.436, (0.66, 3.05, 40.26))}
