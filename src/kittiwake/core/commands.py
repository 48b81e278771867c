"""The rungs of the control ladder: typed commands, from a place in the world down to raw inputs.

A signal says what is wanted; a controller turns one signal into a lower one. Signals for a set
point of a person's choosing and those for actuators share one form, so that any of them can be
recorded, replayed, flown by hand and compared. World is ENU, body is FLU, yaw is counted from east
to north.

Fields behind the first ones are feed-forward, zero where nobody knows better: how what is wanted
goes on. A controller that has no use for them leaves them out.
"""

from dataclasses import fields, replace
from typing import (
    Annotated,
    Any,
    ClassVar,
    Literal,
    TypeAlias,
    get_args,
    get_origin,
    get_type_hints,
)

import equinox as eqx

from kittiwake.core.bounds import Bounds
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.scalar import Count, Flag, Real
from kittiwake.geometry.vec3 import Vec3

ModeName = Literal[
    "inactive",
    "position-yaw",
    "velocity-yaw-rate",
    "thrust-attitude",
    "thrust-rates",
    "thrust-torque",
]


class PositionYaw(eqx.Module):
    """Be here, looking there; the rest is how that place moves."""

    position_world_m: Vec3
    yaw_rad: Real
    velocity_world_mps: Vec3 = Vec3.zero()
    acceleration_world_mps2: Vec3 = Vec3.zero()
    jerk_world_mps3: Vec3 = Vec3.zero()
    yaw_rate_radps: Real = 0.0


class VelocityYaw(eqx.Module):
    """Move with this velocity while looking there."""

    velocity_world_mps: Vec3
    yaw_rad: Real
    acceleration_world_mps2: Vec3 = Vec3.zero()
    yaw_rate_radps: Real = 0.0


class VelocityHeightYaw(eqx.Module):
    """Move with this horizontal velocity at this height, looking there."""

    velocity_x_world_mps: Real
    velocity_y_world_mps: Real
    height_world_m: Real
    yaw_rad: Real


class VelocityYawRate(eqx.Module):
    """Move with this velocity while turning at this rate."""

    velocity_world_mps: Vec3
    yaw_rate_radps: Real
    acceleration_world_mps2: Vec3 = Vec3.zero()


class BodyVelocityYawRate(eqx.Module):
    """The same in the axes of the body."""

    velocity_body_mps: Vec3
    yaw_rate_radps: Real
    acceleration_body_mps2: Vec3 = Vec3.zero()


class SurfaceMotion(eqx.Module):
    """Keep away from a surface and move along it, looking at it.

    ``distance_m`` is what was measured, across the surface; ``normal_world`` is its unit normal to
    the side of the vehicle. The speed is that up its steepest line, ahead where it is level.
    """

    distance_m: Real
    wanted_distance_m: Real
    normal_world: Vec3
    speed_along_mps: Real


class AccelerationYaw(eqx.Module):
    """Accelerate so (gravity not counted) while looking there."""

    acceleration_world_mps2: Vec3
    yaw_rad: Real
    jerk_world_mps3: Vec3 = Vec3.zero()
    yaw_rate_radps: Real = 0.0


class ThrustAttitude(eqx.Module):
    """Push with this thrust along the body's z axis in this attitude."""

    thrust_n: Real
    q_world_from_body: Quaternion
    angular_velocity_body_radps: Vec3 = Vec3.zero()

    @classmethod
    def off(cls) -> "ThrustAttitude":
        """No thrust, upright."""
        return cls(0.0, Quaternion.identity())


class ThrustRates(eqx.Module):
    """Push with this thrust while turning at these body rates."""

    thrust_n: Real
    angular_velocity_body_radps: Vec3
    angular_acceleration_body_radps2: Vec3 = Vec3.zero()


class ThrustTorque(eqx.Module):
    """Push with this thrust and twist with this torque."""

    thrust_n: Real
    torque_body_nm: Vec3

    @classmethod
    def off(cls) -> "ThrustTorque":
        """Neither thrust nor torque."""
        return cls(0.0, Vec3.zero())


