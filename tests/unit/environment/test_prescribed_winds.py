"""Winds given as functions of time: their values, their directions, what is refused."""

import math

import jax
import numpy as np
import pytest

from kittiwake.core.errors import ScenarioError
from kittiwake.core.recording import Recording
from kittiwake.environment.prescribed_winds import (
    ConstantWind,
    CosineGust,
    RecordedWind,
    SinusoidalWind,
    StepWind,
)
from kittiwake.environment.wind import ShearWind
from kittiwake.geometry.vec3 import Vec3
from kittiwake.scenario.load import load_scenario
from kittiwake.world.environment import SumOfWinds

FULL = Vec3(3.0, -2.0, 0.5)
HEIGHTS_M = (-1.0, 0.0, 6.0, 500.0)


@pytest.fixture(autouse=True)
def _double_precision():
    with jax.enable_x64(True):
        yield


def air(wind, time_s, height_m=6.096):
    return np.array(wind.velocity_world_mps(height_m, time_s).array, float)


def shares(wind, times_s):
    """How much of a wind of (3, -2, 0.5) there is at each time."""
    found = np.array([air(wind, time_s) for time_s in times_s])
    np.testing.assert_allclose(found, found[:, :1] / FULL.x * FULL.array, atol=1e-15)
    return found[:, 0] / FULL.x


@pytest.mark.parametrize("from_deg", [0.0, 90.0, 225.0, 360.0])
def test_a_vector_points_downwind_and_a_direction_upwind(from_deg):
    # an air parcel that comes from this side moves away from it: north is y, east is x
    angle = math.radians(from_deg)
    vector = Vec3(-5.0 * math.sin(angle), -5.0 * math.cos(angle), 0.0)
    by_vector, by_direction = ConstantWind(vector), ConstantWind(speed_mps=5.0, from_rad=angle)
    np.testing.assert_allclose(air(by_direction, 0.0), air(by_vector, 0.0), atol=1e-15)
    # as the shear's, where it has the same speed
    np.testing.assert_allclose(air(by_direction, 0.0), air(ShearWind(5.0, angle), 0.0), atol=1e-14)


def test_a_wind_from_the_west_blows_to_the_east():
    np.testing.assert_allclose(
        air(ConstantWind(speed_mps=6.0, from_rad=math.radians(270.0)), 9.0), [6, 0, 0], atol=1e-14
    )


@pytest.mark.parametrize("height_m", HEIGHTS_M)
def test_a_constant_wind_is_the_same_at_every_height_and_time(height_m):
    for time_s in (0.0, 1.0, 1e4):
        np.testing.assert_array_equal(air(ConstantWind(FULL), time_s, height_m), FULL.array)


def test_a_step_begins_at_its_time():
    times_s = [0.0, 1.999, 2.0, 1e4]
    np.testing.assert_array_equal(shares(StepWind(2.0, FULL), times_s), [0.0, 0.0, 1.0, 1.0])


def test_a_gust_rises_stays_and_falls_as_one_less_cosine():
    wind = CosineGust(start_s=2.0, rise_s=4.0, hold_s=3.0, wind_world_mps=FULL)
    times_s = np.array([0.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 99.0])
    quarter = 0.5 * (1.0 - math.sqrt(0.5))
    rise = [0.0, 0.0, quarter, 0.5, 1.0 - quarter, 1.0]
    expected = [*rise, 1.0, *rise[:0:-1][:-1], 0.0, 0.0]
    np.testing.assert_allclose(shares(wind, times_s), expected, atol=1e-15)


def test_a_gust_of_the_standard_stays():
    wind = CosineGust(start_s=2.0, rise_s=4.0, hold_s=None, wind_world_mps=FULL)
    # v = v_m / 2 (1 - cos(pi x / d)), and v_m from x = d on
    np.testing.assert_allclose(shares(wind, [1.0, 4.0, 6.0, 1e4]), [0, 0.5, 1, 1], atol=1e-15)


