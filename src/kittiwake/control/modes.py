"""The five modes of uav_gazebo, and none, behind one signal that says which of them flies.

Each mode enters the ladder at its own rung: position and yaw (1) by ``position`` and
``acceleration``, velocity and yaw rate (2) by ``uav-gazebo-velocity``, thrust and attitude (3) by
``euler-attitude``, where the first joins, thrust and rates (4) by ``rates``, thrust and torque (5)
as they are. Inactive (0) gives neither thrust nor torque. Negative thrust is cut.

A mode follows its last command, and begins with it. One that was never commanded holds what it
finds at the switch: place and yaw, velocity and yaw rate, attitude, body rates, or torque, the last
three with the thrust of that moment, or that of the weight where nothing was applied. So that
thrust and torque do not jump at a switch, what was applied before less what the mode asks for at
first is added and fades,

    u(t) = u_mode(t) + (u_before - u_mode(0)) exp(-t / T),    T = ``fade_s``

Source: uav_gazebo (francofusco), "Control modes" and "Control Schemes". There a mode without a
command follows zeros, and every switch may jump.
"""

from typing import Annotated, Any, ClassVar, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from kittiwake.control.acceleration import Acceleration
from kittiwake.control.euler_attitude import EulerAttitude, turning
from kittiwake.control.position import Position, PositionState
from kittiwake.control.rates import Rates
from kittiwake.control.uav_gazebo_velocity import UavGazeboVelocity
from kittiwake.core.bounds import POSITIVE
from kittiwake.core.component import AbstractController, AbstractDynamics
from kittiwake.core.kinematics import Kinematics
from kittiwake.core.signals import (
    ModeCommand,
    PositionYaw,
    ThrustAttitude,
    ThrustRates,
    ThrustTorque,
    VelocityYawRate,
)
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.scalar import Flag, Real
from kittiwake.geometry.vec3 import Vec3

Tree = TypeVar("Tree")

POSITION, VELOCITY, ATTITUDE, RATES, TORQUE = 1.0, 2.0, 3.0, 4.0, 5.0
# before the first step: every mode is a switch from it
NONE_YET = -1.0


class Goals(eqx.Module):
    """What each mode is to follow."""

    position: PositionYaw
    velocity: VelocityYawRate
    attitude: ThrustAttitude
    rates: ThrustRates
    torque: ThrustTorque


