"""Playback of a log between its rows."""

import numpy as np
import pytest
from tests.unit.scene.synthetic_logs import COLUMNS, pair_log, rows, scenario_in, straight

from kittiwake.analysis.log import Log
from kittiwake.analysis.table import (
    ESTIMATE_PREFIX,
    POSITION_WORLD_M,
    Q_WORLD_FROM_BODY,
    Table,
)
from kittiwake.core.errors import LogError
from kittiwake.scene.log_playback import TRAIL_S, LogPlayback, Track

HALF = np.sqrt(0.5)


@pytest.fixture(scope="module")
def scenario(tmp_path_factory):
    return scenario_in(tmp_path_factory.mktemp("pair"))


def test_a_frame_has_the_row_of_its_time(scenario):
    log = pair_log()
    playback = LogPlayback(log, scenario)
    assert playback.span_s == (0.0, 4.0)
    assert np.allclose(playback.scene_state(1.0).rows["ann"], log.values("ann")[10])
    assert playback.flight.seed == 7


def test_positions_are_interpolated_between_rows(scenario):
    row = LogPlayback(pair_log(), scenario).scene_state(1.05).rows["ann"]
    assert row[:4] == pytest.approx([1.0, -1.0 + 2.1 / 4.0, -3.15 / 4.0, 2.0 + 1.05 / 4.0])


def test_an_estimate_is_interpolated_as_the_truth_is():
    table = rows(straight((0.0, 0.0, 1.0), (4.0, 0.0, 1.0)))
    poses = (*POSITION_WORLD_M, *Q_WORLD_FROM_BODY)
    columns = (*table.columns, *(f"{ESTIMATE_PREFIX}{name}" for name in poses))
    track = Track(Table(columns, np.hstack([table.values, table.part(poses)])))
    row = dict(zip(columns, track.row(0.05), strict=True))
    assert [row[f"{ESTIMATE_PREFIX}{name}"] for name in poses] == [row[name] for name in poses]


def test_quaternions_of_opposite_sign_are_interpolated_along_the_short_arc():
    quaternions = [[1.0, 0.0, 0.0, 0.0], [-HALF, 0.0, 0.0, -HALF]]
    track = Track(rows(np.zeros((2, 3)), quaternions=quaternions))
    w, x, y, z = track.row(0.05)[4:8]
    assert (x, y) == (0.0, 0.0)
    # half of a quarter turn to the left
    assert 2.0 * np.arctan2(z, w) == pytest.approx(np.pi / 4.0, abs=0.01)
    assert np.hypot(w, z) == pytest.approx(1.0)


def test_a_vehicle_stays_after_its_last_row_and_before_its_first():
    track = Track(rows(straight((0.0, 0.0, 1.0), (4.0, 0.0, 1.0))))
    assert track.row(9.0)[1] == pytest.approx(4.0)
    assert track.row(-1.0)[1] == pytest.approx(0.0)


def test_a_trail_covers_the_last_seconds():
    track = Track(rows(straight((0.0, 0.0, 1.0), (20.0, 0.0, 1.0), seconds=20.0)))
    trail = track.trail(12.0)
    assert trail[0] == pytest.approx([12.0 - TRAIL_S, 0.0, 1.0])
    assert trail[-1] == pytest.approx([12.0, 0.0, 1.0])
    assert (np.diff(trail[:, 0]) > 0.0).all()


def test_a_trail_ends_where_its_vehicle_was_lost():
    status = np.zeros(41)
    status[21:] = 1.0
    track = Track(rows(straight((0.0, 0.0, 1.0), (4.0, 0.0, 1.0)), status=status))
    assert track.trail(4.0)[:, 0].max() == pytest.approx(2.0, abs=0.1)


def test_diverged_positions_are_left_out():
    positions = straight((0.0, 0.0, 1.0), (4.0, 0.0, 1.0))
    positions[30:] = 1e30
    assert np.abs(Track(rows(positions)).trail(4.0)).max() < 4.0


def test_a_log_of_other_vehicles_is_refused(scenario):
    log = pair_log()
    with pytest.raises(LogError, match=r"other vehicles than the scenario\.yaml"):
        LogPlayback(Log({"ann": log.tables["ann"]}), scenario)


def test_a_log_without_rows_is_refused(scenario):
    empty = Table(COLUMNS, np.zeros((0, len(COLUMNS))))
    with pytest.raises(LogError, match="cut off before its first row"):
        LogPlayback(pair_log(empty, empty), scenario)


def test_a_vehicle_without_rows_is_in_no_frame(scenario):
    empty = Table(COLUMNS, np.zeros((0, len(COLUMNS))))
    scene_state = LogPlayback(pair_log(bob=empty), scenario).scene_state(1.0)
    assert set(scene_state.rows) == set(scene_state.trails) == {"ann"}
