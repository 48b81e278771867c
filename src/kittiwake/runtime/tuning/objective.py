"""Objective of tuning: a number of the summaries of flights, averaged over seeds."""

from collections.abc import Sequence
from math import inf, isfinite, sqrt

import numpy as np

from kittiwake.analysis.log import COMPLETED, Log
from kittiwake.analysis.tuning_result import Score
from kittiwake.core.errors import KittiwakeError, ScenarioError, did_you_mean
from kittiwake.runtime.side_by_side import SeededSimulation, fly_all
from kittiwake.runtime.simulation import Simulation
from kittiwake.runtime.sweeps.rows import summary_columns

# root of the mean square over the vehicles that track a setpoint
TRACKING = "tracking_rms_m"


def scores(candidates: Sequence[Simulation], seeds: Sequence[int], objective: str) -> list[Score]:
    """Return the score of each candidate, flown with the same seeds.

    Raises:
        ScenarioError: if no summary has the objective.
    """
    flown = [
        SeededSimulation(candidate.drawn(seed), seed) for candidate in candidates for seed in seeds
    ]
    found = {
        index: None if isinstance(log, KittiwakeError) else value_of(log, objective)
        for index, log in fly_all(flown)
    }
    values = [found[index] for index in range(len(flown))]
    count = len(seeds)
    return [_score(values[first : first + count]) for first in range(0, len(values), count)]


def value_of(log: Log, objective: str) -> float | None:
    """Return the objective of a flight; None if it was not completed, or has no value.

    Raises:
        ScenarioError: if its summary has no such number.
    """
    summary = log.summary or {}
    numbers = {
        name: value
        for name, value in summary_columns(summary)
        if value is None or (isinstance(value, int | float) and not isinstance(value, bool))
    }
    tracking = [
        value
        for name, value in numbers.items()
        if name.endswith(f".{TRACKING}") and value is not None
    ]
    if objective == TRACKING and tracking:
        numbers[TRACKING] = sqrt(float(np.mean(np.square(tracking))))
    if summary["status"] != COMPLETED:
        return None
    if objective not in numbers:
        known = [*numbers]
        message = f"objective: no summary has '{objective}'. {did_you_mean(objective, known)}"
        raise ScenarioError(message)
    value = numbers[objective]
    return float(value) if value is not None and isfinite(value) else None


def _score(values: Sequence[float | None]) -> Score:
    known = [value for value in values if value is not None]
    mean = float(np.mean(known)) if known else inf
    return Score(mean, len(values) - len(known), len(values))
