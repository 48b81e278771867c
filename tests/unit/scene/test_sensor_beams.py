"""Sensor beams."""

import numpy as np
import pytest

from kittiwake.geometry.vec3 import Vec3
from kittiwake.rendering.rotation import rotated
from kittiwake.scene.sensor_beams import (
    ECHO_OPACITY,
    SILENT_OPACITY,
    WAITING_OPACITY,
    SensorBeams,
    cone_mesh,
)


def axes_of(cones):
    """Return the vectors from the tips of cones to their ends."""
    ahead = np.tile([1.0, 0.0, 0.0], (len(cones.scales), 1))
    return rotated(cones.poses.q_world_from_part, ahead) * cones.scales[:, :1]


def test_the_unit_cone_has_unit_length_and_radius():
    points = cone_mesh().vertices_m
    np.testing.assert_allclose(np.ptp(points[:, 0]), 1.0, atol=1e-6)
    base = points[points[:, 0] > 0.999]
    assert np.linalg.norm(base[:, 1:], axis=1).max() == pytest.approx(1.0)


def test_cones_end_at_the_measured_range(ultrasonic_turns):
    beams = SensorBeams(ultrasonic_turns.flight)
    assert beams.cones == 6
    cones = beams.cones_at(ultrasonic_turns.scene_state(-1))
    measured = [
        ultrasonic_turns.column("drone", f"sensor.turns.ranges_{i}_m", -1) for i in range(5)
    ]
    measured += [ultrasonic_turns.column("drone", "sensor.below.range_m", -1)]
    np.testing.assert_allclose(
        sorted(np.linalg.norm(axes_of(cones), axis=1)), sorted(measured), atol=1e-9
    )


def test_cones_light_up_in_their_turn(ultrasonic_turns):
    beams = SensorBeams(ultrasonic_turns.flight)
    seen = set()
    for row in range(0, len(ultrasonic_turns.log.tables["drone"].values), 4):
        scene_state = ultrasonic_turns.scene_state(row)
        opacities = beams.cones_at(scene_state).opacities
        names = list(ultrasonic_turns.flight.scenario.vehicles["drone"].sensors)
        first = 0 if names[0] == "turns" else 1
        for i in range(5):
            active = ultrasonic_turns.column("drone", f"sensor.turns.active_{i}", row) > 0.0
            valid = ultrasonic_turns.column("drone", f"sensor.turns.valid_{i}", row) > 0.0
            bright = ECHO_OPACITY if valid else SILENT_OPACITY
            assert opacities[first + i] == (bright if active else WAITING_OPACITY)
            seen.add(active)
    assert seen == {True, False}


@pytest.mark.slow
def test_the_cone_of_a_head_ends_on_the_surface(surface_following):
    beams = SensorBeams(surface_following.flight)
    cones = beams.cones_at(surface_following.scene_state(-1))
    tip = cones.poses.positions_world_m[0]
    end = tip + axes_of(cones)[0]
    slope = surface_following.flight.scenario.world.obstacles[0]
    assert surface_following.column("drone", "sensor.head.valid", -1) == 1.0
    # measured at the last sample, up to 1/16 s before, at 0.5 m/s
    assert abs(float(slope.clearance_m(Vec3(*end.tolist())))) < 0.05
    assert float(slope.clearance_m(Vec3(*tip.tolist()))) > 0.5


@pytest.mark.slow
def test_light_beams_end_at_the_measured_range(hallway_ranging):
    beams = SensorBeams(hallway_ranging.flight)
    segments = beams.ray_segments(hallway_ranging.scene_state(-1))
    assert len(segments) == beams.rays == 60 + 8 * 6
    lengths = np.linalg.norm(segments[:, 1] - segments[:, 0], axis=1)
    for i in range(60):
        measured = hallway_ranging.column("os4", f"sensor.lidar.ranges_{i}_m", -1)
        valid = hallway_ranging.column("os4", f"sensor.lidar.valid_{i}", -1) > 0.0
        assert np.isclose(lengths, measured if valid else 0.0, atol=1e-9).any()
    assert lengths.max() > 1.0


@pytest.mark.slow
def test_depths_along_the_axis_reach_farther_aside(hallway_ranging):
    beams = SensorBeams(hallway_ranging.flight)
    scene_state = hallway_ranging.scene_state(-1)
    segments = beams.ray_segments(scene_state)
    table = hallway_ranging.log.tables["os4"]
    q = table.values[-1, 4:8][None]
    ahead = rotated(q, np.array([[1.0, 0.0, 0.0]]))[0]
    depths = [
        hallway_ranging.column("os4", f"sensor.camera.depth_{i}_{j}_m", -1)
        for i in range(6)
        for j in range(8)
        if hallway_ranging.column("os4", f"sensor.camera.valid_{i}_{j}", -1) > 0.0
    ]
    along = (segments[:, 1] - segments[:, 0]) @ ahead
    assert depths
    for depth in depths:
        assert np.isclose(along, depth, atol=1e-9).any()


@pytest.mark.slow
def test_a_camera_has_eight_edges(hallway_ranging):
    beams = SensorBeams(hallway_ranging.flight)
    assert beams.fields == 1
    edges = beams.field_segments(hallway_ranging.scene_state(-1))
    assert edges.shape == (8, 2, 3)
    # the first four start at the camera
    np.testing.assert_allclose(np.ptp(edges[:4, 0], axis=0), 0.0, atol=1e-12)


def test_sensors_without_log_columns_have_no_beams(staged, placed):
    flight = staged("ultrasonic-turns")
    beams = SensorBeams(flight)
    assert beams.cones == 0
    assert len(beams.ray_segments(placed(flight))) == 0
