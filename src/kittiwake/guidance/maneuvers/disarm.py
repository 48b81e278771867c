"""Disarm: motors off at once, at any position."""

from typing_extensions import override

from kittiwake.geometry.scalar import Flag
from kittiwake.guidance.maneuvers.idle import Idle


class Disarm(Idle):
    """Switches the motors off for good; in a mission the next step follows at once."""

    @override
    def finished(self, state: tuple[()]) -> Flag:
        del state
        return True