class ModeCommand(eqx.Module):
    """Fly in this mode; beside it the last command of each mode, and whether there was one.

    ``mode`` is a place in ``MODES``, the nearest one if between two. A mode that was never given a
    command holds the place that it finds. A velocity is in the axes of the world, or of the body
    where the flag says so.
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

    def with_command(self, command: Any) -> "ModeCommand":
        """With a command of one of the modes as its last one, and flying in that mode."""
        if isinstance(command, BodyVelocityYawRate):
            given = (
                command.velocity_body_mps,
                command.yaw_rate_radps,
                command.acceleration_body_mps2,
            )
            return replace(self.with_command(VelocityYawRate(*given)), velocity_in_body_axes=True)
        for mode, (name, kind) in enumerate(_COMMAND_OF_MODE.items(), start=1):
            if isinstance(command, kind):
                changes = {"mode": float(mode), name: command, f"{name}_given": True}
                axes = {"velocity_in_body_axes": False} if name == "velocity" else {}
                return replace(self, **changes, **axes)
        allowed = ", ".join(kind.__name__ for kind in _COMMAND_OF_MODE.values())
        message = f"no mode takes a {type(command).__name__}; give one of {allowed}"
        raise TypeError(message)


_COMMAND_OF_MODE: dict[str, type] = {
    "position": PositionYaw,
    "velocity": VelocityYawRate,
    "attitude": ThrustAttitude,
    "rates": ThrustRates,
    "torque": ThrustTorque,
}


class RotorSpeeds(eqx.Module):
    """The speeds of four rotors, in the order of the vehicle's data; never negative."""

    speeds_radps: tuple[Real, Real, Real, Real]

    @classmethod
    def off(cls) -> "RotorSpeeds":
        """Standing still."""
        return cls((0.0, 0.0, 0.0, 0.0))


class HeadingSpeed(eqx.Module):
    """Steer a vessel on this heading (counted like yaw) at this speed through the water."""

    heading_rad: Real
    speed_mps: Real


class RudderThrust(eqx.Module):
    """A vessel's actuators; positive rudder turns it to the left, like a positive yaw moment."""

    rudder_rad: Real
    thrust_n: Real

    @classmethod
    def off(cls) -> "RudderThrust":
        """Drifting, with the rudder amidships."""
        return cls(0.0, 0.0)


class PropellerSpeeds(eqx.Module):
    """The shafts of a vessel's two propellers; negative speeds push astern."""

    left_radps: Real
    right_radps: Real

    @classmethod
    def off(cls) -> "PropellerSpeeds":
        """Both standing still."""
        return cls(0.0, 0.0)


class AttitudeThrottle(eqx.Module):
    """The stick inputs of an autopilot that levels itself: angles, throttle and yaw rate.

    Angles and rate are those of the FLU body: positive pitch lowers the nose, positive yaw rate
    turns to the left. The battery's voltage is an input because it was recorded beside the sticks.
    """

    pitch_rad: Real
    roll_rad: Real
    throttle: Real
    yaw_rate_radps: Real
    battery_v: Real

    @classmethod
    def off(cls) -> "AttitudeThrottle":
        """No throttle, level; the voltage is that of a full battery."""
        return cls(0.0, 0.0, 0.0, 0.0, 12.0)


class MotorsOff(eqx.Module):
    """Switch the motors off."""


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


class CommandChoice(eqx.Module):
    """One of several signals, each of another kind; ``place`` says which of them is meant."""

    commands: tuple[Any, ...]
    place: Count


def zero_command(kind: type[eqx.Module]) -> Any:
    """A signal of this kind that asks for nothing: zeros, upright."""
    hints = get_type_hints(kind)
    return kind(**{field.name: _nothing(hints[field.name]) for field in fields(kind)})


def _nothing(kind: Any) -> Any:
    if kind is Quaternion:
        return Quaternion.identity()
    if get_origin(kind) is tuple:
        return tuple(0.0 for _ in get_args(kind))
    is_record = isinstance(kind, type) and issubclass(kind, eqx.Module)
    return zero_command(kind) if is_record else 0.0
