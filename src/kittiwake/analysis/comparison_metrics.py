"""Metrics of the flights of a comparison, and their spread over the seeds."""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from kittiwake.analysis.log import COMPLETED
from kittiwake.analysis.output_file import output_file
from kittiwake.analysis.response import QUANTITIES, ResponseMetrics, Trial
from kittiwake.analysis.summary import in_digits

TABLE_FILE = "comparison.csv"
# metrics of a flight to one constant position, which are compared together
OF_STEP = ("rise_time_s", "settling_time_s", "overshoot_percent")
# titles of the compared metrics by column of the table
SHOWN = {
    "rise_time_s": "rise time (s)",
    "settling_time_s": "settling time (s)",
    "overshoot_percent": "overshoot (%)",
    "tracking_rms_m": "tracking error, RMS (m)",
    "effort_percent": "control effort (%)",
    "saturated_percent": "at a bound (% of time)",
    "roughness_m": "roughness, position (m)",
    "roughness_deg": "roughness, attitude (deg)",
}


class Spread(NamedTuple):
    """Mean and standard deviation of a metric over the ``known`` flights that have it."""

    mean: float
    deviation: float
    known: int

    def in_words(self, flights: int) -> str:
        """Return the mean as text, with the number of flights that have it if not all do."""
        mean = in_digits(self.mean)
        return mean if self.known == flights else f"{mean} ({self.known} of {flights})"


def metrics(trials: Sequence[Trial]) -> list[dict[str, Any]]:
    """Return a row for each trial: controllers, vehicle, seed, status and metrics, or None."""
    return [_metrics(trial) for trial in trials]


def _metrics(trial: Trial) -> dict[str, Any]:
    found = trial.response
    rough = {
        f"roughness_{quantity}_{unit}": found.roughness.get(quantity)
        for quantity, unit in QUANTITIES.items()
    }
    return {
        "controllers": trial.controllers,
        "vehicle": trial.vehicle,
        "seed": trial.seed,
        "status": trial.status,
        "rise_time_s": found.rise_time_s,
        "settling_time_s": found.settling_time_s,
        "overshoot_percent": found.overshoot_percent,
        "tracking_rms_m": found.tracking_rms_m,
        "effort_percent": found.effort_percent,
        "saturated_percent": found.saturated_percent,
        "roughness_m": _mean_of(found, "m"),
        "roughness_deg": _mean_of(found, "deg"),
        **rough,
    }


def _mean_of(found: ResponseMetrics, unit: str) -> float | None:
    """Return the mean roughness of all quantities in this unit."""
    own = [value for name, value in found.roughness.items() if QUANTITIES[name] == unit]
    return float(np.mean(own)) if own else None


def summaries(trials: Sequence[Trial]) -> list[dict[str, Any]]:
    """Return the ``Spread`` over the seeds of each metric in ``SHOWN``, by controllers and vehicle.

    It covers the completed flights that have the metric (one that did not settle has no settling
    time), and is None if none has it; ``flights`` and ``completed`` count all flights.
    """
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in metrics(trials):
        groups.setdefault((row["controllers"], row["vehicle"]), []).append(row)
    return [
        {
            "controllers": controllers,
            "vehicle": vehicle,
            "flights": len(rows),
            "completed": sum(row["status"] == COMPLETED for row in rows),
            # those of a part of a flight would look better than those of a whole one
            **{
                name: _spread([row[name] for row in rows if row["status"] == COMPLETED])
                for name in SHOWN
            },
        }
        for (controllers, vehicle), rows in groups.items()
    ]


def failures(trials: Sequence[Trial]) -> list[str]:
    """Return a line for each flight that ended early, with the reason."""
    lines = [
        f"{trial.controllers}, seed {trial.seed}: {trial.reason or trial.status}"
        for trial in trials
        if trial.status != COMPLETED
    ]
    # vehicles of a flight share its end
    return [*dict.fromkeys(lines)]


def _spread(values: Sequence[float | None]) -> Spread | None:
    known = [value for value in values if value is not None]
    return Spread(float(np.mean(known)), float(np.std(known)), len(known)) if known else None


def save_table(trials: Sequence[Trial], folder: Path) -> None:
    """Write the table with a row for each flight."""
    rows = metrics(trials)
    with (
        output_file(folder / TABLE_FILE) as unfinished,
        unfinished.open("w", newline="", encoding="utf-8") as file,
    ):
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
