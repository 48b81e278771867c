"""What there is to see at a time; the same for a live flight and for one that is replayed."""

from collections.abc import Mapping
from typing import NamedTuple

from jaxtyping import Float64
from numpy import ndarray

from kittiwake.scenario.scenario import Scenario


class Show(NamedTuple):
    """What is flown, and how its rows read: by vehicle their columns, the time first."""

    scenario: Scenario
    seed: int
    columns: Mapping[str, tuple[str, ...]]


class Frame(NamedTuple):
    """By vehicle the row of a log at a time, and where it was in the last seconds, oldest first."""

    time_s: float
    rows: Mapping[str, Float64[ndarray, " columns"]]
    trails: Mapping[str, Float64[ndarray, "points 3"]]
