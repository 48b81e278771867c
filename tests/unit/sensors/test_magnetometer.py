"""The magnetometer: the Earth's field against another model, and what a vehicle makes of it."""

import math
from datetime import UTC, datetime

import jax
import numpy as np
import ppigrf
import pytest
from tests.unit.sensors.sample_series import by_axis, seen, series, standard_errors_off, world

from kittiwake.core.errors import ScenarioError
from kittiwake.core.kinematics import Start
from kittiwake.environment.magnetism import earth_field_world_t
from kittiwake.geometry.vec3 import Vec3
from kittiwake.scenario.load import load_scenario
from kittiwake.scenario.parameters import build_component
from kittiwake.sensors.magnetometer import Magnetometer
from kittiwake.world.world import Origin

FIELD = Vec3(1e-6, 2e-5, -4.5e-5)
EXACT = Magnetometer(noise_t=0.0, quantum_t=None)
PLACES = {
    "London": (51.7119, -0.21052, 0.0),
    "Zurich": (47.4, 8.5, 500.0),
    "Boulder": (40.0, -105.0, 1600.0),
    "Tokyo": (35.7, 139.7, 0.0),
    "Gulf of Guinea": (0.0, 0.0, 0.0),
    "Tromso": (69.6, 18.9, 100.0),
    "Antarctica": (-75.0, 0.0, 3000.0),
    "Siberia": (60.0, 100.0, 0.0),
    "Mato Grosso": (-15.0, -60.0, 100.0),
}


def reading(magnetometer, start=None, field=FIELD):
    inputs = seen(start, magnetic_field_world_t=field)
    _, found = magnetometer.step((), inputs, 0.02, jax.random.key(0))
    return np.array([float(part) for part in found.magnetic_field_body_t.array])


@pytest.mark.slow
@pytest.mark.parametrize("place", PLACES)
def test_a_level_magnetometer_that_looks_east_reads_the_field_of_the_igrf(place):
    time_utc = datetime(2025, 6, 1)
    latitude, longitude, height_m = PLACES[place]
    origin = Origin(math.radians(latitude), math.radians(longitude), height_m)
    field = earth_field_world_t(origin, time_utc.replace(tzinfo=UTC))
    east, north, up = ppigrf.igrf(longitude, latitude, height_m / 1000.0, time_utc)
    expected = 1e-9 * np.array([east.item(), north.item(), up.item()])
    # two models of the same measurements, whose forecasts part by some nT a year
    np.testing.assert_allclose(reading(EXACT, field=field), expected, rtol=0, atol=20e-9)


def test_the_reading_turns_with_the_vehicle():
    # looking north, with east on the right
    np.testing.assert_allclose(
        reading(EXACT, Start(yaw_rad=math.pi / 2.0)), [FIELD.y, -FIELD.x, FIELD.z], atol=1e-19
    )
    # on its back
    np.testing.assert_allclose(
        reading(EXACT, Start(roll_rad=math.pi)), [FIELD.x, -FIELD.y, -FIELD.z], atol=1e-19
    )


def test_the_strength_is_the_same_in_every_attitude():
    for roll, pitch, yaw in ((0.3, -0.4, 2.0), (3.0, 1.2, -1.0)):
        found = reading(EXACT, Start(roll_rad=roll, pitch_rad=pitch, yaw_rad=yaw))
        assert np.linalg.norm(found) == pytest.approx(float(FIELD.norm()), rel=1e-14)


def test_hard_iron_is_added_in_the_body_and_soft_iron_multiplies_its_axes():
    bent = Magnetometer(Vec3(1e-6, -2e-6, 3e-6), Vec3(1.1, 0.9, 1.0), 0.0, None)
    found = reading(bent, Start(yaw_rad=math.pi / 2.0))
    expected = [1.1 * FIELD.y + 1e-6, -0.9 * FIELD.x - 2e-6, FIELD.z + 3e-6]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_readings_are_whole_multiples_of_the_quantum_and_off_by_at_most_half():
    coarse = Magnetometer(noise_t=0.0, quantum_t=3e-6)
    found = reading(coarse)
    np.testing.assert_allclose(found / 3e-6, np.round(found / 3e-6), atol=1e-9)
    np.testing.assert_allclose(found, FIELD.array, rtol=0, atol=1.5e-6)


