"""HoldingPattern: the formula of the reward, and the starts."""

from itertools import combinations

import jax
import numpy as np
import pytest
from tests.unit.tasks import scenes

from kittiwake.tasks.library.holding_pattern import HoldingPattern
from kittiwake.tasks.make import make

PLACES = np.array([[48.0, 9.0, 10.0], [-40.0, 25.0, 11.0], [0.0, -70.0, 9.5]])
VELOCITIES = np.array([[0.0, 2.5, 0.1], [-1.0, -1.0, 0.0], [3.0, 0.2, -0.2]])


def rewards(places, velocities):
    """Return the reward of each agent."""
    pairs = zip(places, velocities, strict=True)
    agents = [scenes.agent(tuple(map(float, p)), tuple(map(float, v))) for p, v in pairs]
    world = scenes.scene(agents)
    return np.asarray(world.each(lambda own: HoldingPattern().reward(None, own, world)))


@pytest.mark.slow
def test_total_reward_equals_the_original():
    """The cost contains speeds, distances from the landing site, and each pair once."""
    cost = 0.0
    for place, velocity in zip(PLACES, VELOCITIES, strict=True):
        speed, away = np.linalg.norm(velocity), np.linalg.norm(place)
        cost += np.exp(speed - 3) + np.exp(2 - speed) + np.exp(away - 60)
    cost += sum(0.0025 / np.linalg.norm(a - b) for a, b in combinations(PLACES, 2))
    got = rewards(PLACES, VELOCITIES)
    assert got.sum() == pytest.approx(-cost, rel=1e-12)
    # the one that is 70 m away bears what that costs
    assert got[2] < -np.exp(10) < -100 < min(got[:2])


@pytest.mark.slow
def test_cost_of_a_pair_is_shared_equally():
    near = [[0.0, 0.0, 10.0], [0.0, 0.001, 10.0], [0.0, 50.0, 10.0]]
    speeds = np.tile([2.5, 0.0, 0.0], (3, 1))
    alone = rewards([[0.0, 0.0, 10.0], [20.0, 0.0, 10.0], [0.0, 50.0, 10.0]], speeds)
    np.testing.assert_allclose((rewards(near, speeds) - alone)[:2], -1.25, atol=1e-3)


@pytest.mark.slow
@pytest.mark.usefixtures("single_precision")
def test_reward_in_a_corner_is_finite_in_single_precision():
    corner = [[140.0, 140.0, 10.0], [0.0, 0.0, 10.0], [0.0, 30.0, 10.0]]
    assert np.isfinite(rewards(corner, np.zeros((3, 3)))).all()


@pytest.mark.slow
@pytest.mark.usefixtures("single_precision")
def test_starts_are_uniform_about_the_landing_site():
    flights = scenes.Flights(make("holding-pattern"))
    states = flights.begun(200)
    places = np.asarray(jax.vmap(lambda s: scenes.positions(flights.env.fleet, s))(states.fleet))
    level = places[..., :2].reshape(200, 6)
    assert 68.0 < np.abs(level).max() <= 70.0
    assert np.abs(np.corrcoef(level.T) - np.eye(6)).max() < 0.3
    np.testing.assert_allclose(places[..., 2], 10.0, atol=1e-5)
