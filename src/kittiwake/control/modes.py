"""Flight modes of uav_gazebo: a mode command selects one of five control laws.

Each mode has its own level in the cascade: position and yaw (1) by ``position``, ``acceleration``
and ``euler-attitude``; velocity and yaw rate (2) by ``uav-gazebo-velocity``; thrust and attitude
(3) by ``euler-attitude``; thrust and rates (4) by ``rates``; thrust and torque (5) directly.
Inactive (0) gives neither thrust nor torque. Negative thrust is set to zero.

A mode follows its last command. A mode without a command holds the position and the yaw at which it
began, by the first law. So that thrust and torque are continuous at a switch, the difference
between the last output and the first output of the mode is added and fades,

    u(t) = u_mode(t) + (u_before - u_mode(0)) exp(-t / T),    T = ``fade_s``

Source: uav_gazebo (francofusco), "Control modes" and "Control Schemes". There a mode without a
command follows zeros, and switches are not continuous.
"""

from typing import Annotated, ClassVar

import jax.numpy as jnp
from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.control.acceleration import Acceleration
from kittiwake.control.euler_attitude import EulerAttitude
from kittiwake.control.position import Position, PositionState
from kittiwake.control.rates import Rates
from kittiwake.control.uav_gazebo_velocity import UavGazeboVelocity
from kittiwake.core.bounds import POSITIVE
from kittiwake.core.commands import (
    ModeCommand,
    PositionYaw,
    ThrustTorque,
    VelocityYawRate,
)
from kittiwake.core.kinematics import Kinematics
from kittiwake.core.parameters import Parameters
from kittiwake.core.tree_where import tree_where
from kittiwake.geometry.inertia import Inertia
from kittiwake.geometry.scalar import Flag, Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.controller import AbstractController
from kittiwake.interfaces.dynamics import AbstractDynamics
from kittiwake.pytree import Module

POSITION, VELOCITY, ATTITUDE, RATES, TORQUE = 1.0, 2.0, 3.0, 4.0, 5.0
# mode before the first step; every mode differs from it
NONE_YET = -1.0


class ModesState(Module):
    """State of the mode controller.

    Attributes:
        mode: the present mode.
        found: position and yaw at the switch to the mode.
        applied: the last output.
        excess: the fading difference that is added to the mode's output.
        position: the state of the position controller.
    """

    mode: Real
    found: PositionYaw
    applied: ThrustTorque
    excess: ThrustTorque
    position: PositionState


