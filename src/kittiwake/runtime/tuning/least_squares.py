"""Tuning by least squares: the tracking errors of flights and their derivatives.

The sum of squared tracking errors is minimized by a trust-region method of SciPy (Branch, Coleman
and Li, SIAM J. Sci. Comput. 21, 1999), from the derivative of each error along the flight.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float
from scipy.optimize import least_squares

from kittiwake.analysis.table import POSITION_WORLD_M, SETPOINT_WORLD_M, STATUS
from kittiwake.core.errors import ScenarioError
from kittiwake.runtime.program import Program
from kittiwake.runtime.sensitivities import Columns, fly_with_derivatives
from kittiwake.runtime.simulation import Simulation
from kittiwake.runtime.tuning.objective import TRACKING
from kittiwake.runtime.tuning.search_space import SearchSpace
from kittiwake.scenario.size import steps_in

Point = Float[np.ndarray, " free"]
# first radius of the trust region, in coordinates
SCALE = 0.3
# weight of a change that has no effect, relative to the errors at the start
RIDGE = 0.01
# distance of the start from limits, as a share of their distance; at a limit nothing would move
INSET = 0.05
# called with a point, the objective there, and why it was refused; empty if it was not
Note = Callable[[Point, float, str], None]


@dataclass
class TrackingErrors:
    """Tracking errors of a scenario's flights and their derivatives, as residuals.

    Attributes:
        space: the search space.
        seeds: seed of each flight.
        vehicles: names of the vehicles that count.
        note: called with each point, the root of the mean squared distance there, and why it was
            refused.
    """

    space: SearchSpace
    seeds: Sequence[int]
    vehicles: Sequence[str]
    note: Note = lambda _point, _error, _refusal: None
    _last: tuple[Point, np.ndarray, np.ndarray] | None = field(default=None, init=False)

    def residuals(self, at: Point) -> Float[np.ndarray, " errors"]:
        """Return the components of all errors, whose squares add up to the mean squared distance.

        They are infinite where a vehicle is lost, and for values that are not allowed.
        """
        return self._flown(at)[0]

    def jacobian(self, at: Point) -> Float[np.ndarray, "errors free"]:
        """Return the derivatives of the residuals."""
        return self._flown(at)[1]

    def _flown(self, at: Point) -> tuple[np.ndarray, np.ndarray]:
        if self._last is None or not np.array_equal(self._last[0], at):
            refusal = ""
            try:
                parts = [*self._of_flights(at)]
            except ScenarioError as error:
                if self._last is None:
                    raise
                refusal = str(error)
                # SciPy tries a shorter step
                parts = [(np.full_like(self._last[1], np.inf), self._last[2])]
            residuals = np.concatenate([part[0] for part in parts]) / np.sqrt(len(parts))
            slopes = np.concatenate([part[1] for part in parts]) / np.sqrt(len(parts))
            self._last = at.copy(), residuals, slopes
            self.note(at, float(np.linalg.norm(residuals)), refusal)
        return self._last[1], self._last[2]

    def _of_flights(self, at: Point) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        simulation = self.space.simulation(at)
        slopes: np.ndarray | None = None
        for seed in self.seeds:
            own = simulation.drawn(seed)
            # without draws it is the same for all seeds
            if slopes is None or own is not simulation:
                slopes = self.space.number_slopes(at, seed)
            yield self._of_flight(own, seed, slopes)

    def _of_flight(
        self, simulation: Simulation, seed: int, slopes: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        program, scenario = simulation.program, simulation.scenario
        steps = steps_in(scenario.duration_s, scenario.rate_hz) + 1
        columns, places = _columns(program, self.vehicles)
        flown = fly_with_derivatives(program, slopes, seed, steps, columns)
        values, derivatives = flown.values[:, places], flown.derivatives[..., places]
        count = len(self.vehicles)
        each = values.reshape(steps, count, -1)
        position, setpoint, status = each[..., :3], each[..., 3:6], each[..., 6]
        known = np.isfinite(setpoint)
        errors = np.where(known, setpoint - position, 0.0)
        moved = derivatives.reshape(len(slopes), steps, count, -1)
        changes = np.where(known, moved[..., 3:6] - moved[..., :3], 0.0)
        # of each vehicle its own mean, as in a summary
        weights = np.sqrt(np.maximum(known[..., :1].sum(axis=0, keepdims=True), 1) * count)
        if status.any():
            errors = np.full_like(errors, np.inf)
        return (errors / weights).ravel(), (changes / weights).reshape(len(slopes), -1).T


def _inside(space: SearchSpace) -> Point:
    """Return the point next to the start that is at some distance from all limits."""
    low, high = space.limits
    bounded = np.isfinite(low) & np.isfinite(high)
    inset = INSET * np.where(bounded, high - low, 0.0)
    return np.clip(space.start, low + inset, high - inset)


def _first(errors: TrackingErrors) -> tuple[Point, Float[np.ndarray, " errors"]]:
    """Return the point where the search begins, and the residuals there.

    Raises:
        ScenarioError: if the flight cannot be differentiated, or a vehicle is lost.
    """
    start = _inside(errors.space)
    first = errors.residuals(start)
    if not np.isfinite(first).all():
        message = "a vehicle is lost with the present values, which have no derivative there"
        raise ScenarioError(message)
    return start, first


def minimized(errors: TrackingErrors, evaluations: int) -> Point:
    """Return the point with the least tracking errors that was found.

    Raises:
        ScenarioError: if the flight cannot be differentiated, or a vehicle is lost at the start.
    """
    start, first = _first(errors)
    if evaluations == 1:
        return start
    # what hardly matters stays as it is
    ridge = RIDGE * float(np.linalg.norm(first)) / np.sqrt(len(start)) * np.eye(len(start))

    def residuals(at: Point) -> np.ndarray:
        return np.concatenate([errors.residuals(at), ridge @ at])

    def jacobian(at: Point) -> np.ndarray:
        return np.concatenate([errors.jacobian(at), ridge])

    found = least_squares(
        residuals,
        start,
        jac=jacobian,  # pyright: ignore[reportArgumentType]  its stub knows names alone
        bounds=errors.space.limits,
        x_scale=SCALE,
        max_nfev=evaluations,
    )
    return found.x


def gradient_check(errors: TrackingErrors) -> tuple[float, float]:
    """Return the slope of the mean squared error at the start, and the same by differences.

    Both are derivatives in the direction of the gradient.

    Raises:
        ScenarioError: if the flight cannot be differentiated, a vehicle is lost, or the slope is
            zero.
    """
    start, first = _first(errors)
    gradient = 2.0 * errors.jacobian(start).T @ first
    slope = float(np.linalg.norm(gradient))
    if slope == 0.0:
        message = "the free numbers have no effect on the tracking errors"
        raise ScenarioError(message)
    direction = gradient / slope
    step = 1e-4
    sides = [
        float(np.square(errors.residuals(start + side * direction)).sum()) for side in (-step, step)
    ]
    return slope, (sides[1] - sides[0]) / (2.0 * step)


def tracked_vehicles(simulation: Simulation, objective: str) -> tuple[str, ...] | None:
    """Return the vehicles whose tracking errors are the objective; None if it is another one."""
    scenario, program = simulation.scenario, simulation.program
    tracked = [
        name
        for name, own in scenario.vehicles.items()
        if own.guidance.component.tracked
        and {*SETPOINT_WORLD_M} <= {*program.functions.columns[program.indices[name][0]]}
    ]
    if objective == TRACKING:
        return tuple(tracked) or None
    name = objective.removesuffix(f".{TRACKING}")
    return (name,) if name != objective and name in tracked else None


def _columns(program: Program, vehicles: Sequence[str]) -> tuple[Columns, list[int]]:
    """Return the columns to record of each group, and where those of the vehicles are then."""
    names = (*POSITION_WORLD_M, *SETPOINT_WORLD_M, STATUS)
    groups = {program.indices[name][0] for name in vehicles}
    columns: list[tuple[int, ...]] = []
    starts: list[int] = []
    total = 0
    for number, own in enumerate(program.functions.columns):
        used = tuple(own.index(name) for name in names) if number in groups else ()
        starts.append(total)
        columns.append(used)
        total += len(used) * len(program.fleet.groups[number].names)
    places = [
        starts[group] + index * len(names) + each
        for group, index in (program.indices[name] for name in vehicles)
        for each in range(len(names))
    ]
    return tuple(columns), places
