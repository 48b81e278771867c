"""Exceptions, and suggestions for misspelled names.

KittiwakeError                 base class of all errors that the package raises on purpose
├── ScenarioError              a scenario file, an override or a parameter is invalid
├── RegistryError              a name is not registered
├── CascadeError               the controllers do not connect guidance to the actuators
├── CommandError               a command is invalid for a vehicle
├── OwnComponentError          a component in plain Python fails, or cannot fly in this way
├── UnknownSensorError         a vehicle has no such sensor; also a KeyError
├── UnknownVehicleError        there are no observations of such a vehicle; also a KeyError
├── PrecisionError             a pure function is called in the wrong floating-point mode
├── TrimError                  a vehicle has no steady state as required
├── StateError                 a state cannot be saved, or does not fit the simulation
├── LogError                   a run folder or a log cannot be read
├── HubError                   a hub cannot be opened, or refuses a member
├── RosError                   a ROS node cannot be started, or a request cannot be served
├── CockpitError               the cockpit cannot be opened at the given address
└── MissingExtraError          an optional library is not installed
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches

MAX_NAMES, MAX_CHARACTERS = 10, 60
# types of values that messages show
PLAIN = (str, bool, int, float, list, tuple, Mapping)
# difflib ratio below which a name is not considered similar
SIMILAR = 0.5
SHORTEST_WORD = 3
# arguments of other simulators, and what they are called here
OTHER_NAMES = {
    "dt": "rate_hz",
    "dt_s": "rate_hz",
    "duration": "duration_s",
    "initial_state": "start",
    "sim_rate": "rate_hz",
    "t_final": "duration_s",
    "time_step": "rate_hz",
    "timestep": "rate_hz",
    "trajectory": "guidance",
    "wind_profile": "wind",
}


class KittiwakeError(Exception):
    """Base class of errors that say what was given, what is allowed and what to write instead."""


class ScenarioError(KittiwakeError):
    """Invalid scenario file, override or parameter."""


class RegistryError(KittiwakeError):
    """Name that is not registered."""


class CascadeError(KittiwakeError):
    """Controllers that do not lead from a command to the vehicle's actuator command.

    ``command_type`` is the name of the command type that no available controller consumes.
    """

    def __init__(self, message: str, command_type: str) -> None:
        super().__init__(message)
        self.command_type = command_type


class CommandError(KittiwakeError):
    """Command of an unsupported type, or for an unknown vehicle."""


class OwnComponentError(KittiwakeError):
    """Component in plain Python that fails, or that cannot fly in this way."""


class UnknownSensorError(KittiwakeError, KeyError):
    """Name of a sensor that a vehicle does not have."""

    __str__ = Exception.__str__  # a KeyError shows its message in quotes


class UnknownVehicleError(KittiwakeError, KeyError):
    """Name of a vehicle that a simulation does not have."""

    __str__ = Exception.__str__  # as for ``UnknownSensorError``


class PrecisionError(KittiwakeError):
    """Pure function called while JAX is in the wrong floating-point mode."""


class TrimError(KittiwakeError):
    """Velocity, place or wind at which a vehicle has no steady state."""


class StateError(KittiwakeError):
    """State that cannot be saved, or that does not fit the simulation."""


class LogError(KittiwakeError):
    """Run folder or log file that is missing, broken or of another format."""


class HubError(KittiwakeError):
    """Hub that cannot be opened or reached, or that refuses a member.

    ``reason`` is the hub's code for a refusal; None otherwise.
    """

    def __init__(self, message: str, reason: str | None = None) -> None:
        super().__init__(message)
        self.reason = reason


class CockpitError(KittiwakeError):
    """Cockpit that cannot be opened at an address, or not securely."""


class RosError(KittiwakeError):
    """ROS node that cannot be started, or invalid ROS message or request."""


class MissingExtraError(KittiwakeError):
    """Optional library that is required but not installed."""


def unknown_argument(owner: str, given: str, allowed: Iterable[str]) -> str:
    """Return the message for an argument that a class or a function does not have."""
    names = [*allowed]
    meant = OTHER_NAMES.get(given, given)
    hint = did_you_mean(meant if meant in names else given, names)
    return f"{owner} has no parameter `{given}`. {hint}"


def unnamed_argument(owner: str, given: object, named: Sequence[str]) -> str:
    """Return the message for a value without the name of its argument.

    Args:
        owner: the class or function.
        given: the value.
        named: the arguments that are given by name.
    """
    if not named:
        return f"{owner} has no further parameters: got {described_value(given)}"
    shown = described_value(given)
    value = shown if shown == repr(given) else "..."
    return (
        f"{owner}: got {shown} without a name; write {owner}({named[0]}={value}). "
        f"Allowed: {listed(named)}."
    )


def described_value(value: object) -> str:
    """Return a value in words: as Python writes it if that is short, else its type."""
    if isinstance(value, type):
        return f"the class {value.__name__}"
    shape = getattr(value, "shape", ())
    if shape:
        return f"an array of shape {shape}"
    text = repr(value)
    if value is None or (isinstance(value, PLAIN) and len(text) <= MAX_CHARACTERS):
        return text
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"


def did_you_mean(given: str, allowed: Iterable[str], shown_by: str = "") -> str:
    """Return a suggestion of a similar allowed name, if there is one, and the allowed names.

    Args:
        given: the invalid name.
        allowed: the allowed names.
        shown_by: the command that lists all of them.
    """
    names = sorted(allowed)
    if not names:
        return "There are none."
    guess = nearest(given, names)
    if guess is None:
        return f"Allowed: {listed(names, shown_by)}."
    similar = get_close_matches(given, names, n=MAX_NAMES)
    if len(names) > MAX_NAMES:
        names = [*dict.fromkeys([guess, *similar, *names])]
    return f"Did you mean '{guess}'? Allowed: {listed(names, shown_by)}."


def listed(names: Sequence[str], shown_by: str = "") -> str:
    """Return the first names, the number of others, and the command that lists all."""
    more = len(names) - MAX_NAMES
    if more <= 0:
        return ", ".join(names)
    rest = f"{', '.join(names[:MAX_NAMES])} and {more} more"
    return f"{rest} ('{shown_by}' shows all {len(names)})" if shown_by else rest


def nearest(given: str, names: Iterable[str]) -> str | None:
    """Return the name that was probably meant, by its spelling or by its words; None if none.

    A third of the letters may be wrong, missing, superfluous or transposed.
    """
    typed = given.lower()
    by_spelling = {name.lower(): name for name in names}
    close = get_close_matches(typed, by_spelling, n=MAX_NAMES, cutoff=SIMILAR)
    edits = {name: float(_edits(typed, name)) for name in close}
    # a name of one letter has no misspelling
    most = max(1, len(typed) // 3) if len(typed) > 1 else 0
    found = {name: edits[name] for name in close if edits[name] <= most}
    if len(typed) >= SHORTEST_WORD:
        longer = [
            name for name in by_spelling if name.startswith(typed) or _words(typed) <= _words(name)
        ]
        # a word of a name is closer to it than two misspelled letters
        found |= {name: 1.5 for name in sorted(longer, key=len)[:1] if found.get(name, 2.0) > 1.5}
    # without its unit, a name is closer than with one wrong letter
    found |= {name: 0.5 for name in by_spelling if typed and _without_end(name) == typed}
    meant = min(found, key=found.__getitem__, default="")
    return by_spelling.get(meant)


def _without_end(name: str) -> str:
    """Return a name without its last word, which is often a unit."""
    return name.rpartition("_")[0]


def _words(name: str) -> set[str]:
    return set(re.split(r"[-_.]", name))


def _edits(one: str, other: str) -> int:
    """Return the optimal string alignment distance: substitutions, deletions, insertions, swaps."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, a in enumerate(one):
        above, row = row, [i + 1]
        for j, b in enumerate(other):
            cost = min(above[j + 1] + 1, row[j] + 1, above[j] + (a != b))
            if i and j and a == other[j - 1] and b == one[i - 1]:
                cost = min(cost, before[j - 1] + 1)
            row.append(cost)
        before = above
    return row[-1]
