"""The satellite receiver: exact without errors, and with them as wrong as theory says."""

import math
from datetime import UTC, datetime

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kittiwake as kw
from kittiwake.core.errors import ScenarioError
from kittiwake.core.kinematics import Start
from kittiwake.environment.satellites.nominal import NominalConstellation
from kittiwake.environment.satellites.range_errors import NoRangeError, SecondOrderError
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.sensor import SensorInputs
from kittiwake.scenario.load import load_scenario
from kittiwake.sensors.gnss import Gnss
from kittiwake.world.satellites import SKY, SatelliteProcess, Sky
from kittiwake.world.surroundings import Air, Surroundings
from kittiwake.world.world import Origin

DT_S = 0.2
KEY = jax.random.key(11)
LONDON = Origin(math.radians(51.7119), math.radians(-0.21052), 0.0)
START_UTC = datetime(2026, 6, 30, 9, 30, tzinfo=UTC)
THROUGH_THE_EARTH = -math.pi / 2.0
EXACT = Gnss(noise_m=0.0, delay_periods=0)


def nominal(numbers=None):
    constellation = NominalConstellation(numbers, NoRangeError())
    return SatelliteProcess(constellation.orbits(LONDON, START_UTC), constellation.errors)


def sky_at(time_s, numbers=None):
    satellites = nominal(numbers)
    return satellites.step(satellites.init(KEY), jnp.asarray(time_s), DT_S, KEY)[1]


AT_REST = Vec3(0.0, 0.0, 0.0)


def seeing(sky, position, velocity=AT_REST):
    air = Air(288.15, 101325.0, 1.225)
    calm = Surroundings(9.81, air, Vec3.zero(), 10.0, math.inf)
    truth = Start(Vec3.of(position), velocity_world_mps=velocity).kinematics()
    return SensorInputs(0.0, truth, calm, None, {SKY: sky})


def measured(receiver, *inputs, key=KEY):
    """What a receiver says after each of these, one period apart."""
    state, said = receiver.init(key), []
    for i, now in enumerate(inputs):
        state, measurement = receiver.step(state, now, DT_S, jax.random.fold_in(key, i))
        said.append(measurement)
    return said


def distance(one, other):
    return math.dist(np.asarray(one.array).tolist(), np.asarray(other.array).tolist())


PLACES = [(0.0, 0.0, 0.0), (3.0, -4.0, 10.0), (-1200.0, 900.0, 300.0), (2e4, 5e4, 3000.0)]


@pytest.mark.slow
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("mask_rad", [0.0872665, THROUGH_THE_EARTH])
def test_fix_without_errors_is_the_truth(place, mask_rad):
    receiver = Gnss(noise_m=0.0, delay_periods=0, elevation_mask_rad=mask_rad)
    [found] = measured(receiver, seeing(sky_at(100.0), place))
    assert found.valid
    # rounding of ranges of 2.6e7 m, 4e-9 m, times the dilution
    assert distance(found.position_world_m, Vec3.of(place)) < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize(
    ("place", "tolerance_m"), list(zip(PLACES, (1e-6, 1e-5, 1e-3, 0.2), strict=True))
)
def test_fix_in_single_precision_is_good_to_a_millimeter_at_a_kilometer(
    single_precision, place, tolerance_m
):
    [found] = measured(EXACT, seeing(sky_at(100.0), place))
    assert found.position_world_m.x.dtype == jnp.float32
    # differences of ranges have seven digits, and the dilution multiplies their rounding
    assert distance(found.position_world_m, Vec3.of(place)) < tolerance_m


@pytest.mark.slow
def test_fix_is_that_of_some_periods_ago():
    places = [(float(i), 2.0 * i, 10.0) for i in range(5)]
    inputs = [seeing(sky_at(0.2 * i), place) for i, place in enumerate(places)]
    for delay in (0, 1, 3):
        found = measured(Gnss(noise_m=0.0, delay_periods=delay), *inputs)
        for i, measurement in enumerate(found):
            then = Vec3.of(places[max(i - delay, 0)])
            assert distance(measurement.position_world_m, then) < 1e-6


