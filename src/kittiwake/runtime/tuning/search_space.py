"""Search space of tuning: coordinates of free values, and the simulations at its points."""

from dataclasses import dataclass
from functools import cached_property
from math import exp, log

import numpy as np
from jaxtyping import Float

from kittiwake.core.errors import ScenarioError
from kittiwake.runtime.simulation import Simulation
from kittiwake.scenario.changing import with_changes
from kittiwake.scenario.free_values import FreeValue, items_at, present_values
from kittiwake.scenario.scenario import Scenario

# step of differences of a fleet's numbers; the error of central ones is its square
STEP = 1e-5
# values of zero would belong to the structure of the flight: this share of their scale instead
NOT_ZERO = 1e-15


@dataclass(frozen=True)
class SearchSpace:
    """Coordinates of free values, which are zero at the beginning.

    They are logarithms of positive values, and of others their change in multiples of a scale.

    Attributes:
        scenario: the scenario at the beginning.
        free: its free values.
    """

    scenario: Scenario
    free: tuple[FreeValue, ...]

    @property
    def start(self) -> Float[np.ndarray, " free"]:
        """Coordinates at the beginning."""
        return np.zeros(len(self.free))

    @property
    def limits(self) -> tuple[Float[np.ndarray, " free"], Float[np.ndarray, " free"]]:
        """Least and largest coordinates; infinite without limits."""
        low = [-np.inf if one.low is None else _coordinate(one, one.low) for one in self.free]
        high = [np.inf if one.high is None else _coordinate(one, one.high) for one in self.free]
        return np.array(low), np.array(high)

    @cached_property
    def _present(self) -> dict[str, float]:
        return present_values(self.scenario)

    def values(self, at: Float[np.ndarray, " free"]) -> list[float]:
        """Return the free values at a point."""
        return [_value(one, float(x)) for one, x in zip(self.free, at, strict=True)]

    def value_slopes(self, at: Float[np.ndarray, " free"]) -> list[float]:
        """Return the derivative of each free value with respect to its coordinate."""
        return [
            _value(one, float(x)) if _is_logarithmic(one) else _scale(one)
            for one, x in zip(self.free, at, strict=True)
        ]

    def changed(self, at: Float[np.ndarray, " free"]) -> Scenario:
        """Return the scenario at a point.

        Raises:
            ScenarioError: if it does not allow the values there.
        """
        return with_changes(self.scenario, items_at(self._present, self.free, self.values(at)))

    def simulation(self, at: Float[np.ndarray, " free"]) -> Simulation:
        """Return the simulation at a point.

        Raises:
            ScenarioError: if the scenario does not allow the values there.
        """
        return Simulation(self.changed(at))

    def number_slopes(
        self, at: Float[np.ndarray, " free"], seed: int
    ) -> Float[np.ndarray, "free numbers"]:
        """Return the derivatives of the fleet's packed numbers with respect to the coordinates.

        They are central differences of builds, exact to about 1e-10, and one-sided at a limit.
        ``seed`` is that of the flight, from which other numbers may be drawn.

        Raises:
            ScenarioError: if a value changes more than these numbers.
        """
        here = self.simulation(at).drawn(seed).program
        low, high = self.limits
        slopes = []
        for place, one in enumerate(self.free):
            moved = []
            sides = np.clip(at[place] + np.array([-STEP, STEP]), low[place], high[place])
            for side in sides:
                point = at.copy()
                point[place] = side
                program = self.simulation(point).drawn(seed).program
                if not here.fits(program.fleet) or any(
                    not np.array_equal(own, other)
                    for own, other in zip(here.numbers.large, program.numbers.large, strict=True)
                ):
                    message = f"free: {one.path} changes more than numbers of the flight"
                    raise ScenarioError(message)
                moved.append(program.numbers.packed)
            slopes.append((moved[1] - moved[0]) / (sides[1] - sides[0]))
        return np.array(slopes)


def _is_logarithmic(one: FreeValue) -> bool:
    return one.start > 0.0 and (one.low is None or one.low > 0.0)


def _scale(one: FreeValue) -> float:
    if one.low is not None and one.high is not None:
        return one.high - one.low
    return abs(one.start)


def _coordinate(one: FreeValue, value: float) -> float:
    if _is_logarithmic(one):
        return log(value / one.start)
    return (value - one.start) / _scale(one)


def _value(one: FreeValue, coordinate: float) -> float:
    if _is_logarithmic(one):
        return one.start * exp(coordinate)
    value = one.start + coordinate * _scale(one)
    return value or (-NOT_ZERO if one.high == 0.0 else NOT_ZERO) * _scale(one)
