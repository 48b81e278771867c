"""Scenery of films: horizon, wave lines and sonar cones."""

from itertools import pairwise

import numpy as np
import pytest
from tests.unit.scene.synthetic_logs import PAIR, pair_log, scenario_in

from kittiwake.rendering.offscreen_renderer import HORIZON_RGB
from kittiwake.scene.extent import extent_of
from kittiwake.scene.horizon import BEGIN, FAR, horizon_meshes
from kittiwake.scene.log_playback import LogPlayback
from kittiwake.scene.wave_lines import ABOVE_M, EVERY, wave_lines

GREEN = (90, 140, 90)
SIDE, CELL_M = 17, 0.5


@pytest.fixture(scope="module")
def flight(tmp_path_factory):
    return LogPlayback(pair_log(), scenario_in(tmp_path_factory.mktemp("pair"))).flight


def radii_m(flight, mesh):
    return np.linalg.norm(mesh.vertices_m[:, :2] - extent_of(flight).center_world_m[:2], axis=1)


def test_the_ground_fades_into_the_sky(flight):
    rings = horizon_meshes(flight, GREEN)
    assert rings[0].rgb == GREEN
    assert rings[-1].rgb == HORIZON_RGB
    greens = [ring.rgb[1] for ring in rings]
    assert greens == sorted(greens)


def test_the_ground_rings_have_no_gaps(flight):
    rings = horizon_meshes(flight, GREEN)
    wide = extent_of(flight).widest_m
    assert radii_m(flight, rings[0]).min() == pytest.approx(BEGIN * wide, rel=1e-5)
    assert radii_m(flight, rings[-1]).max() == pytest.approx(FAR * wide, rel=1e-5)
    for one, other in pairwise(rings):
        assert radii_m(flight, one).max() == pytest.approx(radii_m(flight, other).min(), rel=1e-6)


def test_the_ground_rings_face_upwards(flight):
    ring = horizon_meshes(flight, GREEN)[0]
    one, two, three = (ring.vertices_m[ring.faces[:, i]] for i in range(3))
    assert (np.cross(two - one, three - one)[:, 2] > 0.0).all()


def mesh(east, north):
    line = CELL_M * (np.arange(SIDE) - SIDE // 2)
    x, y = np.meshgrid(line + east, line + north)
    return np.stack([x, y, 0.1 * np.sin(x) + 0.2 * np.cos(y)], axis=-1).reshape(-1, 3)


def test_wave_lines_lie_on_the_water():
    for line in wave_lines(mesh(0.0, 0.0), 1.0):
        x, y, z = line.points_world_m.T
        assert z - ABOVE_M == pytest.approx(0.1 * np.sin(x) + 0.2 * np.cos(y))


def test_wave_lines_stay_when_the_mesh_moves_by_a_cell():
    def northings(east, north):
        lines = [line.points_world_m for line in wave_lines(mesh(east, north), 1.0)]
        return {round(float(line[0, 1]), 6) for line in lines if np.ptp(line[:, 1]) == 0.0}

    here, there = northings(0.0, 0.0), northings(0.0, CELL_M)
    assert len(here & there) >= len(here) - 1
    assert np.diff(sorted(here)) == pytest.approx(np.full(len(here) - 1, EVERY * CELL_M))


def test_a_sonar_cone_ends_at_its_echo(tmp_path):
    from kittiwake.analysis.log import Log
    from kittiwake.analysis.table import Table
    from kittiwake.scene.sensor_beams import SensorBeams
    from kittiwake.scene.sound_cones import SoundCones

    sensor = "sensors: {below: {type: ultrasonic, direction_body: [0, 0, -1]}}\n  bob:"
    scenario = scenario_in(
        tmp_path, PAIR.replace("bob:", sensor).replace("  sensors", "    sensors")
    )
    log = pair_log()
    ann = log.tables["ann"]
    measured = np.tile([1.5, 1.0], (len(ann.values), 1))
    columns = (*ann.columns[:-1], "sensor.below.range_m", "sensor.below.valid", "status")
    table = Table(columns, np.insert(ann.values, [-1, -1], measured, axis=1))
    playback = LogPlayback(Log({"ann": table, "bob": log.tables["bob"]}), scenario)
    echo, silent, waiting = SoundCones(SensorBeams(playback.flight)).shapes(
        playback.scene_state(0.0)
    )
    assert echo[:, 2].max() == pytest.approx(2.0)
    assert echo[:, 2].min() == pytest.approx(0.5)
    assert np.ptp(silent, axis=0).max() == np.ptp(waiting, axis=0).max() == 0.0
