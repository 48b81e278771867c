from dataclasses import replace

import jax
import numpy as np
import pytest
from tests.unit.tasks.episodes import flown
from tests.unit.tasks.given_scenes import agent_of, around, moving, scene_of, task_in

from kittiwake.core.keys import seed_key
from kittiwake.tasks.library.formation import Center
from kittiwake.tasks.make import make

CENTER = Center(1.0, 2.0, 1.5, 0.4, 0.3, 0.2, 0.7)
PLACES = np.array([[2.0, 2.6, 1.5], [0.7, 3.1, 1.4], [-0.2, 1.5, 1.5], [1.5, 0.5, 1.8]])
SPEEDS = np.array([[0.3, 0.1, 0.0], [0.5, 0.0, 0.2], [0.0, 0.0, 0.0], [-0.4, 0.3, 0.1]])


@pytest.fixture(scope="module")
def setting():
    return task_in("formation")


@pytest.fixture(scope="module")
def episodes():
    return flown(make("formation"))


def drones(nearest_m=2.0):
    return [
        agent_of(
            moving(place, velocity),
            number,
            surroundings=around(float(place[2]), nearest_vehicle_m=nearest_m),
        )
        for number, (place, velocity) in enumerate(zip(PLACES, SPEEDS, strict=True))
    ]


def slots():
    angles = 0.7 + np.arange(4) * np.pi / 2
    ring = np.stack([np.cos(angles), np.sin(angles), np.zeros(4)], axis=1)
    return np.array([1.0, 2.0, 1.5]) + ring


@pytest.mark.parametrize("nearest_m", [2.0, 0.3])
def test_each_agent_is_rewarded_for_its_own_place(setting, nearest_m):
    task, world, _ = setting
    agents = drones(nearest_m)
    scene = scene_of(world, *agents)
    center_mps = 0.4 * np.array([np.cos(0.3), np.sin(0.3), 0.0])
    away = np.linalg.norm(slots() - PLACES, axis=1)
    drift = np.linalg.norm(center_mps - SPEEDS, axis=1)
    held = 0.8 + 0.2 * np.exp(np.log(0.1) * drift**2)
    near = max(0.0, 1.0 - nearest_m / 0.5) ** 2
    expected = 0.1 * (np.exp(np.log(0.1) * away**2) * held - near)
    got = [float(task.reward(CENTER, agent, scene)) for agent in agents]
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-9)


def test_center_moves_along_chords_of_its_circle(setting):
    task, world, _ = setting
    scene = scene_of(world, *drones())
    center = jax.tree.map(float, CENTER)
    for _ in range(50):
        center = task.update_goal(center, scene, seed_key(0))
    # the chords of 50 steps of 0.02 rad, which together turn by 1 rad
    headings = 0.3 + 0.02 * (np.arange(50) + 0.5)
    way = 0.04 * np.array([np.cos(headings).sum(), np.sin(headings).sum()])
    np.testing.assert_allclose([center.x_m, center.y_m], np.array([1.0, 2.0]) + way, atol=1e-9)
    assert float(center.heading_rad) == pytest.approx(1.3, abs=1e-9)


def test_center_begins_at_the_mean_position_within_its_limits(setting):
    task, world, _ = setting
    scene = scene_of(world, *drones())
    begun = [task.init_goal(scene, [], key) for key in jax.random.split(jax.random.key(2), 20)]
    for center in begun:
        np.testing.assert_allclose(
            [center.x_m, center.y_m, center.z_m], PLACES.mean(axis=0), atol=1e-9
        )
        assert 0.0 <= center.speed_mps <= 0.5
        assert abs(center.turning_radps) <= 0.3
    assert np.std([center.turned_rad for center in begun]) > 1.0


@pytest.mark.slow
def test_observation_holds_offsets_to_place_and_other_estimates(setting):
    task, world, _ = setting
    estimated = PLACES + np.array([0.1, -0.2, 0.05])
    agents = [
        replace(agent, estimate=moving(place, velocity))
        for agent, place, velocity in zip(drones(), estimated, SPEEDS, strict=True)
    ]
    scene = scene_of(world, *agents)
    for number, agent in enumerate(agents):
        seen = task.observe(CENTER, agent, scene)
        order = [(number + 1 + i) % 4 for i in range(3)]
        offset = slots()[number] - estimated[number]
        np.testing.assert_allclose(seen.offset_world_m.array, offset, atol=1e-9)
        np.testing.assert_allclose(
            seen.others_world_m, estimated[order] - estimated[number], atol=1e-9
        )
        np.testing.assert_allclose(seen.others_world_mps, SPEEDS[order] - SPEEDS[number], atol=1e-9)


@pytest.mark.slow
def test_the_baseline_forms_up_and_random_velocities_do_not(episodes):
    led, wild = episodes
    assert not led.terminated.any()
    assert (led.last > 0.3).all()  # of 0.4, from all four
    assert led.returned.min() > 50.0
    assert led.returned.min() > wild.returned.max() + 30.0
