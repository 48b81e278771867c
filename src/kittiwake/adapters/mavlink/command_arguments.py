"""Arguments of COMMAND_LONG and COMMAND_INT."""

from math import isfinite, nan
from typing import NamedTuple

from kittiwake.adapters.mavlink.dialect import Message
from kittiwake.core.errors import CommandError


class CommandArguments(NamedTuple):
    """Arguments of a command.

    Attributes:
        first: the first four parameters.
        latitude_deg: the fifth of COMMAND_LONG.
        longitude_deg: the sixth of COMMAND_LONG.
        z: the seventh.
        place: frame, x and y of COMMAND_INT; None for COMMAND_LONG.
    """

    first: tuple[float, float, float, float]
    latitude_deg: float
    longitude_deg: float
    z: float
    place: tuple[int, int, int] | None

    @classmethod
    def of(cls, message: Message) -> "CommandArguments":
        """Return the arguments of a message."""
        first = message.param1, message.param2, message.param3, message.param4
        if message.get_type() == "COMMAND_INT":
            return cls(first, nan, nan, message.z, (message.frame, message.x, message.y))
        return cls(first, message.param5, message.param6, message.param7, None)

    def whole_number(self, name: str, index: int) -> int:
        """Return one of the first four parameters, counted from 1, as an integer.

        Raises:
            CommandError: if it is not a number.
        """
        value = self.first[index - 1]
        if not isfinite(value):
            text = f"{name} (param{index}): got {value:g}; must be a whole number"
            raise CommandError(text)
        return round(value)
