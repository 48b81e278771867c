"""Switching the motors off at once, wherever the vehicle is."""

from typing import ClassVar

from jaxtyping import PRNGKeyArray

from kittiwake.core.guidance import AbstractGuidance, GuidanceInputs
from kittiwake.core.signals import Off
from kittiwake.geometry.scalar import Flag, Real


class Drop(AbstractGuidance):
    """Motors off, for good."""

    tracked: ClassVar[bool] = False

    def signal_types(self) -> tuple[type[Off]]:
        """Off."""
        return (Off,)

    def step(
        self, state: tuple[()], inputs: GuidanceInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[tuple[()], Off]:
        """Off."""
        del inputs, dt_s, key
        return state, Off()

    def finished(self, state: tuple[()]) -> Flag:
        """At once."""
        del state
        return True
