"""The MAVLink dialect, and the flight modes of PX4 that clients know by numbers.

Source: MAVLink common message set; PX4-Autopilot, px4_custom_mode.h.
"""

from enum import Enum
from types import ModuleType
from typing import Any, TypeAlias

from kittiwake.core.errors import CommandError
from kittiwake.core.extras import import_optional

# pymavlink generates a class for each message; none has types
Message: TypeAlias = Any

# the number of the autopilot among the components of a system
AUTOPILOT_COMPONENT = 1


def load_dialect() -> ModuleType:
    """Return the messages and constants of MAVLink 2.

    Raises:
        MissingExtraError: if pymavlink is not installed.
    """
    return import_optional("pymavlink.dialects.v20.common", "mavlink")


class FlightMode(Enum):
    """Flight modes with their main and sub modes in PX4."""

    OFFBOARD = (6, 0)
    TAKEOFF = (4, 2)
    HOLD = (4, 3)
    MISSION = (4, 4)
    RETURN = (4, 5)
    LAND = (4, 6)

    @property
    def custom_mode(self) -> int:
        """Number of the mode in a heartbeat."""
        main, sub = self.value
        return main << 16 | sub << 24

    @property
    def label(self) -> str:
        """Name and numbers of the mode as users of PX4 know them."""
        main, sub = self.value
        return f"{self.name.lower()} ({main}/{sub})" if sub else f"{self.name.lower()} ({main})"

    @classmethod
    def of(cls, main: int, sub: int) -> "FlightMode | None":
        """Return the mode with these numbers; None if there is none."""
        found = (mode for mode in cls if mode.value == (main, sub))
        return next(found, None)

    @classmethod
    def required(cls, main: int, sub: int) -> "FlightMode":
        """Return the mode with these numbers.

        Raises:
            CommandError: if there is none, or it is not supported.
        """
        mode = cls.of(main, sub)
        if mode is None:
            known = ", ".join(one.label for one in cls)
            text = f"mode {main}/{sub} is not supported: write {known}"
            raise CommandError(text)
        return mode
