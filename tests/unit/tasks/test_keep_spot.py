"""KeepSpot and its relatives: rewards as the fact sheet of QRSim has them."""

import jax
import numpy as np
import pytest
from tests.unit.tasks import scenes

from kittiwake.tasks.keep_spot import KeepSpot, KeepSpot10, KeepSpotWithoutReward
from kittiwake.tasks.make import make

WEIGHTS = np.array([2 / np.pi, 2 / np.pi, 0.5, 1.0])
REST = np.array([0.0, 0.0, 0.59, 0.0])
ACTIONS = np.array([[0.1, -0.2, 0.05, 0.3], [-0.1, 0.2, 0.0, -2.0], [0.02, 0.0, 0.01, 0.0]])


def cost(action):
    """The control cost of an action in 1/s."""
    u = np.clip(action, -1, 1) * np.array([0.9, 0.9, 0.59, 4.5]) + REST
    return ((WEIGHTS * (u - REST)) ** 2).sum()


@pytest.fixture(scope="module")
def ten():
    with jax.enable_x64(True):
        return scenes.Flights(make("keep-spot-10", conditions="noiseless", precision="float64"))


def test_ten_get_the_sum_of_what_each_costs(ten):
    state, _ = ten.reset(scenes.keys(1)[0])
    spots = [start[0] for start in ten.truths(state).values()]
    for number, action in enumerate(ACTIONS):
        rows = np.roll(np.tile(action, (10, 1)), 1, axis=1) * np.linspace(0, 1, 10)[:, None]
        step = ten.step(scenes.keys(1)[0], state, rows.reshape(-1))
        state, places = step.state, [p for p, _ in ten.truths(step.state).values()]
        away = [((p - spot) ** 2).sum() for p, spot in zip(places, spots, strict=True)]
        wanted = [-cost(row) * 0.02 - far for row, far in zip(rows, away, strict=True)]
        np.testing.assert_allclose(step.rewards, wanted, rtol=0, atol=1e-9, err_msg=str(number))
        assert float(step.reward) == pytest.approx(sum(wanted), abs=1e-9)


def test_a_loss_costs_all_ten_together_the_penalty_of_one():
    assert 10 * KeepSpot10.lost_reward == KeepSpot.lost_reward == -1000


def test_without_reward_nothing_is_gained():
    task = KeepSpotWithoutReward()
    own = scenes.agent((1.0, 2.0, 3.0), command=scenes.sticks(pitch=0.5))
    world = scenes.scene([own])
    assert task.reward(None, own, world) == 0.0


def test_ten_begin_in_a_row_and_see_themselves_at_their_spots(ten):
    state, seen = ten.reset(scenes.keys(1)[0])
    places = [place for place, _ in ten.truths(state).values()]
    np.testing.assert_allclose(places, [(0, y, 10) for y in range(-80, 101, 20)], atol=1e-9)
    np.testing.assert_allclose(np.reshape(seen, (10, -1))[:, :3], 0.0, atol=1e-12)
