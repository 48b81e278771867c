"""Metrics of an episode beside its return."""

import jax
import numpy as np
import pytest
from tests.unit.tasks import scenes

from kittiwake.tasks import TASKS
from kittiwake.tasks.make import make

QUICK = {"hover", "goto-waypoint"}


def begun(name):
    """Return an environment, its metrics at the beginning of an episode, and agents' positions."""
    env = make(name)
    with env.precision_context():
        state, _ = jax.jit(env.reset)(scenes.keys(1)[0])
        scene = env.scene(state)
        places = np.asarray(scene.each(lambda agent: agent.truth.position_world_m.array))
        return env, jax.tree.map(float, env.task.metrics(state.goal, scene)), places


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        name if name in QUICK else pytest.param(name, marks=pytest.mark.slow)
        for name in TASKS.names()
    ],
)
def test_each_task_has_finite_metrics_of_its_own(name):
    metrics = begun(name)[1]
    assert metrics
    assert np.isfinite([*metrics.values()]).all()


@pytest.mark.slow
def test_distance_figure_is_that_of_the_furthest_agent():
    env, metrics, places = begun("goto-waypoint")
    wanted = np.asarray(env.task.waypoint_world_m.array)
    away_m = np.linalg.norm(places - wanted, axis=1).max()
    assert metrics["distance_m"] == pytest.approx(away_m, rel=1e-6)
