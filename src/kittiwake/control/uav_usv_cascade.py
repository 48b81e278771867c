"""The UAV-USV simulator's cascade of PIDs for the AR.Drone, from a place to four rotors.

The position's error in the heading's axes asks for a velocity, the velocity's error for a tilt in
degrees, the tilt's error for a difference of throttle in percent of the fastest rotor; yaw and
height ask for throttle at once::

    (v_ahead, v_left) = PI(R(-yaw) e)             within 2 m/s
    (pitch, -roll) = PD(v - R(-yaw) v_world)      within 15 deg
    u_roll, u_pitch, u_yaw = PID(angles)          within 20, 20 and 10 %
    u = PID(height)                               from 35 to 90 %, no feed-forward for hovering
    throttle_i = u + sgn(y_i) u_roll - sgn(x_i) u_pitch - s_i u_yaw,    from 0 to 100 %

for rotors ahead, right, behind and left (x_i, y_i) that turn to the left (s_i = 1) or right: one
that turns to the left turns the body to the right. That is the source's mixer m_1 .. m_4, whose
roll and pitch count the other way, in its own frames; the share with which its roll's integral
begins changes its sign with that. All derivatives are those of errors, behind first-order filters.

The gains fit one vehicle, at whose hover a percent of throttle gives so much acceleration. At
another's, of weight m g, throttle p_0 in hover, lever l and inertia I, a change dp of all gives 2 g
dp / p_0, of two opposite ones m g l dp / (p_0 I), and in yaw, with the rotors' torque per thrust k,
2 m g k dp / (p_0 I_z): ``fitted`` scales the four outputs by the ratios, which are 1 for the
AR.Drone. What remains different are the motors' lag and drag.

The height's loop begins to hover only when its integral has learnt the throttle: it takes 6 s for
1/e of what is lacking, and a vehicle that begins at its place first sinks by up to .39 m.

Source: Velasco, Valente, Mersha (2020), Drones 4(3) 37, section 5.1.1, with its program.
"""

import math
from collections.abc import Sequence
from typing import Annotated, Any, ClassVar

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.control.pid import Pid, PidState
from kittiwake.core.bounds import POSITIVE
from kittiwake.core.commands import PositionYaw, RotorSpeeds
from kittiwake.core.errors import ScenarioError
from kittiwake.core.kinematics import Kinematics
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.trigonometry import sin_cos, wrap_angle
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.controller import AbstractController
from kittiwake.interfaces.dynamics import AbstractDynamics

Row = tuple[Real, Real, Real, Real]
DEGREES = 180.0 / math.pi
# of the source's vehicle: throttle of hovering, rad/s^2 of roll or pitch and of yaw for all of it
SOURCE_WEIGHT_N = 0.441 * 9.81
SOURCE_HOVER = math.sqrt(SOURCE_WEIGHT_N / (4.0 * 9.148e-6)) / (5000.0 * math.pi / 30.0)
SOURCE_TILTING = SOURCE_WEIGHT_N * 0.18 / (SOURCE_HOVER * 0.00277)
SOURCE_TURNING = 2.0 * SOURCE_WEIGHT_N * (2.38e-7 / 9.148e-6) / (SOURCE_HOVER * 0.00502)
# of an arm's length, by which a rotor may lie beside its axis
ASIDE = 0.02


class UavUsvCascadeState(eqx.Module):
    """Of all the PIDs; those of position and velocity are ahead and to the left."""

    position_ahead: PidState
    position_left: PidState
    velocity_ahead: PidState
    velocity_left: PidState
    roll: PidState
    pitch: PidState
    yaw: PidState
    height: PidState


