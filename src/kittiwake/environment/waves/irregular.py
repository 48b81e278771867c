"""Irregular seas by a wind, a sea state or a height (see ``spectra`` and ``sea_state``)."""

from abc import abstractmethod
from typing import Annotated

from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import POSITIVE, Bounds
from kittiwake.environment.waves.sea_state import (
    SEA_STATES,
    check_steepness,
    developed_sea,
    growing_sea,
    height_of,
    period_of,
    require_one,
    steepness_warnings,
)
from kittiwake.environment.waves.spectra import HIGHEST, SeaSpectrum, random_waves
from kittiwake.geometry.scalar import Real
from kittiwake.pytree import AbstractVar, field
from kittiwake.world.water import Waves
from kittiwake.world.waves import AbstractWaves

COMPONENTS = Bounds(1.0, 1000.0)
SPREADING = Bounds(0.5, 500.0)
ENHANCEMENT = Bounds(1.0, 7.0)


class AbstractSea(AbstractWaves):
    """Sea that is given by its significant height, a wind, or a sea state.

    Attributes:
        significant_height_m: significant wave height.
        wind_speed_mps: wind over the sea, in place of a height.
        sea_state: number of the sea state, in place of a height.
        peak_period_s: period of the spectrum's peak.
        towards_rad: direction that the waves run to, clockwise from north.
        spreading: exponent of the spreading in direction; none is long-crested.
        water_depth_m: depth of the water; deep by default.
        components: number of regular waves.
    """

    significant_height_m: AbstractVar[Real | None]
    wind_speed_mps: AbstractVar[Real | None]
    sea_state: AbstractVar[int | None]
    peak_period_s: AbstractVar[Real | None]
    towards_rad: AbstractVar[Real]
    spreading: AbstractVar[Real | None]
    water_depth_m: AbstractVar[Real | None]
    components: AbstractVar[int]

    def __post_init__(self) -> None:
        """Raise ValueError unless exactly one of height, wind and sea state is given."""
        require_one(
            {
                "significant_height_m": self.significant_height_m,
                "wind_speed_mps": self.wind_speed_mps,
                "sea_state": self.sea_state,
            }
        )

    @abstractmethod
    def sea_from_wind(self, wind_speed_mps: Real, gravity_mps2: Real) -> tuple[Real, Real | None]:
        """Return significant height and peak period from the wind; None for the height's period."""

    @abstractmethod
    def enhancement(self) -> Real:
        """Return the peak enhancement (gamma)."""

    @override
    def check(self, gravity_mps2: float) -> None:
        check_steepness(self._spectrum(gravity_mps2), gravity_mps2, "significant_height_m")

    @override
    def warnings(self, gravity_mps2: float) -> tuple[str, ...]:
        return steepness_warnings(self._spectrum(gravity_mps2), gravity_mps2)

    @override
    def shortest_period_s(self, gravity_mps2: float) -> float:
        return float(self._spectrum(gravity_mps2).peak_period_s) / HIGHEST

    @override
    def init(self, gravity_mps2: Real, key: PRNGKeyArray) -> Waves:
        return random_waves(self._spectrum(gravity_mps2), self.components, gravity_mps2, key)

    def _spectrum(self, gravity_mps2: Real) -> SeaSpectrum:
        height, period = self.significant_height_m, self.peak_period_s
        if self.sea_state is not None:
            height = height_of(self.sea_state)
        elif self.wind_speed_mps is not None:
            height, wind_period_s = self.sea_from_wind(self.wind_speed_mps, gravity_mps2)
            period = wind_period_s if period is None else period
        assert height is not None
        shape = self.enhancement()
        if period is None:
            period = period_of(height, shape, gravity_mps2)
        towards = self.towards_rad
        return SeaSpectrum(height, period, shape, towards, self.spreading, self.water_depth_m)


class PiersonMoskowitzSea(AbstractSea):
    """Fully developed sea: given by its significant height, a wind or its sea state.

    The wind is that at 19.5 m. The default ``peak_period_s`` is that of the fully developed sea.
    ``spreading`` is s in cos^2s of half the angle from ``towards_rad``, which is clockwise from
    north; without it all waves travel in one direction.
    """

    significant_height_m: Annotated[Real, POSITIVE] | None = None
    wind_speed_mps: Annotated[Real, POSITIVE] | None = None
    sea_state: Annotated[int, SEA_STATES] | None = field(static=True, default=None)
    peak_period_s: Annotated[Real, POSITIVE] | None = None
    towards_rad: Real = 0.0
    spreading: Annotated[Real, SPREADING] | None = None
    water_depth_m: Annotated[Real, POSITIVE] | None = None
    components: Annotated[int, COMPONENTS] = field(static=True, default=64)

    @override
    def sea_from_wind(self, wind_speed_mps: Real, gravity_mps2: Real) -> tuple[Real, Real | None]:
        height, _ = developed_sea(wind_speed_mps, gravity_mps2)
        return height, None

    @override
    def enhancement(self) -> float:
        return 1.0

    @classmethod
    @override
    def examples(cls) -> dict[str, "PiersonMoskowitzSea"]:
        return {
            "by the wind": cls(wind_speed_mps=5.0, components=8),
            "by its state": cls(sea_state=2, spreading=4.0, components=8),
        }


class JonswapSea(AbstractSea):
    """Growing sea: given by its significant height, by wind and fetch or by its sea state.

    The wind is that at 10 m. The default ``peak_period_s`` is that of wind and fetch, or follows
    from height and ``peak_enhancement`` (gamma). The others are as for a fully developed sea.

    Attributes:
        fetch_m: length of water under the wind.
        peak_enhancement: gamma, the enhancement of the peak.
    """

    significant_height_m: Annotated[Real, POSITIVE] | None = None
    wind_speed_mps: Annotated[Real, POSITIVE] | None = None
    fetch_m: Annotated[Real, POSITIVE] | None = None
    sea_state: Annotated[int, SEA_STATES] | None = field(static=True, default=None)
    peak_period_s: Annotated[Real, POSITIVE] | None = None
    peak_enhancement: Annotated[Real, ENHANCEMENT] = 3.3
    towards_rad: Real = 0.0
    spreading: Annotated[Real, SPREADING] | None = None
    water_depth_m: Annotated[Real, POSITIVE] | None = None
    components: Annotated[int, COMPONENTS] = field(static=True, default=64)

    @override
    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.wind_speed_mps is None) != (self.fetch_m is None):
            message = (
                "wind_speed_mps and fetch_m, the distance over which the wind blows, belong "
                "together; write both, such as fetch_m: 5000, or neither"
            )
            raise ValueError(message)

    @override
    def sea_from_wind(self, wind_speed_mps: Real, gravity_mps2: Real) -> tuple[Real, Real | None]:
        assert self.fetch_m is not None
        return growing_sea(wind_speed_mps, self.fetch_m, gravity_mps2)

    @override
    def enhancement(self) -> Real:
        return self.peak_enhancement

    @classmethod
    @override
    def examples(cls) -> dict[str, "JonswapSea"]:
        return {
            "by the wind": cls(wind_speed_mps=5.0, fetch_m=3000.0, components=8),
            "by its height": cls(
                0.4,
                peak_period_s=3.0,
                towards_rad=0.5,
                spreading=9.0,
                water_depth_m=2.0,
                components=8,
            ),
            "glassy": cls(sea_state=0, components=8),
        }
