"""Result of an identification: parameters with their uncertainties, and errors of prediction."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from jaxtyping import Float64
from typing_extensions import override

from kittiwake.analysis.flown_scenario import portable
from kittiwake.analysis.output_file import finite_figures, write_text
from kittiwake.analysis.run_folder import write_scenario
from kittiwake.scenario.document import dump_document
from kittiwake.scenario.scenario import Scenario

if TYPE_CHECKING:
    from kittiwake.analysis.plots.style import PageFigure

VEHICLE_FILE, RESULT_FILE, PICTURE_FILE = (
    "vehicle.yaml",
    "identification.json",
    "identification.png",
)
PARAMETER_PATH = re.compile(r"vehicles\.[^.]+\.(?:parameters\.)?(.+)")
# correlation of two parameters from which on the log hardly tells them apart
HIGH_CORRELATION = 0.95
# all quantities, each in multiples of its noise
ALL = "all, weighted"
# entries of a vehicle that describe it, apart from the flight of the log
DESCRIPTION = ("model", "parameters", "controller")


class IdentifiedValue(NamedTuple):
    """A parameter.

    Attributes:
        path: its path in the scenario, or ``bias.COLUMN``.
        before: its value at the beginning.
        after: its identified value.
        deviation: standard deviation of the identified value, from the Hessian; infinite if the
            log does not depend on it alone.
        window_deviation: the same from the spread between windows, NaN for one window. It is
            larger where the residuals are not white, as those of a model that lacks something.
        limit: the limit at which the identified value lies; None between limits.
    """

    path: str
    before: float
    after: float
    deviation: float
    window_deviation: float
    limit: float | None = None

    @property
    def largest_deviation(self) -> float:
        """The larger of both standard deviations."""
        return float(np.fmax(self.deviation, self.window_deviation))

    @property
    def name(self) -> str:
        """Path within the vehicle's parameters or the vehicle."""
        own = PARAMETER_PATH.fullmatch(self.path)
        return self.path if own is None else own[1]


class PredictionError(NamedTuple):
    """Root mean square of simulated minus measured values of a quantity.

    Attributes:
        name: the column, ``attitude_x_rad`` and so on, or ``ALL`` for all in multiples of their
            noise.
        train: before and after, over the windows that the parameters were fitted to.
        test: the same over other windows; None without any.
    """

    name: str
    train: tuple[float, float]
    test: tuple[float, float] | None


class Prediction(NamedTuple):
    """Measured and simulated values of a quantity in some windows, for pictures.

    Attributes:
        name: the name of the quantity.
        time_s: the time of each sample; NaN between windows.
        measured: the measured values; zero for the components of an attitude error.
        before: the values simulated with the parameters at the beginning.
        after: the values simulated with the identified ones.
    """

    name: str
    time_s: Float64[np.ndarray, " samples"]
    measured: Float64[np.ndarray, " samples"]
    before: Float64[np.ndarray, " samples"]
    after: Float64[np.ndarray, " samples"]


@dataclass(frozen=True, repr=False)
class IdentificationResult:
    """Result of an identification.

    Attributes:
        folder: folder with ``vehicle.yaml``, ``scenario.yaml`` and ``identification.json``.
        source: name of the flight log.
        values: the parameters.
        correlations: correlation of each pair of them.
        errors: the errors of prediction of each quantity.
        spans: begin and end of the parts for training and testing, in seconds of the log.
        window_s: length of a window.
        windows: number of windows for training and testing.
        notes: sentences about the commands of the log.
        without_noise: the keys of the model's own noise, which was set to zero.
        evaluations: number of evaluated points.
        predictions: what the picture shows.
        scenario: the scenario that flies the log with the identified parameters.
        vehicle: the entry of ``vehicles`` with the identified parameters.
    """

    folder: Path
    source: str
    values: tuple[IdentifiedValue, ...]
    correlations: Float64[np.ndarray, "n n"]
    errors: tuple[PredictionError, ...]
    spans: tuple[tuple[float, float], tuple[float, float] | None]
    window_s: float
    windows: tuple[int, int]
    notes: tuple[str, ...]
    without_noise: tuple[str, ...]
    evaluations: int
    predictions: tuple[Prediction, ...]
    scenario: Scenario
    vehicle: Mapping[str, Any]

    @override
    def __repr__(self) -> str:
        values = ", ".join(
            f"{own.name} {own.after:.4g} ± {own.deviation:.1g}" for own in self.values
        )
        return f"<IdentificationResult of {self.source}: {values}>"

    @property
    def parameters(self) -> dict[str, float]:
        """The identified values by path."""
        return {own.path: own.after for own in self.values}

    def parameters_of_vehicle(self) -> dict[str, float]:
        """Return the identified values among the vehicle's parameters, by their names."""
        path = f"vehicles.{next(iter(self.vehicle))}.parameters."
        return {
            own.path.removeprefix(path): own.after
            for own in self.values
            if own.path.startswith(path)
        }

    def ambiguities(self) -> list[str]:
        """Return a sentence for each parameter or pair that the log does not determine well."""
        found = [
            f"{own.path}: the measured quantities do not depend on it alone; fix it, or another one"
            for own in self.values
            if not isfinite(own.deviation)
        ]
        found += [
            f"{own.path}: at its limit {own.limit:g}; a value beyond it fits better, and the "
            "uncertainties do not count the limit"
            for own in self.values
            if own.limit is not None
        ]
        for i, one in enumerate(self.values):
            for j, other in enumerate(self.values[:i]):
                correlation = self.correlations[i, j]
                if abs(correlation) > HIGH_CORRELATION:
                    found.append(
                        f"{other.path} and {one.path}: correlated by {correlation:.3f}; the log "
                        "hardly tells them apart"
                    )
        return found

    def figures(self) -> dict[str, Any]:
        """Return the contents of ``identification.json``."""
        train, test = self.spans
        return finite_figures(
            {
                "log": self.source,
                "train_s": train,
                "test_s": test,
                "window_s": self.window_s,
                "windows": {"train": self.windows[0], "test": self.windows[1]},
                "values": {own.path: own._asdict() for own in self.values},
                "correlations": self.correlations.tolist(),
                "rms_errors": {own.name: own._asdict() for own in self.errors},
                "ambiguities": self.ambiguities(),
                "notes": self.notes,
                "without_noise": self.without_noise,
                "evaluations": self.evaluations,
            }
        )

    def plot(self) -> "PageFigure":
        """Draw measured and predicted values, and the residuals before and after."""
        from kittiwake.analysis.plots.identification import draw_identification

        return draw_identification(self)

    def write(self) -> None:
        """Write vehicle, scenario, figures and picture into the folder.

        Raises:
            LogError: if they cannot be written.
        """
        scenario, folder = self.scenario, self.folder
        write_scenario(folder, portable(scenario, scenario.seed, scenario.duration_s))
        write_text(folder / VEHICLE_FILE, dump_document({"vehicles": dict(self.vehicle)}))
        write_text(folder / RESULT_FILE, json.dumps(self.figures(), indent=2) + "\n")
        self.plot().save(folder / PICTURE_FILE)


def vehicle_entries(scenario: Scenario) -> dict[str, Any]:
    """Return the entries of ``vehicles`` without what belongs to a flight."""
    return {
        name: {key: entry[key] for key in DESCRIPTION if key in entry}
        for name, entry in scenario.document.data["vehicles"].items()
    }
