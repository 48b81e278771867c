"""Complacs: progress along the waypoints, observations and rewards."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.unit.tasks import scenes

from kittiwake.scenario.load import load_scenario
from kittiwake.tasks.library.complacs import WAYPOINTS_WORLD_M, Complacs, WaypointProgress

# the second waypoint and the third, 8 m to the east of it
SECOND, THIRD = WAYPOINTS_WORLD_M[1], WAYPOINTS_WORLD_M[2]


def after(position_m, reached, task=None):
    """Return the progress after a step that ends at a position, and its reward."""
    task = task or Complacs()
    own = scenes.agent(position_m)
    world = scenes.scene([own])
    goal = WaypointProgress(jnp.asarray([reached], jnp.int32), jnp.zeros(1, jnp.int32))
    goal = task.update_goal(goal, world, scenes.keys(1)[0])
    return int(goal.reached[0]), float(task.reward(goal, own, world)), task, goal, world


@pytest.mark.slow
@pytest.mark.parametrize(("away_m", "counts"), [(0.39, True), (0.41, False)])
def test_waypoint_counts_within_four_tenths_of_a_meter(away_m, counts):
    reached, worth, *_ = after((SECOND.x + away_m, SECOND.y, SECOND.z), 1)
    assert reached == (2 if counts else 1)
    assert worth == 0.0


def test_estimated_position_counts_for_waypoints():
    task, own = Complacs(), scenes.agent((50.0, 50.0, 5.0))
    own = replace(own, estimate=scenes.motion(SECOND.array))
    goal = WaypointProgress(jnp.asarray([1], jnp.int32), jnp.zeros(1, jnp.int32))
    goal = task.update_goal(goal, scenes.scene([own]), scenes.keys(1)[0])
    assert int(goal.reached[0]) == 2


def test_waypoints_count_in_order_and_the_last_one_once():
    assert after(THIRD.array, 1)[0] == 1
    last = WAYPOINTS_WORLD_M[-1]
    assert after(last.array, 33)[0] == 34
    reached, *_, task, goal, world = after(last.array, 34)
    assert reached == 34
    assert {k: float(v) for k, v in task.metrics(goal, world).items()} == {
        "waypoints_reached": 34,
        "waypoints": 34,
    }


def test_reward_per_waypoint_is_configurable():
    assert after(SECOND.array, 1, Complacs(reward_per_waypoint=2.5))[1] == 2.5


def test_observation_holds_the_offset_to_the_next_waypoint():
    task, own = Complacs(), scenes.agent(SECOND.array)
    goal = WaypointProgress(jnp.asarray([2], jnp.int32), jnp.zeros(1, jnp.int32))
    # it looks east, as the third one lies
    seen = task.observe(goal, own, scenes.scene([own]))
    np.testing.assert_allclose(seen.offset_body_m.array, [8.0, 0.0, 0.0], atol=1e-9)


def test_guidance_of_the_scenario_flies_the_waypoints_of_the_task():
    scenario = load_scenario("complacs")
    places = scenario.vehicles["pelican"].guidance.component.positions_world_m
    assert len(places) == len(WAYPOINTS_WORLD_M) == 34
    flown = np.array([np.asarray(place.array, float) for place in places])
    np.testing.assert_array_equal(flown, [np.asarray(p.array, float) for p in WAYPOINTS_WORLD_M])
    low, high = np.array([scenario.world.area.x_m, scenario.world.area.y_m]).T
    assert ((flown[:, :2] > low) & (flown[:, :2] < high)).all()
    # from one to the next along the whole path, as in the original
    ways = jax.numpy.diff(flown, axis=0)
    assert float(jnp.sqrt((ways**2).sum(axis=1)).sum()) == pytest.approx(228.088, abs=1e-3)
