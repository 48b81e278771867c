"""Agents of a task in flights of its scenario: their commands and the flight's return."""

import jax
import numpy as np
import pytest
from tests.unit.tasks import scenes

import kittiwake as kw
from kittiwake.cli.summary_table import summary_lines
from kittiwake.core.commands import PositionYaw
from kittiwake.core.errors import ScenarioError
from kittiwake.geometry.vec3 import Vec3
from kittiwake.runtime import flight_executor
from kittiwake.tasks.make import make


@pytest.mark.slow
@pytest.mark.parametrize("rate_hz", [50, pytest.param(10, marks=pytest.mark.slow)])
def test_flight_equals_an_episode_of_the_environment(rate_hz, tmp_path):
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
def test_network_flies_each_agent_or_all_together(tmp_path):
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


@pytest.mark.slow
def test_external_commands_override_the_policy(tmp_path):
    path, _ = scenes.policy(tmp_path, 15, 4, "keep-spot")
    simulation = kw.load("keep-spot", overrides={"policy": str(path)})
    simulation.reset()
    wanted = PositionYaw(Vec3(0.0, 0.0, 12.0), 1.57)
    for _ in range(100):
        simulation.step({"pelican": wanted})
    assert simulation.observe()["pelican"].truth.position_world_m.z > 10.2


@pytest.mark.parametrize(
    ("overrides", "task", "inputs", "expected"),
    [
        ({}, "keep-spot", 14, "got 14 inputs and 4 outputs"),
        ({}, "hover", 15, "got a policy for hover; must be for the task keep-spot"),
        ({"task": None}, "keep-spot", 15, "there is no task whose agents it could fly"),
    ],
)
def test_policy_that_does_not_fit_the_task_is_refused(overrides, task, inputs, expected, tmp_path):
    path, _ = scenes.policy(tmp_path, inputs, 4, task)
    with pytest.raises(ScenarioError, match=expected) as refused:
        kw.load("keep-spot", overrides={"policy": str(path), **overrides})
    assert "policy" in str(refused.value)


def episode(name, overrides, policy):
    """Return the rewards of an episode that begins at the scenario's starts."""
    env = make(name, conditions="noiseless", overrides=overrides, precision="float64")
    flights = scenes.Flights(replace_starts(env))
    state, _ = flights.reset(kw.seed_key(0))
    rewards = []
    for _ in range(env.max_steps):
        step = flights.step(kw.seed_key(0), state, policy(env, state))
        state = step.state
        rewards.append(float(step.reward))
        if step.terminated:
            break
    return rewards


def replace_starts(env):
    """Disable the starts that the task draws."""
    env._with_starts = lambda fleet, key: fleet
    return env


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "policy", "duration_s"),
    [
        ("keep-spot", None, 1.0),
        pytest.param("holding-pattern", "task", 12.0, marks=pytest.mark.slow),
        # the agents leave the area, which ends the episode with the reward of being lost
        pytest.param("holding-pattern", None, 60.0, marks=pytest.mark.slow),
    ],
)
def test_return_of_a_run_is_the_sum_of_rewards_of_an_episode(name, policy, duration_s):
    overrides = {"time.duration_s": duration_s, "lost_vehicle": "continue", "policy": policy}
    if name == "holding-pattern" and policy is None:
        away = {"type": "hold", "velocity_world_mps": [0, 2.9, 0], "height_world_m": 10}
        overrides |= {"vehicles.pelican.guidance": away}
        overrides |= {"vehicles.pelican.start.position_world_m": [-30, 120, 10]}

    def act(env, state):
        return env.expert_action(state) if policy else None

    with jax.enable_x64(True):
        rewards = episode(name, overrides, act)
    changes = make(name).task.conditions["noiseless"]
    log = kw.load(name, {**changes, **overrides}).run()
    # 1e-9: the same formulas in two programs
    assert log.summary["metrics"]["task"]["return"] == pytest.approx(sum(rewards), rel=1e-9)
    if len(rewards) < duration_s:
        assert rewards[-1] == -1000.0


