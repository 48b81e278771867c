"""Satellites on precise orbits, which are computed afterwards and published as files of positions.

Between the times of the file a position is interpolated by a polynomial through the 13 nearest ones
(Lagrange's, in barycentric form), in Earth-fixed axes: to a millimeter for positions 15 minutes
apart, from one hour after the first to one hour before the last. Time is that of GPS, which has no
leap seconds. A flight evaluates pieces, each a sum of Chebyshev polynomials over at most 15
minutes, in world axes, computed in double precision before it begins.
"""

from datetime import UTC, datetime, timedelta
from math import ceil

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from typing_extensions import override

from kittiwake.core.errors import ScenarioError
from kittiwake.environment.satellites.gps_time import ahead_of_utc, utc_from_gps
from kittiwake.environment.satellites.range_errors import SecondOrderError
from kittiwake.environment.satellites.selection import frame_at, select_satellites
from kittiwake.geometry.geodesy import LocalFrame
from kittiwake.geometry.scalar import Real
from kittiwake.pytree import Module, field
from kittiwake.world.satellites import AbstractConstellation, AbstractOrbits, AbstractRangeError
from kittiwake.world.world import Origin

POINTS = 13
# positions required on either side, so that the polynomial does not oscillate
MARGIN = 4
MAX_INTERVAL_S = 900.0
MAX_PIECE_S = 900.0
DEGREE = 9
# longest span of the pieces of a flight: a day
MAX_SPAN_S = 86_400.0


class OrbitTable(Module):
    """Positions of satellites in Earth-fixed axes, NaN for gaps.

    ``time_s`` counts from ``begins_gps``, in GPS time.
    """

    source: str = field(static=True)
    begins_gps: datetime = field(static=True)
    numbers: tuple[int, ...] = field(static=True)
    time_s: Float[np.ndarray, " times"]
    positions_ecef_m: Float[np.ndarray, "times satellites 3"]

    def __post_init__(self) -> None:
        """Raise ScenarioError for too few positions and too long intervals between them."""
        if len(self.time_s) < POINTS:
            message = (
                f"{self.source}: got positions at {len(self.time_s)} times; must be at "
                f"least {POINTS}"
            )
            raise ScenarioError(message)
        widest_s = float(np.diff(self.time_s).max())
        if widest_s > MAX_INTERVAL_S:
            message = (
                f"{self.source}: got an interval of {widest_s:g} s between two times; must be at "
                f"most {MAX_INTERVAL_S:g} s for an interpolation to a millimeter"
            )
            raise ScenarioError(message)

    @property
    def span_s(self) -> tuple[float, float]:
        """First and last time with enough positions on both sides."""
        return float(self.time_s[MARGIN]), float(self.time_s[-1 - MARGIN])

    def time_of_s(self, time_utc: datetime) -> float:
        """Return the time in the table of a time in UTC."""
        # the difference first, as adding seconds overflows in the last days of the calendar
        return (time_utc - self.begins_gps + ahead_of_utc(time_utc)).total_seconds()

    def at(self, time_s: float, satellites: list[int]) -> Float[np.ndarray, "satellites 3"]:
        """Return interpolated positions of some satellites, by their indices in the table."""
        first = int(np.searchsorted(self.time_s, time_s)) - POINTS // 2
        first = min(max(first, 0), len(self.time_s) - POINTS)
        times = self.time_s[first : first + POINTS]
        known = self.positions_ecef_m[first : first + POINTS, satellites]
        offsets = time_s - times
        if not offsets.all():
            return known[int(np.argmin(np.abs(offsets)))]
        # in units near the range, so that the products neither overflow nor underflow
        separations = (times[:, None] - times) / (times[-1] - times[0]) * POINTS / 4.0
        np.fill_diagonal(separations, 1.0)
        weights = 1.0 / (separations.prod(axis=1) * offsets)
        return np.tensordot(weights / weights.sum(), known, axes=1)


class ChebyshevOrbits(AbstractOrbits):
    """Orbits in pieces of equal length; coefficients are by piece, degree, satellite, axis."""

    numbers: tuple[int, ...] = field(static=True)
    end_s: float | None = field(static=True)
    coefficients_m: Float[Array | np.ndarray, "pieces degrees satellites 3"]

    @override
    def positions_world_m(self, time_s: Real) -> Float[Array, "satellites 3"]:
        assert self.end_s is not None
        dtype = jnp.result_type(time_s, float)
        pieces = len(self.coefficients_m)
        passed = jnp.clip(time_s / self.end_s, 0.0, 1.0) * pieces
        piece = jnp.minimum(jnp.floor(passed), pieces - 1.0)
        x = 2.0 * (passed - piece) - 1.0
        terms = jnp.asarray(self.coefficients_m, dtype)[piece.astype(int)]
        one = two = jnp.zeros(terms.shape[1:], dtype)
        for degree in range(DEGREE, 0, -1):
            one, two = terms[degree] + 2.0 * x * one - two, one
        return terms[0] + x * one - two


