"""Standing with the motors off until a mission goes on."""

from typing import ClassVar

from jaxtyping import PRNGKeyArray

from kittiwake.core.guidance import AbstractGuidance, GuidanceInputs
from kittiwake.core.signals import Off
from kittiwake.geometry.scalar import Real


class Rest(AbstractGuidance):
    """Motors off; in a mission until its time is over or what it waits for holds."""

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
