"""Commands to the agents of a task in any flight of its scenario, and the flight's return.

A flight is one episode, as long as the flight itself. Agents are flown by the guidance that the
scenario gives them, by a trained policy, or by the task's own (``AbstractTask.expert_action``).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import isfinite
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, PRNGKeyArray
from typing_extensions import override

from kittiwake.core.arrays import ArrayTree, as_arrays
from kittiwake.core.commands import Command
from kittiwake.core.errors import ScenarioError
from kittiwake.core.parameters import Parameters
from kittiwake.geometry.scalar import Integer, Real
from kittiwake.pytree import Module, replace_unchecked
from kittiwake.scenario.files.network import Network
from kittiwake.scenario.scenario import Scenario
from kittiwake.scenario.schema import TASK_POLICY
from kittiwake.sim.commander import AbstractCommander
from kittiwake.sim.fleet import Fleet, FleetPerception
from kittiwake.sim.state import FleetState, Snapshot
from kittiwake.tasks.env import Env
from kittiwake.tasks.make import KEY, task_of
from kittiwake.tasks.task import AbstractTask, TaskScene

# actions of all agents from the task's goal and the scene
Policy = Callable[[ArrayTree, TaskScene], Float[Array, "agents numbers"]]


class TaskState(Module):
    """State of a task between two ticks of a flight.

    Attributes:
        goal: memory of the task.
        actions: actions of the agents, held until they act again.
        commands: actuator commands of each group at the previous tick.
        key: random key of the task.
        physics_steps_per_action: physics steps in a control step.
        last_tick: tick at which the episode ends.
        ended: True if it ended earlier, by the task or a lost vehicle.
        total_reward: total reward of all agents so far.
        metrics: the task's own metrics, by name.
    """

    goal: ArrayTree
    actions: Float[Array, "agents numbers"]
    commands: tuple[Command, ...]
    key: PRNGKeyArray
    physics_steps_per_action: Integer
    last_tick: Integer
    ended: Bool[Array, ""]
    total_reward: Real
    metrics: dict[str, Float[Array, ""]]


class TaskCommander(AbstractCommander[TaskState]):
    """Commander of a task's agents, which observe and act at the task's rate as in ``Env``."""

    def __init__(self, env: Env, policy: Policy | None, identity: str) -> None:
        """Create the commander of a task's agents.

        Args:
            env: the task in its scenario.
            policy: policy of the agents; None if the scenario's guidance flies them.
            identity: the task and the policy as written in the scenario.
        """
        self._env, self._policy, self._identity = env, policy, identity

    @property
    @override
    def identity(self) -> str:
        return self._identity

    @property
    def definition(self) -> Sequence[Any]:
        """All values on which what it does depends."""
        return self._env, self._policy

    @override
    def init(
        self, fleet: Fleet, state: FleetState, perceived: FleetPerception, key: PRNGKeyArray
    ) -> TaskState:
        env = self._env
        goal_key, later = jax.random.split(key)
        reported, last = env.agent_index.zero_reported(), jnp.asarray(False)
        scene = env.agent_index.scene(fleet, state, perceived, None, reported, last)
        goal = as_arrays(env.task.init_goal(scene, env.vehicles, goal_key))
        return TaskState(
            goal=goal,
            actions=jnp.zeros((len(env.agents), len(env.action_names)), jnp.result_type(float)),
            # placeholder before the first tick, which ends no control step
            commands=self._no_commands(fleet, state, perceived),
            key=later,
            physics_steps_per_action=jnp.asarray(env.physics_steps_per_action, jnp.int32),
            last_tick=jnp.asarray(env.max_steps * env.physics_steps_per_action, jnp.int32),
            ended=jnp.asarray(False),
            total_reward=jnp.zeros((), jnp.result_type(float)),
            metrics=_numbers(env.task.metrics(goal, scene)),
        )

    @override
    def command(
        self, fleet: Fleet, state: FleetState, perceived: FleetPerception
    ) -> tuple[TaskState, Mapping[str, Command]]:
        env, own = self._env, state.commander
        elapsed = state.tick - state.began
        reported = own.actions[:, len(env.action_mapping.spans) :]
        steps = env.physics_steps_per_action
        last = elapsed // steps >= own.last_tick // steps
        scene = env.agent_index.scene(fleet, state, perceived, own.commands, reported, last)

        def act(own: TaskState) -> TaskState:
            later = self._reward(own, scene, perceived, elapsed)
            if self._policy is None:
                return later
            return replace(later, actions=self._policy(later.goal, scene))

        own = jax.lax.cond(elapsed % steps == 0, act, lambda held: held, own)
        agent_commands: dict[str, Command] = {}
        if self._policy is not None:
            agent_commands = {
                name: env.action_mapping.command(own.actions[i])
                for i, name in enumerate(env.agents)
            }
        return own, {**agent_commands, **env.task.others(own.goal, scene)}

    @override
    def after(self, own: TaskState, snapshots: Sequence[Snapshot]) -> TaskState:
        return replace(own, commands=tuple(snapshot.command for snapshot in snapshots))

    def _reward(
        self, own: TaskState, scene: TaskScene, perceived: FleetPerception, elapsed: Integer
    ) -> TaskState:
        """Add the reward of the control step that ends at this tick; the first tick ends none."""
        task = self._env.task
        counts = (elapsed > 0) & (elapsed <= own.last_tick) & ~own.ended
        goal = as_arrays(task.update_goal(own.goal, scene, jax.random.fold_in(own.key, elapsed)))
        rewards, ended = self._env.reward_and_termination(goal, scene, perceived)
        reward = rewards[0] if task.shared else rewards.sum()
        metrics = _numbers(task.metrics(goal, scene))
        known = (own.goal, own.ended, own.total_reward, own.metrics)
        found = (goal, ended, own.total_reward + reward, metrics)
        goal, ended, total_reward, metrics = jax.tree.map(
            lambda new, old: jnp.where(counts, new, old), found, known
        )
        return replace(own, goal=goal, ended=ended, total_reward=total_reward, metrics=metrics)

    def _no_commands(
        self, fleet: Fleet, state: FleetState, perceived: FleetPerception
    ) -> tuple[Command, ...]:
        form = jax.eval_shape(lambda: fleet.act(state, perceived, fleet.group_commands({}))[1])
        return tuple(
            jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), snapshot.command)
            for snapshot in form
        )


def commander_of(
    scenario: Scenario, *, single_precision: bool = False, scored: bool = False
) -> TaskCommander | None:
    """Return the commander for the agents of a scenario's task; None if the fleet needs none.

    Args:
        scenario: scenario of the flight.
        single_precision: True to compute in float32.
        scored: True to compute the return also if the scenario's own guidance flies.

    Raises:
        ScenarioError: if the policy does not fit the task.
    """
    if not is_scored(scenario):
        return None
    task = task_of(scenario)
    flown = scenario.policy is not None
    if scenario.policy == TASK_POLICY:
        task = task.with_beliefs()
    has_others = type(task).others is not AbstractTask.others
    if not (flown or has_others or scored):
        return None
    try:
        env = Env(scenario, task, "float32" if single_precision else "float64", randomized=False)
    except ScenarioError:
        # a flight that does not need the task; ``check`` reported the misfit
        if not (flown or has_others):
            return None
        raise
    policy = _policy(scenario, env) if flown else None
    identity = repr([scenario.document.data.get(key) for key in (KEY, "policy")])
    return TaskCommander(env, policy, identity)


def check_task(scenario: Scenario) -> None:
    """Check that a scenario fits its task, if it has one.

    Raises:
        ScenarioError: if it does not fit, with the correction.
    """
    if not is_scored(scenario):
        return
    try:
        Env(scenario, task_of(scenario), randomized=False)
    except ScenarioError as error:
        message = f"{error} (Or write task: null to fly the scenario without its task.)"
        raise ScenarioError(message) from None


def with_last_tick(state: FleetState, last_tick: int) -> FleetState:
    """Return the state with the end of the task's episode at the last tick of the flight."""
    if state.commander is None:
        return state
    tick = jnp.asarray(last_tick, jnp.int32)
    return replace_unchecked(state, commander=replace_unchecked(state.commander, last_tick=tick))


