"""GotoWP: effort in each step, and the squared distance in the last one."""

import jax
import numpy as np
import pytest
from tests.unit.tasks import scenes
from tests.unit.tasks.library.test_keep_spot import ACTIONS, cost

from kittiwake.tasks.make import make


@pytest.fixture(scope="module")
def flights():
    with jax.enable_x64(True):
        env = make(
            "goto-waypoint",
            conditions="noiseless",
            overrides={"time.duration_s": 0.06},
            precision="float64",
        )
        return scenes.Flights(env)


@pytest.mark.slow
def test_only_the_last_step_costs_the_squared_distance(flights):
    state, _ = flights.reset(scenes.keys(1)[0])
    for number, action in enumerate(ACTIONS):
        step = flights.step(scenes.keys(1)[0], state, action)
        state = step.state
        place, _ = flights.truths(state)["pelican"]
        missing = ((place - np.array([-50.0, -50.0, 10.0])) ** 2).sum()
        wanted = -cost(action) * 0.02 - (missing if number == 2 else 0.0)
        assert float(step.reward) == pytest.approx(wanted, abs=1e-9)
    assert bool(step.truncated)


@pytest.mark.slow
def test_observation_holds_the_offset_in_body_axes(flights):
    _, seen = flights.reset(scenes.keys(1)[0])
    # it looks north: west is to its left, south behind it
    np.testing.assert_allclose(seen[:3], [-50.0, 50.0, 0.0], atol=1e-9)
