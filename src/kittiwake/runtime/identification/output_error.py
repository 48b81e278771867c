"""Output-error method: parameters with which simulated windows are nearest to a flight log.

The residuals v of all samples are weighted by the standard deviation s of each quantity's noise,
which follows from the residuals themselves (R. Maine and K. Iliff, "Identification of dynamic
systems", NASA RP-1138, 1985, chapter 5):

    minimize sum (v / s)^2 + sum ((x - x_0) / p)^2 over parameters and starts x,
    s^2 = mean v^2,   repeated

with the start x_0 that the log shows, to within p.

The starts are eliminated: for given parameters each window has its best one, and the derivative of
what remains is the part of the parameters' derivative that no start can explain (G. Golub and V.
Pereyra, SIAM J. Numer. Anal. 10, 1973; L. Kaufman, BIT 15, 1975). SciPy's trust-region method does
the rest. The covariance of the parameters is the inverse of the Hessian J' J at the minimum.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

import numpy as np
from jaxtyping import Float64
from scipy.optimize import least_squares

from kittiwake.core.errors import ScenarioError
from kittiwake.runtime.identification.windows import (
    START_COORDINATES,
    FlownWindow,
    MeasuredStart,
    StartPoint,
    Window,
    WindowFlights,
)
from kittiwake.sim.structure import Numbers

Point: TypeAlias = Float64[np.ndarray, " parameters"]
# changes of the starts for one set of parameters, and the relative change that ends them
START_STEPS, START_CHANGE = 6, 1e-7
# repetitions of the weights, and the relative change of a deviation that ends them
ROUNDS, DEVIATION_CHANGE = 6, 0.01
# relative changes of point and cost that end a round
POINT_CHANGE, COST_CHANGE = 1e-5, 1e-7
# directions of parameters that change nothing, relative to those that change most
NEGLIGIBLE = 1e-12
# noise of a quantity without any, relative to its variation
LEAST_NOISE = 1e-7
FIRST_RADIUS = 0.3
# distance of the first point from its limits, relative to their distance
INSIDE = 0.05


class FleetAt(NamedTuple):
    """Numbers of the fleet at a point, their derivatives, and the biases of the quantities.

    Attributes:
        numbers: the numbers.
        slopes: their derivatives along each parameter; zero for biases.
        biases: the place among the parameters and the value of each bias, by the quantity's name.
    """

    numbers: Numbers
    slopes: Float64[np.ndarray, "parameters numbers"]
    biases: Mapping[str, tuple[int, float]]


class Fit(NamedTuple):
    """Windows at a point, each with its best start.

    Attributes:
        residuals: unweighted residuals by name, all windows after each other.
        weighted: weighted residuals of each window, then those of its start.
        jacobians: their derivatives along the parameters, without the part of the starts.
        starts: the best start of each window.
        estimated: number of coordinates of each start that its samples tell, of the others the log
            shows more; fractions for those between.
        scales: norms of the derivatives along the parameters, with the part of the starts.
    """

    residuals: dict[str, Float64[np.ndarray, " samples"]]
    weighted: list[Float64[np.ndarray, " residuals"]]
    jacobians: list[Float64[np.ndarray, "residuals parameters"]]
    starts: list[StartPoint]
    estimated: list[float]
    scales: Float64[np.ndarray, " parameters"]


class Estimate(NamedTuple):
    """Result of the method.

    Attributes:
        point: the parameters.
        covariance: their covariance from the Hessian; infinite where nothing depends on them.
        window_covariance: the same from the spread between the windows, which does not assume that
            residuals are independent (Huber's sandwich, windows as clusters).
        noise: standard deviation of each residual's noise by name.
        evaluations: number of points at which the windows were flown.
    """

    point: Point
    covariance: Float64[np.ndarray, "parameters parameters"]
    window_covariance: Float64[np.ndarray, "parameters parameters"]
    noise: dict[str, float]
    evaluations: int


@dataclass
class OutputError:
    """Residuals of windows as a function of the parameters.

    Attributes:
        flights: the flights of the windows.
        windows: the windows.
        measured: the start of each window that the log shows.
        fleet_at: function from a point to the numbers of the fleet.
        noise: standard deviation of each residual's noise by name.
        evaluated: called with the number of evaluated points.
    """

    flights: WindowFlights
    windows: Sequence[Window]
    measured: Sequence[MeasuredStart]
    fleet_at: Callable[[Point], FleetAt]
    noise: dict[str, float]
    evaluated: Callable[[int], None]
    evaluations: int = 0
    _last: tuple[Point, Fit] | None = field(default=None, init=False)
    # improved with each evaluation
    _starts: list[StartPoint] = field(init=False)

    def __post_init__(self) -> None:
        self._starts = [one.point for one in self.measured]

    def fit(self, at: Point) -> Fit:
        """Return the windows at a point with their best starts.

        Raises:
            ScenarioError: if a value is not allowed, or a flight is not finite.
        """
        if self._last is None or not np.array_equal(self._last[0], at):
            self._last = at.copy(), self._fitted(self.fleet_at(at))
            self.evaluations += 1
            self.evaluated(self.evaluations)
        return self._last[1]

    def reweighted(self, noise: dict[str, float]) -> None:
        """Weight the residuals by other standard deviations from now on."""
        self.noise, self._last = noise, None

    def _fitted(self, fleet: FleetAt) -> Fit:
        weighted, jacobians, starts, estimated = [], [], [], []
        squares = np.zeros(len(fleet.slopes))
        residuals: dict[str, list[np.ndarray]] = {name: [] for name in self.noise}
        for window, measured, first in zip(self.windows, self.measured, self._starts, strict=True):
            own = _Residuals(window, measured, self.noise, fleet)
            start, flown, explained = self._best_start(own, first)
            for name in own.names:
                residuals[name].append(flown.residuals[own.named == name])
            jacobian = own.weighted_slopes(flown)
            squares += np.square(jacobian).sum(axis=0)
            estimated.append(float(np.square(explained[: len(own.named)]).sum()))
            weighted.append(own.weighted(flown, start))
            jacobians.append(jacobian - explained @ (explained.T @ jacobian))
            starts.append(start)
        self._starts = starts
        joined = {name: np.concatenate([*parts, np.zeros(0)]) for name, parts in residuals.items()}
        return Fit(joined, weighted, jacobians, starts, estimated, np.sqrt(squares))

    def _best_start(
        self, own: "_Residuals", start: StartPoint
    ) -> tuple[StartPoint, FlownWindow, Float64[np.ndarray, "residuals rank"]]:
        """Return the best start, its flight, and an orthonormal basis of what starts can change.

        The steps are those of Gauss and Newton, halved while they make it worse.
        """
        flown = own.flown(self.flights, start)
        cost = own.squares(flown, start)
        if not np.isfinite(cost):
            message = f"the flight from {own.window.begin_s:g} s on is not finite"
            raise ScenarioError(message)
        for _ in range(START_STEPS):
            basis, change, gain = own.gauss_newton(flown, start)
            if gain <= START_CHANGE * cost:
                return start, flown, basis
            for _ in range(START_STEPS):
                other = own.flown(self.flights, start + change)
                later = own.squares(other, start + change)
                if later <= cost:
                    break
                change = 0.5 * change
            else:
                return start, flown, basis
            start, flown, cost = start + change, other, later
        return start, flown, own.gauss_newton(flown, start)[0]


class _Residuals:
    """Residuals of a window with biases and of its start, and the deviations of their noise."""

    def __init__(
        self,
        window: Window,
        measured: MeasuredStart,
        noise: Mapping[str, float],
        fleet: FleetAt,
    ) -> None:
        self.window, self._measured, self._fleet = window, measured, fleet
        self.named = np.concatenate(
            [np.tile(np.array(one.names), len(one.time_s)) for one in window.quantities]
        )
        self.names = [*dict.fromkeys(self.named.tolist())]
        deviations = np.empty(len(self.named))
        for name in self.names:
            deviations[self.named == name] = noise[name]
        self._deviations = np.concatenate([deviations, measured.deviations])

    def flown(self, flights: WindowFlights, start: StartPoint) -> FlownWindow:
        """Return the flight from a start."""
        flown = flights.fly(self.window, start, self._fleet.numbers, self._fleet.slopes)
        for name, (place, value) in self._fleet.biases.items():
            flown.residuals[self.named == name] += value
            flown.by_parameter[self.named == name, place] += 1.0
        return flown

    def weighted(self, flown: FlownWindow, start: StartPoint) -> Float64[np.ndarray, " residuals"]:
        """Return the weighted residuals of the samples, then those of the start."""
        apart = start - self._measured.point
        for name, (_, value) in self._fleet.biases.items():
            if name in START_COORDINATES:
                apart[START_COORDINATES.index(name)] += value
        return np.concatenate([flown.residuals, apart]) / self._deviations

    def weighted_slopes(self, flown: FlownWindow) -> Float64[np.ndarray, "residuals parameters"]:
        """Return the derivatives of the weighted residuals along the parameters."""
        of_start = np.zeros((len(self._measured.point), flown.by_parameter.shape[1]))
        for name, (place, _) in self._fleet.biases.items():
            if name in START_COORDINATES:
                of_start[START_COORDINATES.index(name), place] = 1.0
        return np.concatenate([flown.by_parameter, of_start]) / self._deviations[:, None]

    def squares(self, flown: FlownWindow, start: StartPoint) -> float:
        """Return the sum of the squares of the weighted residuals."""
        with np.errstate(over="ignore", invalid="ignore"):
            return float(np.square(self.weighted(flown, start)).sum())

    def gauss_newton(
        self, flown: FlownWindow, start: StartPoint
    ) -> tuple[Float64[np.ndarray, "residuals rank"], StartPoint, float]:
        """Return a basis of what starts change, the step to the best one, and what it gains."""
        by_start = np.concatenate([flown.by_start, np.eye(len(start))])
        left, values, right = np.linalg.svd(
            by_start / self._deviations[:, None], full_matrices=False
        )
        known = values > NEGLIGIBLE * values[0]
        basis = left[:, known]
        parts = basis.T @ self.weighted(flown, start)
        change = -(right[known].T / values[known]) @ parts
        return basis, change, float(parts @ parts)


def estimate(
    problem: OutputError,
    start: Point,
    limits: tuple[Point, Point],
    variation: dict[str, float],
    evaluations: int,
) -> Estimate:
    """Return the parameters with which the windows are nearest to the log.

    Args:
        problem: the residuals.
        start: the first point.
        limits: least and largest coordinates.
        variation: standard deviation of each quantity over the log, by the residual's name.
        evaluations: most points for each set of weights.

    Raises:
        ScenarioError: if the flights at the first point cannot be simulated.
    """
    # the trust-region method hardly leaves a limit
    margin = INSIDE * np.minimum(limits[1] - limits[0], 1.0)
    point = np.clip(start, limits[0] + margin, limits[1] - margin)
    for _ in range(ROUNDS):
        noise = _noise(problem.fit(point), variation)
        changes = [abs(noise[name] / problem.noise[name] - 1.0) for name in noise]
        problem.reweighted(noise)
        found = least_squares(
            lambda at: _stacked(problem, at)[0],
            point,
            jac=lambda at: _stacked(problem, at)[1],  # pyright: ignore[reportArgumentType]
            bounds=limits,
            x_scale=FIRST_RADIUS,
            xtol=POINT_CHANGE,
            ftol=COST_CHANGE,
            max_nfev=evaluations,
        )
        moved = np.abs(found.x - point).max(initial=0.0)
        point = found.x
        if max(changes) < DEVIATION_CHANGE and moved < DEVIATION_CHANGE:
            break
    fit = problem.fit(point)
    covariance, by_window = _covariances(fit)
    return Estimate(point, covariance, by_window, problem.noise, problem.evaluations)


def _stacked(problem: OutputError, at: Point) -> tuple[np.ndarray, np.ndarray]:
    """Return the weighted residuals and their Jacobian; infinite where a flight is impossible."""
    try:
        fit = problem.fit(at)
    except ScenarioError:
        # SciPy tries a shorter step
        samples = sum(
            len(own.names) * len(own.time_s) for w in problem.windows for own in w.quantities
        )
        size = samples + sum(len(own.point) for own in problem.measured)
        return np.full(size, np.inf), np.zeros((size, len(at)))
    return np.concatenate(fit.weighted), np.concatenate(fit.jacobians)


def _noise(fit: Fit, variation: dict[str, float]) -> dict[str, float]:
    return {
        name: max(float(np.sqrt(np.mean(np.square(own)))), LEAST_NOISE * variation[name])
        for name, own in fit.residuals.items()
        if len(own)
    }


def _covariances(fit: Fit) -> tuple[np.ndarray, np.ndarray]:
    """Return the covariances of the parameters from the Hessian and from the windows' spread."""
    hessian = np.sum([own.T @ own for own in fit.jacobians], axis=0)
    counts = [len(own) - len(start) for own, start in zip(fit.weighted, fit.starts, strict=True)]
    samples, estimated = sum(counts), sum(fit.estimated)
    freedom = samples - len(hessian) - estimated
    squares = sum(
        float(own[:count] @ own[:count]) for own, count in zip(fit.weighted, counts, strict=True)
    )
    if freedom <= 0.0:
        message = (
            f"{samples} measured numbers are too few for {len(hessian)} parameters and "
            f"{estimated:.0f} coordinates of starts; take longer windows, or fewer parameters"
        )
        raise ScenarioError(message)
    variance = squares / freedom
    inverse = _inverse(hessian, fit.scales)
    gradients = [own.T @ rest for own, rest in zip(fit.jacobians, fit.weighted, strict=True)]
    count = len(gradients)
    spread = np.sum([np.outer(own, own) for own in gradients], axis=0)
    spread *= count / max(count - 1, 1)
    with np.errstate(invalid="ignore"):
        by_window = inverse @ spread @ inverse if count > 1 else np.full_like(inverse, np.nan)
    return variance * inverse, by_window


def _inverse(
    hessian: Float64[np.ndarray, "n n"], scales: Float64[np.ndarray, " n"]
) -> Float64[np.ndarray, "n n"]:
    """Return the inverse; directions that change nothing get an infinite variance.

    Those that the starts explain change nothing; ``scales`` are the changes with them.
    """
    scale = np.where(scales == 0.0, 1.0, scales)
    values, vectors = np.linalg.eigh(hessian / np.outer(scale, scale))
    known = values > NEGLIGIBLE
    inverse = (vectors[:, known] / values[known]) @ vectors[:, known].T
    lost = (np.square(vectors[:, ~known]) > NEGLIGIBLE).any(axis=1)
    inverse[lost, lost] = np.inf
    return inverse / np.outer(scale, scale)
