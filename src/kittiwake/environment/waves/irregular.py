"""Seas by a wind, a sea state or a height; ``spectra`` and ``sea_state`` have what they are."""

from typing import Annotated

import equinox as eqx
from jaxtyping import PRNGKeyArray

from kittiwake.core.bounds import POSITIVE, Bounds
from kittiwake.core.water import Waves
from kittiwake.core.waves import AbstractWaves
from kittiwake.environment.waves.sea_state import (
    SEA_STATES,
    developed,
    growing,
    height_of,
    period_of,
    refuse_steep,
    refuse_unless_one,
    steep_remarks,
)
from kittiwake.environment.waves.spectra import HIGHEST, Sea, drawn
from kittiwake.geometry.scalar import Real

COMPONENTS = Bounds(1.0, 1000.0)
SPREADING = Bounds(0.5, 500.0)
ENHANCEMENT = Bounds(1.0, 7.0)


class PiersonMoskowitzSea(AbstractWaves):
    """A fully developed sea: given by its significant height, a wind or its state.

    The wind is that 19.5 m up. Without a ``peak_period_s`` it has that of the fully developed sea.
    ``spreading`` is s of cos^2s of half the angle from ``towards_rad``, which is clockwise from
    north; without it all waves run the same way.
    """

    significant_height_m: Annotated[Real, POSITIVE] | None = None
    wind_speed_mps: Annotated[Real, POSITIVE] | None = None
    sea_state: Annotated[int, SEA_STATES] | None = eqx.field(static=True, default=None)
    peak_period_s: Annotated[Real, POSITIVE] | None = None
    towards_rad: Real = 0.0
    spreading: Annotated[Real, SPREADING] | None = None
    water_depth_m: Annotated[Real, POSITIVE] | None = None
    components: Annotated[int, COMPONENTS] = eqx.field(static=True, default=64)

    def __check_init__(self) -> None:
        """Refuses a sea of which nothing or too much is said."""
        refuse_unless_one(
            {
                "significant_height_m": self.significant_height_m,
                "wind_speed_mps": self.wind_speed_mps,
                "sea_state": self.sea_state,
            }
        )

    def check(self, gravity_mps2: float) -> None:
        """Refuses waves that would break."""
        refuse_steep(self._sea(gravity_mps2), gravity_mps2, "significant_height_m")

    def remarks(self, gravity_mps2: float) -> tuple[str, ...]:
        """Whether it is steeper than seas are."""
        return steep_remarks(self._sea(gravity_mps2), gravity_mps2)

    def shortest_period_s(self, gravity_mps2: float) -> float:
        """Where the spectrum is cut."""
        return float(self._sea(gravity_mps2).peak_period_s) / HIGHEST

    def begin(self, gravity_mps2: Real, key: PRNGKeyArray) -> Waves:
        """The components at the start."""
        return drawn(self._sea(gravity_mps2), self.components, gravity_mps2, key)

    def _sea(self, gravity_mps2: Real) -> Sea:
        height, period = self.significant_height_m, self.peak_period_s
        if self.sea_state is not None:
            height = height_of(self.sea_state)
        elif self.wind_speed_mps is not None:
            height, _ = developed(self.wind_speed_mps, gravity_mps2)
        assert height is not None
        if period is None:
            period = period_of(height, 1.0, gravity_mps2)
        return Sea(height, period, 1.0, self.towards_rad, self.spreading, self.water_depth_m)


class JonswapSea(AbstractWaves):
    """A growing sea: given by its significant height, by wind and fetch or by its state.

    The wind is that 10 m up. Without a ``peak_period_s`` it has that of wind and fetch, or one that
    goes with height and ``peak_enhancement`` (gamma). The others are as of a fully developed sea.
    """

    significant_height_m: Annotated[Real, POSITIVE] | None = None
    wind_speed_mps: Annotated[Real, POSITIVE] | None = None
    fetch_m: Annotated[Real, POSITIVE] | None = None
    sea_state: Annotated[int, SEA_STATES] | None = eqx.field(static=True, default=None)
    peak_period_s: Annotated[Real, POSITIVE] | None = None
    peak_enhancement: Annotated[Real, ENHANCEMENT] = 3.3
    towards_rad: Real = 0.0
    spreading: Annotated[Real, SPREADING] | None = None
    water_depth_m: Annotated[Real, POSITIVE] | None = None
    components: Annotated[int, COMPONENTS] = eqx.field(static=True, default=64)

    def __check_init__(self) -> None:
        """Refuses a sea of which nothing or too much is said, and a wind without a fetch."""
        refuse_unless_one(
            {
                "significant_height_m": self.significant_height_m,
                "wind_speed_mps": self.wind_speed_mps,
                "sea_state": self.sea_state,
            }
        )
        if (self.wind_speed_mps is None) != (self.fetch_m is None):
            message = (
                "wind_speed_mps and fetch_m, the way over which the wind blows, go together; write "
                "both, such as fetch_m: 5000, or neither"
            )
            raise ValueError(message)

    def check(self, gravity_mps2: float) -> None:
        """Refuses waves that would break."""
        refuse_steep(self._sea(gravity_mps2), gravity_mps2, "significant_height_m")

    def remarks(self, gravity_mps2: float) -> tuple[str, ...]:
        """Whether it is steeper than seas are."""
        return steep_remarks(self._sea(gravity_mps2), gravity_mps2)

    def shortest_period_s(self, gravity_mps2: float) -> float:
        """Where the spectrum is cut."""
        return float(self._sea(gravity_mps2).peak_period_s) / HIGHEST

    def begin(self, gravity_mps2: Real, key: PRNGKeyArray) -> Waves:
        """The components at the start."""
        return drawn(self._sea(gravity_mps2), self.components, gravity_mps2, key)

    def _sea(self, gravity_mps2: Real) -> Sea:
        height, period = self.significant_height_m, self.peak_period_s
        if self.sea_state is not None:
            height = height_of(self.sea_state)
        elif self.wind_speed_mps is not None:
            assert self.fetch_m is not None
            height, grown_s = growing(self.wind_speed_mps, self.fetch_m, gravity_mps2)
            period = grown_s if period is None else period
        assert height is not None
        if period is None:
            period = period_of(height, self.peak_enhancement, gravity_mps2)
        shape = self.peak_enhancement
        return Sea(height, period, shape, self.towards_rad, self.spreading, self.water_depth_m)
