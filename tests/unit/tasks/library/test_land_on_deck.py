from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import pytest
from tests.unit.tasks.episodes import flown
from tests.unit.tasks.given_scenes import agent_of, around, moving, scene_of, task_in

from kittiwake.contact.deck import DeckState
from kittiwake.core.keys import seed_key
from kittiwake.core.measurements import DeckMeasurement
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.vec3 import Vec3
from kittiwake.tasks.make import make

STANDING_M, DECK_M = 0.06, 0.35


@pytest.fixture(scope="module")
def setting():
    return task_in("land-on-deck")


@pytest.fixture(scope="module")
def episodes():
    return flown(make("land-on-deck"))


def over_deck(way_m, closing_mps, deck_mps=(0.5, 0.2, 0.0), measurement_error_m=0.0):
    """Return a drone at an offset from its standing position, with a velocity over the deck."""
    deck_m = np.array([2.0, -1.0, DECK_M])
    place = deck_m + np.array([0.0, 0.0, STANDING_M]) + np.array(way_m)
    velocity = np.array(deck_mps) + np.array(closing_mps)
    deck = DeckState(
        Vec3.of(deck_m),
        Quaternion.identity(),
        Vec3.of(np.array(deck_mps)),
        Vec3.zero(),
        0.6,
        0.6,
    )
    measured = DeckMeasurement(
        Vec3.of(deck_m + measurement_error_m), Vec3.of(np.array(deck_mps)), 0.0
    )
    return agent_of(
        moving(place, velocity),
        surroundings=around(float(place[2]), partner=deck),
        measurements={"deck": measured},
    )


def stepped(setting, *agents):
    """Return the rewards and ends of the steps between the moments of a drone."""
    task, world, vehicles = setting
    scenes = [scene_of(world, agent) for agent in agents]
    goal = task.init_goal(scenes[0], [vehicles["drone"]], seed_key(0))
    goals = [goal]
    for scene in scenes[1:]:
        goal = task.update_goal(goal, scene, seed_key(0))
        goals.append(goal)
    rewards = [
        float(task.reward(goal, agent, scene))
        for goal, agent, scene in zip(goals[1:], agents[1:], scenes[1:], strict=True)
    ]
    return rewards, [bool(task.ended(goal, s)) for goal, s in zip(goals, scenes, strict=True)]


@pytest.mark.slow
def test_approach_reward_is_the_decrease_of_distance(setting):
    ways = np.array([[3.0, -1.0, 2.0], [2.5, -1.0, 1.7], [2.6, -1.2, 1.9]])
    rewards, ended = stepped(setting, *(over_deck(way, (0.0, 0.0, 0.0)) for way in ways))
    away = np.linalg.norm(ways, axis=1)
    np.testing.assert_allclose(rewards, (away[:-1] - away[1:]) / 5.0, rtol=0, atol=1e-9)
    assert not any(ended)


def test_landing_reward_increases_for_softer_touchdown(setting):
    at_last = []
    for touch in (0.1, 0.8):
        resting = over_deck((0.05, 0.0, 0.01), (0.0, 0.1, 0.0))
        rewards, ended = stepped(
            setting, over_deck((0.05, 0.0, 0.1), (0.0, 0.0, -touch)), *[resting] * 3
        )
        assert ended == [False, False, False, True]
        expected = 5.0 + 5.0 * np.exp(np.log(0.1) * touch**2)
        assert rewards[-1] == pytest.approx(expected, rel=0, abs=1e-9)
        at_last.append(rewards[-1])
    assert at_last[0] > at_last[1]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("way_m", "closing_mps"),
    [
        ((0.0, 0.0, 0.1), (0.0, 0.0, 0.0)),  # over it
        ((0.0, 0.0, 0.0), (0.0, 0.3, 0.0)),  # sliding
        ((0.4, 0.0, 0.0), (0.0, 0.0, 0.0)),  # beside it
    ],
)
def test_only_rest_on_the_deck_counts_as_landed(setting, way_m, closing_mps):
    moments = [over_deck(way_m, closing_mps)] * 6
    rewards, ended = stepped(setting, *moments)
    assert not any(ended)
    assert max(rewards) == 0.0


def test_landing_requires_continuous_rest(setting):
    rest, slide = (over_deck((0.0, 0.0, 0.0), (speed, 0.0, 0.0)) for speed in (0.0, 0.5))
    _, ended = stepped(setting, rest, rest, rest, slide, rest, rest, rest)
    assert ended == [False] * 6 + [True]


def test_ditching_ends_the_episode_with_the_penalty(setting):
    afloat = over_deck((1.0, 0.0, 0.08 - DECK_M - STANDING_M), (0.0, 0.0, 0.0))
    rewards, ended = stepped(setting, over_deck((1.0, 0.0, 0.0), (0.0, 0.0, 0.0)), afloat)
    assert rewards == [-2.0]
    assert ended == [False, True]


def test_observation_uses_the_measured_deck(setting):
    task, world, vehicles = setting
    agent = over_deck((1.0, 2.0, 3.0), (0.1, 0.0, -0.2), measurement_error_m=0.5)
    scene = scene_of(world, agent)
    goal = task.init_goal(scene, [vehicles["drone"]], seed_key(0))
    seen = task.observe(goal, agent, scene)
    np.testing.assert_allclose(seen.offset_world_m.array, [-0.5, -1.5, -2.5], atol=1e-12)
    np.testing.assert_allclose(seen.closing_world_mps.array, [-0.1, 0.0, 0.2], atol=1e-12)
    elsewhere = replace(agent, truth=moving([9.0, 9.0, 9.0]))
    again = task.observe(goal, elsewhere, scene)
    assert jnp.array_equal(again.offset_world_m.array, seen.offset_world_m.array)


@pytest.mark.slow
def test_the_baseline_lands_and_random_velocities_do_not(episodes):
    led, wild = episodes
    assert led.terminated.all()
    assert (led.last > 9.0).all()
    assert (led.steps < 120).all()
    assert (wild.last < 5.0).all()
    assert led.returned.min() > wild.returned.max() + 8.0
