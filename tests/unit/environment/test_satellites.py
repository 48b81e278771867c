"""Satellites: slots on their circles, orbits of a file, what a world shows of them."""

import math
from datetime import UTC, datetime, timedelta

import jax
import numpy as np
import pytest
from tests.unit.environment.synthetic_orbits import BEGINS_GPS, place_ecef_m, sp3_lines

from kittiwake.core.errors import ScenarioError
from kittiwake.environment.satellites.gps_time import utc_from_gps
from kittiwake.environment.satellites.nominal import (
    EPOCH_UTC,
    GREENWICH_RAD,
    SEMI_MAJOR_AXIS_M,
    NominalConstellation,
)
from kittiwake.environment.satellites.precise import PreciseConstellation
from kittiwake.environment.satellites.range_errors import FirstOrderError
from kittiwake.environment.satellites.selection import frame_at
from kittiwake.geometry.vec3 import Vec3
from kittiwake.scenario.files.sp3 import read_sp3
from kittiwake.world.satellites import SatelliteProcess
from kittiwake.world.world import Origin

LONDON = Origin(math.radians(51.7119), math.radians(-0.21052), 30.0)
DAY_S = 86_164.0905


def ecef_m(orbits, time_s, origin=LONDON):
    """Where satellites are from the center of the Earth."""
    frame = frame_at(origin)
    places = np.asarray(orbits.positions_world_m(time_s))
    return np.array([frame.ecef_from_local(Vec3.of(p)).array for p in places.tolist()])


def table(tmp_path, **shape):
    file = tmp_path / "made.sp3"
    file.write_text("\n".join(sp3_lines(**shape)), encoding="ascii")
    return read_sp3(file)


def test_slots_match_their_elements_at_the_epoch():
    orbits = NominalConstellation().orbits(LONDON, EPOCH_UTC)
    assert orbits.numbers == tuple(range(1, 25))
    places = ecef_m(orbits, 0.0)
    # slot B2 is the sixth: right ascension of its node 332.847 deg, argument of latitude 173.336
    node, u = math.radians(332.847) - GREENWICH_RAD, math.radians(173.336)
    up = math.sin(u) * math.sin(math.radians(55.0))
    longitude = node + math.atan2(math.sin(u) * math.cos(math.radians(55.0)), math.cos(u))
    flat = math.sqrt(1.0 - up**2)
    expected = [flat * math.cos(longitude), flat * math.sin(longitude), up]
    # a millimeter: rounding of places 3e7 m away from the origin, and of the subtraction
    np.testing.assert_allclose(places[5], np.array(expected) * SEMI_MAJOR_AXIS_M, atol=1e-3)


def test_slots_stay_on_their_circles_and_come_back_over_the_same_ground_after_a_day():
    orbits = NominalConstellation().orbits(LONDON, datetime(2026, 1, 1, tzinfo=UTC))
    start, later = ecef_m(orbits, 0.0), ecef_m(orbits, DAY_S)
    for places in (start, later):
        np.testing.assert_allclose(np.linalg.norm(places, axis=1), SEMI_MAJOR_AXIS_M, rtol=1e-12)
    # without the flattened Earth two turns take 9 s less than a day: 35 km, 0.13 % of the radius
    assert np.linalg.norm(later - start, axis=1).max() < 40e3


def test_a_later_start_is_the_same_as_waiting():
    begin = datetime(2026, 1, 1, tzinfo=UTC)
    early = NominalConstellation().orbits(LONDON, begin)
    late = NominalConstellation().orbits(LONDON, begin + timedelta(hours=5))
    # angles of a million turns keep ten digits: 1e-9 rad are 3 cm
    np.testing.assert_allclose(ecef_m(early, 5 * 3600.0), ecef_m(late, 0.0), atol=0.05)


def test_anywhere_at_any_hour_four_slots_are_in_view():
    for hour in range(0, 24, 3):
        for latitude in (-1.2, 0.0, 0.9):
            origin = Origin(latitude, 0.3 * hour, 0.0)
            start = datetime(2026, 1, 1, hour, tzinfo=UTC)
            places = np.asarray(NominalConstellation().orbits(origin, start).positions_world_m(0.0))
            sines = places[:, 2] / np.linalg.norm(places, axis=1)
            assert (sines > math.sin(math.radians(5.0))).sum() >= 4


def test_satellites_can_be_chosen_and_keep_their_places():
    start = datetime(2026, 1, 1, tzinfo=UTC)
    every = NominalConstellation().orbits(LONDON, start).positions_world_m(7.0)
    some = NominalConstellation((20, 3)).orbits(LONDON, start)
    assert some.numbers == (20, 3)
    np.testing.assert_array_equal(some.positions_world_m(7.0), every[np.array([19, 2])])


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ((25,), "the constellation has no satellite 25; allowed: 1, 2, 3"),
        ((0, 1), "no satellite 0"),
        ((4, 5, 4), "got 4 twice"),
        ((), r"got \[\]; write at least one"),
    ],
)
def test_unknown_satellites_are_refused(numbers, message):
    with pytest.raises(ValueError, match=message):
        NominalConstellation(numbers)


@pytest.mark.slow
@pytest.mark.parametrize("interval_s", [900, 300])
def test_orbits_of_a_file_are_right_to_a_millimeter(tmp_path, interval_s):
    times = 24 if interval_s == 900 else 60
    read = table(tmp_path, interval_s=interval_s, times=times)
    first_s, last_s = read.span_s
    start = utc_from_gps(read.begins_gps + timedelta(seconds=first_s))
    orbits = PreciseConstellation(read).orbits(LONDON, start)
    assert orbits.end_s == last_s - first_s
    for time_s in np.linspace(0.0, orbits.end_s, 173):
        truth = [place_ecef_m(number, first_s + time_s) for number in orbits.numbers]
        errors = np.linalg.norm(ecef_m(orbits, float(time_s)) - truth, axis=1)
        # half a millimeter on each axis is the rounding of the file itself
        assert errors.max() < 1e-3


