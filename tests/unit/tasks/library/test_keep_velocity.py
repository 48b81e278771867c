"""KeepVel: effort and squared velocity error, times the length of a step."""

import jax
import numpy as np
import pytest
from tests.unit.tasks import scenes
from tests.unit.tasks.library.test_keep_spot import ACTIONS, cost

from kittiwake.tasks.make import make


@pytest.fixture(scope="module")
def flights():
    with jax.enable_x64(True):
        return scenes.Flights(make("keep-velocity", conditions="noiseless", precision="float64"))


@pytest.mark.slow
def test_reward_is_effort_and_squared_error_times_the_step(flights):
    state, _ = flights.reset(scenes.keys(1)[0])
    for action in ACTIONS:
        step = flights.step(scenes.keys(1)[0], state, action)
        state = step.state
        _, velocity = flights.truths(state)["pelican"]
        error = ((velocity - np.array([0.0, 1.0, 0.0])) ** 2).sum()
        assert float(step.reward) == pytest.approx(-(cost(action) + error) * 0.02, abs=1e-9)


def test_observation_holds_the_velocity_error(flights):
    _, seen = flights.reset(scenes.keys(1)[0])
    np.testing.assert_allclose(seen[:6], [1.0, 0.0, 0.0, 0.0, 0.0, 0.0], atol=1e-9)
