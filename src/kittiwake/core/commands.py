"""Command types of the control cascade: from positions in the world down to actuator inputs.

A controller converts a command of one type to a command of a lower type. Setpoints and actuator
commands have the same form, so that any of them can be recorded, replayed, flown by hand and
compared. Vectors and rotations may be given as sequences of numbers. The world frame is ENU, the
body frame FLU; yaw is counted from east to north.

Fields with a default of zero are feed-forward terms: derivatives of the setpoint. A controller may
ignore them.
"""

from dataclasses import fields, replace
from functools import cache
from typing import (
    Annotated,
    ClassVar,
    Literal,
    TypeAlias,
    get_args,
    get_origin,
    get_type_hints,
)

from typing_extensions import TypeVar

from kittiwake.core.arrays import ArrayTree
from kittiwake.core.bounds import Bounds
from kittiwake.core.columns import tuple_length
from kittiwake.core.parameters import Annotation
from kittiwake.core.vector_fields import (
    ZERO_VECTOR,
    AbstractVectorRecord,
    NumbersField,
    RotationField,
    VectorField,
)
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.scalar import Flag, Integer, Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.pytree import Module

Record = TypeVar("Record", bound=Module)

ModeName = Literal[
    "inactive",
    "position-yaw",
    "velocity-yaw-rate",
    "thrust-attitude",
    "thrust-rates",
    "thrust-torque",
]


class PositionYaw(AbstractVectorRecord):
    """Position and yaw, with feed-forward derivatives."""

    position_world_m: VectorField
    yaw_rad: Real
    velocity_world_mps: VectorField = ZERO_VECTOR
    acceleration_world_mps2: VectorField = ZERO_VECTOR
    jerk_world_mps3: VectorField = ZERO_VECTOR
    yaw_rate_radps: Real = 0.0


class VelocityYaw(AbstractVectorRecord):
    """Velocity in the world and yaw, with feed-forward derivatives."""

    velocity_world_mps: VectorField
    yaw_rad: Real
    acceleration_world_mps2: VectorField = ZERO_VECTOR
    yaw_rate_radps: Real = 0.0


class VelocityHeightYaw(Module):
    """Horizontal velocity, height and yaw."""

    velocity_x_world_mps: Real
    velocity_y_world_mps: Real
    height_world_m: Real
    yaw_rad: Real


class VelocityYawRate(AbstractVectorRecord):
    """Velocity in the world and yaw rate, with feed-forward acceleration."""

    velocity_world_mps: VectorField
    yaw_rate_radps: Real
    acceleration_world_mps2: VectorField = ZERO_VECTOR


class BodyVelocityYawRate(AbstractVectorRecord):
    """Velocity in body axes and yaw rate, with feed-forward acceleration."""

    velocity_body_mps: VectorField
    yaw_rate_radps: Real
    acceleration_body_mps2: VectorField = ZERO_VECTOR


class SurfaceMotion(AbstractVectorRecord):
    """Motion along a surface at a distance from it, facing the surface.

    Attributes:
        distance_m: the measured distance, along the normal.
        wanted_distance_m: the setpoint of the distance.
        normal_world: the unit normal of the surface, towards the vehicle.
        speed_along_mps: the speed up the surface's line of steepest ascent; forward where the
            surface is level.
    """

    distance_m: Real
    wanted_distance_m: Real
    normal_world: VectorField
    speed_along_mps: Real


class AccelerationYaw(AbstractVectorRecord):
    """Acceleration, without gravity, and yaw, with feed-forward derivatives."""

    acceleration_world_mps2: VectorField
    yaw_rad: Real
    jerk_world_mps3: VectorField = ZERO_VECTOR
    yaw_rate_radps: Real = 0.0


class ThrustAttitude(AbstractVectorRecord):
    """Thrust along the body's z axis and attitude, with feed-forward body rates."""

    thrust_n: Real
    q_world_from_body: RotationField
    angular_velocity_body_radps: VectorField = ZERO_VECTOR

    @classmethod
    def off(cls) -> "ThrustAttitude":
        """Return no thrust and level attitude."""
        return cls(0.0, Quaternion.identity())


class ThrustRates(AbstractVectorRecord):
    """Thrust along the body's z axis and body rates, with feed-forward angular acceleration."""

    thrust_n: Real
    angular_velocity_body_radps: VectorField
    angular_acceleration_body_radps2: VectorField = ZERO_VECTOR


class ThrustTorque(AbstractVectorRecord):
    """Thrust along the body's z axis and torque."""

    thrust_n: Real
    torque_body_nm: VectorField

    @classmethod
    def off(cls) -> "ThrustTorque":
        """Return neither thrust nor torque."""
        return cls(0.0, Vec3.zero())


