"""The five modes of uav_gazebo, and none, behind one signal that says which of them flies.

Each mode enters the ladder at its own rung: position and yaw (1) by ``position`` and
``acceleration``, velocity and yaw rate (2) by ``uav-gazebo-velocity``, thrust and attitude (3) by
``euler-attitude``, where the first joins, thrust and rates (4) by ``rates``, thrust and torque (5)
as they are. Inactive (0) gives neither thrust nor torque. Negative thrust is cut.

A mode follows its last command, and begins with it. One that was never commanded holds the place
and the yaw that it finds at the switch, by the first law. So that thrust and torque do not jump at
a switch, what was applied before less what the mode asks for at first is added and fades,

    u(t) = u_mode(t) + (u_before - u_mode(0)) exp(-t / T),    T = ``fade_s``

Source: uav_gazebo (francofusco), "Control modes" and "Control Schemes". There a mode without a
command follows zeros, and every switch may jump.
"""

from typing import Annotated, Any, ClassVar

import equinox as eqx
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
from kittiwake.core.tree_where import tree_where
from kittiwake.geometry.scalar import Flag, Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.controller import AbstractController
from kittiwake.interfaces.dynamics import AbstractDynamics

POSITION, VELOCITY, ATTITUDE, RATES, TORQUE = 1.0, 2.0, 3.0, 4.0, 5.0
# before the first step: every mode is a switch from it
NONE_YET = -1.0


class ModesState(eqx.Module):
    """The present mode, the place at the switch to it, and what was applied last.

    ``excess`` is what is still added of the thrust and torque before the switch.
    """

    mode: Real
    found: PositionYaw
    applied: ThrustTorque
    excess: ThrustTorque
    position: PositionState


class Modes(AbstractController):
    """One of five laws, chosen by the command, to thrust and torque."""

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
    def with_vehicle_defaults(
        cls, dynamics: AbstractDynamics, gravity_mps2: Real
    ) -> dict[str, Any]:
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
        nothing = ThrustTorque(0.0, Vec3.zero())
        found = PositionYaw(Vec3.zero(), 0.0)
        return ModesState(NONE_YET, found, nothing, nothing, self.position.init(key))

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
        begun = tree_where(switched, self.position.init(key), state.position)
        unknown = _unknown(mode, command)
        goal = tree_where(unknown, found, command.position)
        flown = jnp.where(unknown, POSITION, mode)
        position, asked = self._asked(flown, goal, command, estimate, begun, dt_s, key)
        fresh = _less(state.applied, asked)
        faded = _scaled(state.excess, jnp.exp(-dt_s / self.fade_s))
        # before the first step nothing was applied that could go on
        goes_on = jnp.where(state.mode == NONE_YET, 0.0, 1.0)
        excess = tree_where(switched, _scaled(fresh, goes_on), faded)
        flying = (mode >= POSITION) & (mode <= TORQUE)
        thrust = jnp.where(flying, jnp.maximum(asked.thrust_n + excess.thrust_n, 0.0), 0.0)
        torque = (asked.torque_body_nm + excess.torque_body_nm) * jnp.where(flying, 1.0, 0.0)
        applied = ThrustTorque(thrust, torque)
        return ModesState(mode, found, applied, excess, position), applied

    def _asked(
        self,
        mode: Real,
        place: PositionYaw,
        command: ModeCommand,
        estimate: Kinematics,
        begun: PositionState,
        dt_s: Real,
        key: PRNGKeyArray,
    ) -> tuple[PositionState, ThrustTorque]:
        """What the mode's law asks for: down the ladder, a law at each rung."""
        position, acceleration = self.position.step(begun, (place, estimate), dt_s, key)
        _, tilt = self.acceleration.step((), (acceleration, estimate), dt_s, key)
        attitude = tree_where(mode == POSITION, tilt, command.attitude)
        _, turned = self.attitude.step((), (attitude, estimate), dt_s, key)
        _, moved = self.velocity.step((), (_in_world(command, estimate), estimate), dt_s, key)
        _, spun = self.rates.step((), (command.rates, estimate), dt_s, key)
        asked = tree_where(mode == TORQUE, command.torque, turned)
        asked = tree_where(mode == RATES, spun, asked)
        return position, tree_where(mode == VELOCITY, moved, asked)


def _in_world(command: ModeCommand, estimate: Kinematics) -> VelocityYawRate:
    """The velocity command in the axes of the world, in which the law is written."""
    given, q = command.velocity, estimate.q_world_from_body
    turned = VelocityYawRate(
        q.rotate(given.velocity_world_mps),
        given.yaw_rate_radps,
        q.rotate(given.acceleration_world_mps2),
    )
    return tree_where(_true(command.velocity_in_body_axes), turned, given)


def _unknown(mode: Real, command: ModeCommand) -> Flag:
    """Whether a mode that flies was never given a command."""
    given = {
        POSITION: command.position_given,
        VELOCITY: command.velocity_given,
        ATTITUDE: command.attitude_given,
        RATES: command.rates_given,
        TORQUE: command.torque_given,
    }
    unknown = jnp.asarray(False)
    for number, flag in given.items():
        unknown = jnp.where(mode == number, jnp.logical_not(_true(flag)), unknown)
    return unknown


def _true(flag: Flag | Real) -> Flag:
    """A flag that may have been a number on its way."""
    return jnp.asarray(flag).astype(bool)


def _less(one: ThrustTorque, other: ThrustTorque) -> ThrustTorque:
    return ThrustTorque(one.thrust_n - other.thrust_n, one.torque_body_nm - other.torque_body_nm)


def _scaled(wrench: ThrustTorque, factor: Real) -> ThrustTorque:
    return ThrustTorque(wrench.thrust_n * factor, wrench.torque_body_nm * factor)
