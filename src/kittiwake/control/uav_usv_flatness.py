"""Position and yaw to thrust and attitude: "inverse kinematics" of the UAV-USV simulator.

    F_z = (m g / m_0 g_0) filter(PID(z_0 - z) + m_0 a_z)
    t = (m a_x, m a_y, F_z),  a_x,y = a_0 + k_p e + k_d e'
    z_b = t / |t|,  y_b = z_b x x_c / |..|,  x_b = y_b x z_b,  x_c = (cos(yaw), sin(yaw), 0)

which gives thrust |t| and attitude from the force (differential flatness). The attitude is a
rotation by the yaw, then about x by atan2(-t_left, t_up), then about y by atan2(t_ahead, |t_left,
t_up|). The thrust always points up, since F_z is never below its limit: no attitude is singular.

The original is open loop in the horizontal plane: ``horizontal`` with gains of 0 reproduces that,
and the position then follows from the accelerations only. The defaults also control the position.
The height PID is that of the AR.Drone in newtons, with m_0 .441 kg and g_0 9.81 m/s^2; for other
vehicles it is scaled by the weight.

The filter at 20 Hz has the order 15, as in the original: far above the bandwidth of the loop, but
its delay at low frequencies, 9.6 / (2 pi 20 Hz), is 76 ms, like that of a slow motor. The order 2
has 11 ms; a step of the height by 1 m then differs by at most .08 m.

Source: Velasco, Valente, Mersha (2020), Drones 4(3) 37, section 5.1.2, with its program.
"""

from typing import Annotated, ClassVar

import jax.numpy as jnp
from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.control.butterworth import Butterworth, ButterworthState
from kittiwake.control.pid import Pid, PidState
from kittiwake.core.bounds import POSITIVE
from kittiwake.core.commands import PositionYaw, ThrustAttitude
from kittiwake.core.kinematics import Kinematics
from kittiwake.geometry.euler import EulerZYX
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.trigonometry import sin_cos
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.controller import AbstractController
from kittiwake.pytree import Module

# mass and gravity for which the height PID is given (AR.Drone)
SOURCE_MASS_KG = 0.441
SOURCE_GRAVITY_MPS2 = 9.81


class UavUsvFlatnessState(Module):
    """States of the three PIDs and of the low-pass filter."""

    x: PidState
    y: PidState
    height: PidState
    low_pass: ButterworthState


class UavUsvFlatness(AbstractController[UavUsvFlatnessState, PositionYaw, ThrustAttitude]):
    """Position and yaw to thrust and attitude.

    Attributes:
        mass_kg: the mass of the vehicle.
        gravity_mps2: the gravity of the world.
        height: PID from m to N for an AR.Drone, with limits.
        horizontal: PID from m to m/s^2, with limits that include the feed-forward acceleration.
        low_pass: the filter of the height PID's output.
    """

    consumes: ClassVar[type] = PositionYaw
    produces: ClassVar[type] = ThrustAttitude

    mass_kg: Annotated[Real, POSITIVE]
    gravity_mps2: Annotated[Real, POSITIVE] = SOURCE_GRAVITY_MPS2
    height: Pid = Pid(10.0, 10.0, 3.0, 40.0, lower=2.0, upper=7.0, initial=4.35)
    horizontal: Pid = Pid(1.44, derivative_s=2.4, lower=-3.0, upper=3.0)
    low_pass: Butterworth = Butterworth(20.0, 15)

    @override
    def init(self, key: PRNGKeyArray) -> UavUsvFlatnessState:
        del key
        horizontal = self.horizontal.init()
        return UavUsvFlatnessState(horizontal, horizontal, self.height.init(), self.low_pass.init())

    @override
    def step(
        self,
        state: UavUsvFlatnessState,
        inputs: tuple[PositionYaw, Kinematics],
        dt_s: Real,
        key: PRNGKeyArray,
    ) -> tuple[UavUsvFlatnessState, ThrustAttitude]:
        del key
        command, estimate = inputs
        error = command.position_world_m - estimate.position_world_m
        rate = command.velocity_world_mps - estimate.velocity_world_mps
        given = command.acceleration_world_mps2
        x_state, x = self.horizontal.step(
            state.x, error.x, dt_s, error_rate=rate.x, feed_forward=given.x
        )
        y_state, y = self.horizontal.step(
            state.y, error.y, dt_s, error_rate=rate.y, feed_forward=given.y
        )
        height_state, force_n = self.height.step(
            state.height, error.z, dt_s, feed_forward=SOURCE_MASS_KG * given.z
        )
        low_pass_state, smooth_n = self.low_pass.step(state.low_pass, force_n, dt_s)
        lift_n = smooth_n * self._weight_ratio
        thrust_attitude = _thrust_attitude(
            Vec3(self.mass_kg * x, self.mass_kg * y, lift_n), command
        )
        later = UavUsvFlatnessState(x_state, y_state, height_state, low_pass_state)
        return later, thrust_attitude

    @property
    def _weight_ratio(self) -> Real:
        """Weight relative to the vehicle for which the height PID is given."""
        return self.mass_kg * self.gravity_mps2 / (SOURCE_MASS_KG * SOURCE_GRAVITY_MPS2)

    @classmethod
    @override
    def examples(cls) -> dict[str, "UavUsvFlatness"]:
        return {
            "open loop": cls(0.441, horizontal=Pid(0.0)),
            "short filter": cls(0.441, low_pass=Butterworth(20.0, 2)),
        }


def _thrust_attitude(force_world_n: Vec3, command: PositionYaw) -> ThrustAttitude:
    """Return the thrust and the attitude for an upward force and the commanded yaw."""
    sine, cosine = sin_cos(command.yaw_rad)
    ahead = cosine * force_world_n.x + sine * force_world_n.y
    left = cosine * force_world_n.y - sine * force_world_n.x
    across = Vec3(0.0, left, force_world_n.z).norm()
    q_turned = Quaternion.from_euler(EulerZYX(0.0, 0.0, command.yaw_rad))
    q_rolled = Quaternion.from_euler(EulerZYX(jnp.arctan2(-left, force_world_n.z), 0.0, 0.0))
    q_pitched = Quaternion.from_euler(EulerZYX(0.0, jnp.arctan2(ahead, across), 0.0))
    q_world_from_body = q_turned * q_rolled * q_pitched
    turning = q_world_from_body.inverse().rotate(Vec3(0.0, 0.0, command.yaw_rate_radps))
    return ThrustAttitude(force_world_n.norm(), q_world_from_body, turning)