class Modes(AbstractController[ModesState, ModeCommand, ThrustTorque]):
    """Mode command to thrust and torque, by one of five control laws.

    Attributes:
        acceleration: controller of the first mode.
        velocity: controller of the second mode.
        attitude: controller of the third mode.
        rates: controller of the fourth mode.
        position: controller of the first mode.
        fade_s: time constant with which the output of the last mode fades.
    """

    consumes: ClassVar[type] = ModeCommand
    produces: ClassVar[type] = ThrustTorque

    acceleration: Acceleration
    velocity: UavGazeboVelocity
    attitude: EulerAttitude
    rates: Rates
    position: Position = Position()
    fade_s: Annotated[Real, POSITIVE] = 0.1

    @classmethod
    @override
    def with_vehicle_defaults(cls, dynamics: AbstractDynamics, gravity_mps2: Real) -> Parameters:
        laws: dict[str, type[AbstractController]] = {
            "acceleration": Acceleration,
            "velocity": UavGazeboVelocity,
            "attitude": EulerAttitude,
            "rates": Rates,
        }
        return {
            name: law.with_vehicle_defaults(dynamics, gravity_mps2) for name, law in laws.items()
        }

    @override
    def init(self, key: PRNGKeyArray) -> ModesState:
        zero = ThrustTorque(0.0, Vec3.zero())
        found = PositionYaw(Vec3.zero(), 0.0)
        return ModesState(NONE_YET, found, zero, zero, self.position.init(key))

    @override
    def step(
        self,
        state: ModesState,
        inputs: tuple[ModeCommand, Kinematics],
        dt_s: Real,
        key: PRNGKeyArray,
    ) -> tuple[ModesState, ThrustTorque]:
        command, estimate = inputs
        mode = jnp.round(command.mode)
        switched = mode != state.mode
        here = PositionYaw(estimate.position_world_m, estimate.euler_world_from_body.yaw_rad)
        found = tree_where(switched, here, state.found)
        position_state = tree_where(switched, self.position.init(key), state.position)
        has_no_command = _has_no_command(mode, command)
        setpoint = tree_where(has_no_command, found, command.position)
        law = jnp.where(has_no_command, POSITION, mode)
        position, output = self._law_output(
            law, setpoint, command, estimate, position_state, dt_s, key
        )
        difference = _subtract(state.applied, output)
        faded = _scale(state.excess, jnp.exp(-dt_s / self.fade_s))
        # before the first step there is no last output
        weight = jnp.where(state.mode == NONE_YET, 0.0, 1.0)
        excess = tree_where(switched, _scale(difference, weight), faded)
        flying = (mode >= POSITION) & (mode <= TORQUE)
        thrust = jnp.where(flying, jnp.maximum(output.thrust_n + excess.thrust_n, 0.0), 0.0)
        torque = (output.torque_body_nm + excess.torque_body_nm) * jnp.where(flying, 1.0, 0.0)
        applied = ThrustTorque(thrust, torque)
        return ModesState(mode, found, applied, excess, position), applied

    def _law_output(
        self,
        mode: Real,
        setpoint: PositionYaw,
        command: ModeCommand,
        estimate: Kinematics,
        position_state: PositionState,
        dt_s: Real,
        key: PRNGKeyArray,
    ) -> tuple[PositionState, ThrustTorque]:
        """Return the next state of the position law, and the output of the mode's law."""
        position, acceleration = self.position.step(position_state, (setpoint, estimate), dt_s, key)
        _, tilt = self.acceleration.step((), (acceleration, estimate), dt_s, key)
        attitude = tree_where(mode == POSITION, tilt, command.attitude)
        _, by_attitude = self.attitude.step((), (attitude, estimate), dt_s, key)
        velocity = _velocity_in_world(command, estimate)
        _, by_velocity = self.velocity.step((), (velocity, estimate), dt_s, key)
        _, by_rates = self.rates.step((), (command.rates, estimate), dt_s, key)
        output = tree_where(mode == TORQUE, command.torque, by_attitude)
        output = tree_where(mode == RATES, by_rates, output)
        return position, tree_where(mode == VELOCITY, by_velocity, output)

    @classmethod
    @override
    def examples(cls) -> dict[str, "Modes"]:
        inertia = Inertia(0.02, 0.03, 0.04, 0.001)
        attitude = EulerAttitude(inertia)
        velocity = UavGazeboVelocity(1.5, attitude)
        return {"of 1.5 kg": cls(Acceleration(1.5, 28.8), velocity, attitude, Rates(inertia))}


def _velocity_in_world(command: ModeCommand, estimate: Kinematics) -> VelocityYawRate:
    """Return the velocity command in world axes."""
    given, q = command.velocity, estimate.q_world_from_body
    rotated = VelocityYawRate(
        q.rotate(given.velocity_world_mps),
        given.yaw_rate_radps,
        q.rotate(given.acceleration_world_mps2),
    )
    return tree_where(_as_flag(command.velocity_in_body_axes), rotated, given)


def _has_no_command(mode: Real, command: ModeCommand) -> Flag:
    """Return True if the mode is active and had no command yet."""
    given = {
        POSITION: command.position_given,
        VELOCITY: command.velocity_given,
        ATTITUDE: command.attitude_given,
        RATES: command.rates_given,
        TORQUE: command.torque_given,
    }
    missing = jnp.asarray(False)
    for number, flag in given.items():
        missing = jnp.where(mode == number, jnp.logical_not(_as_flag(flag)), missing)
    return missing


def _as_flag(flag: Flag | Real) -> Flag:
    """Return a flag that may be stored as a number."""
    return jnp.asarray(flag).astype(bool)


def _subtract(one: ThrustTorque, other: ThrustTorque) -> ThrustTorque:
    return ThrustTorque(one.thrust_n - other.thrust_n, one.torque_body_nm - other.torque_body_nm)


def _scale(wrench: ThrustTorque, factor: Real) -> ThrustTorque:
    return ThrustTorque(wrench.thrust_n * factor, wrench.torque_body_nm * factor)
