"""Tuning of a scenario's numbers, from Python."""

from collections.abc import Callable, Iterable, Mapping
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from kittiwake.analysis.run_folder import default_folder, new_results
from kittiwake.analysis.tuning_result import Evaluation, Method, TuningResult
from kittiwake.core.arguments import (
    COUNT,
    FILE,
    FLAG,
    FUNCTION,
    OVERRIDES,
    TEXT,
    checked_arguments,
    several,
)
from kittiwake.core.errors import MissingExtraError, ScenarioError
from kittiwake.runtime.simulation import Simulation
from kittiwake.runtime.tuning.evolution import evolved, require_library
from kittiwake.runtime.tuning.least_squares import (
    Point,
    TrackingErrors,
    gradient_check,
    minimized,
    tracked_vehicles,
)
from kittiwake.runtime.tuning.objective import TRACKING, scores
from kittiwake.runtime.tuning.search_space import SearchSpace
from kittiwake.scenario.free_values import free_values, left_out, parse_free
from kittiwake.scenario.load import AllowedCode, overridden
from kittiwake.scenario.scenario import Scenario

# most evaluations by method
EVALUATIONS = {"gradient": 25, "cma-es": 300}
SEEDS, UNSEEN = 4, 20
# relative difference of derivative and difference quotient of a flight that is smooth
SMOOTH = 0.1


def _no_progress(done: int, most: int) -> None:
    del done, most


@checked_arguments(
    free=several("keys", '["vehicles.drone.controller.*"], or a mapping of them to limits'),
    objective=TEXT,
    maximize=FLAG,
    method=TEXT,
    evaluations=COUNT,
    seeds=COUNT,
    unseen=COUNT,
    overrides=OVERRIDES,
    out=FILE,
    progress=FUNCTION,
)
def tune(
    scenario: str | PathLike[str] | Scenario,
    free: Mapping[str, tuple[float, float] | None] | Iterable[str],
    *,
    objective: str = TRACKING,
    maximize: bool = False,
    method: Method | None = None,
    evaluations: int | None = None,
    seeds: int = SEEDS,
    unseen: int = UNSEEN,
    overrides: Mapping[str, Any] | None = None,
    out: str | PathLike[str] | None = None,
    allow_code: AllowedCode = None,
    progress: Callable[[int, int], None] = _no_progress,
) -> TuningResult:
    """Look for values of a scenario with which its flights are better.

    Args:
        scenario: a library name, the path of a file, or a scenario.
        free: keys of numbers, as ``KEY`` or ``KEY=low:high``, or a mapping of them to limits
            ``(low, high)`` or None. In a key ``*`` stands for any text.
        objective: what to make small: a number of the flights' summaries by its name in a sweep,
            such as ``drone.touchdown.offset_m``. By default the tracking error of all vehicles
            that track a setpoint, as the root of the mean square over vehicles and time.
        maximize: True to make it large.
        method: ``gradient``, for tracking errors of smooth flights, or ``cma-es``; by default the
            first one where it applies.
        evaluations: most candidates.
        seeds: number of flights of each candidate, whose seeds count up from the scenario's.
        unseen: number of flights with further seeds, with which the result is compared.
        overrides: changes to the scenario, such as ``{"time.duration_s": 20}``.
        out: folder of the results, which must be empty; a new one under ``runs`` by default.
        allow_code: the folder whose Python files the scenario may load, or several.
        progress: called with the number of flown candidates and the largest number.

    Raises:
        ScenarioError: for wrong keys, limits or options, or an objective that no summary has.
        LogError: if the folder is not empty, or cannot be written.
        MissingExtraError: for ``cma-es`` without the library.
    """
    base = overridden(scenario, overrides, allow_code)
    if method is not None and method not in EVALUATIONS:
        message = f"`method`: got {method!r}; allowed: {', '.join(EVALUATIONS)}"
        raise ScenarioError(message)
    limits = free if isinstance(free, Mapping) else parse_free(free)
    space = SearchSpace(base, free_values(base, limits))
    flown = range(base.seed, base.seed + seeds)
    tuning = _Tuning(space, left_out(base, limits), objective, flown, progress, maximize=maximize)
    folder = None if out is None else Path(fspath(out))
    with new_results(folder, default_folder(f"tune-{base.name}")) as made:
        others = range(base.seed + seeds, base.seed + seeds + unseen)
        result = tuning.result(made, method, evaluations, others)
        result.write()
    return result


