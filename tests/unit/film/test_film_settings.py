"""What of a flight is filmed."""

import pytest
from tests.unit.scene.synthetic_logs import pair_log, rows, scenario_in, straight

from kittiwake.core.errors import LogError, ScenarioError
from kittiwake.film.film_settings import FilmSettings
from kittiwake.scene.log_playback import LogPlayback


@pytest.fixture(scope="module")
def scenario(tmp_path_factory):
    return scenario_in(tmp_path_factory.mktemp("pair"))


def playback_of(scenario, seconds=4.0):
    table = rows(straight((0.0, 0.0, 2.0), (1.0, 0.0, 2.0), seconds))
    return LogPlayback(pair_log(table, table), scenario)


def test_a_short_flight_is_filmed_in_real_time(scenario):
    times_s, speed = FilmSettings().timing(playback_of(scenario))
    assert speed == 1.0
    assert len(times_s) == 121
    assert times_s[1] == pytest.approx(1.0 / 30.0)
    assert times_s[-1] == pytest.approx(4.0)


@pytest.mark.parametrize(("form", "speed"), [("mp4", 2.0), ("gif", 8.0)])
def test_a_long_flight_is_shown_faster_so_that_the_film_is_not_long(scenario, form, speed):
    settings = FilmSettings(form)
    times_s, found = settings.timing(playback_of(scenario, 120.0))
    assert found == speed
    pictures_for_s = {"mp4": 30.0, "gif": 12.5}[form]
    assert (len(times_s) - 1) / pictures_for_s == pytest.approx(120.0 / speed, abs=0.08)


def test_a_given_speed_is_used(scenario):
    times_s, speed = FilmSettings(speed=0.5).timing(playback_of(scenario))
    assert speed == 0.5
    assert len(times_s) == 241


def test_a_part_of_a_flight_can_be_filmed(scenario):
    times_s, _ = FilmSettings(from_s=1.0, until_s=2.0).timing(playback_of(scenario))
    assert (times_s[0], times_s[-1]) == pytest.approx((1.0, 2.0))


@pytest.mark.parametrize("span", [(3.0, 2.0), (-1.0, 2.0), (5.0, None)])
def test_a_part_outside_the_flight_is_refused(scenario, span):
    with pytest.raises(LogError, match="the flight lasts from 0 to 4 s"):
        FilmSettings(from_s=span[0], until_s=span[1]).timing(playback_of(scenario))


def test_a_film_with_too_many_pictures_is_refused(scenario):
    with pytest.raises(LogError, match="raise --speed"):
        FilmSettings(speed=1e-6).timing(playback_of(scenario))


@pytest.mark.parametrize("form", ["mp4", "gif"])
@pytest.mark.parametrize("width", [None, 161, 640, 3839])
def test_sizes_are_even_and_wide(form, width):
    across, down = FilmSettings(form, width).size
    assert (across % 2, down % 2) == (0, 0)
    assert across / down == pytest.approx(16.0 / 9.0, rel=0.02)


@pytest.mark.parametrize("wrong", [{"width": 10}, {"width": 9999}, {"speed": 0.0}, {"speed": -2.0}])
def test_invalid_settings_are_refused_with_the_allowed_range(wrong):
    with pytest.raises(ScenarioError, match="got .*; must be"):
        FilmSettings(**wrong)


def test_an_unknown_vehicle_is_refused_with_the_nearest_name(scenario):
    with pytest.raises(LogError, match="'ann'"):
        FilmSettings(follow="anne").followed(playback_of(scenario))
