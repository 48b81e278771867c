"""What can go wrong and whose mistake it is.

KittiwakeError                 every error raised on purpose
├── ScenarioError              a scenario file, an override or a parameter that cannot be used
├── RegistryError              a name that no registry knows
├── CascadeError               a gap in the chain of guidance and controllers
├── CommandError               a command that a simulation cannot take
├── UnknownSensorError         a sensor that a vehicle does not have; a KeyError, too
├── PrecisionError             pure functions called in the other floating-point mode
├── LogError                   a run folder or a log that cannot be read
├── HubError                   a hub that cannot be opened, or that refuses a member
├── RosError                   a ROS node that cannot be started, or that cannot do what is asked
├── CockpitError               a cockpit whose page cannot be opened where it was asked for
└── MissingExtraError          an optional library that is not installed
"""

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches

MAX_NAMES = 10
# the ratio of difflib below which spelling is not looked at any closer
SIMILAR = 0.5
SHORTEST_WORD = 3


class KittiwakeError(Exception):
    """An error that says what was given, what is allowed and what to write instead."""


class ScenarioError(KittiwakeError):
    """A scenario that cannot be flown as it is written."""


class RegistryError(KittiwakeError):
    """A name that is not registered."""


class CascadeError(KittiwakeError):
    """Controllers that do not lead from a signal to the vehicle's native command.

    ``command_type`` is the name of the command type from which no controller at hand leads on.
    """

    def __init__(self, message: str, command_type: str) -> None:
        super().__init__(message)
        self.command_type = command_type


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


def did_you_mean(given: str, allowed: Iterable[str], shown_by: str = "") -> str:
    """Return the allowed word that is near, if one is, and what else is allowed.

    Args:
        given: the word that is not allowed.
        allowed: those that are.
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
    """Return the first names, how many more there are, and by which command to see them."""
    more = len(names) - MAX_NAMES
    if more <= 0:
        return ", ".join(names)
    rest = f"{', '.join(names[:MAX_NAMES])} and {more} more"
    return f"{rest} ('{shown_by}' shows all {len(names)})" if shown_by else rest


def nearest(given: str, names: Iterable[str]) -> str | None:
    """Return the name that was probably meant: by its spelling, or by the words that it holds.

    A third of the letters may be wrong, missing, superfluous or exchanged with their neighbors.
    """
    wanted = given.lower()
    by_spelling = {name.lower(): name for name in names}
    close = get_close_matches(wanted, by_spelling, n=MAX_NAMES, cutoff=SIMILAR)
    edits = {name: float(_edits(wanted, name)) for name in close}
    # another letter is no slip of the pen where there is only one
    most = max(1, len(wanted) // 3) if len(wanted) > 1 else 0
    found = {name: edits[name] for name in close if edits[name] <= most}
    if len(wanted) >= SHORTEST_WORD:
        longer = [
            name
            for name in by_spelling
            if name.startswith(wanted) or _words(wanted) <= _words(name)
        ]
        # a word of a name is nearer to it than two slips of the pen
        found |= {name: 1.5 for name in sorted(longer, key=len)[:1] if found.get(name, 2.0) > 1.5}
    meant = min(found, key=found.__getitem__, default="")
    return by_spelling.get(meant)


def _words(name: str) -> set[str]:
    return set(re.split(r"[-_.]", name))


def _edits(one: str, other: str) -> int:
    """Optimal string alignment distance: letters changed, left out, put in or exchanged."""
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