class ModeCommand(Module):
    """Flight mode, with the last command of each mode.

    Attributes:
        mode: an index in ``MODES``; rounded to the nearest.
        position: the last command of the mode position-yaw.
        velocity: the last command of the mode velocity-yaw-rate.
        attitude: the last command of the mode thrust-attitude.
        rates: the last command of the mode thrust-rates.
        torque: the last command of the mode thrust-torque.
        position_given: true once the mode had a command, as are the other flags of this kind; a
            mode without a command holds the position at which it begins.
        velocity_given: see ``position_given``.
        attitude_given: see ``position_given``.
        rates_given: see ``position_given``.
        torque_given: see ``position_given``.
        velocity_in_body_axes: true if ``velocity`` is in body axes, false for world axes.
    """

    MODES: ClassVar[tuple[str, ...]] = get_args(ModeName)

    mode: Annotated[Real, Bounds(0.0, 5.0)]
    position: PositionYaw = PositionYaw(Vec3.zero(), 0.0)
    velocity: VelocityYawRate = VelocityYawRate(Vec3.zero(), 0.0)
    attitude: ThrustAttitude = ThrustAttitude(0.0, Quaternion.identity())
    rates: ThrustRates = ThrustRates(0.0, Vec3.zero())
    torque: ThrustTorque = ThrustTorque(0.0, Vec3.zero())
    position_given: Flag | Real = False
    velocity_given: Flag | Real = False
    attitude_given: Flag | Real = False
    rates_given: Flag | Real = False
    torque_given: Flag | Real = False
    velocity_in_body_axes: Flag | Real = False

    def with_command(self, command: Module) -> "ModeCommand":
        """Return the mode command after a command of one of the modes, in that mode."""
        if isinstance(command, BodyVelocityYawRate):
            given = (
                command.velocity_body_mps,
                command.yaw_rate_radps,
                command.acceleration_body_mps2,
            )
            return replace(self.with_command(VelocityYawRate(*given)), velocity_in_body_axes=True)
        for mode, (name, command_type) in enumerate(_COMMAND_OF_MODE.items(), start=1):
            if isinstance(command, command_type):
                changes = {"mode": float(mode), name: command, f"{name}_given": True}
                axes = {"velocity_in_body_axes": False} if name == "velocity" else {}
                return replace(self, **changes, **axes)
        allowed = ", ".join(command_type.__name__ for command_type in _COMMAND_OF_MODE.values())
        message = f"no mode takes a {type(command).__name__}; give one of {allowed}"
        raise TypeError(message)


_COMMAND_OF_MODE: dict[str, type] = {
    "position": PositionYaw,
    "velocity": VelocityYawRate,
    "attitude": ThrustAttitude,
    "rates": ThrustRates,
    "torque": ThrustTorque,
}


class RotorSpeeds(AbstractVectorRecord):
    """Speeds of all rotors, in the order of the vehicle's data; never negative."""

    speeds_radps: NumbersField


class HeadingSpeed(Module):
    """Heading of a vessel, counted like yaw, and its speed through the water."""

    heading_rad: Real
    speed_mps: Real


class RudderThrust(Module):
    """Rudder angle and thrust of a vessel; a positive rudder turns it to the left."""

    rudder_rad: Real
    thrust_n: Real

    @classmethod
    def off(cls) -> "RudderThrust":
        """Return no thrust, rudder amidships."""
        return cls(0.0, 0.0)


class PropellerSpeeds(Module):
    """Shaft speeds of a vessel's two propellers; negative speeds push astern."""

    left_radps: Real
    right_radps: Real

    @classmethod
    def off(cls) -> "PropellerSpeeds":
        """Return shafts at rest."""
        return cls(0.0, 0.0)


class AttitudeThrottle(Module):
    """Stick inputs of a self-leveling autopilot: angles, throttle and yaw rate.

    Angles and rate are those of the FLU body: positive pitch lowers the nose, positive yaw rate
    turns to the left. The battery voltage is an input because it was recorded with the sticks.
    """

    pitch_rad: Real
    roll_rad: Real
    throttle: Real
    yaw_rate_radps: Real
    battery_v: Real

    @classmethod
    def off(cls) -> "AttitudeThrottle":
        """Return no throttle, level, with the voltage of a full battery."""
        return cls(0.0, 0.0, 0.0, 0.0, 12.0)


class MotorsOff(Module):
    """Motors off, for any vehicle; no controller is required."""


Command: TypeAlias = (
    PositionYaw
    | VelocityYaw
    | VelocityHeightYaw
    | VelocityYawRate
    | BodyVelocityYawRate
    | SurfaceMotion
    | AccelerationYaw
    | ThrustAttitude
    | ThrustRates
    | ThrustTorque
    | ModeCommand
    | RotorSpeeds
    | HeadingSpeed
    | RudderThrust
    | PropellerSpeeds
    | AttitudeThrottle
    | MotorsOff
)


class CommandChoice(Module):
    """One of several commands of different types; ``place`` is the index of the chosen one."""

    commands: tuple[Command, ...]
    index: Integer


def zero_command(command_type: type[Record], length: int = 0) -> Record:
    """Return a command of zeros, with level attitudes; ``length`` is that of ``RotorSpeeds``."""
    return command_type(
        **{name: _zero(annotation, length) for name, annotation in _annotations(command_type)}
    )


@cache
def _annotations(command_type: type[Record]) -> tuple[tuple[str, Annotation], ...]:
    hints = get_type_hints(command_type)
    return tuple((field.name, hints[field.name]) for field in fields(command_type))


def _zero(annotation: Annotation, length: int) -> ArrayTree:
    if annotation is Quaternion:
        return Quaternion.identity()
    if get_origin(annotation) is tuple:
        return (0.0,) * tuple_length(annotation, length)
    is_record = isinstance(annotation, type) and issubclass(annotation, Module)
    return zero_command(annotation) if is_record else 0.0
