"""A vehicle's inputs as panels: commands and actuator states of one unit together."""

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
CLASHING = "actual "  # before what is called as its command is
MAX_PANELS = 3
NO_BREAK = "\u00a0"
SHAFTS = {"rotor", "speeds", "left", "right"}
MAX_NAME = 12  # characters of a name that stands beside an axis

# ending of a column's name -> (unit shown, factor)
UNITS = {ending: (symbol, 1.0) for ending, symbol in UNIT_SYMBOLS.items()} | {
    "rad": ("deg", degrees(1.0)),
    "radps": ("deg/s", degrees(1.0)),
    "t": ("µT", 1e6),
}
# how names of commanded and actual quaternions begin; their angles stand with the attitude
QUATERNIONS = (f"{COMMAND}q_", f"{ACTUAL}q_")


@dataclass(frozen=True, eq=False)
class Input:
    """One input over time in the unit in which it is shown; dimensionless ones have none."""

    label: str
    unit: str
    values: Float64[np.ndarray, " rows"]
    commanded: bool = False

    @property
    def largest(self) -> float:
        """Its largest magnitude."""
        return float(np.nanmax(np.abs(self.values)))

    @property
    def first(self) -> float:
        """Its first known value."""
        return float(self.values[np.isfinite(self.values)][0])

    @property
    def constant(self) -> bool:
        """Whether it never changes."""
        change = float(np.nanmax(self.values) - np.nanmin(self.values))
        return change <= 1e-9 * self.largest or negligible(change, self.unit)

    def is_command_for(self, other: "Input") -> bool:
        """Whether this is what was asked of another, as ``cmd_speeds_2`` of ``act_rotor_2``."""
        number = self.label.rpartition(" ")[2]
        numbered = number.isdigit() and number == other.label.rpartition(" ")[2]
        same = numbered or other.label.removeprefix(CLASHING) == self.label
        return self.commanded and not other.commanded and same


@dataclass(frozen=True, eq=False)
class InputPanel:
    """Inputs that share an axis; ``notes`` says what is not worth a line."""

    label: str
    inputs: tuple[Input, ...]
    unit: str
    notes: tuple[str, ...] = ()


def input_panels(trace: Trace) -> list[InputPanel]:
    """At most three panels, dimensionless inputs last.

    With more units than that, inputs that never change are only noted, and what is still too many
    shares the last panel, each divided by its largest magnitude.
    """
    groups = _by_unit(
        [shown(trace, column) for column in trace.table.columns if _drawn(trace, column)]
    )
    notes: tuple[str, ...] = ()
    if len(groups) > MAX_PANELS:
        varying = [group for group in groups if not all(item.constant for item in group)]
        still = [item for group in groups if group not in varying for item in group]
        if varying:
            groups = varying
            notes = _notes(still)
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


def _notes(still: Sequence[Input]) -> tuple[str, ...]:
    """What inputs that never change were; the axes of one that are equal are said together."""
    axes: dict[tuple[str, str], list[str]] = {}
    for item in still:
        name, _, axis = item.label.rpartition(" ")
        if axis not in ("x", "y", "z"):
            name, axis = item.label, ""
        axes.setdefault((name, f"{item.first:.4g} {item.unit}".strip()), []).append(axis)
    return tuple(
        " ".join(part for part in (name, ", ".join(filter(None, own)), value) if part)
        for (name, value), own in axes.items()
    )


def shown(trace: Trace, column: str) -> Input:
    """A column as an input: ``cmd_yaw_rate_radps`` is the yaw rate in deg/s."""
    commanded = column.startswith(COMMAND)
    own = column.removeprefix(COMMAND).removeprefix(ACTUAL)
    words = own.split("_")
    unit, factor = UNITS.get(words[-1], ("", 1.0)) if len(words) > 1 else ("", 1.0)
    if unit:
        words = words[:-1]
    if unit == "deg/s" and SHAFTS & set(words):  # nobody thinks of these in degrees
        unit, factor = "rad/s", 1.0
    label = " ".join(word for word in words if word not in FRAMES)
    if not commanded and COMMAND + own in trace.table.columns:
        label = CLASHING + label
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
    # what it is divided by stays on one line
    divisor = f"{item.largest:.3g} {item.unit}".strip().replace(" ", NO_BREAK)
    label = item.label if divisor == "1" else f"{item.label} /{NO_BREAK}{divisor}"
    return Input(label, "", item.values / item.largest)