def test_a_gust_without_a_hold_is_one_period_of_a_cosine():
    wind = CosineGust(start_s=0.0, rise_s=1.0, wind_world_mps=FULL)
    times_s = np.linspace(0.0, 2.0, 41)
    np.testing.assert_allclose(
        shares(wind, times_s), 0.5 * (1.0 - np.cos(np.pi * times_s)), atol=1e-15
    )


def test_a_sinusoid_swings_with_its_period_and_phase():
    wind = SinusoidalWind(period_s=8.0, phase_rad=math.radians(30.0), wind_world_mps=FULL)
    times_s = np.array([0.0, 1.0, 2.0, 5.0, 8.0, 801.0])
    expected = np.sin(2.0 * np.pi * times_s / 8.0 + np.pi / 6.0)
    np.testing.assert_allclose(shares(wind, times_s), expected, atol=1e-12)


def test_a_sinusoid_keeps_its_phase_in_single_precision():
    with jax.enable_x64(False):
        found = air(SinusoidalWind(period_s=0.5, wind_world_mps=FULL), 4096.125)[0]
    # a quarter of a period, which single precision holds exactly at this time
    assert found == pytest.approx(FULL.x, rel=1e-6)


def recording(columns=("east_mps", "north_mps"), values=((1.0, 2.0), (3.0, -4.0), (3.0, 0.0))):
    return Recording(columns, "wind.csv", 30.0, np.array([10.0, 20.0, 30.0]), np.array(values))


def test_a_recorded_wind_is_linear_between_its_rows_and_constant_beyond():
    wind = RecordedWind(recording())
    expected = {
        0.0: (1, 2),
        10.0: (1, 2),
        15.0: (2, -1),
        20.0: (3, -4),
        22.5: (3, -3),
        99.0: (3, 0),
    }
    for time_s, (east, north) in expected.items():
        np.testing.assert_allclose(air(wind, time_s), [east, north, 0.0], atol=1e-15)


def test_a_recorded_wind_may_rise_and_be_scaled():
    columns = ("up_mps", "north_mps", "east_mps")
    wind = RecordedWind(
        recording(columns, ((1.0, 2.0, 3.0), (1.0, 2.0, 3.0), (4.0, 5.0, 6.0))), scale=2.0
    )
    np.testing.assert_allclose(air(wind, 30.0), [12.0, 10.0, 8.0])


@pytest.mark.parametrize("columns", [("east_mps", "up_mps"), ("east", "north"), ("x", "y")])
def test_other_columns_are_refused_with_those_that_a_wind_has(columns):
    with pytest.raises(ValueError, match=r"wind.csv:1: .* east_mps, north_mps"):
        RecordedWind(recording(columns))


def test_winds_add_up():
    shear = ShearWind(4.0, 1.0)
    gust = CosineGust(1.0, 2.0, wind_world_mps=FULL)
    both = SumOfWinds((shear, gust))
    for time_s in (0.0, 2.0, 3.0):
        np.testing.assert_array_equal(
            air(both, time_s, 20.0), air(shear, time_s, 20.0) + air(gust, time_s, 20.0)
        )
    assert not both.is_steady
    assert SumOfWinds((shear, ConstantWind(FULL))).is_steady


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "no velocity is given; write wind_world_mps"),
        ({"speed_mps": 3.0}, "only speed_mps is given"),
        ({"from_rad": 3.0}, "only from_deg is given"),
        ({"wind_world_mps": FULL, "speed_mps": 3.0}, "together with speed_mps or from_deg"),
    ],
)
def test_a_velocity_given_in_part_or_twice_is_refused(given, message):
    with pytest.raises(ValueError, match=message):
        StepWind(1.0, **given)


@pytest.mark.parametrize("time_s", [0.0, 1.0, 2.0, 3.0, 5.0, 9.0])
def test_a_gust_has_a_finite_gradient_also_where_it_begins_and_ends(time_s):
    def speed(start_s, rise_s, hold_s):
        wind = CosineGust(start_s, rise_s, hold_s, FULL)
        return wind.velocity_world_mps(5.0, time_s).x

    slopes = jax.grad(speed, argnums=(0, 1, 2))(1.0, 2.0, 0.0)
    assert all(math.isfinite(slope) for slope in slopes)


