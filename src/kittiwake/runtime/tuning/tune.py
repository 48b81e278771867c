"""Tuning of a scenario's numbers, from Python."""

from collections.abc import Callable, Iterable, Mapping
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np

from kittiwake.analysis.run_folder import default_folder, results_folder
from kittiwake.analysis.tuning_result import RESULT_FILE, Evaluation, Method, TuningResult
from kittiwake.core.arguments import FILE, FUNCTION, TEXT, WHOLE, checked_arguments
from kittiwake.core.errors import LogError, ScenarioError
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
from kittiwake.scenario.changing import with_changes
from kittiwake.scenario.document import written
from kittiwake.scenario.free_values import free_values
from kittiwake.scenario.load import AllowedCode, load_in_python
from kittiwake.scenario.scenario import Scenario

# most evaluations by method
EVALUATIONS = {"gradient": 25, "cma-es": 300}
SEEDS, UNSEEN = 4, 20
# relative difference of derivative and difference quotient of a flight that is smooth
SMOOTH = 0.1


def _no_progress(done: int, most: int) -> None:
    del done, most


@checked_arguments(
    objective=TEXT,
    evaluations=WHOLE,
    seeds=WHOLE,
    unseen=WHOLE,
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
        free: keys of numbers, or a mapping of them to limits ``(low, high)`` or None. In a key
            ``*`` stands for any text.
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
        out: folder of the results; a new one under ``runs`` by default.
        allow_code: the folder whose Python files the scenario may load, or several.
        progress: called with the number of flown candidates and the largest number.

    Raises:
        ScenarioError: for wrong keys, limits or options, or an objective that no summary has.
        LogError: if the folder holds a result, or cannot be written.
        MissingExtraError: for ``cma-es`` without the library.
    """
    base = (
        scenario if isinstance(scenario, Scenario) else load_in_python(scenario, None, allow_code)
    )
    for name, number in (("seeds", seeds), ("unseen", unseen), ("evaluations", evaluations)):
        if number is not None and number < 1:
            message = f"`{name}`: got {number}; must be at least 1"
            raise ScenarioError(message)
    if method is not None and method not in EVALUATIONS:
        message = f"`method`: got {method!r}; allowed: {', '.join(EVALUATIONS)}"
        raise ScenarioError(message)
    items = [f"{key}={written(value)}" for key, value in (overrides or {}).items()]
    base = with_changes(base, items) if items else base
    limits = free if isinstance(free, Mapping) else dict.fromkeys(free)
    space = SearchSpace(base, free_values(base, limits))
    flown = range(base.seed, base.seed + seeds)
    tuning = _Tuning(space, objective, flown, progress, maximize=maximize)
    folder = None if out is None else Path(fspath(out))
    with results_folder(folder, default_folder(f"tune-{base.name}")) as made:
        if (made / RESULT_FILE).exists():
            message = f"'{made}' holds the result of another tuning; name another folder"
            raise LogError(message)
        others = range(base.seed + seeds, base.seed + seeds + unseen)
        result = tuning.result(made, method, evaluations, others)
        result.write()
    return result


class _Tuning:
    def __init__(
        self,
        space: SearchSpace,
        objective: str,
        seeds: range,
        progress: Callable[[int, int], None],
        *,
        maximize: bool,
    ) -> None:
        self._space, self._objective, self._maximize = space, objective, maximize
        self._seeds, self._progress = seeds, progress
        self._evaluations: list[Evaluation] = []
        self._most = 0

    def result(
        self, folder: Path, method: Method | None, evaluations: int | None, others: range
    ) -> TuningResult:
        start = self._space.simulation(self._space.start)
        used, reason, errors, check = self._method(start, method)
        if used == "cma-es":
            require_library()
        (before,) = scores([start], self._seeds, self._objective)
        self._most = EVALUATIONS[used] if evaluations is None else evaluations
        if errors is not None:
            errors.note = lambda point, error: self._note(point, error)
            point = minimized(errors, self._most)
        else:
            point = evolved(
                self._space,
                self._seeds,
                self._objective,
                self._most,
                maximize=self._maximize,
                seed=self._space.scenario.seed,
                note=lambda point, score: self._note(
                    point, score.value if not score.failures else np.inf
                ),
            )
        tuned = self._space.simulation(point)
        (after,) = scores([tuned], self._seeds, self._objective)
        first, last = scores([start, tuned], others, self._objective)
        if after.rank(maximize=self._maximize) > before.rank(maximize=self._maximize):
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

    def _note(self, point: Point, objective: float) -> None:
        self._evaluations.append(Evaluation(tuple(self._space.values(point)), objective))
        self._progress(min(len(self._evaluations), self._most), self._most)
