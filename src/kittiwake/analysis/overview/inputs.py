"""Panels of a vehicle's inputs: commands and actuator states grouped by unit."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import degrees

import numpy as np
from jaxtyping import Float64

from kittiwake.analysis.overview.resolution import negligible
from kittiwake.analysis.overview.trace import Trace
from kittiwake.core.units import UNIT_SYMBOLS

COMMAND, ACTUAL = "cmd_", "act_"
FRAMES = ("world", "body")
ACTUAL_PREFIX = "actual "  # for an actuator state with the name of its command
MAX_PANELS = 3
NO_BREAK = "\u00a0"
SHAFTS = {"rotor", "speeds", "left", "right"}
MAX_NAME = 12  # characters of a name in an axis label

# unit and factor in the plot by ending of the column name
UNITS = {ending: (symbol, 1.0) for ending, symbol in UNIT_SYMBOLS.items()} | {
    "rad": ("deg", degrees(1.0)),
    "radps": ("deg/s", degrees(1.0)),
    "t": ("µT", 1e6),
}
# prefixes of commanded and actual quaternions, whose angles are in the attitude panel
QUATERNIONS = (f"{COMMAND}q_", f"{ACTUAL}q_")


@dataclass(frozen=True, eq=False)
class Input:
    """Input over time in the unit of the plot; empty for dimensionless inputs."""

    label: str
    unit: str
    values: Float64[np.ndarray, " rows"]
    commanded: bool = False

    @property
    def largest(self) -> float:
        """Largest magnitude."""
        return float(np.nanmax(np.abs(self.values)))

    @property
    def first(self) -> float:
        """First finite value."""
        return float(self.values[np.isfinite(self.values)][0])

    @property
    def constant(self) -> bool:
        """True if it never changes."""
        change = float(np.nanmax(self.values) - np.nanmin(self.values))
        return change <= 1e-9 * self.largest or negligible(change, self.unit)

    def is_command_for(self, other: "Input") -> bool:
        """Return True if this commands another, as ``cmd_speeds_2`` commands ``act_rotor_2``."""
        number = self.label.rpartition(" ")[2]
        numbered = number.isdigit() and number == other.label.rpartition(" ")[2]
        same = numbered or other.label.removeprefix(ACTUAL_PREFIX) == self.label
        return self.commanded and not other.commanded and same


@dataclass(frozen=True, eq=False)
class InputPanel:
    """Inputs that share an axis; ``notes`` has the values of constant inputs."""

    label: str
    inputs: tuple[Input, ...]
    unit: str
    notes: tuple[str, ...] = ()


def input_panels(trace: Trace) -> list[InputPanel]:
    """Return at most three panels, dimensionless inputs last.

    With more units, constant inputs become notes, and the remaining units share the last panel,
    each input divided by its largest magnitude.
    """
    groups = _by_unit(
        [shown(trace, column) for column in trace.table.columns if _drawn(trace, column)]
    )
    notes: tuple[str, ...] = ()
    if len(groups) > MAX_PANELS:
        varying = [group for group in groups if not all(item.constant for item in group)]
        constant = [item for group in groups if group not in varying for item in group]
        if varying:
            groups = varying
            notes = _notes(constant)
    if len(groups) <= MAX_PANELS:
        panels = [_panel(group) for group in groups]
    else:
        own, merged = groups[: MAX_PANELS - 1], groups[MAX_PANELS - 1 :]
        panels = [_panel(group) for group in own]
        relative = tuple(_relative(item) for group in merged for item in group)
        panels.append(InputPanel("inputs\n(relative)", relative, ""))
    if panels and notes:
        panels[-1] = replace(panels[-1], notes=notes)
    return panels


def _notes(constant: Sequence[Input]) -> tuple[str, ...]:
    """Return the values of constant inputs as notes, with axes of equal value joined."""
    axes: dict[tuple[str, str], list[str]] = {}
    for item in constant:
        name, _, axis = item.label.rpartition(" ")
        if axis not in ("x", "y", "z"):
            name, axis = item.label, ""
        axes.setdefault((name, f"{item.first:.4g} {item.unit}".strip()), []).append(axis)
    return tuple(
        " ".join(part for part in (name, ", ".join(filter(None, own)), value) if part)
        for (name, value), own in axes.items()
    )


def shown(trace: Trace, column: str) -> Input:
    """Return a column as an input: ``cmd_yaw_rate_radps`` is the yaw rate in deg/s."""
    commanded = column.startswith(COMMAND)
    own = column.removeprefix(COMMAND).removeprefix(ACTUAL)
    words = own.split("_")
    unit, factor = UNITS.get(words[-1], ("", 1.0)) if len(words) > 1 else ("", 1.0)
    if unit:
        words = words[:-1]
    if unit == "deg/s" and SHAFTS & set(words):  # shaft speeds are not usual in degrees
        unit, factor = "rad/s", 1.0
    label = " ".join(word for word in words if word not in FRAMES)
    if not commanded and COMMAND + own in trace.table.columns:
        label = ACTUAL_PREFIX + label
    return Input(label, unit, factor * trace.table.part((column,))[:, 0], commanded)


def _drawn(trace: Trace, column: str) -> bool:
    own = column.startswith((COMMAND, ACTUAL)) and not column.startswith(QUATERNIONS)
    return own and trace.has((column,))


def _by_unit(inputs: Sequence[Input]) -> list[tuple[Input, ...]]:
    units = dict.fromkeys(item.unit for item in inputs)
    in_order = sorted(units, key=lambda unit: not unit)
    return [tuple(item for item in inputs if item.unit == unit) for unit in in_order]


def _panel(group: tuple[Input, ...]) -> InputPanel:
    unit = group[0].unit
    name = group[0].label if len(group) == 1 else "inputs"
    name = name if len(name) <= MAX_NAME else "input"
    return InputPanel(f"{name}\n({unit})" if unit else name, group, unit)


def _relative(item: Input) -> Input:
    if negligible(item.largest, item.unit):
        return Input(item.label, "", item.values)
    # no line break in the divisor
    divisor = f"{item.largest:.3g} {item.unit}".strip().replace(" ", NO_BREAK)
    label = item.label if divisor == "1" else f"{item.label} /{NO_BREAK}{divisor}"
    return Input(label, "", item.values / item.largest)