def next_reward_tick(state: FleetState) -> int | None:
    """Return the tick of the next reward, which includes all events up to now.

    None without a task, after the end of the episode, and if there is no further reward.
    """
    own: TaskState | None = state.commander
    if own is None or own.ended:
        return None
    elapsed, steps = int(state.tick - state.began), int(own.physics_steps_per_action)
    tick = -(-elapsed // steps) * steps
    return int(state.began) + tick if tick <= own.last_tick else None


def is_scored(scenario: Scenario) -> bool:
    """Return True if a scenario has a task, by which its flights are scored."""
    return scenario.document.data.get(KEY) is not None


def task_metrics(scenario: Scenario, state: FleetState) -> Parameters:
    """Return the return of a flight and the task's own metrics, for ``summary.json``.

    The return is None, with the reason, if the scenario does not fit its task.
    """
    entry = scenario.document.data[KEY]
    name = entry if isinstance(entry, str) else entry["type"]
    if state.commander is None:
        reason = _misfit(scenario) or "the loop was changed beside its commands, or restored"
        return {KEY: {"name": name, "return": None, "reason": reason}}
    own: TaskState = state.commander
    metrics = {key: _finite(value) for key, value in own.metrics.items()}
    return {KEY: {"name": name, "return": _finite(own.total_reward), **metrics}}


def _misfit(scenario: Scenario) -> str | None:
    try:
        Env(scenario, task_of(scenario), randomized=False)
    except ScenarioError as error:
        return str(error)
    return None


def _finite(value: Real | np.ndarray) -> float | None:
    number = float(np.asarray(value))
    return number if isfinite(number) else None


def _policy(scenario: Scenario, env: Env) -> Policy:
    network = scenario.policy
    try:
        if not isinstance(network, Network):
            return _own_policy(env)
        if network.task and network.task != env.name:
            message = (
                f"got a policy for {network.task}; must be for the task {env.name}; write task: "
                f"{network.task}, or the file of a policy for {env.name}"
            )
            raise ScenarioError(message)
        return _network_policy(env, network)
    except ScenarioError as error:
        message = f"{scenario.document.where(('policy',))}: policy: {error}"
        raise ScenarioError(message) from None


def _own_policy(env: Env) -> Policy:
    """Return the task's own policy, without learning.

    Raises:
        ScenarioError: if the task has none.
    """
    if type(env.task).expert_action is AbstractTask.expert_action:
        message = (
            f"{env.name} has no policy of its own; remove policy, so that the vehicles' guidance "
            "flies, or write the file of a trained one"
        )
        raise ScenarioError(message)
    return partial(_expert_actions, env.task)


def _expert_actions(
    task: AbstractTask, goal: ArrayTree, scene: TaskScene
) -> Float[Array, "agents numbers"]:
    actions = scene.each(lambda agent: task.expert_action(goal, agent, scene))
    return jnp.clip(actions, -1.0, 1.0)


def _network_policy(env: Env, network: Network) -> Policy:
    """Return the policy of a network for one agent, or for all together.

    Raises:
        ScenarioError: if its inputs and outputs do not match observations and actions.
    """
    agents, inputs, outputs = len(env.agents), len(env.space.names), len(env.action_names)
    fitting = {(inputs, outputs): False, (agents * inputs, agents * outputs): True}
    size = network.inputs, network.outputs
    if size not in fitting:
        allowed = " or ".join(f"{taken} inputs and {given} outputs" for taken, given in fitting)
        message = f"got {size[0]} inputs and {size[1]} outputs; the task's agents need {allowed}"
        raise ScenarioError(message)
    return partial(_joint_actions if fitting[size] else _own_actions, env, network)


def _joint_actions(
    env: Env, network: Network, goal: ArrayTree, scene: TaskScene
) -> Float[Array, "agents numbers"]:
    actions = network(_observations(env, goal, scene).reshape(-1))
    return jnp.clip(actions.reshape(len(env.agents), -1), -1.0, 1.0)


def _own_actions(
    env: Env, network: Network, goal: ArrayTree, scene: TaskScene
) -> Float[Array, "agents numbers"]:
    return jnp.clip(jax.vmap(network)(_observations(env, goal, scene)), -1.0, 1.0)


def _observations(env: Env, goal: ArrayTree, scene: TaskScene) -> Float[Array, "agents numbers"]:
    return scene.each(lambda agent: env.space.flat(env.task.observe(goal, agent, scene)))


def _numbers(metrics: Mapping[str, Real]) -> dict[str, Float[Array, ""]]:
    return {
        name: jnp.asarray(value, jnp.result_type(float)).reshape(())
        for name, value in metrics.items()
    }