ENDINGS = ("fail", "continue")
# without sensors, which take as long to compile as all else
NOISELESS = {"vehicles.pelican.sensors": {}, "vehicles.pelican.estimator": "truth"}
AWAY = {
    "task.rate_hz": 1,
    "time.duration_s": 8,
    "world.area.x_m": [-10, 3.4],
    "vehicles.pelican.guidance": {
        "type": "hold",
        "velocity_world_mps": [1.5, 0, 0],
        "height_world_m": 10,
    },
    "vehicles.pelican.controller": "qrsim-velocity-height",
    **NOISELESS,
}


@pytest.fixture(scope="module")
def away():
    """The simulation that ends with the loss, and the one that flies on, of one program."""
    ended, flown_on = (kw.load("keep-spot", {**AWAY, "lost_vehicle": x}) for x in ENDINGS)
    flown_on.program = ended.program
    return ended, flown_on


@pytest.mark.slow
@pytest.mark.parametrize("block_steps", [1, 128, 400])
def test_return_of_a_flight_ended_by_a_loss_includes_the_loss(block_steps, away, monkeypatch):
    # the vehicle leaves the area at 2.86 s, which the task rewards at 3 s
    monkeypatch.setattr(flight_executor, "BLOCK_STEPS", block_steps)
    ended, flown_on = (simulation.run().summary for simulation in away)
    assert (ended["status"], ended["duration_s"]) == ("failed", 2.86)
    assert ended["metrics"]["task"] == flown_on["metrics"]["task"]
    assert ended["metrics"]["task"]["return"] < -1000.0


@pytest.mark.slow
def test_shorter_flight_gets_the_final_reward_at_its_end():
    """The distance counts only in the last step, also of a shorter flight."""
    away = {"vehicles.pelican.guidance.position_world_m": [3, 0, 10]}
    log = kw.load("keep-spot", away | NOISELESS).run(duration_s=4)
    end = log.frame("pelican").iloc[-1]
    squared = end.x_m**2 + end.y_m**2 + (end.z_m - 10.0) ** 2
    assert squared > 1.0
    # the effort of the sticks costs less
    assert log.summary["metrics"]["task"]["return"] == pytest.approx(-squared, abs=0.2)


@pytest.mark.slow
def test_policy_of_the_task_flies_if_the_scenario_selects_it():
    flown = kw.load("cats-mouse").run(duration_s=20)
    hovering = kw.load("cats-mouse", {"policy": None}).run(duration_s=20)
    metrics = [log.summary["metrics"]["task"] for log in (flown, hovering)]
    assert metrics[0].keys() == {"name", "return", "furthest_cat_m", "caught"}
    assert metrics[0]["furthest_cat_m"] < 0.6 * metrics[1]["furthest_cat_m"]
    # the mouse flees from hovering cats, too
    assert np.abs(flown_m(hovering, "mouse")[-1, :2]).max() > 10.0


def test_task_without_a_policy_of_its_own_is_refused():
    with pytest.raises(ScenarioError, match="keep-spot has no policy of its own; remove policy"):
        kw.load("keep-spot", {"policy": "task"})


@pytest.mark.slow
def test_scenario_that_does_not_fit_its_task_has_no_return():
    log = kw.load("keep-spot", {"task.rate_hz": 7, **NOISELESS}).run(duration_s=0.1)
    task = log.summary["metrics"]["task"]
    assert (task["name"], task["return"]) == ("keep-spot", None)
    assert "task.rate_hz 7 does not divide the physics rate 50 Hz" in task["reason"]
    expected = [line for line in summary_lines(log.summary) if line.startswith("Task keep-spot: ")]
    assert "no return: " in expected[0]
    assert "does not divide" in expected[0]
