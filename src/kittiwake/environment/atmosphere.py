"""Still air of the U.S. Standard Atmosphere, 1976 (its first two layers are the ISA's).

    H = r0 z / (r0 + z)                                      geopotential altitude, equation 18
    T = T0 - 6.5 K/km min(H, 11 km)                          equation 23
    p = p0 (T / T0)^(g0 / (R 6.5 K/km)) exp(-g0 max(H - 11 km, 0) / (R T))    equations 33a and b
    rho = p / (R T)                                          equation 42

z: geometric altitude above mean sea level. A temperature offset shifts the whole profile while the
pressure at sea level is unchanged, so the column is in balance and a barometer set to the standard
misreads height as in warm air. Valid from 5 km below sea level to 20 km above; dry air.
"""

from typing import Annotated

import jax.numpy as jnp
from typing_extensions import override

from kittiwake.core.bounds import Bounds
from kittiwake.core.standard_altitude import (
    EARTH_RADIUS_M,
    GAS_CONSTANT_JPKGK,
    GRAVITY_MPS2,
    LAPSE_RATE_KPM,
    SEA_LEVEL_PRESSURE_PA,
    SEA_LEVEL_TEMPERATURE_K,
    TROPOPAUSE_M,
)
from kittiwake.geometry.scalar import Real
from kittiwake.world.environment import AbstractAtmosphere
from kittiwake.world.surroundings import Air


def geopotential(altitude_m: Real) -> Real:
    """Return the altitude with the same potential energy under constant gravity, in meters."""
    return EARTH_RADIUS_M * altitude_m / (EARTH_RADIUS_M + altitude_m)


class StandardAtmosphere(AbstractAtmosphere):
    """Standard atmosphere with a temperature offset.

    Attributes:
        temperature_offset_k: temperature above the standard's.
    """

    temperature_offset_k: Annotated[Real, Bounds(-60.0, 60.0)] = 0.0

    @override
    def air(self, altitude_m: Real) -> Air:
        height = geopotential(jnp.asarray(altitude_m))
        at_sea_level = SEA_LEVEL_TEMPERATURE_K + self.temperature_offset_k
        temperature = at_sea_level - LAPSE_RATE_KPM * jnp.minimum(height, TROPOPAUSE_M)
        above = jnp.maximum(height - TROPOPAUSE_M, 0.0)
        exponent = GRAVITY_MPS2 / (GAS_CONSTANT_JPKGK * LAPSE_RATE_KPM)
        pressure = (
            SEA_LEVEL_PRESSURE_PA
            * (temperature / at_sea_level) ** exponent
            * jnp.exp(-GRAVITY_MPS2 * above / (GAS_CONSTANT_JPKGK * temperature))
        )
        return Air(
            temperature_k=temperature,
            pressure_pa=pressure,
            density_kgpm3=pressure / (GAS_CONSTANT_JPKGK * temperature),
        )
