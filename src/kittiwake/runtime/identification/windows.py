"""Windows of a flight log, simulated from free starts.

A window is compared from ``begin_s`` on. Its flight begins ``settle_s`` earlier under the recorded
commands, until the state of the actuators, which a log seldom has, follows from them. Its start,
twelve coordinates of position, attitude and velocities, is estimated with the parameters. What a
vehicle forgets while it settles, its samples cannot tell: there the start is as the log shows it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil, inf, sqrt
from typing import NamedTuple, TypeAlias

import jax
import numpy as np
from jaxtyping import Float64

from kittiwake.analysis.flight_logs.flight_log import FlightLog
from kittiwake.analysis.table import (
    ANGULAR_VELOCITY_BODY_RADPS,
    POSITION_WORLD_M,
    Q_WORLD_FROM_BODY,
    VELOCITY_WORLD_MPS,
)
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.runtime.identification.measured import ATTITUDE, ROTATION_AXES, MeasuredQuantity
from kittiwake.runtime.program import Program
from kittiwake.runtime.sensitivities import Columns, fly_with_derivatives
from kittiwake.sim.structure import FleetTemplate, Numbers

# samples of a signal from which its first value and slope are taken
FIRST_SAMPLES = 7
# coordinates of a start by the name of the residual that measures each
START_COORDINATES = (
    *POSITION_WORLD_M,
    *(f"{ATTITUDE}_{axis}_rad" for axis in ROTATION_AXES),
    *VELOCITY_WORLD_MPS,
    *ANGULAR_VELOCITY_BODY_RADPS,
)
# standard deviation of a measured coordinate, as a multiple of the spread of the samples about
# their line and at least, and of one that is not measured: in m, rad, m/s or rad/s
SPREADS, LEAST_DEVIATION, UNMEASURED_DEVIATION = 5.0, 0.01, 10.0

StartPoint: TypeAlias = Float64[np.ndarray, " coordinates"]


class MeasuredStart(NamedTuple):
    """Start of a window as the log shows it.

    Attributes:
        point: the coordinates; zero where the log shows nothing.
        deviations: their standard deviations; infinite for an unknown coordinate.
    """

    point: StartPoint
    deviations: StartPoint


class Window(NamedTuple):
    """Part of a log that is compared with a flight of its own.

    Attributes:
        begin_s: the time of the first compared sample.
        quantities: the samples.
    """

    begin_s: float
    quantities: tuple[MeasuredQuantity, ...]


class FlownWindow(NamedTuple):
    """Residuals of a window.

    Attributes:
        residuals: simulated minus measured values, all samples of a quantity after each other.
        by_start: their derivatives along the coordinates of the start.
        by_parameter: their derivatives along the parameters.
    """

    residuals: Float64[np.ndarray, " residuals"]
    by_start: Float64[np.ndarray, "residuals coordinates"]
    by_parameter: Float64[np.ndarray, "residuals parameters"]


@dataclass(frozen=True)
class WindowFlights:
    """Flights of the windows of a log.

    Attributes:
        program: the program of one vehicle that flies the recorded commands.
        settle_s: the time before a window in which the actuators settle.
        length_s: the length of a window.
        rate_hz: the physics rate.
    """

    program: Program
    settle_s: float
    length_s: float
    rate_hz: float

    def windows(
        self, quantities: Sequence[MeasuredQuantity], begin_s: float, end_s: float
    ) -> tuple[Window, ...]:
        """Return the windows between two times; a rest that is shorter than one is left out."""
        count = int((end_s - begin_s) / self.length_s + 1e-6)
        found = []
        for number in range(count):
            first_s = begin_s + number * self.length_s
            own = tuple(one.between(first_s, first_s + self.length_s) for one in quantities)
            if any(len(one.time_s) for one in own):
                found.append(Window(first_s, own))
        return tuple(found)

    def fly(
        self,
        window: Window,
        start: StartPoint,
        numbers: Numbers,
        slopes: Float64[np.ndarray, "parameters numbers"],
    ) -> FlownWindow:
        """Fly a window, with the derivatives of its residuals.

        Args:
            window: the window.
            start: the coordinates of its start.
            numbers: the numbers of the fleet, in which start and first command are replaced.
            slopes: the derivatives of the numbers along each parameter.

        Raises:
            ScenarioError: if the flight cannot be differentiated.
        """
        begin_s = window.begin_s - self.settle_s
        packed = numbers.packed.copy()
        packed[self.start_places] = start
        packed[self._begin_place] = begin_s
        directions = np.zeros((len(start) + len(slopes), len(packed)))
        directions[range(len(start)), self.start_places] = 1.0
        directions[len(start) :] = slopes
        steps = ceil((self.settle_s + self.length_s) * self.rate_hz) + 2
        columns, places = self._columns(window)
        flown = fly_with_derivatives(
            self.program, directions, 0, steps, columns, Numbers(packed, numbers.large)
        )
        residuals, changes = [], []
        for one, own in zip(window.quantities, places, strict=True):
            at = (one.time_s - begin_s) * self.rate_hz
            values = _between_rows(flown.values[:, own], at)
            residuals.append(one.residuals(values).ravel())
            moved = _between_rows(flown.derivatives[:, :, own], at)
            changes.append(one.slopes(values, moved).reshape(len(directions), -1))
        derivatives = np.concatenate(changes, axis=1).T
        return FlownWindow(
            np.concatenate(residuals), derivatives[:, : len(start)], derivatives[:, len(start) :]
        )

    @cached_property
    def _indices(self) -> tuple[np.ndarray, int]:
        """Places of the start's coordinates and of the first time in the packed numbers."""
        numbers = self.program.numbers
        places = Numbers(np.arange(len(numbers.packed), dtype=float), numbers.large)
        vehicle = FleetTemplate(self.program.fleet).fleet(places).groups[0].vehicle
        start = [int(np.ravel(leaf)[0]) for leaf in jax.tree.leaves(vehicle.start)]
        begin = np.ravel(vehicle.guidance.component.begin_s)[0]  # pyright: ignore
        return np.array(start), int(begin)

    @property
    def start_places(self) -> np.ndarray:
        """Places of the start's coordinates in the packed numbers."""
        return self._indices[0]

    @property
    def _begin_place(self) -> int:
        return self._indices[1]

    def _columns(self, window: Window) -> tuple[Columns, list[list[int]]]:
        """Return the columns to record, and where those of each quantity are then."""
        (own,) = self.program.functions.columns
        names = [name for one in window.quantities for name in one.columns]
        places, at = [], 0
        for one in window.quantities:
            places.append([*range(at, at + len(one.columns))])
            at += len(one.columns)
        return (tuple(own.index(name) for name in names),), places


