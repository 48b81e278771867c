"""Altitude of a pressure in the standard atmosphere.

    H = T0 / L (1 - (p / p0)^(R L / g0))             below 11 km, geopotential
    H = 11 km + R T11 / g0 ln(p11 / p)               above
    z = r0 H / (r0 - H)

p: static pressure; p0, T0: of the air at sea level; L: lapse rate in K/m; p11, T11:
of the air at 11 km; r0: radius of the Earth. The inverse of the U.S. Standard Atmosphere, 1976
(equations 18, 23, 33a, 33b), so that z is 0 at 101325 Pa and the true altitude in standard air;
where the air is warmer, z is too low. Pressures below 1 Pa count as 1 Pa.
"""

import jax.numpy as jnp

from kittiwake.geometry.scalar import Real

EARTH_RADIUS_M = 6356766.0
GAS_CONSTANT_JPKGK = 8.31432 / 0.0289644
GRAVITY_MPS2 = 9.80665
LAPSE_RATE_KPM = 0.0065
SEA_LEVEL_PRESSURE_PA = 101325.0
SEA_LEVEL_TEMPERATURE_K = 288.15
TROPOPAUSE_M = 11000.0
TROPOPAUSE_TEMPERATURE_K = SEA_LEVEL_TEMPERATURE_K - LAPSE_RATE_KPM * TROPOPAUSE_M
EXPONENT = GAS_CONSTANT_JPKGK * LAPSE_RATE_KPM / GRAVITY_MPS2
TROPOPAUSE_PRESSURE_PA = SEA_LEVEL_PRESSURE_PA * (
    TROPOPAUSE_TEMPERATURE_K / SEA_LEVEL_TEMPERATURE_K
) ** (1.0 / EXPONENT)
LOWEST_PRESSURE_PA = 1.0


def standard_altitude(pressure_pa: Real) -> Real:
    """Return the altitude above mean sea level of this pressure in the standard atmosphere."""
    pressure = jnp.maximum(pressure_pa, LOWEST_PRESSURE_PA)
    # by the difference from sea level, since in float32 a power near one is off by millimeters
    logarithm = jnp.log1p((pressure - SEA_LEVEL_PRESSURE_PA) / SEA_LEVEL_PRESSURE_PA)
    lower = -jnp.expm1(EXPONENT * logarithm) * (SEA_LEVEL_TEMPERATURE_K / LAPSE_RATE_KPM)
    scale_height = GAS_CONSTANT_JPKGK * TROPOPAUSE_TEMPERATURE_K / GRAVITY_MPS2
    upper = TROPOPAUSE_M - scale_height * jnp.log(pressure / TROPOPAUSE_PRESSURE_PA)
    height = jnp.where(pressure > TROPOPAUSE_PRESSURE_PA, lower, upper)
    return EARTH_RADIUS_M * height / (EARTH_RADIUS_M - height)
