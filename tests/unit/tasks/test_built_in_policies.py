"""Built-in policies use only measurements and estimates, not true states."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.unit.tasks import scenes

from kittiwake.core.errors import ScenarioError
from kittiwake.geometry.vec3 import Vec3
from kittiwake.tasks.make import make

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("single_precision")]


def elsewhere(scene):
    """Return a scene with equal estimates and measurements but other true states."""
    shift = Vec3(9.0, -7.0, 5.0)

    def moved(agent):
        place = agent.truth.position_world_m + shift
        return replace(agent, truth=replace(agent.truth, position_world_m=place))

    processes = {
        name: jax.tree.map(
            lambda leaf: leaf + 3.0 if jnp.issubdtype(leaf.dtype, jnp.floating) else leaf, state
        )
        for name, state in scene.processes.items()
    }
    return replace(scene, agents=jax.vmap(moved)(scene.agents), processes=processes)


@pytest.mark.parametrize("name", ["search-rescue-3", "plume-gaussian", "plume-team", "plume-puff"])
def test_true_states_do_not_affect_actions_or_beliefs(name):
    env = make(name).with_beliefs()
    key = scenes.keys(1)[0]
    state, _ = jax.jit(env.reset)(key)

    @jax.jit
    def acted(state, scene):
        goal = env.task.update_goal(state.goal, scene, key)
        return goal, scene.each(lambda agent: env.task.expert_action(goal, agent, scene))

    scene = env.scene(state)
    goal, actions = acted(state, scene)
    other_goal, other_actions = acted(state, elsewhere(scene))
    np.testing.assert_array_equal(actions, other_actions)
    for belief in ("beliefs", "sources", "weights", "sums"):
        same = jax.tree.map(
            np.array_equal, *(getattr(one, belief, None) for one in (goal, other_goal))
        )
        assert all(jax.tree.leaves(same))


def test_searchers_do_not_know_which_persons_have_been_found():
    env = make("search-rescue").with_beliefs()
    state, _ = jax.jit(env.reset)(scenes.keys(1)[0])
    scene = env.scene(state)
    found = replace(state.goal, found=jnp.ones_like(state.goal.found))
    act = jax.jit(lambda goal: scene.each(lambda agent: env.task.expert_action(goal, agent, scene)))
    np.testing.assert_array_equal(act(state.goal), act(found))


def test_learners_do_without_beliefs():
    env = make("search-rescue")
    state = jax.eval_shape(env.reset, scenes.keys(1)[0])[0]
    assert state.goal.beliefs is None
    with pytest.raises(ScenarioError, match=r"take env\.with_beliefs\(\)"):
        env.expert_action(state)
    led = env.with_beliefs()
    assert led.with_beliefs() is led