@pytest.mark.slow
def test_velocity_is_that_from_fix_to_fix():
    inputs = [seeing(sky_at(0.0), (0.6 * i, -0.2 * i, 0.1 * i)) for i in range(3)]
    first, *others = measured(EXACT, *inputs)
    assert distance(first.velocity_world_mps, Vec3.zero()) == 0.0
    for measurement in others:
        # errors of 1e-8 m over 0.2 s
        assert distance(measurement.velocity_world_mps, Vec3(3.0, -1.0, 0.5)) < 1e-6


def test_ideal_measurement_is_the_truth_of_now():
    velocity = Vec3(1.0, 2.0, -3.0)
    sky = sky_at(0.0)
    noisy = Sky(sky.numbers, sky.positions_world_m, sky.range_errors_m + 5.0)
    ideal = Gnss(noise_m=3.0).ideal(seeing(noisy, (7.0, 8.0, 9.0), velocity))
    assert distance(ideal.position_world_m, Vec3(7.0, 8.0, 9.0)) == 0.0
    assert distance(ideal.velocity_world_mps, velocity) == 0.0
    assert ideal.valid


def test_an_error_common_to_all_ranges_is_one_of_the_clock():
    sky = sky_at(0.0)
    late = Sky(sky.numbers, sky.positions_world_m, sky.range_errors_m + 1000.0)
    [found] = measured(EXACT, seeing(late, (10.0, 20.0, 30.0)))
    assert distance(found.position_world_m, Vec3(10.0, 20.0, 30.0)) < 1e-6


def geometry(sky, mask_rad):
    """Which satellites are above a mask at the origin, and the covariance of their fix."""
    places = np.asarray(sky.positions_world_m)
    directions = places / np.linalg.norm(places, axis=1, keepdims=True)
    seen = directions[:, 2] >= math.sin(mask_rad)
    rows = np.column_stack([-directions[seen], np.ones(seen.sum())])
    return seen, rows, np.linalg.inv(rows.T @ rows)


@pytest.mark.parametrize("mask_deg", [-90.0, 0.0, 5.0, 15.0])
def test_satellites_and_dilutions_are_those_of_the_geometry(mask_deg):
    sky = sky_at(500.0)
    seen, _, q = geometry(sky, math.radians(mask_deg))
    receiver = Gnss(noise_m=0.0, elevation_mask_rad=math.radians(mask_deg))
    [found] = measured(receiver, seeing(sky, (0.0, 0.0, 0.0)))
    assert int(found.satellites) == int(seen.sum())
    wanted = np.sqrt([q[0, 0] + q[1, 1], q[2, 2], np.trace(q[:3, :3]), q[3, 3]])
    dilutions = [found.hdop, found.vdop, found.pdop, found.tdop]
    # what keeps the matrix regular is 1e-6 of its numbers
    np.testing.assert_allclose(dilutions, wanted, rtol=2e-5)


@pytest.mark.slow
def test_as_many_satellites_are_tracked_as_were_drawn_and_the_same_ones_all_the_time():
    receiver = Gnss(satellites_tracked=(10, 13), elevation_mask_rad=THROUGH_THE_EARTH)
    inputs = seeing(sky_at(0.0), (0.0, 0.0, 0.0))
    numbers, dilutions = set(), set()
    thrice = jax.jit(lambda key: measured(receiver, inputs, inputs, inputs, key=key))
    for seed in range(40):
        found = thrice(jax.random.key(seed))
        # noise of a few millimeters moves where directions are taken from
        assert len({round(float(m.pdop), 6) for m in found}) == 1
        numbers.add(int(found[0].satellites))
        dilutions.add(round(float(found[0].pdop), 6))
    assert numbers == {10, 11, 12, 13}
    assert len(dilutions) == 40


@pytest.mark.slow
def test_a_receiver_that_tracks_few_satellites_prefers_those_in_view():
    sky = sky_at(0.0)
    seen, *_ = geometry(sky, EXACT.elevation_mask_rad)
    assert seen.sum() > 5
    for seed in range(10):
        inputs = seeing(sky, (0.0, 0.0, 0.0))
        [found] = measured(Gnss(satellites_tracked=(5, 5)), inputs, key=jax.random.key(seed))
        assert found.satellites == 5


