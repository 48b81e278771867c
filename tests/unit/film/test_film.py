"""Films of vehicles that go where a test says."""

import numpy as np
import pytest
from PIL import Image
from tests.unit.film.film_reader import read_film
from tests.unit.scene.synthetic_logs import PAIR, pair_log, rows, scenario_in, straight

from kittiwake.core.errors import LogError, MissingExtraError
from kittiwake.film.film import film, still
from kittiwake.film.film_settings import FilmSettings
from kittiwake.film.flight_renderer import FlightRenderer
from kittiwake.rendering.view import View
from kittiwake.scene.log_playback import LogPlayback

WIDTH, HEIGHT = 320, 180
STILL = rows(straight((1.0, 0.0, 2.0), (1.0, 0.0, 2.0)))


@pytest.fixture(scope="module")
def scenario(tmp_path_factory):
    scenario = scenario_in(tmp_path_factory.mktemp("pair"))
    try:
        still(pair_log(), scenario, 0.0, WIDTH)
    except MissingExtraError as error:
        pytest.skip(str(error))
    return scenario


def difference(one, other):
    return np.abs(one.astype(int) - other.astype(int))


@pytest.mark.slow
def test_an_mp4_shows_the_whole_flight_in_real_time(scenario, tmp_path):
    film(pair_log(), scenario, tmp_path / "film.mp4", FilmSettings(width=WIDTH, until_s=1.0))
    shown = read_film(tmp_path / "film.mp4")
    assert shown.frames.shape == (31, HEIGHT, WIDTH, 3)
    assert shown.duration_s == pytest.approx(31 / 30.0, abs=0.02)
    # the eye drifts and a vehicle goes away
    assert difference(shown.frames[0], shown.frames[-1]).max() > 40


def test_a_gif_is_smaller_and_slower(scenario, tmp_path):
    drawn = []
    settings = FilmSettings("gif", until_s=1.0)
    film(pair_log(), scenario, tmp_path / "film.gif", settings, lambda done, _: drawn.append(done))
    with Image.open(tmp_path / "film.gif") as shown:
        assert shown.size == (640, 360)
        assert shown.n_frames == 13
        assert shown.info["duration"] == 80
    assert drawn == list(range(1, 14))


def test_only_moving_vehicles_move_in_the_film(scenario, tmp_path):
    away = rows(straight((-1.0, 0.0, 2.0), (-1.0, 1.5, 2.0)))
    playback = LogPlayback(pair_log(ann=away, bob=STILL), scenario)
    renderer = FlightRenderer(playback, pair_log(ann=away, bob=STILL), (WIDTH, HEIGHT))
    view = View(np.array([0.0, -9.0, 4.0]), np.array([0.0, 0.0, 2.0]))
    early, late = (renderer.drawn(playback.scene_state(time_s), view) for time_s in (0.0, 4.0))
    changed = difference(early, late).max(axis=2) > 20
    begin, end, stays = (
        view.pixels(np.array([[-1.0, 0.0, 2.0], [-1.0, 1.5, 2.0], [1.0, 0.0, 2.0]]), WIDTH, HEIGHT)
        .round()
        .astype(int)
    )
    for column, row in (begin, end):
        assert changed[row - 2 : row + 3, column - 2 : column + 3].any()
    column, row = stays
    assert not changed[row - 4 : row + 5, column - 4 : column + 5].any()


def test_a_still_has_its_size_and_the_vehicles_in_it(scenario):
    picture = still(pair_log(), scenario, 2.0, WIDTH, 200)
    assert picture.shape == (200, WIDTH, 3)
    # bodies are dark, sky and ground are not
    assert (picture.max(axis=2) < 90).sum() > 20


def test_vehicles_that_are_too_far_away_to_be_seen_are_marked(scenario):
    def marks(apart_m):
        far = apart_m, 0.0, 2.0
        log = pair_log(STILL, rows(straight(far, far)))
        playback = LogPlayback(log, scenario)
        renderer = FlightRenderer(playback, log, (WIDTH, HEIGHT))
        eye = View(np.array([-3.0, 0.0, 3.0]), np.array([0.0, 0.0, 2.0]))
        return renderer.marks(playback.scene_state(1.0), eye), renderer.colors["bob"]

    assert marks(1.0)[0] == []
    (far,), color = marks(2000.0)
    assert far.rgb == color
    assert far.column == pytest.approx(WIDTH / 2)


@pytest.mark.slow
def test_stills_do_not_depend_on_each_other(scenario):
    first = still(pair_log(), scenario, 1.0, WIDTH)
    still(pair_log(), scenario, 3.0, WIDTH)
    assert np.array_equal(still(pair_log(), scenario, 1.0, WIDTH), first)


def test_events_are_shown_for_a_while_from_when_they_happen(scenario):
    log = pair_log(STILL, STILL, events=[(1.0, "ann", "landed")])
    playback = LogPlayback(log, scenario)
    renderer = FlightRenderer(playback, log, (WIDTH, HEIGHT))
    assert renderer.caption(0.9, 1.0).events == []
    assert renderer.caption(1.1, 1.0).events == ["1.0 s ann: landed"]
    assert renderer.caption(1.0 + 5.0, 1.0).events == []
    # at twice the speed, an event is shown for the same film time
    assert renderer.caption(1.0 + 5.0, 2.0).events == ["1.0 s ann: landed"]


def test_the_caption_states_a_speed_other_than_real_time(scenario):
    log = pair_log(STILL, STILL)
    renderer = FlightRenderer(LogPlayback(log, scenario), log, (WIDTH, HEIGHT))
    assert renderer.caption(2.0, 1.0).right == "2.0 s"
    assert renderer.caption(2.0, 4.0).right == "2.0 s   4x"


def test_a_time_outside_the_flight_is_refused(scenario):
    with pytest.raises(LogError, match="the flight lasts from 0 to 4 s"):
        still(pair_log(), scenario, 5.0, WIDTH)


def test_obstacles_are_in_the_picture(scenario, tmp_path):
    ball = "obstacles: {ball: {type: sphere, center_world_m: [0, 3, 2], radius_m: 1}}, "
    with_ball = scenario_in(tmp_path, PAIR.replace("world: {", "world: {" + ball))
    log = pair_log(STILL, STILL)
    without = still(log, scenario, 1.0, WIDTH)
    assert (difference(still(log, with_ball, 1.0, WIDTH), without).max(axis=2) > 20).sum() > 200