class UavUsvCascade(AbstractController):
    """Position and yaw to the speeds of four rotors on the body's axes.

    Attributes:
        percent_from_outputs: a row for each rotor, for throttle, roll, pitch and yaw.
        max_speed_radps: at 100 % of throttle.
        position: m to m/s, of both axes.
        velocity: m/s to degrees, of both axes.
        roll: degrees to percent.
        pitch: degrees to percent.
        yaw: degrees to percent.
        height: m to percent.
    """

    consumes: ClassVar[type] = PositionYaw
    produces: ClassVar[type] = RotorSpeeds

    percent_from_outputs: tuple[Row, Row, Row, Row]
    max_speed_radps: Annotated[Real, POSITIVE]
    position: Pid = Pid(2.0, 1.1, lower=-2.0, upper=2.0)
    velocity: Pid = Pid(19.66, 0.0, 0.2595, 3.05, lower=-15.0, upper=15.0)
    roll: Pid = Pid(*(0.3217, 0.4324, 0.0583, 100.0), *(-20.0, 20.0), turn=360.0, initial=-0.18)
    pitch: Pid = Pid(0.3217, 0.4324, 0.0583, 100.0, -20.0, 20.0, turn=360.0)
    yaw: Pid = Pid(*(0.6657, 0.3401, 0.3138, 96.42), *(-10.0, 10.0), turn=360.0, initial=0.0095)
    height: Pid = Pid(170.242, 28.862, 50.0, 50.0, lower=35.0, upper=90.0)

    @classmethod
    @override
    def with_vehicle_defaults(
        cls, dynamics: AbstractDynamics, gravity_mps2: Real
    ) -> dict[str, Any]:
        told = dynamics.vehicle_parameters(gravity_mps2)
        if "hubs_body_m" not in told:
            message = (
                "uav-usv-cascade commands the speeds of four rotors, and this vehicle tells of "
                "none; write controller: uav-usv-flatness, or position"
            )
            raise ScenarioError(message)
        rows = scaled_mixer(told)
        return super().with_vehicle_defaults(dynamics, gravity_mps2) | {
            "percent_from_outputs": rows
        }

    @override
    def init(self, key: PRNGKeyArray) -> UavUsvCascadeState:
        del key
        position, velocity = self.position.begin(), self.velocity.begin()
        angles = (self.roll.begin(), self.pitch.begin(), self.yaw.begin())
        return UavUsvCascadeState(
            *(position, position, velocity, velocity), *angles, self.height.begin()
        )

    @override
    def step(
        self,
        state: UavUsvCascadeState,
        inputs: tuple[PositionYaw, Kinematics],
        dt_s: Real,
        key: PRNGKeyArray,
    ) -> tuple[UavUsvCascadeState, RotorSpeeds]:
        del key
        wanted, estimate = inputs
        angles = estimate.euler_world_from_body
        error = wanted.position_world_m - estimate.position_world_m
        ahead, left = _in_heading(error, angles.yaw_rad)
        feed_ahead, feed_left = _in_heading(wanted.velocity_world_mps, angles.yaw_rad)
        at_ahead, at_left = _in_heading(estimate.velocity_world_mps, angles.yaw_rad)
        steps = (
            self.position.step(state.position_ahead, ahead, dt_s, feed_forward=feed_ahead),
            self.position.step(state.position_left, left, dt_s, feed_forward=feed_left),
        )
        (position_ahead, v_ahead), (position_left, v_left) = steps
        velocity_ahead, pitch = self.velocity.step(state.velocity_ahead, v_ahead - at_ahead, dt_s)
        velocity_left, unroll = self.velocity.step(state.velocity_left, v_left - at_left, dt_s)
        roll_state, u_roll = self.roll.step(
            state.roll, _lacking(-unroll / DEGREES, angles.roll_rad), dt_s
        )
        pitch_state, u_pitch = self.pitch.step(
            state.pitch, _lacking(pitch / DEGREES, angles.pitch_rad), dt_s
        )
        yaw_state, u_yaw = self.yaw.step(state.yaw, _lacking(wanted.yaw_rad, angles.yaw_rad), dt_s)
        height_state, u = self.height.step(state.height, error.z, dt_s)
        one, two, three, four = (
            self._speed(row, (u, u_roll, u_pitch, u_yaw)) for row in self.percent_from_outputs
        )
        beside = (position_ahead, position_left, velocity_ahead, velocity_left)
        later = UavUsvCascadeState(*beside, roll_state, pitch_state, yaw_state, height_state)
        return later, RotorSpeeds((one, two, three, four))

    def _speed(self, row: Row, outputs: Row) -> Real:
        percent = sum(share * output for share, output in zip(row, outputs, strict=True))
        return self.max_speed_radps * jnp.clip(percent / 100.0, 0.0, 1.0)