class PreciseConstellation(AbstractConstellation):
    """Satellites of an orbit file; ``numbers`` selects some of them.

    Attributes:
        file: file of positions in the format SP3.
        numbers: numbers of the satellites.
        errors: errors of the ranges.
    """

    file: OrbitTable
    numbers: tuple[int, ...] | None = field(static=True, default=None)
    errors: AbstractRangeError = SecondOrderError()

    def __post_init__(self) -> None:
        """Raise ValueError for satellites that are not in the file."""
        select_satellites(self.numbers, self.file.numbers, self.file.source)

    @override
    def orbits(self, origin: Origin, start_utc: datetime) -> ChebyshevOrbits:
        table = self.file
        begins_s = table.time_of_s(start_utc)
        _check_start(table, begins_s)
        span_s = min(table.span_s[1] - begins_s, MAX_SPAN_S)
        numbers = self._complete(begins_s, begins_s + span_s)
        indices = [table.numbers.index(number) for number in numbers]
        frame, pieces = frame_at(origin), ceil(span_s / MAX_PIECE_S)
        nodes = np.polynomial.chebyshev.chebpts1(DEGREE + 1)
        times = begins_s + (np.arange(pieces)[:, None] + 0.5 * (nodes + 1.0)) * span_s / pieces
        known = np.array([[_in_world(table.at(t, indices), frame) for t in row] for row in times])
        to_coefficients = np.linalg.inv(np.polynomial.chebyshev.chebvander(nodes, DEGREE))
        return ChebyshevOrbits(numbers, span_s, np.einsum("dn,pnsx->pdsx", to_coefficients, known))

    def _complete(self, begins_s: float, ends_s: float) -> tuple[int, ...]:
        """Return the selected satellites, or by default those without a gap in this time."""
        table = self.file
        used = _used(table, begins_s, ends_s)
        gaps = np.isnan(table.positions_ecef_m[used])
        complete = tuple(n for i, n in enumerate(table.numbers) if not gaps[:, i].any())
        incomplete = [number for number in self.numbers or complete if number not in complete]
        if incomplete or not complete:
            message = (
                f"{table.source}: has gaps in the positions of satellite "
                f"{', '.join(map(str, incomplete or table.numbers))} in the time of the flight; "
                "omit it from numbers"
            )
            raise ScenarioError(message)
        return self.numbers or complete

    @classmethod
    @override
    def examples(cls) -> dict[str, "PreciseConstellation"]:
        time_s = np.arange(24) * 900.0
        turn = time_s[:, None] * 1.5e-4 + np.arange(5)
        tilt = 0.5 * np.arange(5)
        circles = np.stack(
            [np.cos(turn), np.sin(turn) * np.cos(tilt), np.sin(turn) * np.sin(tilt)], -1
        )
        begins_gps = datetime(2026, 1, 1, 10, tzinfo=UTC)
        table = OrbitTable("circles.sp3", begins_gps, (1, 2, 3, 5, 8), time_s, 2.66e7 * circles)
        return {"circles": cls(file=table)}


def _used(table: OrbitTable, begins_s: float, ends_s: float) -> slice:
    """Return the rows that are required for any time between two times."""
    first, last = np.searchsorted(table.time_s, (begins_s, ends_s))
    rows = len(table.time_s)
    low = min(max(int(first) - POINTS // 2, 0), rows - POINTS)
    return slice(low, max(min(int(last) + POINTS // 2 + 1, rows), low + POINTS))


def _in_world(
    positions_ecef_m: Float[np.ndarray, "satellites 3"], frame: LocalFrame
) -> Float[np.ndarray, "satellites 3"]:
    to_world = np.array([[v.x, v.y, v.z] for v in (frame.to_x, frame.to_y, frame.to_z)])
    return (positions_ecef_m - np.asarray(frame.origin_ecef_m.array)) @ to_world.T


def _check_start(table: OrbitTable, begins_s: float) -> None:
    first_s, last_s = table.span_s
    if not first_s <= begins_s < last_s:
        # whole seconds inside the span, as in a file
        first, last = (
            utc_from_gps(table.begins_gps + timedelta(seconds=s))
            for s in (ceil(first_s), int(last_s))
        )
        message = (
            f"{table.source}: its orbits are known from {first:%Y-%m-%dT%H:%M:%S} to "
            f"{last:%Y-%m-%dT%H:%M:%S} UTC; write a start_utc between them"
        )
        raise ScenarioError(message)