@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("time_s", [0.0, 1e-3, 5.0, 1e6])
@pytest.mark.parametrize(
    "wind",
    [
        StepWind(1e9, Vec3(1e3, -1e3, 1e3)),
        CosineGust(-1e9, 1e-3, 1e9, Vec3(1e3, -1e3, 1e3)),
        CosineGust(5.0, 1e-3, 5.0, Vec3(1e3, -1e3, 1e3)),
        SinusoidalWind(1e-3, 1e3, Vec3(1e3, -1e3, 1e3)),
        ShearWind(1e3, 1e3),
    ],
    ids=lambda wind: type(wind).__name__,
)
def test_a_wind_is_finite_up_to_its_bounds(wind, time_s, precision):
    with jax.enable_x64(precision == "float64"):
        found = air(wind, time_s)
    assert (np.abs(found) <= 1e3).all()


@pytest.mark.parametrize(
    "given",
    [
        "[1.0e+308, 0, 0]",
        "{type: gust, start_s: 1, rise_s: 1.0e-308, wind_world_mps: [1, 0, 0]}",
        "{type: gust, start_s: 1, rise_s: 1, hold_s: 1.0e+300, wind_world_mps: [1, 0, 0]}",
        "{type: sinusoid, period_s: 1.0e-308, wind_world_mps: [1, 0, 0]}",
        "{type: step, start_s: 1.0e+308, speed_mps: 1, from_deg: 0}",
        "{type: constant, speed_mps: 1.0e+9, from_deg: 0}",
        "{type: shear, speed_at_6m_mps: 1.0e+308, from_deg: 0}",
        "{type: shear, speed_at_6m_mps: 1, from_deg: 1.0e+308}",
    ],
)
def test_a_wind_beyond_its_bounds_is_refused(given):
    with pytest.raises(ScenarioError, match="world.wind"):
        load_scenario("hover-pelican", [f"world.wind={given}"])


def test_a_recorded_wind_beyond_the_bounds_is_refused():
    fast = recording(values=((1.0, 0.0), (0.0, 600.0), (0.0, 0.0)))
    with pytest.raises(ValueError, match=r"wind\.csv: got 1200 m/s; a wind must be at most"):
        RecordedWind(fast, scale=2.0)


def test_a_recorded_wind_of_equal_rows_is_steady():
    assert RecordedWind(recording(values=((1.0, 2.0),) * 3)).is_steady
    assert not RecordedWind(recording()).is_steady


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            "{type: step, start_s: 1000, wind_world_mps: [1, 0, 0]}",
            ": begins at 1000 s, after the end",
        ),
        (
            "[[1, 0, 0], {type: gust, start_s: 1000, rise_s: 1, wind_world_mps: [1, 0, 0]}]",
            ".1: begins at 1000 s, after the end",
        ),
        (
            "[[1, 0, 0], [none, {type: step, start_s: 99, speed_mps: 1, from_deg: 0}]]",
            ".1.1: begins at 99 s, after the end",
        ),
        (
            "{type: gust, start_s: -9, rise_s: 2, hold_s: 5, wind_world_mps: [1, 0, 0]}",
            ": ends at 0 s, before",
        ),
        ("{type: gust, start_s: -9, rise_s: 2, hold_s: null, wind_world_mps: [1, 0, 0]}", None),
        ("{type: gust, start_s: -9, rise_s: 2, hold_s: 6, wind_world_mps: [1, 0, 0]}", None),
        (
            "{type: sinusoid, period_s: 0.001, speed_mps: 1, from_deg: 0}",
            ": period_s is 0.001, shorter",
        ),
        ("{type: step, start_s: 1, wind_world_mps: [1, 0, 0]}", None),
    ],
)
def test_a_wind_outside_the_flight_is_warned_of(given, message):
    found = [
        one
        for one in load_scenario("hover-pelican", [f"world.wind={given}"]).warnings()
        if one.startswith("world.wind")
    ]
    assert [one.startswith(f"world.wind{message}") for one in found] == ([True] if message else [])
