"""Parameters of a vehicle that clients read and set, with the names of PX4."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from kittiwake.core.errors import CommandError, did_you_mean


class ParameterRange(NamedTuple):
    """Default and range of a parameter."""

    default: float
    low: float
    high: float


KNOWN: Mapping[str, ParameterRange] = {
    # height of a takeoff without one, in meters
    "MIS_TAKEOFF_ALT": ParameterRange(2.5, 0.1, 1000.0),
    # speed of missions and of flights to a place, in meters per second
    "MPC_XY_CRUISE": ParameterRange(2.0, 0.01, 100.0),
    # distance at which a waypoint is reached, in meters
    "NAV_ACC_RAD": ParameterRange(1.0, 0.01, 1000.0),
    # height above home at which a vehicle returns, in meters
    "RTL_RETURN_ALT": ParameterRange(5.0, 0.1, 1000.0),
    # time without setpoints after which a vehicle holds its position, in seconds
    "COM_OF_LOSS_T": ParameterRange(1.0, 0.05, 60.0),
}


class Parameters:
    """Values of the parameters, which are in the order of ``KNOWN``."""

    def __init__(self) -> None:
        self._values = {name: known.default for name, known in KNOWN.items()}

    def __getitem__(self, name: str) -> float:
        """Return a value."""
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        """Return the names."""
        return iter(KNOWN)

    def set(self, name: str, value: float) -> None:
        """Set a value; raises as ``in_range``."""
        self._values[name] = in_range(name, value)


def in_range(name: str, value: float) -> float:
    """Return a value of a parameter.

    Raises:
        CommandError: for an unknown name, or a value out of its range.
    """
    if name not in KNOWN:
        message = f"parameter: got {name}. {did_you_mean(name, [*KNOWN])}"
        raise CommandError(message)
    _, low, high = KNOWN[name]
    if not low <= value <= high:
        message = f"{name}: got {value:g}; must be from {low:g} to {high:g}"
        raise CommandError(message)
    return float(value)