def measured_start(log: FlightLog, time_s: float) -> MeasuredStart:
    """Return the start that the log shows at a time."""
    place = [_line(log, name, time_s) for name in POSITION_WORLD_M]
    velocity = [
        _line(log, name, time_s) if name in log.signals else _Line(along.slope, 0.0, inf)
        for name, along in zip(VELOCITY_WORLD_MPS, place, strict=True)
    ]
    omega = [_line(log, name, time_s) for name in ANGULAR_VELOCITY_BODY_RADPS]
    lines = [*place, *_angles(log, time_s), *velocity, *omega]
    deviations = [max(SPREADS * line.spread, LEAST_DEVIATION) for line in lines]
    return MeasuredStart(
        np.array([line.value for line in lines]),
        np.minimum(deviations, UNMEASURED_DEVIATION),
    )


class _Line(NamedTuple):
    """Straight line through a few samples: value and slope at a time, spread of the samples."""

    value: float
    slope: float
    spread: float


UNMEASURED = _Line(0.0, 0.0, inf)


def _line(log: FlightLog, name: str, time_s: float) -> _Line:
    if name not in log.signals:
        return UNMEASURED
    times_s, values = log.signals[name]
    middle = int(np.searchsorted(times_s, time_s))
    low = max(0, min(middle - FIRST_SAMPLES // 2, len(times_s) - FIRST_SAMPLES))
    own_s, own = times_s[low : low + FIRST_SAMPLES] - time_s, values[low : low + FIRST_SAMPLES]
    degree = min(1, len(own) - 1)
    line = np.polyfit(own_s, own, degree)
    freedom = len(own) - degree - 1
    squares = float(np.square(own - np.polyval(line, own_s)).sum())
    spread = sqrt(squares / freedom) if freedom else inf
    return _Line(float(line[-1]), float(line[0]) if degree else 0.0, spread)


def _angles(log: FlightLog, time_s: float) -> list[_Line]:
    """Return roll, pitch and yaw."""
    q = [_line(log, name, time_s) for name in Q_WORLD_FROM_BODY]
    if UNMEASURED in q:
        return [UNMEASURED] * 3
    euler = Quaternion(*(part.value for part in q)).normalized().to_euler()
    # a small rotation is twice the vector part of its quaternion
    spread = 2.0 * sqrt(sum(part.spread**2 for part in q))
    return [
        _Line(float(angle), 0.0, spread)
        for angle in (euler.roll_rad, euler.pitch_rad, euler.yaw_rad)
    ]


def _between_rows(
    rows: Float64[np.ndarray, "... steps columns"], at: Float64[np.ndarray, " samples"]
) -> Float64[np.ndarray, "... samples columns"]:
    """Return rows at places between them, by straight lines."""
    low = np.clip(np.floor(at).astype(int), 0, rows.shape[-2] - 2)
    share = (at - low)[:, None]
    return (1.0 - share) * rows[..., low, :] + share * rows[..., low + 1, :]
