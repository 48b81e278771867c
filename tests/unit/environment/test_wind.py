"""The mean wind: directions, the profile and its foot."""

import math

import jax
import pytest

from kittiwake.core.registry import Registry
from kittiwake.environment import WINDS
from kittiwake.environment.wind import Calm, ShearWind


@pytest.fixture(autouse=True)
def _double_precision():
    with jax.enable_x64(True):
        yield


def components(wind, height):
    velocity = wind.velocity_world_mps(height)
    return float(velocity.x), float(velocity.y), float(velocity.z)


def test_calm_air_rests_at_every_height():
    assert components(Calm(), 50.0) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("from_deg", "expected"),
    [(0.0, (0.0, -3.0)), (90.0, (-3.0, 0.0)), (180.0, (0.0, 3.0)), (225.0, (2.12132, 2.12132))],
)
def test_wind_blows_from_the_direction_given_clockwise_from_north(from_deg, expected):
    found = components(ShearWind(3.0, math.radians(from_deg)), 6.096)
    assert found[:2] == pytest.approx(expected, abs=1e-5)
    assert found[2] == 0.0


def test_wind_adds_the_same_for_each_doubling_of_the_height():
    wind = ShearWind(4.0, math.pi)
    speeds = [components(wind, height)[1] for height in (3.0, 6.0, 12.0)]
    step = 4.0 * math.log(2.0) / math.log(20.0 / 0.15)
    assert speeds[1] - speeds[0] == pytest.approx(step, rel=1e-12)
    assert speeds[2] - speeds[1] == pytest.approx(step, rel=1e-12)


@pytest.mark.parametrize("height", [-5.0, 0.0, 0.015])
def test_there_is_no_wind_on_and_below_the_ground(height):
    assert components(ShearWind(4.0, 1.0), height) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("height", [-1.0, 0.0, 0.04, 10.0])
def test_wind_has_a_finite_gradient_at_every_height(height):
    slope = jax.grad(lambda h: ShearWind(4.0, math.pi).velocity_world_mps(h).y)(height)
    assert math.isfinite(slope)
    # dv/dh = u20 / (h ln(20 / z0)) where it blows
    expected = 4.0 / (height * math.log(20.0 / 0.15)) if height > 0.0 else 0.0
    assert float(slope) == pytest.approx(expected, rel=1e-12)


def test_wind_parameters_may_be_traced():
    found = jax.jit(lambda w, d, h: ShearWind(w, d).velocity_world_mps(h).x)(3.0, 1.0, 10.0)
    assert float(found) == pytest.approx(components(ShearWind(3.0, 1.0), 10.0)[0], rel=1e-14)


def test_registered_winds_are_found_by_name():
    assert isinstance(WINDS, Registry)
    assert WINDS.find("none") is Calm
    assert WINDS.find("shear") is ShearWind
