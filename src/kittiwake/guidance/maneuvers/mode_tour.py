"""Schedule of modes with their commands."""

from dataclasses import fields, replace
from itertools import pairwise
from typing import Annotated, ClassVar

import jax.numpy as jnp
from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import NOT_NEGATIVE
from kittiwake.core.commands import (
    Command,
    ModeCommand,
    ModeName,
    PositionYaw,
    ThrustAttitude,
    ThrustRates,
    ThrustTorque,
    VelocityYawRate,
)
from kittiwake.core.elapsed import elapsed_s
from kittiwake.core.tree_where import tree_where
from kittiwake.geometry.euler import EulerZYX
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.guidance import AbstractGuidance, GuidanceInputs
from kittiwake.pytree import Module, field

# required field and optional fields of the command of each mode
FIELDS: dict[str, tuple[str, tuple[str, ...]]] = {
    "position-yaw": (
        "position_world_m",
        (
            "yaw_rad",
            "velocity_world_mps",
            "acceleration_world_mps2",
            "jerk_world_mps3",
            "yaw_rate_radps",
        ),
    ),
    "velocity-yaw-rate": ("velocity_world_mps", ("yaw_rate_radps", "acceleration_world_mps2")),
    "thrust-attitude": (
        "thrust_n",
        ("roll_rad", "pitch_rad", "yaw_rad", "angular_velocity_body_radps"),
    ),
    "thrust-rates": (
        "thrust_n",
        ("angular_velocity_body_radps", "angular_acceleration_body_radps2"),
    ),
    "thrust-torque": ("thrust_n", ("torque_body_nm",)),
}


class ModeStage(Module):
    """Mode from a time on, with or without a command.

    Angles are in ZYX order, as everywhere in scenarios. Omitted fields of a command are zero.
    """

    at_s: Annotated[Real, NOT_NEGATIVE]
    mode: ModeName = field(static=True)
    position_world_m: Vec3 | None = None
    velocity_world_mps: Vec3 | None = None
    acceleration_world_mps2: Vec3 | None = None
    jerk_world_mps3: Vec3 | None = None
    roll_rad: Real | None = None
    pitch_rad: Real | None = None
    yaw_rad: Real | None = None
    yaw_rate_radps: Real | None = None
    thrust_n: Real | None = None
    angular_velocity_body_radps: Vec3 | None = None
    angular_acceleration_body_radps2: Vec3 | None = None
    torque_body_nm: Vec3 | None = None

    def __post_init__(self) -> None:
        """Raise an error for fields of another mode, and for a missing required field."""
        given = [f.name for f in fields(self) if getattr(self, f.name) is not None]
        given = [name for name in given if name not in ("at_s", "mode")]
        if self.mode == "inactive":
            if given:
                message = f"`{given[0]}`: not allowed with mode inactive; omit it"
                raise ValueError(message)
            return
        required, others = FIELDS[self.mode]
        for name in given:
            if name not in (required, *others):
                allowed = ", ".join((required, *others))
                message = f"`{name}`: not allowed with mode {self.mode}. Allowed: {allowed}"
                raise ValueError(message)
        if given and required not in given:
            message = (
                f"`{given[0]}`: requires {required} with mode {self.mode}; without any field the "
                "mode continues with the last command, or holds the present state"
            )
            raise ValueError(message)

    def applied_to(self, before: ModeCommand) -> ModeCommand:
        """Return the command of this stage, given that of the previous stage."""
        command = self._command()
        if command is not None:
            return before.with_command(command)
        mode = float(ModeCommand.MODES.index(self.mode))
        return replace(before, mode=mode)

    def _command(self) -> Command | None:
        """Return the command of the mode; None without one."""
        thrust_n, angular_velocity = self.thrust_n, _or_zero(self.angular_velocity_body_radps)
        yaw_rate_radps = _or_0(self.yaw_rate_radps)
        acceleration = _or_zero(self.acceleration_world_mps2)
        if self.mode == "position-yaw" and self.position_world_m is not None:
            return PositionYaw(
                self.position_world_m,
                _or_0(self.yaw_rad),
                _or_zero(self.velocity_world_mps),
                acceleration,
                _or_zero(self.jerk_world_mps3),
                yaw_rate_radps,
            )
        if self.mode == "velocity-yaw-rate" and self.velocity_world_mps is not None:
            return VelocityYawRate(self.velocity_world_mps, yaw_rate_radps, acceleration)
        if thrust_n is None:
            return None
        if self.mode == "thrust-attitude":
            angles = map(_or_0, (self.roll_rad, self.pitch_rad, self.yaw_rad))
            return ThrustAttitude(
                thrust_n, Quaternion.from_euler(EulerZYX(*angles)), angular_velocity
            )
        if self.mode == "thrust-rates":
            return ThrustRates(
                thrust_n, angular_velocity, _or_zero(self.angular_acceleration_body_radps2)
            )
        return ThrustTorque(thrust_n, _or_zero(self.torque_body_nm))


class ModeTour(AbstractGuidance[tuple[()]]):
    """Runs through a schedule of modes with their commands; inactive before the first one.

    Attributes:
        stages: stages, one mode after another.
    """

    tracked: ClassVar[bool] = False

    stages: tuple[ModeStage, ...]

    def __post_init__(self) -> None:
        """Raise an error for an empty schedule, and for stages that are not in order of time."""
        if not self.stages:
            message = (
                "`stages`: got none; must be at least one, such as {at_s: 0, mode: position-yaw}"
            )
            raise ValueError(message)
        for before, after in pairwise(self.stages):
            if not before.at_s < after.at_s:
                message = (
                    f"`stages`: got at_s {after.at_s:g} after {before.at_s:g}; must be in order of "
                    "time"
                )
                raise ValueError(message)

    @override
    def command_types(self) -> tuple[type[Command]]:
        return (ModeCommand,)

    @override
    def step(
        self, state: tuple[()], inputs: GuidanceInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[tuple[()], ModeCommand]:
        del key
        now = elapsed_s(inputs.time_s, dt_s)
        current = planned = ModeCommand(0.0)
        for stage in self.stages:
            planned = stage.applied_to(planned)
            current = tree_where(jnp.asarray(now >= stage.at_s), planned, current)
        return state, current

    @classmethod
    @override
    def examples(cls) -> dict[str, "ModeTour"]:
        return {
            "in turn": cls(
                (
                    ModeStage(0.0, "position-yaw", position_world_m=Vec3(1.0, 2.0, 3.0)),
                    ModeStage(0.01, "thrust-attitude", thrust_n=9.0, roll_rad=0.1),
                    ModeStage(5.0, "thrust-rates"),
                )
            )
        }


def _or_0(value: Real | None) -> Real:
    return 0.0 if value is None else value


def _or_zero(value: Vec3 | None) -> Vec3:
    return Vec3.zero() if value is None else value