def test_orbits_of_a_file_begin_anywhere_in_it(tmp_path):
    read = table(tmp_path)
    start = utc_from_gps(read.begins_gps + timedelta(seconds=5000.25))
    orbits = PreciseConstellation(read, (17, 2)).orbits(LONDON, start)
    truth = [place_ecef_m(number, 5000.25 + 61.0) for number in (17, 2)]
    np.testing.assert_allclose(ecef_m(orbits, 61.0), truth, rtol=0, atol=1e-3)


@pytest.mark.parametrize(
    ("start_utc", "time_gps"),
    [
        ("2016-12-31T22:00:00", "2016-12-31T22:00:17"),
        ("2016-12-31T23:59:59", "2017-01-01T00:00:16"),
        ("2017-01-01T00:00:00", "2017-01-01T00:00:18"),
        ("2017-01-01T02:00:00", "2017-01-01T02:00:18"),
    ],
)
def test_orbits_of_a_file_across_a_leap_second_are_right_on_both_sides(
    tmp_path, start_utc, time_gps
):
    begins, start, then = (
        datetime.fromisoformat(time).replace(tzinfo=UTC)
        for time in ("2016-12-31T18:00:00", start_utc, time_gps)
    )
    orbits = PreciseConstellation(table(tmp_path, times=60, begins_gps=begins)).orbits(
        LONDON, start
    )
    # also where the flight itself crosses it
    for later_s in (0.0, 7200.5):
        since_s = (then - begins).total_seconds() + later_s
        truth = [place_ecef_m(number, since_s) for number in orbits.numbers]
        np.testing.assert_allclose(ecef_m(orbits, later_s), truth, rtol=0, atol=1e-3)


@pytest.mark.parametrize("start_utc", ["2016-12-31T18:59:42", "2017-01-01T02:44:42"])
def test_span_of_a_file_across_a_leap_second_is_in_utc_on_each_side(tmp_path, start_utc):
    begins = datetime(2016, 12, 31, 18, tzinfo=UTC)
    read = table(tmp_path, times=40, begins_gps=begins)
    start = datetime.fromisoformat(start_utc).replace(tzinfo=UTC)
    # an hour in, less 17 s, to an hour before the last, less 18 s
    known = "from 2016-12-31T18:59:43 to 2017-01-01T02:44:42 UTC"
    with pytest.raises(ScenarioError, match=known):
        PreciseConstellation(read).orbits(LONDON, start)


def test_a_start_on_the_last_day_of_the_calendar_is_refused_like_any_other(tmp_path):
    with pytest.raises(ScenarioError, match="write a start_utc between them"):
        PreciseConstellation(table(tmp_path)).orbits(LONDON, datetime.max.replace(tzinfo=UTC))


def test_beyond_the_end_of_a_file_satellites_stand_still(tmp_path):
    read = table(tmp_path)
    start = utc_from_gps(BEGINS_GPS + timedelta(hours=2))
    orbits = PreciseConstellation(read).orbits(LONDON, start)
    last = orbits.positions_world_m(orbits.end_s)
    np.testing.assert_array_equal(orbits.positions_world_m(orbits.end_s + 1000.0), last)


@pytest.mark.parametrize("hours", [0.9, 5.0])
def test_a_start_near_the_ends_of_a_file_is_refused_with_its_times(tmp_path, hours):
    # 24 positions from 6 h in the time of GPS: an hour in, to an hour before the last, less 18 s
    read = table(tmp_path)
    start = utc_from_gps(BEGINS_GPS + timedelta(hours=hours))
    with pytest.raises(ScenarioError) as refused:
        PreciseConstellation(read).orbits(LONDON, start)
    known = "from 2026-03-01T06:59:42 to 2026-03-01T10:44:42 UTC; write a start_utc between them"
    assert known in str(refused.value)


def test_a_satellite_with_a_gap_is_omitted_unless_it_is_requested(tmp_path):
    lines = sp3_lines()
    last = max(i for i, line in enumerate(lines) if line.startswith("PG05"))
    there = [i for i, line in enumerate(lines) if line.startswith("PG05")][12]
    assert there < last
    lines[there] = "PG05" + 3 * f"{0.0:14.6f}"
    file = tmp_path / "gap.sp3"
    file.write_text("\n".join(lines), encoding="ascii")
    read = read_sp3(file)
    start = utc_from_gps(read.begins_gps + timedelta(hours=2))
    assert PreciseConstellation(read).orbits(LONDON, start).numbers == (1, 2, 9, 17)
    with pytest.raises(ScenarioError, match=r"gap\.sp3: has gaps in the positions of satellite 5 "):
        PreciseConstellation(read, (1, 5)).orbits(LONDON, start)


@pytest.mark.slow
def test_a_satellites_error_does_not_depend_on_which_others_there_are():
    start = datetime(2026, 1, 1, tzinfo=UTC)
    key = jax.random.key(2)

    def errors_of(numbers):
        constellation = NominalConstellation(numbers, FirstOrderError())
        sky = SatelliteProcess(constellation.orbits(LONDON, start), constellation.errors)
        return sky.step(sky.init(key), 0.0, 0.2, key)[1].range_errors_m

    many, few = errors_of((3, 7, 11)), errors_of((11, 7))
    assert many[1] == few[1]
    assert many[2] == few[0]
    assert many[0] != many[1]
