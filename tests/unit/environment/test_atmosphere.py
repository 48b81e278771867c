"""The standard atmosphere against its published tables and the balance of forces."""

import jax
import pytest

from kittiwake.environment import ATMOSPHERES
from kittiwake.environment.atmosphere import (
    EARTH_RADIUS_M,
    GRAVITY_MPS2,
    StandardAtmosphere,
    geopotential,
)


@pytest.fixture(autouse=True)
def _double_precision():
    with jax.enable_x64(True):
        yield


def geometric(geopotential_m):
    return EARTH_RADIUS_M * geopotential_m / (EARTH_RADIUS_M - geopotential_m)


# U.S. Standard Atmosphere 1976, table I by geopotential altitude
@pytest.mark.parametrize(
    ("geopotential_m", "temperature_k", "pressure_pa", "density_kgpm3"),
    [
        (0.0, 288.150, 101325.0, 1.2250),
        (5000.0, 255.650, 54019.0, 0.73612),
        (11000.0, 216.650, 22632.0, 0.36392),
        (15000.0, 216.650, 12044.0, 0.19367),
        (20000.0, 216.650, 5474.8, 0.088035),
    ],
)
def test_air_is_that_of_the_table_by_geopotential_altitude(
    geopotential_m, temperature_k, pressure_pa, density_kgpm3
):
    air = StandardAtmosphere().air(geometric(geopotential_m))
    assert float(air.temperature_k) == pytest.approx(temperature_k, abs=5e-4)
    # five digits are printed
    assert float(air.pressure_pa) == pytest.approx(pressure_pa, rel=1e-4)
    assert float(air.density_kgpm3) == pytest.approx(density_kgpm3, rel=1e-4)


# the same by geometric altitude, four digits
@pytest.mark.parametrize(
    ("altitude_m", "temperature_k", "pressure_pa", "density_kgpm3"),
    [
        (1000.0, 281.65, 89880.0, 1.1117),
        (5000.0, 255.68, 54050.0, 0.7364),
        (11000.0, 216.77, 22700.0, 0.3648),
    ],
)
def test_air_is_that_of_the_table_by_geometric_altitude(
    altitude_m, temperature_k, pressure_pa, density_kgpm3
):
    air = StandardAtmosphere().air(altitude_m)
    assert float(air.temperature_k) == pytest.approx(temperature_k, abs=6e-3)
    assert float(air.pressure_pa) == pytest.approx(pressure_pa, rel=2e-4)
    assert float(air.density_kgpm3) == pytest.approx(density_kgpm3, rel=2e-4)


@pytest.mark.parametrize("offset_k", [-20.0, 0.0, 15.0])
@pytest.mark.parametrize("altitude_m", [-400.0, 0.0, 120.0, 9000.0, 11019.0, 14000.0])
def test_pressure_carries_the_weight_of_the_air_above(offset_k, altitude_m):
    atmosphere = StandardAtmosphere(offset_k)
    slope = jax.grad(lambda z: atmosphere.air(z).pressure_pa)(altitude_m)
    gravity = GRAVITY_MPS2 * (EARTH_RADIUS_M / (EARTH_RADIUS_M + altitude_m)) ** 2
    weight = float(atmosphere.air(altitude_m).density_kgpm3) * gravity
    assert float(slope) == pytest.approx(-weight, rel=1e-12)


def test_air_is_continuous_at_the_tropopause():
    below, above = (StandardAtmosphere().air(geometric(11000.0 + d)) for d in (-1e-6, 1e-6))
    # over two micrometres the pressure falls by 7e-6 Pa
    assert float(below.pressure_pa - above.pressure_pa) == pytest.approx(7.1e-6, abs=1e-6)
    assert float(below.temperature_k) == pytest.approx(float(above.temperature_k), abs=1e-7)


def test_warm_air_is_thinner_and_loses_less_pressure():
    standard, warm = (StandardAtmosphere(offset).air(500.0) for offset in (0.0, 20.0))
    assert float(warm.temperature_k) == pytest.approx(float(standard.temperature_k) + 20.0)
    assert float(warm.density_kgpm3) < float(standard.density_kgpm3)
    assert float(warm.pressure_pa) > float(standard.pressure_pa)


def test_geopotential_altitude_is_lower_by_its_square_over_the_earths_radius():
    assert 500.0 - geopotential(500.0) == pytest.approx(500.0**2 / EARTH_RADIUS_M, rel=1e-4)


def test_the_standard_atmosphere_is_found_by_name():
    assert ATMOSPHERES.find("isa") is StandardAtmosphere