def scaled_mixer(told: dict[str, Any]) -> tuple[Row, Row, Row, Row]:
    """The rows of a vehicle, from what it tells controllers; of plain numbers.

    Raises:
        ScenarioError: if its rotors are not on the body's axes, opposite ones turning alike.
    """
    hubs, spins = told["hubs_body_m"], told["spins"]
    sides = [_side(hub) for hub in hubs]
    on_axes = sorted(sides) == [(-1.0, 0.0), (0.0, -1.0), (0.0, 1.0), (1.0, 0.0)]
    turning = {(abs(side[0]), float(spin)) for side, spin in zip(sides, spins, strict=True)}
    if not (on_axes and len(turning) == 2):
        message = (
            f"uav-usv-cascade flies vehicles with a rotor on each half of the body's x and y axes, "
            f"those of one axis turning alike; this one has hubs_body_m {_listed(hubs)} and spins "
            f"{list(map(float, spins))}; write controller: uav-usv-flatness, or position"
        )
        raise ScenarioError(message)
    throttle, roll, pitch, yaw = _scales(told)
    one, two, three, four = (
        (throttle, y * roll, -x * pitch, -float(spin) * yaw)
        for (x, y), spin in zip(sides, spins, strict=True)
    )
    return one, two, three, four


def _scales(told: dict[str, Any]) -> tuple[float, float, float, float]:
    """Of throttle, roll, pitch and yaw, relative to the source's vehicle."""
    hubs, inertia = told["hubs_body_m"], told["inertia_kgm2"]
    weight = float(told["mass_kg"] * told["gravity_mps2"])
    if not weight > 0.0:
        message = (
            "uav-usv-cascade has gains for a vehicle that hovers, and this one weighs nothing; "
            "write world.gravity_mps2: 9.81, or controller: position"
        )
        raise ScenarioError(message)
    hovering = math.sqrt(weight / (4.0 * float(told["thrust_ns2"])))
    hover = hovering / float(told["max_speed_radps"])
    arm_x, arm_y = (0.5 * sum(abs(float(hub[i])) for hub in hubs) for i in (0, 1))
    rolling = weight * arm_y / (hover * float(inertia["xx"]))
    pitching = weight * arm_x / (hover * float(inertia["yy"]))
    turning = 2.0 * weight * float(told["torque_per_thrust_m"]) / (hover * float(inertia["zz"]))
    return (
        hover / SOURCE_HOVER,
        SOURCE_TILTING / rolling,
        SOURCE_TILTING / pitching,
        SOURCE_TURNING / turning,
    )


def _side(hub: Sequence[Real]) -> tuple[float, float]:
    """Where a hub lies, as signs; both are there where it is on no axis."""
    x, y = float(hub[0]), float(hub[1])
    beside = ASIDE * max(abs(x), abs(y))
    ahead, left = (0.0 if abs(part) <= beside else math.copysign(1.0, part) for part in (x, y))
    return ahead, left


def _listed(hubs: Sequence[Sequence[Real]]) -> str:
    return ", ".join(f"({float(x):g}, {float(y):g}, {float(z):g})" for x, y, z in hubs)


def _in_heading(v: Vec3, yaw_rad: Real) -> tuple[Real, Real]:
    """A world vector's parts ahead and to the left."""
    sine, cosine = sin_cos(yaw_rad)
    return cosine * v.x + sine * v.y, cosine * v.y - sine * v.x


def _lacking(wanted_rad: Real, present_rad: Real) -> Real:
    """In degrees, the short way round."""
    return DEGREES * wrap_angle(wanted_rad - present_rad)
