"""Identification of a vehicle's parameters from a flight log."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from os import PathLike, fspath
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from kittiwake.analysis.flight_logs.flight_log import FlightLog
from kittiwake.analysis.flight_logs.reading import read_flight_log
from kittiwake.analysis.identification_result import (
    ALL,
    RESULT_FILE,
    IdentificationResult,
    IdentifiedValue,
    Prediction,
    PredictionError,
    vehicle_entries,
)
from kittiwake.analysis.log import SCENARIO_FILE
from kittiwake.analysis.run_folder import default_folder, results_folder
from kittiwake.core.arguments import (
    FILE,
    FUNCTION,
    NUMBER,
    TEXT,
    checked_arguments,
    several,
)
from kittiwake.core.errors import LogError, ScenarioError, did_you_mean
from kittiwake.runtime.identification.flown_log import (
    command_notes,
    flown_scenario,
    noise_keys,
    write_commands,
)
from kittiwake.runtime.identification.measured import (
    COMMAND,
    MeasuredQuantity,
    measured_quantities,
)
from kittiwake.runtime.identification.output_error import (
    Estimate,
    Fit,
    FleetAt,
    OutputError,
    Point,
    estimate,
)
from kittiwake.runtime.identification.windows import Window, WindowFlights, measured_start
from kittiwake.runtime.simulation import Simulation
from kittiwake.runtime.tuning.search_space import SearchSpace
from kittiwake.scenario.changing import rebuilt, with_changes
from kittiwake.scenario.document import apply_overrides
from kittiwake.scenario.free_values import FreeValue, free_values, parse_free
from kittiwake.scenario.load import load_scenario, overridden
from kittiwake.scenario.scenario import Scenario
from kittiwake.sim.structure import Numbers

WINDOW_S, SETTLE_S, RATE_HZ = 1.0, 0.5, 500.0
BIAS = "bias."
# most points for each set of weights
EVALUATIONS = 20
# samples of a quantity in a window, of which its start could explain fewer without noise
LEAST_SAMPLES = 4

# relative difference of numbers up to which they are linear in the values
LINEAR = 1e-8

Span = tuple[float, float]
Free = Mapping[str, tuple[float, float] | None]


def _no_progress(done: int) -> None:
    del done


@checked_arguments(
    vehicle=TEXT,
    free=several("keys", '["mass_kg"], or a mapping of them to limits'),
    compare=several("columns", '["wx_radps"]'),
    window_s=NUMBER,
    settle_s=NUMBER,
    rate_hz=NUMBER,
    out=FILE,
    progress=FUNCTION,
)
def identify(
    log: str | PathLike[str] | FlightLog,
    vehicle: str,
    free: Free | Iterable[str],
    *,
    columns: str | PathLike[str] | Mapping[str, Any] | None = None,
    log_vehicle: str | None = None,
    train: Span | None = None,
    test: Span | None = None,
    compare: Sequence[str] = (),
    window_s: float = WINDOW_S,
    settle_s: float = SETTLE_S,
    rate_hz: float = RATE_HZ,
    overrides: Mapping[str, Any] | Sequence[str] = (),
    out: str | PathLike[str] | None = None,
    progress: Callable[[int], None] = _no_progress,
) -> IdentificationResult:
    """Fit parameters of a vehicle to a flight log by the output-error method.

    The log is cut into windows, each of which is simulated from a start of its own under the
    recorded commands (Maine and Iliff, NASA RP-1138, 1985).

    Args:
        log: a file of any kind that ``read_flight_log`` reads, or a flight log.
        vehicle: the name of a model, or a scenario with one vehicle.
        free: keys of numbers, as ``KEY`` or ``KEY=low:high``, or a mapping of them to limits
            ``(low, high)`` or None. A key is a path in the vehicle's parameters (``mass_kg``,
            ``rotor.thrust_ns2``), in the vehicle (``guidance.delay_s``) or in the scenario;
            ``bias.COLUMN`` is a constant error of a measured column.
        columns: the table of a foreign log's columns and units.
        log_vehicle: the vehicle of a log of Kittiwake with several.
        train: begin and end of the part to fit, in seconds of the log; by default all of it, or
            the longer part beside ``test``.
        test: begin and end of the part to judge by, which must not overlap.
        compare: the measured columns to fit; by default all that the vehicle has.
        window_s: length of a window.
        settle_s: time before each window in which the actuators settle.
        rate_hz: physics rate.
        overrides: changes to the scenario, such as ``{"world.gravity_mps2": 9.81}``, or texts
            such as ``"world.gravity_mps2=9.81"``.
        out: folder of the results; a new one under ``runs`` by default.
        progress: called with the number of evaluated points.

    Raises:
        ScenarioError: for wrong keys, spans or options, or a log that does not fit the vehicle.
        LogError: if the log cannot be read, or the folder holds a result.
        MissingExtraError: for a kind of log whose library is not installed.
    """
    for name, value in (("window_s", window_s), ("rate_hz", rate_hz)):
        if value <= 0.0:
            message = f"`{name}`: got {value:g}; must be above 0"
            raise ScenarioError(message)
    if settle_s < 0.0:
        message = f"`settle_s`: got {settle_s:g}; must be at least 0"
        raise ScenarioError(message)
    folder = None if out is None else Path(fspath(out))
    if folder is not None and (folder / RESULT_FILE).exists():
        message = f"'{folder}' holds the result of another identification; name another folder"
        raise LogError(message)
    read = (
        log
        if isinstance(log, FlightLog)
        else read_flight_log(fspath(log), _table(columns), vehicle=log_vehicle)
    )
    stem = Path(read.source).stem
    with (
        results_folder(folder, default_folder(f"identify-{stem}")) as made,
        TemporaryDirectory() as commands,
    ):
        write_commands(read, Path(commands))
        scenario = flown_scenario(vehicle, Path(commands), rate_hz, read)
        if isinstance(overrides, Mapping):
            scenario = overridden(scenario, overrides)
        else:
            scenario = rebuilt(scenario, apply_overrides(scenario.document, overrides))
        limits = free if isinstance(free, Mapping) else parse_free(free)
        problem = _Identification(read, scenario, limits, compare, window_s, settle_s, progress)
        result = problem.result(made, train, test)
        result.write()
    # with the commands that are beside it
    return replace(result, scenario=load_scenario(str(made / SCENARIO_FILE)))


class _Identification:
    def __init__(
        self,
        log: FlightLog,
        scenario: Scenario,
        free: Free,
        compare: Sequence[str],
        window_s: float,
        settle_s: float,
        progress: Callable[[int], None],
    ) -> None:
        self._log, self._progress, self._described = log, progress, scenario
        self._noise = noise_keys(scenario)
        scenario = with_changes(scenario, [f"{key}=0" for key in self._noise])
        simulation = Simulation(scenario)
        self._quantities = measured_quantities(
            log, simulation.program.functions.columns[0], compare
        )
        self._names = [name for one in self._quantities for name in one.names]
        self._biases = [_bias(key, free[key], self._names) for key in free if key.startswith(BIAS)]
        values = {key: own for key, own in free.items() if not key.startswith(BIAS)}
        paths = {_path(key, scenario): own for key, own in values.items()}
        found = free_values(scenario, paths) if paths or not self._biases else ()
        self._space = SearchSpace(scenario, found)
        # where a free value begins at zero, its own structure is another one
        program = self._space.simulation(self._space.start).program
        self._flights = WindowFlights(program, settle_s, window_s, scenario.rate_hz)
        self._linear: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None
        self._variation = {
            # of an attitude those of x, y and z
            name: float(np.std(one.values[:, place + one.is_attitude])) or 1.0
            for one in self._quantities
            for place, name in enumerate(one.names)
        }

    def result(self, folder: Path, train: Span | None, test: Span | None) -> IdentificationResult:
        """Return the result of fitting one part of the log, and judging by another."""
        test = None if test is None else self._span("test", test)
        train = self._span("train", self._beside(test) if train is None else train)
        if test is not None and max(train[0], test[0]) < min(train[1], test[1]) - 1e-9:
            message = (
                f"`test`: got {test[0]:g}:{test[1]:g}, which overlaps `train`, "
                f"{train[0]:g}:{train[1]:g} s"
            )
            raise ScenarioError(message)
        windows = self._windows("train", train)
        problem = self._problem(windows, dict.fromkeys(self._names, 1.0), self._progress)
        start = np.concatenate([self._space.start, np.zeros(len(self._biases))])
        # weights at the beginning follow from the residuals there
        found = estimate(problem, start, self._limits, self._variation, EVALUATIONS)
        before = self._problem(windows, found.noise)
        first, last = before.fit(start), problem.fit(found.point)
        tested, predictions = None, self._predictions(windows, first, last)
        judged = () if test is None else self._windows("test", test)
        if judged:
            fits = [self._problem(judged, found.noise).fit(point) for point in (start, found.point)]
            tested = _rms(fits[0]), _rms(fits[1])
            predictions = self._predictions(judged, *fits)
        trained = _rms(first), _rms(last)
        values = found.point[: len(self._space.free)]
        return IdentificationResult(
            folder=folder,
            source=self._log.source,
            values=self._values(found),
            correlations=_correlations(found),
            errors=tuple(
                PredictionError(
                    name,
                    (trained[0][name], trained[1][name]),
                    None if tested is None else (tested[0][name], tested[1][name]),
                )
                for name in trained[0]
            ),
            spans=(train, test),
            window_s=self._flights.length_s,
            windows=(len(windows), len(judged)),
            notes=command_notes(
                self._log, self._described, [span for span in (train, test) if span]
            ),
            without_noise=self._noise,
            evaluations=found.evaluations,
            predictions=predictions,
            scenario=self._space.changed(values),
            vehicle=vehicle_entries(SearchSpace(self._described, self._space.free).changed(values)),
        )

    @property
    def _limits(self) -> tuple[Point, Point]:
        low, high = self._space.limits
        return (
            np.append(low, [-np.inf if one.low is None else one.low for one in self._biases]),
            np.append(high, [np.inf if one.high is None else one.high for one in self._biases]),
        )

    def _problem(
        self,
        windows: Sequence[Window],
        noise: dict[str, float],
        evaluated: Callable[[int], None] = _no_progress,
    ) -> OutputError:
        starts = [
            measured_start(self._log, window.begin_s - self._flights.settle_s) for window in windows
        ]
        return OutputError(self._flights, windows, starts, self._fleet_at, noise, evaluated)

    def _fleet_at(self, at: Point) -> FleetAt:
        count = len(self._space.free)
        numbers = self._space.simulation(at[:count]).program.numbers
        slopes = np.zeros((len(at), len(numbers.packed)))
        if count:
            slopes[:count] = self._number_slopes(at[:count], numbers)
        biases = {
            one.path.removeprefix(BIAS): (count + place, float(at[count + place]))
            for place, one in enumerate(self._biases)
        }
        return FleetAt(numbers, slopes, biases)

    def _number_slopes(self, at: Point, numbers: Numbers) -> np.ndarray:
        """Return the derivatives of the fleet's numbers along the coordinates.

        Numbers are linear in most values; then the derivatives stay those of an earlier point.
        """
        values = np.array(self._space.values(at))
        chain = np.array(self._space.value_slopes(at))[:, None]
        if self._linear is not None:
            first, packed, slopes = self._linear
            expected = packed + (values - first) @ slopes
            if np.allclose(expected, numbers.packed, rtol=LINEAR, atol=0.0):
                return slopes * chain
        slopes = self._space.number_slopes(at, self._space.scenario.seed) / chain
        self._linear = values, numbers.packed, slopes
        return slopes * chain

    def _span(self, name: str, given: Span | None) -> Span:
        """Return a part of the log, from where the first window can begin.

        Raises:
            ScenarioError: if it is not within the log, or shorter than a window.
        """
        begin_s, end_s = self._whole_s
        earliest_s = begin_s + self._flights.settle_s
        low, high = (earliest_s, end_s) if given is None else given
        if not low < high:
            message = f"`{name}`: got {low:g}:{high:g}; the end must be after the begin"
            raise ScenarioError(message)
        if not begin_s <= low < end_s:
            message = (
                f"`{name}`: got {low:g}:{high:g}; must be within the log, {begin_s:g}:{end_s:g} s"
            )
            raise ScenarioError(message)
        low, high = max(low, earliest_s), min(high, end_s)
        if high - low < self._flights.length_s * (1.0 - 1e-9):
            message = (
                f"`{name}`: {high - low:.4g} s of the log are left from {low:g} s on, after "
                f"{self._flights.settle_s:g} s to settle; a window takes "
                f"{self._flights.length_s:g} s"
            )
            raise ScenarioError(message)
        return low, high

    @property
    def _whole_s(self) -> Span:
        """First time with all commands and something measured, and the last measured one."""
        commands = [own for name, own in self._log.signals.items() if name.startswith(COMMAND)]
        first_s = min(float(one.time_s[0]) for one in self._quantities)
        begin_s = max(first_s, *(float(own.time_s[0]) for own in commands))
        return begin_s, max(float(one.time_s[-1]) for one in self._quantities)

    def _beside(self, test: Span | None) -> Span | None:
        """Return the longer part of the log before or after the one to judge by."""
        if test is None:
            return None
        begin_s, end_s = self._whole_s
        before, after = (begin_s, test[0]), (test[1], end_s)
        return max(before, after, key=lambda span: span[1] - span[0])

    def _windows(self, name: str, span: Span) -> tuple[Window, ...]:
        found = self._flights.windows(self._quantities, *span)
        for one in self._quantities:
            counts = [len(_own(window, one).time_s) for window in found]
            mean = sum(counts) / max(len(counts), 1)
            if mean < LEAST_SAMPLES:
                message = (
                    f"`{name}`: {', '.join(one.names)}: a window of {self._flights.length_s:g} s "
                    f"has {mean:.3g} samples on average; at least {LEAST_SAMPLES} are needed. Take "
                    "longer windows, or leave it out with `compare`"
                )
                raise ScenarioError(message)
        return found

    def _values(self, found: Estimate) -> tuple[IdentifiedValue, ...]:
        count = len(self._space.free)
        slopes = [*self._space.value_slopes(found.point[:count]), *[1.0] * len(self._biases)]
        free = (*self._space.free, *self._biases)
        after = [*self._space.values(found.point[:count]), *map(float, found.point[count:])]
        with np.errstate(invalid="ignore"):
            deviations = np.sqrt(np.diag(found.covariance)) * np.abs(slopes)
            others = np.sqrt(np.diag(found.window_covariance)) * np.abs(slopes)
        rows = zip(free, after, deviations.tolist(), others.tolist(), strict=True)
        return tuple(
            IdentifiedValue(
                one.path, one.start, value, deviation, window_deviation, one.reached_limit(value)
            )
            for one, value, deviation, window_deviation in rows
        )

    def _predictions(self, windows: Sequence[Window], *fits: Fit) -> tuple[Prediction, ...]:
        """Return what a picture shows of windows: the residuals of two fits by name."""
        found = []
        for one in self._quantities:
            samples = [_own(window, one) for window in windows]
            times_s = [np.append(own.time_s, np.nan) for own in samples]
            for place, name in enumerate(one.names):
                measured = [
                    np.append(
                        np.zeros(len(own.time_s)) if one.is_attitude else own.values[:, place],
                        np.nan,
                    )
                    for own in samples
                ]
                residuals = [
                    _by_window(fit.residuals[name], [len(own.time_s) for own in samples])
                    for fit in fits
                ]
                joined = np.concatenate(measured)
                found.append(
                    Prediction(
                        name,
                        np.concatenate(times_s),
                        joined,
                        joined + np.concatenate(residuals[0]),
                        joined + np.concatenate(residuals[1]),
                    )
                )
        return tuple(found)


def _own(window: Window, quantity: MeasuredQuantity) -> MeasuredQuantity:
    return next(one for one in window.quantities if one.names == quantity.names)


def _by_window(values: np.ndarray, counts: Sequence[int]) -> list[np.ndarray]:
    parts = np.split(values, np.cumsum(counts)[:-1])
    return [np.append(part, np.nan) for part in parts]


def _bias(key: str, limits: tuple[float, float] | None, names: Sequence[str]) -> FreeValue:
    name = key.removeprefix(BIAS)
    if name not in names:
        message = f"free: {key}: {did_you_mean(name, [*names])}"
        raise ScenarioError(message)
    low, high = limits or (None, None)
    if low is not None and high is not None and not low <= 0.0 <= high:
        message = f"free: {key}: got {low:g}:{high:g}; a bias begins at 0, which must be between"
        raise ScenarioError(message)
    return FreeValue(key, 0.0, low, high)


def _path(key: str, scenario: Scenario) -> str:
    """Return the path in the scenario of a key in the parameters, the vehicle or the scenario."""
    (name,) = scenario.vehicles
    vehicle = f"vehicles.{name}"
    first = key.partition(".")[0]
    if first in scenario.document.data or first == "world":
        return key
    parts = ("parameters", "controller", "guidance", "start", "estimator", "sensors")
    return f"{vehicle}.{key}" if first in parts else f"{vehicle}.parameters.{key}"


def _table(
    columns: str | PathLike[str] | Mapping[str, Any] | None,
) -> str | Mapping[str, Any] | None:
    return fspath(columns) if isinstance(columns, PathLike) else columns


def _rms(fit: Fit) -> dict[str, float]:
    """Return the root mean square of each quantity's residuals, and of all weighted ones."""
    parts = {**fit.residuals, ALL: np.concatenate(fit.weighted)}
    return {
        name: float(np.sqrt(np.mean(np.square(own)))) for name, own in parts.items() if len(own)
    }


def _correlations(found: Estimate) -> np.ndarray:
    deviations = np.sqrt(np.diag(found.covariance))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.nan_to_num(found.covariance / np.outer(deviations, deviations))