class _Tuning:
    def __init__(
        self,
        space: SearchSpace,
        left: Mapping[str, str],
        objective: str,
        seeds: range,
        progress: Callable[[int, int], None],
        *,
        maximize: bool,
    ) -> None:
        self._space, self._objective, self._maximize = space, objective, maximize
        self._seeds, self._progress, self._left_out = seeds, progress, left
        self._evaluations: list[Evaluation] = []
        self._most = 0

    def result(
        self, folder: Path, method: Method | None, evaluations: int | None, others: range
    ) -> TuningResult:
        start = self._space.simulation(self._space.start)
        used, reason, errors, check = self._method(start, method)
        if used == "cma-es":
            _require_library(reason)
        (before,) = scores([start], self._seeds, self._objective)
        self._most = EVALUATIONS[used] if evaluations is None else evaluations
        if errors is not None:
            errors.note = self._note
            point = minimized(errors, self._most)
        else:
            point = evolved(
                self._space,
                self._seeds,
                self._objective,
                self._most,
                maximize=self._maximize,
                seed=self._space.scenario.seed,
                note=self._note,
            )
        tuned = self._space.simulation(point)
        (after,) = scores([tuned], self._seeds, self._objective)
        first, last = scores([start, tuned], others, self._objective)
        if after.rank(maximize=self._maximize) >= before.rank(maximize=self._maximize):
            point, tuned, after, last = self._space.start, start, before, first
        return TuningResult(
            folder=folder,
            objective=self._objective,
            method=used,
            reason=reason,
            paths=tuple(one.path for one in self._space.free),
            before=tuple(one.start for one in self._space.free),
            after=tuple(self._space.values(point)),
            seeds=(before, after),
            unseen=(first, last),
            gradient=check,
            evaluations=tuple(self._evaluations),
            left_out=self._left_out,
            at_limits=_at_limits(self._space, point),
            logs=(start.run(seed=others[0]), tuned.run(seed=others[0])),
            tuned=tuned.scenario,
        )

    def _method(
        self, start: Simulation, method: Method | None
    ) -> tuple[Method, str, TrackingErrors | None, tuple[float, float] | None]:
        """Return the method, why it is not the gradient, and the errors with a check of slopes.

        Raises:
            ScenarioError: if the gradient was requested and does not apply.
        """
        if method == "cma-es":
            return "cma-es", "", None, None
        vehicles = tracked_vehicles(start, self._objective)
        if vehicles is None or self._maximize:
            reason = "only tracking errors that are minimized have a derivative"
        else:
            errors = TrackingErrors(self._space, self._seeds, vehicles)
            try:
                slope, quotient = gradient_check(errors)
            except ScenarioError as error:
                reason = str(error)
            else:
                if method == "gradient" or abs(quotient - slope) <= SMOOTH * slope:
                    return "gradient", "", errors, (slope, quotient)
                reason = (
                    f"the flight is not smooth: the error's slope is {slope:.3g}, but "
                    f"{quotient:.3g} by differences"
                )
        if method == "gradient":
            message = f"`method`: gradient: {reason}; write cma-es"
            raise ScenarioError(message)
        return "cma-es", reason, None, None

    def _note(self, point: Point, objective: float, refusal: str) -> None:
        self._evaluations.append(Evaluation(tuple(self._space.values(point)), objective, refusal))
        self._progress(min(len(self._evaluations), self._most), self._most)


def _at_limits(space: SearchSpace, point: Point) -> dict[str, float]:
    rows = zip(space.free, space.values(point), strict=True)
    reached = {one.path: one.reached_limit(value) for one, value in rows}
    return {path: limit for path, limit in reached.items() if limit is not None}


def _require_library(reason: str) -> None:
    """Require the library of CMA-ES, with the reason for this method if it was not requested.

    Raises:
        MissingExtraError: if it is not installed.
    """
    try:
        require_library()
    except MissingExtraError as error:
        because = f"tuning is by cma-es, since {reason}; " if reason else ""
        message = f"{because}{error}"
        raise MissingExtraError(message) from None
