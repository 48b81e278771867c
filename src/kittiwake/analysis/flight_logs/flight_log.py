"""Flight log: recorded signals, each with times of its own."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from jaxtyping import Float64
from typing_extensions import override

from kittiwake.core.errors import LogError, did_you_mean
from kittiwake.core.extras import import_optional

if TYPE_CHECKING:
    import pandas


class Signal(NamedTuple):
    """One recorded quantity.

    Attributes:
        time_s: the times, which increase.
        values: the values, all finite.
    """

    time_s: Float64[np.ndarray, " samples"]
    values: Float64[np.ndarray, " samples"]


@dataclass(frozen=True, eq=False)
class FlightLog:
    """Recorded signals by Kittiwake's column names.

    World axes are ENU, body axes FLU, units SI and radians.

    Attributes:
        source: the name of the file.
        signals: the signals by column.
        dropped: the numbers of samples that were left out, by column: values that are not finite,
            and repetitions of a time.
    """

    source: str
    signals: Mapping[str, Signal]
    dropped: Mapping[str, int] = field(default_factory=dict)

    @override
    def __repr__(self) -> str:
        samples = sum(signal.time_s.size for signal in self.signals.values())
        return f"<FlightLog {self.source} of {len(self.signals)} signals, {samples:,} samples>"

    def span_s(self) -> tuple[float, float]:
        """Return the first and the last time that all signals have in common.

        Raises:
            LogError: if there is none.
        """
        latest = max(self.signals, key=lambda name: self.signals[name].time_s[0])
        earliest = min(self.signals, key=lambda name: self.signals[name].time_s[-1])
        begin_s = float(self.signals[latest].time_s[0])
        end_s = float(self.signals[earliest].time_s[-1])
        if begin_s > end_s:
            message = (
                f"{self.source}: the signals have no time in common: '{earliest}' ends at "
                f"{end_s:g} s, '{latest}' begins at {begin_s:g} s"
            )
            raise LogError(message)
        return begin_s, end_s

    def between(self, begin_s: float, end_s: float) -> "FlightLog":
        """Return the part of the log from one time to another, both included.

        Raises:
            LogError: if a signal has no samples in it.
        """
        part = {
            name: Signal(*(series[_within(signal.time_s, begin_s, end_s)] for series in signal))
            for name, signal in self.signals.items()
        }
        empty = next((name for name, signal in part.items() if not signal.time_s.size), None)
        if empty is not None:
            first_s, last_s = self.signals[empty].time_s[[0, -1]]
            message = (
                f"{self.source}: '{empty}' has no samples from {begin_s:g} to {end_s:g} s; it is "
                f"recorded from {first_s:g} to {last_s:g} s"
            )
            raise LogError(message)
        return replace(self, signals=part)

    def at(
        self, column: str, time_s: Float64[np.ndarray, " times"], *, hold: bool = False
    ) -> Float64[np.ndarray, " times"]:
        """Return a signal at other times; NaN before its first and after its last sample.

        Args:
            column: the name of the signal.
            time_s: the times.
            hold: whether the latest sample is taken in place of linear interpolation.

        Raises:
            LogError: if there is no such signal; the message names the nearest one.
        """
        if column not in self.signals:
            message = (
                f"{self.source} has no signal '{column}'. {did_you_mean(column, self.signals)}"
            )
            raise LogError(message)
        recorded_s, values = self.signals[column]
        if hold:
            latest = np.searchsorted(recorded_s, time_s, side="right") - 1
            found = values[np.maximum(latest, 0)]
        else:
            found = np.interp(time_s, recorded_s, values)
        return np.where((time_s >= recorded_s[0]) & (time_s <= recorded_s[-1]), found, np.nan)

    def frame(self, rate_hz: float | None = None) -> "pandas.DataFrame":
        """Return the signals at common times as a pandas data frame, with the rows of an export.

        Args:
            rate_hz: the rate of the rows; the times of the fastest signal unless given.

        Raises:
            LogError: if the signals have no time in common, or the rows are too many.
        """
        # a module of logs in files, which imports this one
        from kittiwake.analysis.flight_logs.resampling import to_table

        pandas = import_optional("pandas", "data")
        table = to_table(self, rate_hz)
        return pandas.DataFrame(table.values, columns=list(table.columns))


def _within(time_s: Float64[np.ndarray, " samples"], begin_s: float, end_s: float) -> slice:
    """Return the samples from one time to another."""
    return slice(
        int(np.searchsorted(time_s, begin_s, side="left")),
        int(np.searchsorted(time_s, end_s, side="right")),
    )