class ModesState(eqx.Module):
    """The present mode, what was found at the switch to it, and what was applied last.

    ``excess`` is what is still added of the thrust and torque before the switch.
    """

    mode: Real
    found: Goals
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
    def fitted(cls, dynamics: AbstractDynamics, gravity_mps2: Real) -> dict[str, Any]:
        """Those of each law."""
        laws: dict[str, type[AbstractController]] = {
            "acceleration": Acceleration,
            "velocity": UavGazeboVelocity,
            "attitude": EulerAttitude,
            "rates": Rates,
        }
        return {name: law.fitted(dynamics, gravity_mps2) for name, law in laws.items()}

    def init(self, key: PRNGKeyArray) -> ModesState:
        """No mode yet, and nothing applied."""
        nothing = ThrustTorque(0.0, Vec3.zero())
        found = Goals(
            PositionYaw(Vec3.zero(), 0.0),
            VelocityYawRate(Vec3.zero(), 0.0),
            ThrustAttitude(0.0, Quaternion.identity()),
            ThrustRates(0.0, Vec3.zero()),
            nothing,
        )
        return ModesState(NONE_YET, found, nothing, nothing, self.position.init(key))

    def step(
        self,
        state: ModesState,
        inputs: tuple[ModeCommand, Kinematics],
        dt_s: Real,
        key: PRNGKeyArray,
    ) -> tuple[ModesState, ThrustTorque]:
        """What the chosen mode asks for, and what is left of the switch to it."""
        command, estimate = inputs
        mode = jnp.round(command.mode)
        switched = mode != state.mode
        found = _chosen(switched, _found(estimate, self._held(state)), state.found)
        begun = _chosen(switched, self.position.init(key), state.position)
        position, asked = self._asked(mode, _goals(command, found), estimate, begun, dt_s, key)
        fresh = _less(state.applied, asked)
        faded = _scaled(state.excess, jnp.exp(-dt_s / self.fade_s))
        # before the first step nothing was applied that could go on
        goes_on = jnp.where(state.mode == NONE_YET, 0.0, 1.0)
        excess = _chosen(switched, _scaled(fresh, goes_on), faded)
        flying = (mode >= POSITION) & (mode <= TORQUE)
        thrust = jnp.where(flying, jnp.maximum(asked.thrust_n + excess.thrust_n, 0.0), 0.0)
        torque = (asked.torque_body_nm + excess.torque_body_nm) * jnp.where(flying, 1.0, 0.0)
        applied = ThrustTorque(thrust, torque)
        return ModesState(mode, found, applied, excess, position), applied

    def _held(self, state: ModesState) -> ThrustTorque:
        """What goes on being applied after a switch; where nothing was, the weight."""
        idle = (state.mode < POSITION) | (state.mode > TORQUE)
        weight_n = self.acceleration.mass_kg * self.acceleration.gravity_mps2
        applied = state.applied
        return ThrustTorque(jnp.where(idle, weight_n, applied.thrust_n), applied.torque_body_nm)

    def _asked(
        self,
        mode: Real,
        goals: Goals,
        estimate: Kinematics,
        begun: PositionState,
        dt_s: Real,
        key: PRNGKeyArray,
    ) -> tuple[PositionState, ThrustTorque]:
        """What the mode's law asks for: down the ladder, a law at each rung."""
        position, acceleration = self.position.step(begun, (goals.position, estimate), dt_s, key)
        _, tilt = self.acceleration.step((), (acceleration, estimate), dt_s, key)
        attitude = _chosen(mode == POSITION, tilt, goals.attitude)
        _, turned = self.attitude.step((), (attitude, estimate), dt_s, key)
        _, moved = self.velocity.step((), (goals.velocity, estimate), dt_s, key)
        _, spun = self.rates.step((), (goals.rates, estimate), dt_s, key)
        asked = _chosen(mode == TORQUE, goals.torque, turned)
        asked = _chosen(mode == RATES, spun, asked)
        return position, _chosen(mode == VELOCITY, moved, asked)


def _found(estimate: Kinematics, applied: ThrustTorque) -> Goals:
    """What holds a vehicle as it is and what is applied to it."""
    thrust_n, omega = applied.thrust_n, estimate.angular_velocity_body_radps
    yaw_rad = estimate.euler_world_from_body.yaw_rad
    psi_rate = turning(estimate).rates_radps.z
    return Goals(
        PositionYaw(estimate.position_world_m, yaw_rad),
        VelocityYawRate(estimate.velocity_world_mps, psi_rate),
        ThrustAttitude(thrust_n, estimate.q_world_from_body),
        ThrustRates(thrust_n, omega),
        applied,
    )


def _goals(command: ModeCommand, found: Goals) -> Goals:
    """The last command of each mode, or what was found where there was none."""
    return Goals(
        _chosen(_true(command.position_given), command.position, found.position),
        _chosen(_true(command.velocity_given), command.velocity, found.velocity),
        _chosen(_true(command.attitude_given), command.attitude, found.attitude),
        _chosen(_true(command.rates_given), command.rates, found.rates),
        _chosen(_true(command.torque_given), command.torque, found.torque),
    )


def _true(flag: Flag | Real) -> Flag:
    """A flag that may have been a number on its way."""
    return jnp.asarray(flag).astype(bool)


def _less(one: ThrustTorque, other: ThrustTorque) -> ThrustTorque:
    return ThrustTorque(one.thrust_n - other.thrust_n, one.torque_body_nm - other.torque_body_nm)


def _scaled(wrench: ThrustTorque, factor: Real) -> ThrustTorque:
    return ThrustTorque(wrench.thrust_n * factor, wrench.torque_body_nm * factor)


def _chosen(condition: Flag, one: Tree, other: Tree) -> Tree:
    return jax.tree.map(lambda a, b: jnp.where(condition, a, b), one, other)
