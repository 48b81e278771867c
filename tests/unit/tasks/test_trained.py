"""A policy flies in a scenario as it does in training."""

import jax
import numpy as np
import pytest
from tests.unit.tasks import scenes

import kittiwake as kw
from kittiwake.core.errors import ScenarioError
from kittiwake.core.signals import PositionYaw
from kittiwake.geometry.vec3 import Vec3
from kittiwake.tasks.make import make


@pytest.mark.parametrize("rate_hz", [50, pytest.param(10, marks=pytest.mark.slow)])
def test_a_flight_is_that_of_the_environment(rate_hz, tmp_path):
    overrides = {"task.rate_hz": rate_hz, "time.duration_s": 2}
    with jax.enable_x64(True):
        env = make("keep-spot", conditions="noiseless", overrides=overrides, precision="float64")
        path, network = scenes.policy(tmp_path, len(env.space.names), 4, "keep-spot")
        flights = scenes.Flights(env)
        state, seen = flights.reset(kw.seed_key(0))
        places = []
        for _ in range(env.max_steps):
            step = flights.step(kw.seed_key(0), state, network(seen))
            state, seen = step.state, step.observation
            places.append(flights.truths(state)["pelican"][0])
    changes = {**env.task.conditions["noiseless"], **overrides, "task.type": "keep-spot"}
    log = kw.load("keep-spot", overrides={**changes, "policy": str(path)}).run()
    flown = flown_m(log, "pelican")
    every = 50 // rate_hz
    np.testing.assert_allclose(flown[every::every], places, atol=1e-9)
    assert np.abs(flown[-1] - flown[0]).max() > 0.01


def flown_m(log, vehicle):
    return log.tables[vehicle].part(("x_m", "y_m", "z_m"))


@pytest.mark.slow
def test_one_network_flies_each_agent_or_all_together(tmp_path):
    short = {"time.duration_s": 1}
    env = make("formation")
    seen, done = len(env.space.names), len(env.action_names)
    each, _ = scenes.policy(tmp_path, seen, done, "formation")
    alike = kw.load("formation", overrides={**short, "policy": str(each)}).run()
    together, _ = scenes.policy(tmp_path, 4 * seen, 4 * done, "formation")
    joint = kw.load("formation", overrides={**short, "policy": str(together)}).run()
    without = kw.load("formation", overrides=short).run()
    for name in env.agents:
        ends = [flown_m(log, name)[-1] for log in (alike, joint, without)]
        assert min(np.abs(ends[i] - ends[i - 1]).max() for i in range(3)) > 1e-3


def test_commands_from_outside_go_before_it(tmp_path):
    path, _ = scenes.policy(tmp_path, 15, 4, "keep-spot")
    simulation = kw.load("keep-spot", overrides={"policy": str(path)})
    simulation.reset()
    wanted = PositionYaw(Vec3(0.0, 0.0, 12.0), 1.57)
    for _ in range(100):
        simulation.step({"pelican": wanted})
    assert simulation.observe()["pelican"].truth.position_world_m.z > 10.2


@pytest.mark.parametrize(
    ("overrides", "task", "inputs", "said"),
    [
        ({}, "keep-spot", 14, "makes 4 numbers from 14"),
        ({}, "hover", 15, "trained for hover, the task is keep-spot"),
        ({"task": None}, "keep-spot", 15, "there is no task whose agents it could fly"),
    ],
)
def test_a_policy_that_does_not_fit_is_refused(overrides, task, inputs, said, tmp_path):
    path, _ = scenes.policy(tmp_path, inputs, 4, task)
    with pytest.raises(ScenarioError, match=said) as refused:
        kw.load("keep-spot", overrides={"policy": str(path), **overrides})
    assert "policy" in str(refused.value)