def test_a_field_beyond_the_range_is_cut():
    np.testing.assert_allclose(
        reading(EXACT, field=Vec3(2e-4, -2e-4, 1e-5)), [1.3e-4, -1.3e-4, 1e-5]
    )


def test_noise_and_rounding_add_up_to_their_deviations():
    found = series(Magnetometer(), seen(magnetic_field_world_t=FIELD), 1000, 100, 0.02)
    true = np.repeat(FIELD.array, 100)[:, None]
    off = by_axis(found.magnetic_field_body_t) - true
    # the noise is two counts wide, so that rounding is as if it were spread evenly over one
    expected = (2e-7) ** 2 + (9.2e-8) ** 2 / 12.0
    assert abs(standard_errors_off(np.mean(off**2, axis=1), expected)) < 3.0
    assert abs(standard_errors_off(np.mean(off[:, 1:] * off[:, :-1], axis=1), 0.0)) < 3.0


def test_the_ideal_reading_is_the_field_without_the_vehicles_iron():
    bent = Magnetometer(Vec3(1e-6, 0.0, 0.0), Vec3(1.1, 0.9, 1.0))
    ideal = bent.ideal(seen(magnetic_field_world_t=FIELD)).magnetic_field_body_t
    np.testing.assert_allclose(ideal.array, FIELD.array, rtol=1e-15)


def test_microtesla_and_gauss_can_be_written():
    in_microtesla = build_component(
        Magnetometer, {"noise_ut": 0.2, "hard_iron_body_ut": [1, 2, 3]}, str
    )
    assert in_microtesla.noise_t == pytest.approx(2e-7)
    assert in_microtesla.hard_iron_body_t.z == pytest.approx(3e-6)
    assert build_component(Magnetometer, {"range_gauss": 1.3}, str).range_t == pytest.approx(1.3e-4)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("world.start_utc='1993-07-01'", "unknown on 1993-07-01; write a date from 2010"),
        ("world.start_utc='0001-01-01'", "unknown on 0001-01-01; write a date from 2010"),
        ("world.start_utc='9999-12-31T23:59:59'", "unknown on 9999-12-31"),
        ("world.origin.altitude_m=-2000", "altitude_m: -2000; must be from -1000"),
    ],
)
def test_an_unknown_field_is_refused_only_where_it_is_measured(change, message):
    assert load_scenario("keep-spot", [change]).world.magnetic_field_world_t is None
    compass = "vehicles.pelican.sensors.compass=magnetometer"
    with pytest.raises(ScenarioError, match=rf"sensors\.compass: the Earth's magnetic .*{message}"):
        load_scenario("keep-spot", [change, compass])
    known = "world.magnetic_field_world_ut=[1, 20, -45]"
    measured = load_scenario("keep-spot", [change, compass, known]).world.magnetic_field_world_t
    assert measured.x == pytest.approx(1e-6)


def test_a_world_without_a_field_is_refused():
    Magnetometer().check(world())
    changes = (
        "world.magnetic_field_world_t=[0, 0, 0]",
        "vehicles.pelican.sensors={compass: magnetometer}",
    )
    with pytest.raises(ScenarioError, match=r"sensors\.compass: .*magnetic_field_world_t is zero"):
        load_scenario("keep-spot", changes)


def test_hard_iron_beyond_the_range_is_refused():
    assert build_component(Magnetometer, {"hard_iron_body_ut": [0, -130, 0]}, str)
    with pytest.raises(
        ScenarioError, match=r"hard_iron_body_t: got 30.* In microtesla, write hard_ir"
    ):
        build_component(Magnetometer, {"hard_iron_body_t": [0, 0, 30]}, str)
    with pytest.raises(ScenarioError, match="must be from -0.0008 to 0.0008, the range_t"):
        build_component(Magnetometer, {"hard_iron_body_ut": [0, -801, 0], "range_gauss": 8}, str)
