"""Measured quantities of a flight log, as residuals of a simulated flight.

A number is compared by its difference. An attitude is compared by the rotation vector e in body
axes from the measured quaternion q_m to the simulated one q, by the shorter way:

    e = 2 sgn(w) v,    (w, v) = q_m* q

which is twice the sine of half the angle, and linear in q.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from jaxtyping import Float64

from kittiwake.analysis.flight_logs.flight_log import FlightLog
from kittiwake.analysis.table import Q_WORLD_FROM_BODY, STATE_COLUMNS
from kittiwake.core.errors import ScenarioError, did_you_mean

COMMAND, ACTUATOR = "cmd_", "act_"
ATTITUDE = "attitude"
ROTATION_AXES = ("x", "y", "z")

Times: TypeAlias = Float64[np.ndarray, " samples"]
Samples: TypeAlias = Float64[np.ndarray, "samples numbers"]


@dataclass(frozen=True)
class MeasuredQuantity:
    """Samples of a number, or of an attitude.

    Attributes:
        names: the names of its residuals.
        columns: the columns of a simulated row that it is compared with.
        time_s: the time of each sample.
        values: the samples, a number or a quaternion each.
    """

    names: tuple[str, ...]
    columns: tuple[str, ...]
    time_s: Times
    values: Samples

    @property
    def is_attitude(self) -> bool:
        """True for an attitude, False for a number."""
        return self.columns == Q_WORLD_FROM_BODY

    def between(self, begin_s: float, end_s: float) -> "MeasuredQuantity":
        """Return the samples from one time up to another."""
        own = (begin_s <= self.time_s) & (self.time_s < end_s)
        return MeasuredQuantity(self.names, self.columns, self.time_s[own], self.values[own])

    def residuals(
        self, simulated: Float64[np.ndarray, "... samples columns"]
    ) -> Float64[np.ndarray, "... samples residuals"]:
        """Return simulated minus measured values."""
        if not self.is_attitude:
            return simulated - self.values
        return self._signs(simulated) * self._rotated(simulated)

    def slopes(
        self,
        simulated: Float64[np.ndarray, "samples columns"],
        changes: Float64[np.ndarray, "directions samples columns"],
    ) -> Float64[np.ndarray, "directions samples residuals"]:
        """Return the derivatives of the residuals from those of simulated values."""
        if not self.is_attitude:
            return changes
        return self._signs(simulated) * self._rotated(changes)

    def _signs(
        self, simulated: Float64[np.ndarray, "... samples 4"]
    ) -> Float64[np.ndarray, "... samples 1"]:
        cosine = (self.values * simulated).sum(axis=-1, keepdims=True)
        return np.where(cosine < 0.0, -1.0, 1.0)

    def _rotated(
        self, q: Float64[np.ndarray, "... samples 4"]
    ) -> Float64[np.ndarray, "... samples 3"]:
        """Return twice the vector part of the product of the measured conjugate with q."""
        w, v = self.values[:, :1], -self.values[:, 1:]
        own_w, own_v = q[..., :1], q[..., 1:]
        return 2.0 * (w * own_v + own_w * v + np.cross(np.broadcast_to(v, own_v.shape), own_v))


def measured_quantities(
    log: FlightLog, simulated: Sequence[str], wanted: Sequence[str] = ()
) -> tuple[MeasuredQuantity, ...]:
    """Return the quantities of a log that a simulated row has, too.

    Args:
        log: the flight log.
        simulated: the columns of a simulated row.
        wanted: the columns to compare; all if empty.

    Raises:
        ScenarioError: if the log has none, or no wanted one.
    """
    possible = [name for name in log.signals if name in simulated and _is_measured(name)]
    for name in wanted:
        if name not in possible:
            message = f"measured column: got {name}. {did_you_mean(name, possible)}"
            raise ScenarioError(message)
    chosen = [*(wanted or possible)]
    quaternion = [name for name in Q_WORLD_FROM_BODY if name in chosen]
    if quaternion and len(quaternion) < len(Q_WORLD_FROM_BODY):
        message = f"an attitude needs the columns {', '.join(Q_WORLD_FROM_BODY)}"
        raise ScenarioError(message)
    if not chosen:
        message = (
            f"{log.source}: no column but commands is one of the vehicle's. It has "
            f"{', '.join(log.signals)}; the vehicle has {', '.join(simulated[:13])}, ..."
        )
        raise ScenarioError(message)
    found = [_number(log, name) for name in chosen if name not in quaternion]
    return (*found, *([_attitude(log)] if quaternion else []))


def _is_measured(name: str) -> bool:
    return name in STATE_COLUMNS or name.startswith(ACTUATOR)


def _number(log: FlightLog, name: str) -> MeasuredQuantity:
    signal = log.signals[name]
    return MeasuredQuantity((name,), (name,), signal.time_s, signal.values[:, None])


def _attitude(log: FlightLog) -> MeasuredQuantity:
    time_s = log.signals[Q_WORLD_FROM_BODY[0]].time_s
    parts: Mapping[str, np.ndarray] = {name: log.at(name, time_s) for name in Q_WORLD_FROM_BODY}
    q = np.column_stack([*parts.values()])
    known = np.isfinite(q).all(axis=1)
    q = q[known] / np.linalg.norm(q[known], axis=1, keepdims=True)
    names = tuple(f"{ATTITUDE}_{axis}_rad" for axis in ROTATION_AXES)
    return MeasuredQuantity(names, Q_WORLD_FROM_BODY, time_s[known], q)
