"""States of the scene of live and recorded flights."""

from collections.abc import Mapping
from typing import NamedTuple

from jaxtyping import Float64
from numpy import ndarray

from kittiwake.scenario.scenario import Scenario


class FlightInfo(NamedTuple):
    """Scenario and seed of a flight, and the log columns of each vehicle, time first."""

    scenario: Scenario
    seed: int
    columns: Mapping[str, tuple[str, ...]]


class SceneState(NamedTuple):
    """Log rows of all vehicles at a time, and their recent positions, oldest first."""

    time_s: float
    rows: Mapping[str, Float64[ndarray, " columns"]]
    trails: Mapping[str, Float64[ndarray, "points 3"]]