@pytest.mark.slow
def test_without_four_satellites_the_last_fix_is_held():
    sky = sky_at(0.0)
    seen, *_ = geometry(sky, EXACT.elevation_mask_rad)
    three = tuple(np.flatnonzero(seen)[:3] + 1)
    few = sky_at(0.0, tuple(map(int, three)))
    # the same number of satellites, all others below the horizon
    hidden = jnp.where(
        jnp.isin(jnp.arange(1, 25), jnp.asarray(three))[:, None],
        sky.positions_world_m,
        -jnp.abs(sky.positions_world_m),
    )
    dark = Sky(sky.numbers, hidden, sky.range_errors_m)
    assert few.positions_world_m.shape == (3, 3)
    places = [(0.2 * i, 0.0, 10.0) for i in range(6)]
    skies = [sky, sky, dark, dark, sky, sky]
    found = measured(EXACT, *map(seeing, skies, places))
    assert [bool(m.valid) for m in found] == [True, True, False, False, True, True]
    for lost in found[2:4]:
        assert distance(lost.position_world_m, Vec3.of(places[1])) < 1e-6
        assert lost.satellites == 3
        assert lost.pdop == 0.0
    # a difference over the gap would be 3 m/s
    speeds = [float(m.velocity_world_mps.x) for m in found[1:]]
    np.testing.assert_allclose(speeds, 1.0, atol=1e-6)


@pytest.mark.slow
def test_satellites_in_one_plane_give_no_fix():
    angles = np.linspace(0.2, 2.9, 6)
    flat = 2.6e7 * np.stack([np.cos(angles), 0.0 * angles, np.sin(angles)], axis=1)
    sky = Sky(tuple(range(1, 7)), jnp.asarray(flat), jnp.zeros(6))
    [found] = measured(EXACT, seeing(sky, (0.0, 0.0, 0.0)))
    assert found.satellites == 6
    assert not found.valid
    assert np.isfinite([*np.asarray(found.position_world_m.array), found.pdop]).all()


@pytest.mark.slow
def test_receivers_own_noise_comes_out_as_the_dilutions_say():
    sky = sky_at(0.0)
    receiver = Gnss(noise_m=0.5, delay_periods=0)
    _, _, q = geometry(sky, receiver.elevation_mask_rad)
    inputs = seeing(sky, (0.0, 0.0, 0.0))
    runs = 4000

    @jax.jit
    @jax.vmap
    def fix(key):
        return receiver.step(receiver.init(key), inputs, DT_S, key)[1].position_world_m.array

    found = np.asarray(fix(jax.random.split(KEY, runs)))
    # independent fixes: a deviation is uncertain by sd / sqrt(2 N)
    expected = 0.5 * np.sqrt(np.diag(q)[:3])
    assert (np.abs(found.std(axis=0) / expected - 1.0) < 3.0 / math.sqrt(2.0 * runs)).all()
    assert (np.abs(found.mean(axis=0)) < 3.0 * expected / math.sqrt(runs)).all()


def correlation_of_two(noise_m, runs=2000):
    """Of the errors of two receivers 30 m apart, by axis, over independent skies."""
    satellites = SatelliteProcess(nominal().orbits, SecondOrderError())
    receiver = Gnss(noise_m=noise_m, delay_periods=0)

    @jax.jit
    @jax.vmap
    def fixes(key):
        above, one, other = jax.random.split(key, 3)
        sky = satellites.step(satellites.init(above), jnp.asarray(0.0), DT_S, above)[1]
        return [
            receiver.step(receiver.init(own), seeing(sky, place), DT_S, own)[1].position_world_m
            for own, place in ((one, (0.0, 0.0, 10.0)), (other, (30.0, 0.0, 10.0)))
        ]

    one, other = fixes(jax.random.split(KEY, runs))
    return [np.corrcoef(getattr(one, axis), getattr(other, axis))[0, 1] for axis in ("x", "y", "z")]


