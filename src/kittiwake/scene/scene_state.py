"""States of the scene of live and recorded flights."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Float64
from numpy import ndarray
from typing_extensions import override

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


class EqualTrails(Mapping[str, Float64[ndarray, "points 3"]]):
    """Trails of equal length, which are not copied until they are read.

    Args:
        indices: position of each vehicle in the arrays.
        points: positions of all vehicles, oldest first.
    """

    def __init__(
        self, indices: Mapping[str, int], points: Sequence[Float64[ndarray, "vehicles 3"]]
    ) -> None:
        self._indices, self._points = indices, points

    @override
    def __getitem__(self, name: str) -> Float64[ndarray, "points 3"]:
        index = self._indices[name]
        return np.array([places[index] for places in self._points]).reshape(-1, 3)

    @override
    def __iter__(self) -> Iterator[str]:
        return iter(self._indices)

    @override
    def __len__(self) -> int:
        return len(self._indices) if self._points else 0

    def sampled(
        self, names: Sequence[str], samples: int
    ) -> Float[ndarray, "vehicles samples 3"] | None:
        """Return points of all trails, evenly spaced by number; None for other vehicles."""
        if not self._points or [*self._indices] != names:
            return None
        numbers = np.linspace(0, len(self._points) - 1, samples).round().astype(int).tolist()
        return np.stack([self._points[number] for number in numbers], axis=1)
