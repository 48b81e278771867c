"""What can go wrong and whose mistake it is.

KittiwakeError                 every error raised on purpose
├── ScenarioError              a scenario file, an override or a parameter that cannot be used
├── RegistryError              a name that no registry knows
├── LadderError                a chain of guidance and controllers with a rung missing
├── CommandError               a command that a simulation cannot take
├── UnknownSensorError         a sensor that a vehicle does not have; a KeyError, too
├── PrecisionError             pure functions called in the other floating-point mode
├── LogError                   a run folder or a log that cannot be read
├── HubError                   a hub that cannot be opened, or that refuses a member
├── RosError                   a ROS node that cannot be started, or that cannot do what is asked
├── CockpitError               a cockpit whose page cannot be opened where it was asked for
└── MissingExtraError          an optional library that is not installed
"""

from difflib import get_close_matches


class KittiwakeError(Exception):
    """An error that says what was given, what is allowed and what to write instead."""


class ScenarioError(KittiwakeError):
    """A scenario that cannot be flown as it is written."""


class RegistryError(KittiwakeError):
    """A name that is not registered."""


class LadderError(KittiwakeError):
    """Controllers that do not lead from a signal to the vehicle's native command.

    ``rung`` is the name of the signal from which no controller at hand leads on.
    """

    def __init__(self, message: str, rung: str) -> None:
        super().__init__(message)
        self.rung = rung


class CommandError(KittiwakeError):
    """A command of the wrong kind, or for a vehicle that is not there."""


class UnknownSensorError(KittiwakeError, KeyError):
    """A name that no sensor of a vehicle has."""

    __str__ = Exception.__str__  # a KeyError shows its message in quotes


class PrecisionError(KittiwakeError):
    """A pure function called while JAX is in the other floating-point mode."""


class LogError(KittiwakeError):
    """A run folder or log file that is missing, broken or of another kind."""


class HubError(KittiwakeError):
    """A hub that cannot be opened, cannot be reached, or refuses.

    ``reason`` is the hub's word for why it refused, if it did.
    """

    def __init__(self, message: str, reason: str | None = None) -> None:
        super().__init__(message)
        self.reason = reason


class CockpitError(KittiwakeError):
    """A cockpit that cannot be opened at an address, or not safely."""


class RosError(KittiwakeError):
    """A ROS node that cannot be started, or a message that ROS cannot take."""


class MissingExtraError(KittiwakeError):
    """An optional library that the asked-for feature needs."""


def did_you_mean(given: str, allowed: list[str]) -> str:
    """A sentence that names the nearest allowed word, or lists them all."""
    if not allowed:
        return "There are none."
    nearest = get_close_matches(given, allowed, n=1, cutoff=0.5)
    hint = f" Did you mean '{nearest[0]}'?" if nearest else ""
    return f"Allowed: {', '.join(sorted(allowed))}.{hint}"
