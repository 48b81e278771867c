"""Cascade of PIDs of the UAV-USV simulator: position and yaw to the speeds of four rotors.

The position error in heading axes gives a velocity setpoint, the velocity error a tilt in degrees,
and the tilt error a difference of throttle in percent of the top speed. Yaw and height errors give
throttle directly::

    (v_ahead, v_left) = PI(R(-yaw) e)             within 2 m/s
    (pitch, -roll) = PD(v - R(-yaw) v_world)      within 15 deg
    u_roll, u_pitch, u_yaw = PID(angles)          within 20, 20 and 10 %
    u = PID(height)                               from 35 to 90 %, no feed-forward for hovering
    throttle_i = u + sgn(y_i) u_roll - sgn(x_i) u_pitch - s_i u_yaw,    from 0 to 100 %

for rotors ahead, right, behind and left (x_i, y_i) that turn counterclockwise (s_i = 1) or
clockwise: a counterclockwise rotor turns the body clockwise. This is the source's mixer m_1 .. m_4,
whose roll and pitch have the opposite sign, in its own frames; the initial integral of roll changes
its sign accordingly. All derivatives are those of errors, with first-order filters.

The gains are given for one vehicle. For another one, with weight m g, hover throttle p_0, lever l
and inertia I, a change dp of all throttles gives the acceleration 2 g dp / p_0, of two opposite
ones m g l dp / (p_0 I), and in yaw, with the rotors' torque per thrust k, 2 m g k dp / (p_0 I_z).
``scaled_mixer`` scales the four outputs by the ratios of these, which are 1 for the AR.Drone. The
lag of the motors and drag are not accounted for.

The height loop hovers only after its integral has reached the hover throttle, with a time constant
of 6 s; a vehicle that begins at its setpoint first sinks by up to .39 m.

Source: Velasco, Valente, Mersha (2020), Drones 4(3) 37, section 5.1.1, with its program.
"""

import math
from collections.abc import Sequence
from typing import Annotated, ClassVar

import jax.numpy as jnp
from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.control.pid import Pid, PidState
from kittiwake.core.bounds import POSITIVE
from kittiwake.core.commands import PositionYaw, RotorSpeeds
from kittiwake.core.errors import ScenarioError
from kittiwake.core.kinematics import Kinematics
from kittiwake.core.parameters import Parameters
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.trigonometry import sin_cos, wrap_angle
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.controller import AbstractController
from kittiwake.interfaces.dynamics import AbstractDynamics
from kittiwake.pytree import Module

Row = tuple[Real, Real, Real, Real]
DEGREES = 180.0 / math.pi
# the source's vehicle: weight, hover throttle, and tilt and yaw acceleration at full output
SOURCE_WEIGHT_N = 0.441 * 9.81
SOURCE_HOVER = math.sqrt(SOURCE_WEIGHT_N / (4.0 * 9.148e-6)) / (5000.0 * math.pi / 30.0)
SOURCE_TILTING = SOURCE_WEIGHT_N * 0.18 / (SOURCE_HOVER * 0.00277)
SOURCE_TURNING = 2.0 * SOURCE_WEIGHT_N * (2.38e-7 / 9.148e-6) / (SOURCE_HOVER * 0.00502)
# largest offset of a rotor from its axis, as a fraction of the arm's length
ASIDE = 0.02


class UavUsvCascadeState(Module):
    """States of all PIDs; those of position and velocity are ahead and to the left."""

    position_ahead: PidState
    position_left: PidState
    velocity_ahead: PidState
    velocity_left: PidState
    roll: PidState
    pitch: PidState
    yaw: PidState
    height: PidState


