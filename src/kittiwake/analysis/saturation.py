"""Saturation: the time that numbers of the actuator command spend at their limits.

What stands on the ground, has its motors off, or has failed does not count.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Bool, Float64

from kittiwake.analysis.table import CONTACT, STATE_COLUMNS, STATUS, Table
from kittiwake.analysis.time_spans import TimeSpans

# share of its range within which a command is at its limit
AT_LIMIT = 1e-6
COMMAND = "cmd_"

Flags = Bool[np.ndarray, "rows columns"]


@dataclass(frozen=True)
class Actuators:
    """Actuator command of a vehicle, by column.

    Attributes:
        limits: the lower and upper limits.
        off: the numbers with motors off.
        failed_s: the times from which failed actuators do not follow.
        of_vessel: True for a vessel.
    """

    limits: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    off: Mapping[str, float] = field(default_factory=dict)
    failed_s: Mapping[str, float] = field(default_factory=dict)
    of_vessel: bool = False


def at_limits(
    values: Float64[np.ndarray, "rows columns"],
    low: Float64[np.ndarray, " columns"],
    high: Float64[np.ndarray, " columns"],
) -> Flags:
    """Return True where a command is at one of its finite limits."""
    shares = (values - low) / (high - low)
    return (shares <= AT_LIMIT) | (shares >= 1.0 - AT_LIMIT)


def saturations(table: Table, actuators: Actuators) -> dict[str, TimeSpans]:
    """Return the times at a limit of each number of the command with finite limits."""
    limits = {
        name: (low, high)
        for name, (low, high) in actuators.limits.items()
        if 0.0 < high - low < np.inf
    }
    if not limits or len(table.values) < 2:
        return {}
    time_s = table.part(("time_s",))[:, 0]
    values = table.part([COMMAND + name for name in limits])
    low, high = np.array([*limits.values()]).T
    off = np.array([actuators.off.get(name, np.nan) for name in limits])
    flown = np.isfinite(table.part(STATE_COLUMNS)).all(axis=1) & ~(values == off).all(axis=1)
    flown &= table.part((STATUS,))[:, 0] == 0.0
    if CONTACT in table.columns:
        flown &= ~(table.part((CONTACT,))[:, 0] > 0.0)
    saturated = at_limits(values, low, high) & flown[:, None]
    for name, since_s in actuators.failed_s.items():
        if name in limits:
            saturated[time_s >= since_s, [*limits].index(name)] = False
    return {name: TimeSpans.of(time_s, saturated[:, i]) for i, name in enumerate(limits)}
