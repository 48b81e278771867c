"""Idle: motors off until a mission continues."""

from typing import ClassVar

from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.core.commands import MotorsOff
from kittiwake.geometry.scalar import Real
from kittiwake.interfaces.guidance import AbstractGuidance, GuidanceInputs


class Idle(AbstractGuidance[tuple[()]]):
    """Keeps the motors off; in a mission until its time is over or its condition holds."""

    tracked: ClassVar[bool] = False

    @override
    def command_types(self) -> tuple[type[MotorsOff]]:
        return (MotorsOff,)

    @override
    def step(
        self, state: tuple[()], inputs: GuidanceInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[tuple[()], MotorsOff]:
        del inputs, dt_s, key
        return state, MotorsOff()
