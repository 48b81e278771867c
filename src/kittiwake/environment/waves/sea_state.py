"""Significant height and peak period of a sea, from a sea state, a wind or a height.

Sea states: WMO code table 3700 (WMO-No. 306, Manual on Codes), up to 6; for each the middle of its
significant heights. A fully developed sea in a wind U at 19.5 m (Pierson and Moskowitz 1964): ``S =
0.0081 g^2 w^-5 exp(-0.74 (g / (U w))^4)``, therefore ``H = 4 sqrt(0.0081 / 2.96) U^2 / g`` and
``w_p = (4/5 0.74)^(1/4) g / U``. A growing sea in a wind U at 10 m over a fetch F (Hasselmann and
others 1973, JONSWAP): ``(H / 4)^2 = 1.6e-7 U^2 F / g``, ``w_p = 22 (g^2 / (U F))^(1/3)``.

If only the height is known: the period of the fully developed sea of this height, 5.0 sqrt(H) in SI
units, for gamma = 1; for others shorter by the factor 1 - ln(gamma) / 5.75, which is the relation
of gamma and T / sqrt(H) in DNV-RP-C205 (2010), 3.5.5.5, solved for T.
"""

import math

import jax.numpy as jnp

from kittiwake.core.bounds import Bounds
from kittiwake.environment.waves.dispersion import check_breaking, wavelength_m
from kittiwake.environment.waves.spectra import SeaSpectrum
from kittiwake.geometry.scalar import Real

SEA_STATES = Bounds(0.0, 6.0)
# range of the significant heights of each sea state
HEIGHTS_M = ((0.0, 0.0), (0.0, 0.1), (0.1, 0.5), (0.5, 1.25), (1.25, 2.5), (2.5, 4.0), (4.0, 6.0))
# lower heights have the period of this one
MIN_HEIGHT_M = 0.05
DEVELOPED_HEIGHT = 4.0 * math.sqrt(0.0081 / 2.96)
DEVELOPED_FREQUENCY = (0.8 * 0.74) ** 0.25
# steeper seas are very rare: DNV-RP-C205, 3.5.4
MAX_USUAL_STEEPNESS = 1.0 / 15.0


def height_of(sea_state: int) -> float:
    """Return the significant height of a sea state."""
    return 0.5 * sum(HEIGHTS_M[sea_state])


def developed_sea(wind_speed_mps: Real, gravity_mps2: Real) -> tuple[Real, Real]:
    """Return significant height and peak period of the fully developed sea of a wind."""
    height = DEVELOPED_HEIGHT * wind_speed_mps * wind_speed_mps / gravity_mps2
    return height, 2.0 * math.pi / DEVELOPED_FREQUENCY * wind_speed_mps / gravity_mps2


def growing_sea(wind_speed_mps: Real, fetch_m: Real, gravity_mps2: Real) -> tuple[Real, Real]:
    """Return significant height and peak period of the sea of a wind over a fetch."""
    fetch_s2 = jnp.asarray(fetch_m / gravity_mps2, jnp.result_type(float))
    height = 4.0 * math.sqrt(1.6e-7) * wind_speed_mps * jnp.sqrt(fetch_s2)
    peak = 22.0 * jnp.cbrt(gravity_mps2 / (fetch_s2 * wind_speed_mps))
    return height, 2.0 * math.pi / peak


def period_of(significant_height_m: Real, peak_enhancement: Real, gravity_mps2: Real) -> Real:
    """Return a likely peak period of a sea of known significant height."""
    height = jnp.asarray(significant_height_m, jnp.result_type(float))
    wind = jnp.sqrt(jnp.maximum(height, MIN_HEIGHT_M) * gravity_mps2 / DEVELOPED_HEIGHT)
    shortened = 1.0 - jnp.log(jnp.asarray(peak_enhancement, height.dtype)) / 5.75
    return developed_sea(wind, gravity_mps2)[1] * shortened


def check_steepness(sea: SeaSpectrum, gravity_mps2: float, key: str) -> None:
    """Raise ScenarioError for a sea whose significant waves would break."""
    height_m, period_s = float(sea.significant_height_m), float(sea.peak_period_s)
    check_breaking(height_m, period_s, gravity_mps2, sea.water_depth_m, key)


def steepness_warnings(sea: SeaSpectrum, gravity_mps2: float) -> tuple[str, ...]:
    """Return a warning if the sea is unusually steep."""
    height_m, period_s = float(sea.significant_height_m), float(sea.peak_period_s)
    length_m = wavelength_m(period_s, gravity_mps2, sea.water_depth_m)
    if height_m <= MAX_USUAL_STEEPNESS * length_m:
        return ()
    return (
        f"its significant height of {height_m:.3g} m is more than a fifteenth of the length of "
        f"{length_m:.3g} m at its peak, and its highest waves break; write a peak_period_s of "
        f"{period_s * math.sqrt(height_m / (MAX_USUAL_STEEPNESS * length_m)):.3g} or more",
    )


def require_one(given: dict[str, object]) -> None:
    """Raise ValueError unless exactly one parameter is given.

    Raises:
        ValueError: names the alternatives.
    """
    names = [name for name, value in given.items() if value is not None]
    if len(names) != 1:
        problem = (
            f"{' and '.join(names)} are given" if names else "the height of the sea is missing"
        )
        message = f"{problem}; write one of {', '.join(given)}"
        raise ValueError(message)
