"""Camera paths of films."""

import numpy as np
import pytest
from tests.unit.scene.synthetic_logs import COLUMNS, PAIR, pair_log, rows, scenario_in, straight

from kittiwake.analysis.table import Table
from kittiwake.film.camera_path import DRIFT_RADPS, body_m, camera_path
from kittiwake.scene.log_playback import LogPlayback
from kittiwake.scene.moving_bodies import MovingBodies

FPS = 25.0
ASPECT = 16.0 / 9.0
TIMES_S = np.arange(0.0, 4.0, 1.0 / FPS)
WALL = PAIR.replace(
    "world: {",
    "world: {obstacles: {wall: {type: box, center_world_m: [%s], sides_m: [0.2, 40, 40]}}, ",
)


@pytest.fixture(scope="module")
def scenario(tmp_path_factory):
    return scenario_in(tmp_path_factory.mktemp("pair"))


def path_of(scenario, log, times_s=TIMES_S, **options):
    playback = LogPlayback(log, scenario)
    return camera_path(
        playback, MovingBodies(playback.flight), times_s, aspect=ASPECT, fps=FPS, **options
    )


def azimuths(views):
    ways = np.array([view.eye_world_m - view.look_at_world_m for view in views])
    return np.unwrap(np.arctan2(ways[:, 1], ways[:, 0]))


def test_all_vehicles_are_in_the_picture_at_all_times(scenario):
    # apart quickly, and back
    apart = np.concatenate([straight((-1.0, 0.0, 2.0), (-8.0, 5.0, 6.0), 1.0)] * 4)[:41]
    log = pair_log(ann=rows(apart))
    playback = LogPlayback(log, scenario)
    for time_s, view in zip(TIMES_S, path_of(scenario, log), strict=True):
        scene_state = playback.scene_state(time_s)
        places = np.stack([scene_state.rows[name][1:4] for name in ("ann", "bob")])
        across, down = view.pixels(places, 1600, 900).T
        assert ((across > 0.0) & (across < 1600.0)).all()
        assert ((down > 0.0) & (down < 900.0)).all()


def test_a_vehicle_alone_fills_a_good_part_of_the_picture(scenario):
    still = rows(straight((0.0, 0.0, 2.0), (0.0, 0.0, 2.0)))
    views = path_of(scenario, pair_log(still, still))
    playback = LogPlayback(pair_log(still, still), scenario)
    reach = body_m(MovingBodies(playback.flight), ["ann", "bob"])
    beside = views[0].look_at_world_m + reach * views[0].axes[0]
    share = (views[0].pixels(beside[None], 1600, 900)[0, 0] - 800.0) / 450.0
    assert 0.15 < share < 0.5


def test_the_eye_drifts_slowly_around_and_stays_above(scenario):
    views = path_of(scenario, pair_log())
    assert np.diff(azimuths(views)) == pytest.approx(np.full(len(views) - 1, DRIFT_RADPS / FPS))
    assert all(view.eye_world_m[2] > view.look_at_world_m[2] for view in views)


def test_a_gif_does_not_drift(scenario):
    assert np.ptp(azimuths(path_of(scenario, pair_log(), drifting=False))) == pytest.approx(0.0)


def test_the_eye_moves_smoothly_where_a_vehicle_jumps(scenario):
    jumping = np.tile([0.0, 0.0, 2.0], (41, 1))
    jumping[20:, 0] = 6.0
    views = path_of(scenario, pair_log(ann=rows(jumping)))
    eyes = np.array([view.eye_world_m for view in views])
    assert np.linalg.norm(np.diff(eyes, axis=0), axis=1).max() < 0.6


def test_a_followed_vehicle_is_in_the_middle(scenario):
    still = rows(straight((5.0, 5.0, 2.0), (5.0, 5.0, 2.0)))
    views = path_of(scenario, pair_log(bob=still), follow="bob")
    assert views[10].look_at_world_m == pytest.approx([5.0, 5.0, 2.0])


def test_a_lost_vehicle_is_looked_at_where_it_was_lost(scenario):
    places = straight((0.0, 0.0, 2.0), (0.0, 0.0, 2.0))
    places[20:] = 1e30
    views = path_of(scenario, pair_log(ann=rows(places)))
    assert np.linalg.norm(views[-1].eye_world_m) < 20.0


def test_without_any_position_there_is_still_a_view(scenario):
    nowhere = rows(np.full((41, 3), np.nan))
    assert np.isfinite(path_of(scenario, pair_log(nowhere, nowhere))[0].eye_world_m).all()


def test_a_vehicle_without_rows_is_not_looked_at(scenario):
    empty = Table(COLUMNS, np.zeros((0, len(COLUMNS))))
    still = rows(straight((3.0, 0.0, 2.0), (3.0, 0.0, 2.0)))
    views = path_of(scenario, pair_log(still, empty))
    assert views[0].look_at_world_m == pytest.approx([3.0, 0.0, 2.0])


@pytest.mark.slow
@pytest.mark.parametrize(("wall_x", "side"), [(-2.0, 1.0), (2.0, -1.0)])
def test_the_camera_is_on_the_side_without_a_wall(tmp_path, wall_x, side):
    scenario = scenario_in(tmp_path, WALL % f"{wall_x}, 0, 0")
    still = rows(straight((0.0, 0.0, 2.0), (0.0, 0.0, 2.0)))
    for view in path_of(scenario, pair_log(still, still)):
        assert (view.eye_world_m[0] - wall_x) * side > 0.0
