"""Trails, arrows and links."""

import numpy as np

from kittiwake.scene.lines import PIECES_OF_ONE, Links, Setpoints, Trails, WindArrows
from kittiwake.scene.planned_route import planned_places_world_m

WIND = ("wind_x_world_mps", "wind_y_world_mps", "wind_z_world_mps")
GOAL = tuple(f"setpoint.position_{axis}_world_m" for axis in "xyz")


def test_a_trail_goes_from_the_oldest_place_to_the_last_one(staged, placed):
    show = staged("hover-hummingbird")
    way = np.column_stack([np.linspace(0.0, 3.0, 500), np.zeros(500), np.ones(500)])
    frame = placed(show)._replace(trails={"hummingbird": way})
    segments = Trails(["hummingbird"]).segments(frame)
    assert segments.shape == (PIECES_OF_ONE, 2, 3)
    np.testing.assert_allclose(segments[0, 0], [0.0, 0.0, 1.0])
    np.testing.assert_allclose(segments[-1, 1], [3.0, 0.0, 1.0])
    np.testing.assert_allclose(segments[1:, 0], segments[:-1, 1])


def test_trails_of_several_lengths_are_as_many_pieces(staged, placed):
    show = staged("ultrasonic-turns")
    trails = Trails(["drone", "other"])
    short, long = np.ones((2, 3)), np.full((700, 3), 2.0)
    frame = placed(show)._replace(trails={"drone": short, "other": long})
    segments = trails.segments(frame)
    np.testing.assert_allclose(segments[: trails.pieces], 1.0)
    np.testing.assert_allclose(segments[trails.pieces :], 2.0)
    assert trails.segments(frame._replace(trails={})).shape == segments.shape
    assert trails.rgb.shape == segments.shape


def test_a_wind_arrow_points_along_the_wind_and_is_as_long_as_it_blows(staged, placed):
    show = staged("hover-hummingbird", WIND)
    told = dict(zip(WIND, (3.0, 0.0, 4.0), strict=True))
    arrows = WindArrows(show, 0.5).segments(placed(show, (1.0, 1.0, 1.0), **told))
    np.testing.assert_allclose(arrows[0], [[1.0, 1.0, 1.0], [2.5, 1.0, 3.0]])
    assert arrows.shape == (3, 2, 3)


def test_a_goal_that_nobody_asks_for_is_not_there(staged, placed):
    show = staged("hover-hummingbird", GOAL)
    goals = Setpoints(show)
    assert not goals.at(placed(show))[1].any()
    told = dict(zip(GOAL, (1.0, 2.0, 3.0), strict=True))
    places, there, lines = goals.at(placed(show, **told))
    assert there.all()
    np.testing.assert_allclose(places, [[1.0, 2.0, 3.0]])
    np.testing.assert_allclose(lines, [[[0.0, 0.0, 0.0], [1.0, 2.0, 3.0]]])


def test_links_join_those_that_hear_each_other(staged, placed):
    # they stand 10 m apart in a row
    show = staged("flock-8", (), ["world.radio={type: ideal, range_m: 12}"])
    segments = Links(show).segments(placed(show))
    lengths = np.linalg.norm(segments[:, 1] - segments[:, 0], axis=1)
    assert len(segments) == 28
    np.testing.assert_allclose(np.sort(lengths), [0.0] * 21 + [10.0] * 7)


def test_no_radio_has_no_links(staged):
    assert Links(staged("hover-hummingbird")).pairs == 0


def test_planned_places_are_those_of_the_scenario(staged):
    scenario = staged("ultrasonic-turns").scenario
    places = planned_places_world_m(scenario.vehicles["drone"], scenario.world.origin)
    np.testing.assert_allclose(places, [[2.5, 0.0, 1.5]])


def test_a_course_has_places_and_so_have_the_steps_of_a_mission(staged):
    for name in ("survey-otter", "mission"):
        scenario = staged(name).scenario
        vehicle = next(iter(scenario.vehicles.values()))
        assert len(planned_places_world_m(vehicle, scenario.world.origin)) > 1, name
