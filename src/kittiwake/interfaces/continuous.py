"""Continuous state of a vehicle and its rates of change, for trim and linearization.

A step of ``AbstractDynamics`` integrates these rates, with the surroundings and the command held,
and adds what has no smooth rate: contact of feet, noise, rate limits and a battery's charge.
"""

from collections.abc import Mapping
from dataclasses import replace

from kittiwake.core.kinematics import Kinematics
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.pytree import Module

AXES = ("x", "y", "z")
POSITION = tuple(f"position_{axis}_world_m" for axis in AXES)
ROTATION = tuple(f"rotation_{axis}_body_rad" for axis in AXES)
VELOCITY = tuple(f"velocity_{axis}_body_mps" for axis in AXES)
RATES = tuple(f"angular_velocity_{axis}_body_radps" for axis in AXES)
# states of a body that moves and turns freely
FREE_BODY = (*POSITION, *ROTATION, *VELOCITY, *RATES)
# those of a body that moves in the horizontal plane
LEVEL_BODY = (*POSITION[:2], ROTATION[2], *VELOCITY[:2], RATES[2])


class ContinuousState(Module):
    """Motion, and the actuators' states by name with unit; the specific force has no effect."""

    motion: Kinematics
    actuators: dict[str, Real]


class StateRates(Module):
    """Rates of change of a continuous state; the rate of position is the velocity.

    Attributes:
        turning_body_radps: angular velocity by which the attitude changes.
        velocity_rate_body_mps2: rates of the components of the velocity in body axes.
        angular_acceleration_body_radps2: rates of the body rates.
        actuators: rates of the actuators' states.
    """

    turning_body_radps: Vec3
    velocity_rate_body_mps2: Vec3
    angular_acceleration_body_radps2: Vec3
    actuators: dict[str, Real]


def deviated(motion: Kinematics, deviations: Mapping[str, Real]) -> Kinematics:
    """Return a motion with small deviations of the states of ``FREE_BODY``, by name.

    The rotation is a rotation vector theta in body axes: q = q_0 exp(theta).
    """

    def vector(names: tuple[str, ...]) -> Vec3:
        return Vec3.of([deviations.get(name, 0.0) for name in names])

    turn = Quaternion.from_rotation_vector(vector(ROTATION))
    q = motion.q_world_from_body * turn
    velocity = motion.velocity_body_mps + vector(VELOCITY)
    return replace(
        motion,
        position_world_m=motion.position_world_m + vector(POSITION),
        q_world_from_body=q,
        euler_world_from_body=q.to_euler(),
        velocity_world_mps=q.rotate(velocity),
        velocity_body_mps=velocity,
        angular_velocity_body_radps=motion.angular_velocity_body_radps + vector(RATES),
    )


def in_body_axes(acceleration_world_mps2: Vec3, motion: Kinematics) -> Vec3:
    """Return the rates of the velocity's components in body axes, given the acceleration."""
    along = motion.q_world_from_body.inverse().rotate(acceleration_world_mps2)
    return along - motion.angular_velocity_body_radps.cross(motion.velocity_body_mps)
