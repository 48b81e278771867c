"""Trails, wind arrows, setpoints, links and routes."""

import numpy as np

from kittiwake.scene.lines import MAX_TRAIL_SEGMENTS, Links, Setpoints, Trails, WindArrows
from kittiwake.scene.planned_route import planned_positions_world_m
from kittiwake.scene.scene_state import EqualTrails

WIND = ("wind_x_world_mps", "wind_y_world_mps", "wind_z_world_mps")
SETPOINT = tuple(f"setpoint.position_{axis}_world_m" for axis in "xyz")


def test_a_trail_goes_from_the_oldest_to_the_latest_position(staged, placed):
    flight = staged("hover-hummingbird")
    trail = np.column_stack([np.linspace(0.0, 3.0, 500), np.zeros(500), np.ones(500)])
    scene_state = placed(flight)._replace(trails={"hummingbird": trail})
    segments = Trails(["hummingbird"]).segments(scene_state)
    assert segments.shape == (MAX_TRAIL_SEGMENTS, 2, 3)
    np.testing.assert_allclose(segments[0, 0], [0.0, 0.0, 1.0])
    np.testing.assert_allclose(segments[-1, 1], [3.0, 0.0, 1.0])
    np.testing.assert_allclose(segments[1:, 0], segments[:-1, 1])


def test_trails_of_equal_length_are_drawn_like_others(staged, placed):
    flight = staged("hover-hummingbird")
    points = [np.array([[number, 0.0, 1.0], [0.0, number, 2.0]]) for number in range(400)]
    equal = EqualTrails({"one": 0, "other": 1}, points)
    for trails in (equal, dict(equal)):
        segments = Trails(["one", "other"]).segments(placed(flight)._replace(trails=trails))
        np.testing.assert_array_equal(segments[0, 0], [0.0, 0.0, 1.0])
        np.testing.assert_array_equal(segments[-1, 1], [0.0, 399.0, 2.0])
    assert len(equal) == 2
    assert not EqualTrails({"one": 0}, [])


def test_trails_have_a_constant_number_of_segments(staged, placed):
    flight = staged("ultrasonic-turns")
    trails = Trails(["drone", "other"])
    short, long = np.ones((2, 3)), np.full((700, 3), 2.0)
    scene_state = placed(flight)._replace(trails={"drone": short, "other": long})
    segments = trails.segments(scene_state)
    np.testing.assert_allclose(segments[: trails.segments_per_trail], 1.0)
    np.testing.assert_allclose(segments[trails.segments_per_trail :], 2.0)
    assert trails.segments(scene_state._replace(trails={})).shape == segments.shape
    assert trails.rgb.shape == segments.shape


def test_a_wind_arrow_is_proportional_to_the_wind(staged, placed):
    flight = staged("hover-hummingbird", WIND)
    values = dict(zip(WIND, (3.0, 0.0, 4.0), strict=True))
    arrows = WindArrows(flight, 0.5).segments(placed(flight, (1.0, 1.0, 1.0), **values))
    np.testing.assert_allclose(arrows[0], [[1.0, 1.0, 1.0], [2.5, 1.0, 3.0]])
    assert arrows.shape == (3, 2, 3)


def test_a_missing_setpoint_is_invalid(staged, placed):
    flight = staged("hover-hummingbird", SETPOINT)
    setpoints = Setpoints(flight)
    assert not setpoints.at(placed(flight))[1].any()
    values = dict(zip(SETPOINT, (1.0, 2.0, 3.0), strict=True))
    positions, is_valid, lines = setpoints.at(placed(flight, **values))
    assert is_valid.all()
    np.testing.assert_allclose(positions, [[1.0, 2.0, 3.0]])
    np.testing.assert_allclose(lines, [[[0.0, 0.0, 0.0], [1.0, 2.0, 3.0]]])


def test_links_connect_vehicles_in_radio_range(staged, placed):
    # the vehicles are 10 m apart in a row
    flight = staged("flock-8", (), ["world.radio={type: ideal, range_m: 12}"])
    segments = Links(flight).segments(placed(flight))
    lengths = np.linalg.norm(segments[:, 1] - segments[:, 0], axis=1)
    assert len(segments) == 28
    np.testing.assert_allclose(np.sort(lengths), [0.0] * 21 + [10.0] * 7)


def test_no_radio_has_no_links(staged):
    assert Links(staged("hover-hummingbird")).pairs == 0


def test_planned_positions_are_those_of_the_scenario(staged):
    scenario = staged("ultrasonic-turns").scenario
    positions = planned_positions_world_m(scenario.vehicles["drone"], scenario.world.origin)
    np.testing.assert_allclose(positions, [[2.5, 0.0, 1.5]])


def test_surveys_and_missions_have_planned_positions(staged):
    for name in ("survey-otter", "mission"):
        scenario = staged(name).scenario
        vehicle = next(iter(scenario.vehicles.values()))
        assert len(planned_positions_world_m(vehicle, scenario.world.origin)) > 1, name
