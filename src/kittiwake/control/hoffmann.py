"""Hoffmann's attitude controller: PID at low speed, PD at high speed, acceleration feedback.

    tau = I (k_dd (alpha_0 - alpha) + k_d e' + k_p e + l i),    i' = l k_i e
    k_p = (1 + k_dd) w^2,  k_d = (1 + k_dd) 2 z w,  k_i = c k_p

e: the attitude error about each body axis and e' its rate (``attitude_error.py``). The difference
of the accelerations is the filtered derivative of e', since alpha is not measured. k_dd acts as
added inertia against disturbances; the other gains are scaled with it, so that the loop keeps its
frequency w and its damping z.

l decreases with the horizontal speed, smoothly from 1 (PID in hover) to 0 (PD on a track):
l = x^2 (3 - 2 x) with x = 1 - (v - v_hover) / width, limited to 0 and 1. It is the weight of both
the input and the output of the integral. As the speed is continuous, so is the torque; the value of
the integral in hover is available again after a fast leg.

Source: Hoffmann, Huang, Waslander, Tomlin (2007), "Quadrotor helicopter flight dynamics and
control: theory and experiment", AIAA 2007-6461; the split by speed as Micklisch, Hilliard, ElAarag
(2021), Simulation 97(3), describe it. The gains used there are not published: w, z and c are
derived for the OS4, k_dd, its filter and the speeds are chosen.
"""

from typing import Annotated, ClassVar

import jax.numpy as jnp
from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.control.attitude_error import AttitudeError
from kittiwake.control.pid import Pid, PidState
from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE
from kittiwake.core.commands import ThrustAttitude, ThrustTorque
from kittiwake.core.kinematics import Kinematics
from kittiwake.geometry.inertia import Inertia
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.controller import AbstractController
from kittiwake.pytree import Module


class AxisState(Module):
    """States of the angle PID and the rate PID of one body axis."""

    angle: PidState
    rate: PidState


class HoffmannState(Module):
    """State of the controller of each body axis."""

    x: AxisState
    y: AxisState
    z: AxisState


class Hoffmann(AbstractController[HoffmannState, ThrustAttitude, ThrustTorque]):
    """Thrust and attitude to thrust and torque; the thrust passes through.

    Attributes:
        inertia_kgm2: inertia of the vehicle.
        tilt_frequency_radps: w of roll and pitch.
        yaw_frequency_radps: w of yaw.
        damping: z.
        integral_per_s: c.
        acceleration_gain: k.
        acceleration_filter_radps: filter of the derivative of the rate error.
        hover_speed_mps: speed below which the integral counts in full.
        transition_width_mps: width of the transition to no integral.
        max_tilt_acceleration_radps2: limit, at which the integral is held.
        max_yaw_acceleration_radps2: limit, at which the integral is held.
    """

    consumes: ClassVar[type] = ThrustAttitude
    produces: ClassVar[type] = ThrustTorque

    inertia_kgm2: Inertia
    tilt_frequency_radps: Annotated[Real, POSITIVE] = 8.0
    yaw_frequency_radps: Annotated[Real, POSITIVE] = 4.0
    damping: Annotated[Real, NOT_NEGATIVE] = 0.9
    integral_per_s: Annotated[Real, NOT_NEGATIVE] = 0.3
    acceleration_gain: Annotated[Real, NOT_NEGATIVE] = 0.2
    acceleration_filter_radps: Annotated[Real, POSITIVE] = 50.0
    hover_speed_mps: Annotated[Real, NOT_NEGATIVE] = 1.0
    transition_width_mps: Annotated[Real, POSITIVE] = 1.0
    max_tilt_acceleration_radps2: Annotated[Real, POSITIVE] = 100.0
    max_yaw_acceleration_radps2: Annotated[Real, POSITIVE] = 30.0

    @override
    def init(self, key: PRNGKeyArray) -> HoffmannState:
        del key
        axis = AxisState(PidState.initial(), PidState.initial())
        return HoffmannState(axis, axis, axis)

    @override
    def step(
        self,
        state: HoffmannState,
        inputs: tuple[ThrustAttitude, Kinematics],
        dt_s: Real,
        key: PRNGKeyArray,
    ) -> tuple[HoffmannState, ThrustTorque]:
        del key
        command, estimate = inputs
        error = AttitudeError.between(command, estimate)
        turn, rate = error.turn_body_rad, error.rate_body_radps
        hovering = self._hovering(estimate.velocity_world_mps)
        tilt = self._laws(self.tilt_frequency_radps, self.max_tilt_acceleration_radps2, hovering)
        yaw = self._laws(self.yaw_frequency_radps, self.max_yaw_acceleration_radps2, hovering)
        x_state, x = _axis_step(tilt, state.x, (turn.x, rate.x), hovering, dt_s)
        y_state, y = _axis_step(tilt, state.y, (turn.y, rate.y), hovering, dt_s)
        z_state, z = _axis_step(yaw, state.z, (turn.z, rate.z), hovering, dt_s)
        torque = self.inertia_kgm2.times(Vec3(x, y, z))
        return HoffmannState(x_state, y_state, z_state), ThrustTorque(command.thrust_n, torque)

    def _hovering(self, velocity_world_mps: Vec3) -> Real:
        """Return the weight l of the integral at a velocity."""
        speed = Vec3(velocity_world_mps.x, velocity_world_mps.y, 0.0).norm()
        excess = (speed - self.hover_speed_mps) / self.transition_width_mps
        x = 1.0 - jnp.clip(excess, 0.0, 1.0)
        return x * x * (3.0 - 2.0 * x)

    def _laws(self, frequency_radps: Real, limit_radps2: Real, hovering: Real) -> tuple[Pid, Pid]:
        """Return the PIDs of the angle and of its rate, for one axis."""
        scale = 1.0 + self.acceleration_gain
        stiffness = scale * frequency_radps * frequency_radps
        angle = Pid(
            proportional=stiffness,
            integral_per_s=hovering * self.integral_per_s * stiffness,
            lower=-limit_radps2,
            upper=limit_radps2,
        )
        rate = Pid(
            proportional=scale * 2.0 * self.damping * frequency_radps,
            derivative_s=self.acceleration_gain,
            filter_radps=self.acceleration_filter_radps,
        )
        return angle, rate

    @classmethod
    @override
    def examples(cls) -> dict[str, "Hoffmann"]:
        return {"plain": cls(Inertia(0.02, 0.03, 0.04))}


def _axis_step(
    laws: tuple[Pid, Pid], state: AxisState, error: tuple[Real, Real], hovering: Real, dt_s: Real
) -> tuple[AxisState, Real]:
    """Return the next state and the angular acceleration, for one axis."""
    (angle_law, rate_law), (turn, rate) = laws, error
    rate_state, damping = rate_law.step(state.rate, rate, dt_s)
    unused = (1.0 - hovering) * state.angle.integral
    angle_state, output = angle_law.step(state.angle, turn, dt_s, feed_forward=damping - unused)
    return AxisState(angle_state, rate_state), output