@pytest.mark.slow
def test_receivers_close_together_err_alike():
    assert min(correlation_of_two(0.002)) > 0.95


@pytest.mark.slow
@pytest.mark.parametrize("noise_m", [0.3, 1.0])
def test_noise_of_their_own_makes_receivers_err_less_alike(noise_m):
    shared, own = SecondOrderError().deviation_m ** 2, noise_m**2
    expected = shared / (shared + own)
    # of independent pairs: (1 - rho^2) / sqrt(N) is the standard error
    margin = 3.0 * (1.0 - expected**2) / math.sqrt(2000)
    for found in correlation_of_two(noise_m):
        assert abs(found - expected) < margin


@pytest.mark.parametrize("numbers", [(0, 4), (6, 5)])
def test_numbers_of_satellites_that_cannot_be_tracked_are_refused(numbers):
    with pytest.raises(ValueError, match=r"satellites_tracked: got .*; must be at least 1"):
        Gnss(satellites_tracked=numbers)


def sines_of_elevation(time_s):
    places = np.asarray(
        kw.load("gps-errors")
        .scenario.world.processes[SKY]
        .component.orbits.positions_world_m(time_s)
    )
    return places[:, 2] / np.linalg.norm(places, axis=1)


@pytest.mark.slow
def test_a_fix_that_is_lost_as_a_satellite_sets_is_an_event():
    # the four highest, of which the mask hides the lowest one after 5 of 10 s
    now, later = sines_of_elevation(0.0), sines_of_elevation(5.0)
    sinking = [i for i in np.argsort(-now) if later[i] < now[i]]
    four = [*[i for i in np.argsort(-now) if i != sinking[-1]][:3]]
    last = next(i for i in sinking if i not in four)
    mask_rad = float(np.arcsin(later[last]))
    changes = {
        "world.satellites.numbers": sorted(int(i) + 1 for i in (*four, last)),
        "vehicles.pelican.sensors.gnss.elevation_mask_rad": mask_rad,
    }
    log = kw.load("gps-errors", changes).run(10)
    told = {(event.vehicle, event.event): event.time_s for event in log.events}
    assert set(told) == {
        ("pelican-1", "gnss lost its fix"),
        ("pelican-2", "gnss lost its fix"),
    }
    # the elevation is that of 0.2 s before, seen from 10 m above the origin
    assert told["pelican-1", "gnss lost its fix"] == pytest.approx(5.0, abs=0.5)
    frame = log.frame("pelican-1")
    lost = frame[frame["sensor.gnss.valid"] == 0.0]
    assert len(lost) > 100
    assert lost["sensor.gnss.position_x_world_m"].nunique() == 1
    assert np.isfinite(frame.to_numpy()).all()


@pytest.mark.slow
def test_fixes_of_a_flight_in_single_precision_are_the_truth_without_errors():
    changes = {"vehicles.pelican.parameters": {"linear_noise_mps2": 0, "angular_noise_radps2": 0}}
    changes |= {"world.satellites.errors": "none", "vehicles.pelican.sensors.gnss.noise_m": 0}
    frame = kw.load("gps-errors", changes, precision="float32").run(5).frame("pelican-2")
    for axis in "xyz":
        # a fix every tenth row, of the place ten rows before
        found = frame[f"sensor.gnss.position_{axis}_world_m"].to_numpy()[10::10]
        place = frame[f"{axis}_m"].to_numpy()[:-10:10]
        # a distance of 30 m is rounded by 2e-6 m, which the dilution multiplies
        np.testing.assert_allclose(found, place, rtol=0, atol=1e-4)


@pytest.mark.slow
def test_a_receiver_that_never_has_a_fix_is_refused_in_a_scenario():
    key = "vehicles.pelican.sensors.gnss.satellites_tracked"
    load_scenario("keep-spot", [f"{key}=[1, 4]"])
    with pytest.raises(
        ScenarioError, match=r"satellites_tracked: got \[1, 3\].* requires 4 satellites"
    ):
        load_scenario("keep-spot", [f"{key}=[1, 3]"])