class UavUsvCascade(AbstractController[UavUsvCascadeState, PositionYaw, RotorSpeeds]):
    """Position and yaw to the speeds of four rotors on the body's axes.

    Attributes:
        percent_from_outputs: one row per rotor, for throttle, roll, pitch and yaw.
        max_speed_radps: the rotor speed at 100 % throttle.
        position: PID from m to m/s, for both axes.
        velocity: PID from m/s to degrees, for both axes.
        roll: PID from degrees to percent.
        pitch: PID from degrees to percent.
        yaw: PID from degrees to percent.
        height: PID from m to percent.
    """

    consumes: ClassVar[type] = PositionYaw
    produces: ClassVar[type] = RotorSpeeds

    percent_from_outputs: tuple[Row, ...]
    max_speed_radps: Annotated[Real, POSITIVE]
    position: Pid = Pid(2.0, 1.1, lower=-2.0, upper=2.0)
    velocity: Pid = Pid(19.66, 0.0, 0.2595, 3.05, lower=-15.0, upper=15.0)
    roll: Pid = Pid(0.3217, 0.4324, 0.0583, 100.0, -20.0, 20.0, turn=360.0, initial=-0.18)
    pitch: Pid = Pid(0.3217, 0.4324, 0.0583, 100.0, -20.0, 20.0, turn=360.0)
    yaw: Pid = Pid(0.6657, 0.3401, 0.3138, 96.42, -10.0, 10.0, turn=360.0, initial=0.0095)
    height: Pid = Pid(170.242, 28.862, 50.0, 50.0, lower=35.0, upper=90.0)

    @classmethod
    @override
    def with_vehicle_defaults(cls, dynamics: AbstractDynamics, gravity_mps2: Real) -> Parameters:
        parameters = dynamics.vehicle_parameters(gravity_mps2)
        if "hubs_body_m" not in parameters:
            message = (
                "uav-usv-cascade commands the speeds of four rotors, and this vehicle has "
                "none; write controller: uav-usv-flatness, or position"
            )
            raise ScenarioError(message)
        rows = scaled_mixer(parameters)
        return super().with_vehicle_defaults(dynamics, gravity_mps2) | {
            "percent_from_outputs": rows
        }

    @override
    def check(self, dynamics: AbstractDynamics) -> None:
        given, rotors = len(self.percent_from_outputs), dynamics.actuator_count
        if given != rotors:
            message = (
                f"percent_from_outputs: got {given} rows; must be {rotors}, one for each rotor"
            )
            raise ScenarioError(message)

    @override
    def init(self, key: PRNGKeyArray) -> UavUsvCascadeState:
        del key
        position, velocity = self.position.init(), self.velocity.init()
        return UavUsvCascadeState(
            position_ahead=position,
            position_left=position,
            velocity_ahead=velocity,
            velocity_left=velocity,
            roll=self.roll.init(),
            pitch=self.pitch.init(),
            yaw=self.yaw.init(),
            height=self.height.init(),
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
        command, estimate = inputs
        angles = estimate.euler_world_from_body
        error = command.position_world_m - estimate.position_world_m
        ahead, left = _in_heading(error, angles.yaw_rad)
        feed_ahead, feed_left = _in_heading(command.velocity_world_mps, angles.yaw_rad)
        at_ahead, at_left = _in_heading(estimate.velocity_world_mps, angles.yaw_rad)
        steps = (
            self.position.step(state.position_ahead, ahead, dt_s, feed_forward=feed_ahead),
            self.position.step(state.position_left, left, dt_s, feed_forward=feed_left),
        )
        (position_ahead, v_ahead), (position_left, v_left) = steps
        velocity_ahead, pitch = self.velocity.step(state.velocity_ahead, v_ahead - at_ahead, dt_s)
        velocity_left, minus_roll = self.velocity.step(state.velocity_left, v_left - at_left, dt_s)
        roll_state, u_roll = self.roll.step(
            state.roll, _angle_error_deg(-minus_roll / DEGREES, angles.roll_rad), dt_s
        )
        pitch_state, u_pitch = self.pitch.step(
            state.pitch, _angle_error_deg(pitch / DEGREES, angles.pitch_rad), dt_s
        )
        yaw_state, u_yaw = self.yaw.step(
            state.yaw, _angle_error_deg(command.yaw_rad, angles.yaw_rad), dt_s
        )
        height_state, u = self.height.step(state.height, error.z, dt_s)
        outputs = u, u_roll, u_pitch, u_yaw
        speeds = tuple(self._speed(row, outputs) for row in self.percent_from_outputs)
        later = UavUsvCascadeState(
            position_ahead=position_ahead,
            position_left=position_left,
            velocity_ahead=velocity_ahead,
            velocity_left=velocity_left,
            roll=roll_state,
            pitch=pitch_state,
            yaw=yaw_state,
            height=height_state,
        )
        return later, RotorSpeeds(speeds)

    def _speed(self, row: Row, outputs: Row) -> Real:
        percent = sum(share * output for share, output in zip(row, outputs, strict=True))
        return self.max_speed_radps * jnp.clip(percent / 100.0, 0.0, 1.0)

    @classmethod
    @override
    def examples(cls) -> dict[str, "UavUsvCascade"]:
        rotors = ((1.0, 0.0, 1.0), (0.0, -1.0, -1.0), (-1.0, 0.0, 1.0), (0.0, 1.0, -1.0))
        rows = tuple((1.0, y, -x, -spin) for x, y, spin in rotors)
        return {"ar-drone": cls(rows, 523.6)}


def scaled_mixer(parameters: Parameters) -> tuple[Row, ...]:
    """Return the mixer rows of a vehicle, from its parameters, which must be plain numbers.

    Raises:
        ScenarioError: if its rotors are not on the body's axes with equal spins of opposite ones.
    """
    hubs, spins = parameters["hubs_body_m"], parameters["spins"]
    sides = [_side(hub) for hub in hubs]
    on_axes = sorted(sides) == [(-1.0, 0.0), (0.0, -1.0), (0.0, 1.0), (1.0, 0.0)]
    turning = {(abs(side[0]), float(spin)) for side, spin in zip(sides, spins, strict=True)}
    if not (on_axes and len(turning) == 2):
        message = (
            f"uav-usv-cascade requires a rotor on each half of the body's x and y axes, and equal "
            f"spins of those on one axis; this vehicle has hubs_body_m {_listed(hubs)} and spins "
            f"{list(map(float, spins))}; write controller: uav-usv-flatness, or position"
        )
        raise ScenarioError(message)
    throttle, roll, pitch, yaw = _scales(parameters)
    return tuple(
        (throttle, y * roll, -x * pitch, -float(spin) * yaw)
        for (x, y), spin in zip(sides, spins, strict=True)
    )


def _scales(parameters: Parameters) -> tuple[float, float, float, float]:
    """Return the scales of throttle, roll, pitch and yaw relative to the source's vehicle."""
    hubs, inertia = parameters["hubs_body_m"], parameters["inertia_kgm2"]
    weight = float(parameters["mass_kg"] * parameters["gravity_mps2"])
    if not weight > 0.0:
        message = (
            "uav-usv-cascade requires a vehicle with weight, and gravity or mass is zero; "
            "write world.gravity_mps2: 9.81, or controller: position"
        )
        raise ScenarioError(message)
    hovering = math.sqrt(weight / (len(hubs) * float(parameters["thrust_ns2"])))
    hover = hovering / float(parameters["max_speed_radps"])
    arm_x, arm_y = (0.5 * sum(abs(float(hub[i])) for hub in hubs) for i in (0, 1))
    rolling = weight * arm_y / (hover * float(inertia["xx"]))
    pitching = weight * arm_x / (hover * float(inertia["yy"]))
    turning = (
        2.0 * weight * float(parameters["torque_per_thrust_m"]) / (hover * float(inertia["zz"]))
    )
    return (
        hover / SOURCE_HOVER,
        SOURCE_TILTING / rolling,
        SOURCE_TILTING / pitching,
        SOURCE_TURNING / turning,
    )


def _side(hub: Sequence[Real]) -> tuple[float, float]:
    """Return the signs of a hub's x and y; zero for the coordinate across its axis."""
    x, y = float(hub[0]), float(hub[1])
    beside = ASIDE * max(abs(x), abs(y))
    ahead, left = (0.0 if abs(part) <= beside else math.copysign(1.0, part) for part in (x, y))
    return ahead, left


def _listed(hubs: Sequence[Sequence[Real]]) -> str:
    return ", ".join(f"({float(x):g}, {float(y):g}, {float(z):g})" for x, y, z in hubs)


def _in_heading(v: Vec3, yaw_rad: Real) -> tuple[Real, Real]:
    """Return a world vector's components ahead and to the left."""
    sine, cosine = sin_cos(yaw_rad)
    return cosine * v.x + sine * v.y, cosine * v.y - sine * v.x


def _angle_error_deg(setpoint_rad: Real, present_rad: Real) -> Real:
    """Return the wrapped error of an angle, in degrees."""
    return DEGREES * wrap_angle(setpoint_rad - present_rad)
