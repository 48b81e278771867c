"""Quantities of vehicles over time: the panels of one vehicle, and those of many."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float64

from kittiwake.analysis.column_labels import column_label
from kittiwake.analysis.plots.panels import MANY_CURVES, SHARED_KINDS, PlotLine, TimePanel
from kittiwake.analysis.plots.percentiles import percentile_lines
from kittiwake.analysis.plots.style import ESTIMATED, HUES, SECOND_RUN
from kittiwake.analysis.plots.traces import WIND_WORLD_MPS, Trace, above_ground
from kittiwake.analysis.table import (
    CONTACT,
    EMPTY,
    ESTIMATE_PREFIX,
    SETPOINT_WORLD_M,
    VELOCITY_WORLD_MPS,
    roll_pitch_yaw_deg,
)

COMMAND_LABEL = "command"
SETPOINT_YAW, SETPOINT_HEADING = "setpoint.yaw_rad", "setpoint.heading_rad"
SETPOINT_SPEED = "setpoint.speed_mps"
SETPOINT_HEIGHT = "setpoint.height_world_m"
SURFACE_DISTANCE = "setpoint.distance_m"
WANTED_SURFACE_DISTANCE = "setpoint.wanted_distance_m"
SETPOINT_VELOCITY_WORLD_MPS = tuple(f"setpoint.velocity_{axis}_world_mps" for axis in "xyz")
COMMANDED_ATTITUDE = tuple(f"cmd_q_world_from_body_{part}" for part in "wxyz")
ESTIMATED_VARIANCES = tuple(f"{ESTIMATE_PREFIX}cov_{axis}_{axis}" for axis in "xyz")
# number of standard deviations in a band
DEVIATIONS = 3.0
# smaller differences from the truth, in any unit, are not drawn
LEAST_DIFFERENCE = 1e-6
# number of vehicles up to which their estimates are drawn beside the truth
MAX_ESTIMATES = 3
# share of the range of the truth below which a difference from it cannot be seen
VISIBLE_SHARE = 0.005
# range by unit that estimates may take in any case, if the truth takes less
LEAST_RANGE = {"m": 1.0, "deg": 10.0}
MARGIN = 0.05
WATER_HEIGHT = "water_height_m"
CONCENTRATION = ".concentration"
CURRENT_WORLD_MPS = tuple(f"current_{axis}_world_mps" for axis in "xy")
MAX_TURN_DEG = 1080.0
# commands of vessels, whose yaw follows from the course to a setpoint position
VESSEL_COMMANDS = ("cmd_rudder_rad", "cmd_left_radps")

# prefixes of the columns of inputs
COMMAND, ACTUAL = "cmd_", "act_"
# attitudes are in their own panel, and an empty battery is an event
NOT_INPUTS = (f"{COMMAND}q_", f"{ACTUAL}q_", EMPTY)
BATTERY, BESIDE = "battery", "beside the\ndeck"
# quantities that are drawn even if they never change
STATE = ("position", "height", "attitude", "yaw", "speed")

Series = Float64[np.ndarray, " rows"]
Rows = Float64[np.ndarray, "rows parts"]
Values = Float64[np.ndarray, "..."]


@dataclass(frozen=True)
class PlotQuantity:
    """Row of the table of quantities: the panel that a vehicle's quantity has.

    Attributes:
        names: the names by which it is selected.
        label: the label of the axis.
        unit: the unit of the plot.
        parts: the names of its curves.
        actual: the values of a vehicle, one column for each part.
        setpoint: the values of their setpoints.
        band: half the width of the bands around zero.
        least: the change below which it is not drawn.
        first: the place of the first curve's color.
        by_default: whether it is drawn unless others are selected.
        estimated: whether the estimate is drawn beside the truth.
    """

    names: tuple[str, ...]
    label: str
    unit: str
    parts: tuple[str, ...]
    actual: Callable[[Trace], Rows]
    setpoint: Callable[[Trace], Rows] | None = None
    band: Callable[[Trace], Rows] | None = None
    least: float = 0.0
    first: int = 0
    by_default: bool = True
    estimated: bool = False

    def drawn_for(self, trace: Trace) -> bool:
        """Return True if a vehicle has the quantity and it changes enough, or it is its state."""
        values = self.actual(trace)
        known = values[np.isfinite(values).all(axis=1)]
        changes = bool(len(known)) and float(np.ptp(known, axis=0).max()) >= self.least
        return changes or self.names[0] in STATE

    def estimate(self, trace: Trace) -> Rows:
        """Return the estimated values; NaN for parts without a visible difference."""
        truth, estimate = self.actual(trace), self.actual(trace.estimate)
        if self.unit == "deg":
            estimate = nearest_turn_deg(estimate, truth)
        differs = np.nan_to_num(np.abs(estimate - truth)).max(axis=0, initial=0.0)
        low, high = _range(truth)
        visible = differs > max(LEAST_DIFFERENCE, VISIBLE_SHARE * (high - low))
        return np.where(visible, estimate, np.nan)


def _setpoint_world_m(trace: Trace) -> Rows:
    """Return the setpoint position, with the height of one that has only that."""
    setpoint = trace.setpoint_world_m
    if not np.isfinite(setpoint[:, 2]).any():
        setpoint[:, 2] = trace.table.part((SETPOINT_HEIGHT,))[:, 0]
    return setpoint


def _setpoint_height_m(trace: Trace) -> Rows:
    """Return the heights of the setpoints, without those below the ground."""
    setpoint = _setpoint_world_m(trace)
    return above_ground(setpoint, trace.position_world_m, trace.ground_m)[:, 2:]


def _commanded_attitude_deg(trace: Trace) -> Rows:
    return roll_pitch_yaw_deg(trace.table.part(COMMANDED_ATTITUDE))


def _yaw_deg(trace: Trace) -> Rows:
    return readable_yaw_deg(trace.table.roll_pitch_yaw_deg[:, 2])[:, None]


def _setpoint_yaw_deg(trace: Trace) -> Rows:
    yaw = _yaw_deg(trace)[:, 0]
    if trace.has(SETPOINT_WORLD_M) and any(trace.has((column,)) for column in VESSEL_COMMANDS):
        return np.full((len(yaw), 1), np.nan)
    setpoint = np.degrees(trace.table.part((SETPOINT_YAW,))[:, 0])
    heading = np.degrees(trace.table.part((SETPOINT_HEADING,))[:, 0])
    setpoint = np.where(np.isfinite(setpoint), setpoint, heading)
    setpoint = np.where(np.isfinite(setpoint), setpoint, _commanded_attitude_deg(trace)[:, 2])
    # setpoints that differ by full turns are equal: the one nearest to the yaw is drawn
    return cut_at_jumps(nearest_turn_deg(setpoint, yaw))[:, None]


def _setpoint_speed_mps(trace: Trace) -> Rows:
    velocity = trace.table.part(SETPOINT_VELOCITY_WORLD_MPS)
    known = np.isfinite(velocity[:, 0])
    setpoint = np.where(known, np.sqrt(np.nansum(np.square(velocity), axis=1)), np.nan)
    if trace.has(SETPOINT_WORLD_M) and not np.nan_to_num(setpoint).any():
        setpoint = np.full_like(setpoint, np.nan)  # a setpoint position does not define a speed
    speed = trace.table.part((SETPOINT_SPEED,))[:, 0]
    return np.where(np.isfinite(setpoint), setpoint, speed)[:, None]


def concentrations(trace: Trace) -> tuple[str, ...]:
    """Return the columns of measured concentrations of plumes."""
    columns = trace.table.columns
    return tuple(c for c in columns if c.startswith("sensor.") and c.endswith(CONCENTRATION))


def _estimation_error_m(trace: Trace) -> Rows:
    return trace.position_world_m - trace.estimate.position_world_m


def _estimated_band_m(trace: Trace) -> Rows:
    variances = trace.table.part(ESTIMATED_VARIANCES)
    return DEVIATIONS * np.sqrt(np.where(variances > 0.0, variances, np.nan))


def _beside_m(trace: Trace) -> Rows:
    """Return the horizontal distance to the vehicle whose deck is followed."""
    if trace.partner_world_m is None:
        return np.full((len(trace.time_s), 1), np.nan)
    return _size((trace.position_world_m - trace.partner_world_m)[:, :2])


def _position_error_m(trace: Trace) -> Rows:
    """Return the distance to the setpoint; NaN on legs, where the next waypoint is far."""
    error_m = _size(trace.position_world_m - trace.setpoint_world_m)
    return np.where(np.isfinite(trace.cross_track_m).any(), np.nan, error_m)


def _size(vectors: Rows) -> Float64[np.ndarray, "rows 1"]:
    return np.linalg.norm(vectors, axis=1, keepdims=True)


CROSS_TRACK = PlotQuantity(
    ("error",), "cross-track error", "m", ("",), lambda t: t.cross_track_m[:, None]
)
HEIGHT = PlotQuantity(
    ("height", "position"),
    "height",
    "m",
    ("z",),
    lambda t: t.position_world_m[:, 2:],
    _setpoint_height_m,
    first=2,
    estimated=True,
)
SPEED = PlotQuantity(
    ("speed",),
    "speed",
    "m/s",
    ("speed",),
    lambda t: _size(t.table.part(VELOCITY_WORLD_MPS)),
    _setpoint_speed_mps,
)
ESTIMATE = PlotQuantity(
    ("estimate",),
    "estimation error",
    "m",
    ("x", "y", "z"),
    _estimation_error_m,
    band=_estimated_band_m,
    least=LEAST_DIFFERENCE,
)
WIND = PlotQuantity(
    ("wind",), "wind", "m/s", ("x", "y", "z"), lambda t: t.table.part(WIND_WORLD_MPS), least=0.1
)
WAVES = PlotQuantity(
    ("waves",),
    "water",
    "m",
    ("surface", "vehicle"),
    lambda t: t.table.part((WATER_HEIGHT, "z_m")),
    least=0.01,
)
CURRENT = PlotQuantity(
    ("current",),
    "current",
    "m/s",
    ("x", "y"),
    lambda t: t.table.part(CURRENT_WORLD_MPS),
    least=0.01,
)
ONE_VEHICLE = (
    PlotQuantity(
        ("position",),
        "position",
        "m",
        ("x", "y"),
        lambda t: t.position_world_m[:, :2],
        lambda t: _setpoint_world_m(t)[:, :2],
        estimated=True,
    ),
    HEIGHT,
    CROSS_TRACK,
    PlotQuantity(
        ("attitude",),
        "attitude",
        "deg",
        ("roll", "pitch"),
        lambda t: t.table.roll_pitch_yaw_deg[:, :2],
        lambda t: _commanded_attitude_deg(t)[:, :2],
        estimated=True,
    ),
    PlotQuantity(
        ("yaw", "attitude"),
        "yaw",
        "deg",
        ("yaw",),
        _yaw_deg,
        _setpoint_yaw_deg,
        first=2,
        estimated=True,
    ),
    SPEED,
    PlotQuantity(
        ("distance",),
        "distance",
        "m",
        ("to surface",),
        lambda t: t.table.part((SURFACE_DISTANCE,)),
        lambda t: t.table.part((WANTED_SURFACE_DISTANCE,)),
    ),
    ESTIMATE,
    WIND,
    CURRENT,
    WAVES,
)
MANY_VEHICLES = (
    PlotQuantity(("error",), BESIDE, "m", ("",), _beside_m),
    CROSS_TRACK,
    PlotQuantity(("error",), "position error", "m", ("",), _position_error_m),
    *(
        PlotQuantity(
            ("position",),
            label,
            "m",
            ("",),
            lambda t, place=place: t.position_world_m[:, [place]],
            lambda t, place=place: _setpoint_world_m(t)[:, [place]],
            by_default=False,
            estimated=True,
        )
        for place, label in enumerate(("east x", "north y"))
    ),
    replace(HEIGHT, label="height z", setpoint=None),
    replace(SPEED, setpoint=None),
    replace(ESTIMATE, parts=("",), actual=lambda t: _size(_estimation_error_m(t)), band=None),
    replace(
        WIND,
        label="wind met",
        parts=("",),
        actual=lambda t: _size(t.table.part(WIND_WORLD_MPS)),
    ),
    replace(WAVES, parts=("",), actual=lambda t: t.table.part((WATER_HEIGHT,))),
)


def panels_over_time(
    traces: Sequence[Trace], colors: Sequence[str], seconds: Mapping[str, Trace], *, many: bool
) -> list[tuple[TimePanel, bool]]:
    """Return the panels over time, and whether each one is drawn unless others are selected.

    Args:
        traces: the vehicles.
        colors: their colors, which only tell many vehicles apart.
        seconds: the same vehicles in a second run.
        many: whether the flight is one of many vehicles, which are compared.
    """
    beside = any(trace.partner_world_m is not None for trace in traces)
    estimated = len(traces) <= MAX_ESTIMATES and not seconds
    banded_vehicles = len(traces) > MANY_CURVES and not seconds
    panels: list[tuple[TimePanel, bool]] = []
    for quantity in MANY_VEHICLES if many else ONE_VEHICLE:
        lines: list[PlotLine] = []
        for trace, color in zip(traces, colors, strict=True):
            if quantity.drawn_for(trace):
                own = quantity if estimated else replace(quantity, estimated=False)
                lines += _lines(own, trace, seconds.get(trace.name), color if many else "")
        if banded_vehicles:
            lines = [*percentile_lines(lines)]
        if lines:
            banded = any(line.band is not None and line.kind == "actual" for line in lines)
            panel = TimePanel(
                f"{quantity.label}\n({quantity.unit})",
                tuple(lines),
                names=quantity.names,
                notes=(f"band: {DEVIATIONS:g} deviations",) if banded else (),
                listed=not many or banded_vehicles,
                span=_estimate_limits(lines, quantity.unit),
                contacts=() if many or "height" not in quantity.names else contacts(traces[0]),
            )
            # beside a deck, the distance of the others to their next waypoint is no error
            if not beside or "error" not in quantity.names or quantity.label == BESIDE:
                panels.append((panel, quantity.by_default))
    if not many:
        panels += [(panel, True) for panel in _concentration_panels(traces[0])]
        panels += [(p, True) for p in input_panels(traces[0], seconds.get(traces[0].name))]
    return panels


def _concentration_panels(trace: Trace) -> list[TimePanel]:
    """Return a panel of what a vehicle measured of plumes, if it did."""
    columns = concentrations(trace)
    lines = tuple(
        PlotLine(column.split(".")[1], trace.time_s, values, HUES[place % len(HUES)])
        for place, (column, values) in enumerate(
            zip(columns, trace.table.part(columns).T, strict=True)
        )
        if np.isfinite(values).any()
    )
    return [TimePanel("concentration", lines, names=("concentration",))] if lines else []


def _lines(
    quantity: PlotQuantity, trace: Trace, second: Trace | None, color: str
) -> Iterator[PlotLine]:
    """Yield the curves of a vehicle, in the given color if there is one."""
    kinds = (
        ("actual", trace, quantity.actual),
        ("setpoint", trace, quantity.setpoint),
        (ESTIMATED, trace, quantity.estimate if quantity.estimated else None),
        (SECOND_RUN, second, quantity.actual),
    )
    bands = None if quantity.band is None else quantity.band(trace)
    for kind, one, read in kinds:
        values = np.empty((0, 0)) if one is None or read is None else read(one)
        for place, series in enumerate(values.T):
            if one is None or (kind != "actual" and not np.isfinite(series).any()):
                continue
            band = None if bands is None or kind != "actual" else bands[:, place]
            banded = band is not None and bool(np.isfinite(band).any())
            yield PlotLine(
                kind if kind in SHARED_KINDS else (trace.name if color else quantity.parts[place]),
                one.time_s,
                series,
                color or HUES[(quantity.first + place) % len(HUES)],
                kind,
                (-band, band) if band is not None and banded else None,
            )


def _estimate_limits(lines: Sequence[PlotLine], unit: str) -> tuple[float, float] | None:
    """Return the limits of a panel whose estimates would more than double it; None otherwise."""
    estimates = [line.values for line in lines if line.kind == ESTIMATED]
    low, high = _range(*(line.values for line in lines if line.kind != ESTIMATED))
    lowest, highest = _range(*estimates)
    air = max(high - low, LEAST_RANGE.get(unit, 0.0)) / 2.0
    if not estimates or (lowest >= low - air and highest <= high + air):
        return None
    bottom, top = max(min(lowest, low), low - air), min(max(highest, high), high + air)
    margin = MARGIN * (top - bottom)
    return bottom - margin, top + margin


def _range(*values: Values) -> tuple[float, float]:
    """Return the lowest and the highest finite value; zeros without one."""
    known = np.concatenate([np.empty(0), *(part[np.isfinite(part)] for part in values)])
    return (float(known.min()), float(known.max())) if known.size else (0.0, 0.0)


def contacts(trace: Trace) -> tuple[tuple[float, float], ...]:
    """Return the spans of time in which a vehicle touches a surface."""
    touching = trace.table.part((CONTACT,))[:, 0] > 0.0
    edges = np.diff(touching.astype(int), prepend=0, append=0)
    begins, ends = np.flatnonzero(edges > 0), np.flatnonzero(edges < 0) - 1
    return tuple(zip(trace.time_s[begins].tolist(), trace.time_s[ends].tolist(), strict=True))


def readable_yaw_deg(yaw_deg: Series) -> Series:
    """Return yaw without jumps by 360 degrees; a spin is cut at the jumps instead.

    The continuous angle of a spin would make all else illegible.
    """
    known = np.isfinite(yaw_deg)
    if not known.any():
        return yaw_deg
    smooth = np.full_like(yaw_deg, np.nan)
    smooth[known] = np.unwrap(yaw_deg[known], period=360.0)
    return smooth if np.ptp(smooth[known]) <= MAX_TURN_DEG else cut_at_jumps(yaw_deg)


def nearest_turn_deg(angle_deg: Values, reference_deg: Values) -> Values:
    """Return angles changed by full turns to be nearest to other ones."""
    return angle_deg + 360.0 * np.round((reference_deg - angle_deg) / 360.0)


def cut_at_jumps(angle_deg: Series) -> Series:
    """Return an angle with NaN in each row after a jump of more than half a turn."""
    jumps = np.abs(np.diff(angle_deg, prepend=angle_deg[:1])) > 180.0
    return np.where(jumps, np.nan, angle_deg)


@dataclass(frozen=True, eq=False)
class VehicleInput:
    """Command or actuator state over time, in the unit of the plot."""

    label: str
    unit: str
    values: Series
    commanded: bool

    @property
    def constant(self) -> bool:
        """True if it never changes."""
        change = float(np.nanmax(self.values) - np.nanmin(self.values))
        return change <= 1e-9 * float(np.nanmax(np.abs(self.values)))

    @property
    def panel_name(self) -> str:
        """Name of the panels that it is in."""
        return BATTERY if BATTERY in self.label else "inputs"

    def is_command_for(self, other: "VehicleInput") -> bool:
        """Return True if this commands another, as ``cmd_speeds_2`` commands ``act_rotor_2``."""
        number = self.label.rpartition(" ")[2]
        numbered = number.isdigit() and number == other.label.rpartition(" ")[2]
        return self.commanded and not other.commanded and (numbered or other.label == self.label)


def input_panels(trace: Trace, second: Trace | None = None) -> list[TimePanel]:
    """Return a panel for each unit of the inputs and of the battery; constant ones are noted.

    A unit whose inputs are all constant has a panel only if there are no others.
    """
    groups: dict[tuple[str, str], list[VehicleInput]] = {}
    for item in vehicle_inputs(trace):
        groups.setdefault((item.panel_name, item.unit), []).append(item)
    flat = {key for key, group in groups.items() if all(item.constant for item in group)}
    drawn = {
        key: group for key, group in groups.items() if key not in flat or len(flat) == len(groups)
    }
    notes = _notes([item for key in groups if key not in drawn for item in groups[key]])
    others = [] if second is None else vehicle_inputs(second)
    panels = []
    for (name, unit), group in sorted(
        drawn.items(), key=lambda entry: (entry[0][0] != "inputs", not entry[0][1])
    ):
        label = group[0].label if len(group) == 1 else name
        lines = _input_lines(trace, group)
        lines += [
            PlotLine(line.label, second.time_s, other.values, line.color, SECOND_RUN)
            for line in lines
            for other in others
            if second is not None
            and line.kind == "actual"
            and (other.label, other.unit) == (line.label, unit)
        ]
        label = f"{label}\n({unit})" if unit else label
        panels.append(TimePanel(label, tuple(lines), names=(name,)))
    if panels and notes:
        panels[-1] = replace(panels[-1], notes=notes)
    return panels


def _notes(constant: Sequence[VehicleInput]) -> tuple[str, ...]:
    """Return the values of constant inputs as text, with axes of equal value joined."""
    found: dict[tuple[str, str], list[str]] = {}
    for item in constant:
        name, _, axis = item.label.rpartition(" ")
        if axis not in ("x", "y", "z"):
            name, axis = item.label, ""
        value = f"{item.values[np.isfinite(item.values)][0]:.4g} {item.unit}".strip()
        found.setdefault((name, value), []).append(axis)
    return tuple(
        " ".join(part for part in (name, ", ".join(filter(None, axes)), value) if part)
        for (name, value), axes in found.items()
    )


def vehicle_inputs(trace: Trace) -> list[VehicleInput]:
    """Return the commands and actuator states of a vehicle, without attitudes."""
    return [
        _vehicle_input(trace, column)
        for column in trace.table.columns
        if column.startswith((COMMAND, ACTUAL))
        and not column.startswith(NOT_INPUTS)
        and trace.has((column,))
    ]


def _vehicle_input(trace: Trace, column: str) -> VehicleInput:
    """Return a column as an input: ``cmd_yaw_rate_radps`` is the yaw rate in deg/s."""
    label = column_label(column)
    values = label.factor * trace.table.part((column,))[:, 0]
    return VehicleInput(label.short, label.unit, values, column.startswith(COMMAND))


def _input_lines(trace: Trace, inputs: Sequence[VehicleInput]) -> list[PlotLine]:
    """Return curves of inputs; a command is dotted, in the color of its actuator."""
    leaders = [
        next((other for other in inputs if item.is_command_for(other)), item) for item in inputs
    ]
    alone = [item for item, leader in zip(inputs, leaders, strict=True) if item is leader]
    colors = {id(item): HUES[i % len(HUES)] for i, item in enumerate(alone)}
    return [
        PlotLine(item.label, trace.time_s, item.values, colors[id(item)])
        if item is leader
        else PlotLine(COMMAND_LABEL, trace.time_s, item.values, colors[id(leader)], "setpoint")
        for item, leader in zip(inputs, leaders, strict=True)
    ]
