"""The agents of a task in any flight of its scenario: who commands them, and what they achieve.

A flight is one episode, as long as the flight itself. Agents are flown by the guidance that the
scenario gives them, by a trained policy, or by the task's own (``AbstractTask.baseline``).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import isfinite
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, PRNGKeyArray
from typing_extensions import override

from kittiwake.core.arrays import as_arrays
from kittiwake.core.errors import ScenarioError
from kittiwake.geometry.scalar import Count, Real
from kittiwake.scenario.files.network import Network
from kittiwake.scenario.scenario import Scenario
from kittiwake.scenario.schema import TASK_POLICY
from kittiwake.sim.commander import AbstractCommander
from kittiwake.sim.fleet import Fleet, Perceived
from kittiwake.sim.state import FleetState, Snapshot
from kittiwake.tasks.env import Env
from kittiwake.tasks.make import KEY, task_of
from kittiwake.tasks.task import AbstractTask, TaskScene

# the actions of all agents, from what the task remembers and what there is
Policy = Callable[[Any, TaskScene], Float[Array, "agents numbers"]]


class TaskState(eqx.Module):
    """A task between two ticks of a flight.

    Attributes:
        goal: what the task remembers.
        actions: of the agents, which hold until they act again.
        commands: the actuator commands of each group at the tick before.
        key: from which the task draws.
        every: physics steps of a control step.
        last_tick: the tick at which the episode is over.
        ended: whether it was over before, by the task's end or a lost vehicle.
        total_reward: of all agents together, so far.
        figures: the task's own, by name.
    """

    goal: Any
    actions: Float[Array, "agents numbers"]
    commands: tuple[Any, ...]
    key: PRNGKeyArray
    every: Count
    last_tick: Count
    ended: Bool[Array, ""]
    total_reward: Real
    figures: dict[str, Float[Array, ""]]


class TaskCommander(AbstractCommander):
    """Flies as an environment does: agents see and act at the task's rate, and hold in between."""

    def __init__(self, env: Env, policy: Policy | None) -> None:
        """Create the commander of a task's agents.

        Args:
            env: the task in its scenario.
            policy: what the agents do; None where the scenario's guidance flies them.
        """
        self._env, self._policy = env, policy

    @override
    def begin(
        self, fleet: Fleet, state: FleetState, perceived: Perceived, key: PRNGKeyArray
    ) -> TaskState:
        env = self._env
        begin, later = jax.random.split(key)
        told, last = env.agent_index.no_reports(), jnp.asarray(False)
        scene = env.agent_index.scene(fleet, state, perceived, None, told, last)
        goal = as_arrays(env.task.begin(scene, env.vehicles, begin))
        return TaskState(
            goal=goal,
            actions=jnp.zeros((len(env.agents), len(env.action_names)), jnp.result_type(float)),
            # as if carried out before the first tick, when nothing is proceeded from
            commands=self._no_commands(fleet, state, perceived),
            key=later,
            every=jnp.asarray(env.every, jnp.int32),
            last_tick=jnp.asarray(env.max_steps * env.every, jnp.int32),
            ended=jnp.asarray(False),
            total_reward=jnp.zeros((), jnp.result_type(float)),
            figures=_numbers(env.task.figures(goal, scene)),
        )

    @override
    def command(
        self, fleet: Fleet, state: FleetState, perceived: Perceived
    ) -> tuple[TaskState, Mapping[str, Any]]:
        env, own = self._env, state.commander
        elapsed = state.tick - state.began
        told = own.actions[:, len(env.action_mapping.spans) :]
        last = elapsed // env.every >= own.last_tick // env.every
        scene = env.agent_index.scene(fleet, state, perceived, own.commands, told, last)

        def act(own: TaskState) -> TaskState:
            later = self._rewarded(own, scene, perceived, elapsed)
            if self._policy is None:
                return later
            return replace(later, actions=self._policy(later.goal, scene))

        own = jax.lax.cond(elapsed % env.every == 0, act, lambda held: held, own)
        signals: dict[str, Any] = {}
        if self._policy is not None:
            signals = {
                name: env.action_mapping.command(own.actions[i])
                for i, name in enumerate(env.agents)
            }
        return own, {**signals, **env.task.others(own.goal, scene)}

    @override
    def after(self, own: TaskState, snapshots: Sequence[Snapshot]) -> TaskState:
        return replace(own, commands=tuple(snapshot.command for snapshot in snapshots))

    def _rewarded(
        self, own: TaskState, scene: TaskScene, perceived: Perceived, elapsed: Count
    ) -> TaskState:
        """What the control step that ends at this tick was worth; the first tick ends none."""
        task = self._env.task
        counts = (elapsed > 0) & (elapsed <= own.last_tick) & ~own.ended
        goal = as_arrays(task.proceed(own.goal, scene, jax.random.fold_in(own.key, elapsed)))
        rewards, ended = self._env.judge(goal, scene, perceived)
        reward = rewards[0] if task.shared else rewards.sum()
        figures = _numbers(task.figures(goal, scene))
        known = (own.goal, own.ended, own.total_reward, own.figures)
        found = (goal, ended, own.total_reward + reward, figures)
        goal, ended, total_reward, figures = jax.tree.map(
            lambda new, old: jnp.where(counts, new, old), found, known
        )
        return replace(own, goal=goal, ended=ended, total_reward=total_reward, figures=figures)

    def _no_commands(
        self, fleet: Fleet, state: FleetState, perceived: Perceived
    ) -> tuple[Any, ...]:
        form = jax.eval_shape(lambda: fleet.act(state, perceived, fleet.orders({}))[1])
        return tuple(
            jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), snapshot.command)
            for snapshot in form
        )


def fleet_of(
    scenario: Scenario,
    *,
    single_precision: bool = False,
    tunable: bool = False,
    scored: bool = False,
) -> Fleet:
    """The fleet of a scenario, with what flies the agents of its task.

    Args:
        scenario: what is flown.
        single_precision: whether it is computed in float32.
        tunable: whether the vehicles' numbers are arrays.
        scored: whether the return counts also where the scenario's own guidance flies.

    Raises:
        ScenarioError: if the policy does not fit the task.
    """
    fleet = scenario.fleet(single_precision=single_precision, tunable=tunable)
    if scenario.document.data.get(KEY) is None:
        return fleet
    task = task_of(scenario)
    flown = scenario.policy is not None
    if scenario.policy == TASK_POLICY:
        task = task.with_beliefs()
    has_others = type(task).others is not AbstractTask.others
    if not (flown or has_others or scored):
        return fleet
    try:
        env = Env(scenario, task, "float32" if single_precision else "float64", randomized=False)
    except ScenarioError:
        # a flight that nothing of the task is needed for; ``check`` says what does not fit
        if not (flown or has_others):
            return fleet
        raise
    policy = _policy(scenario, env) if flown else None
    return replace(fleet, commander=TaskCommander(env, policy))


def check_task(scenario: Scenario) -> None:
    """Check that a scenario fits its task, if it has one.

    Raises:
        ScenarioError: with what to write instead.
    """
    if scenario.document.data.get(KEY) is None:
        return
    try:
        Env(scenario, task_of(scenario), randomized=False)
    except ScenarioError as error:
        message = f"{error} (Or write task: null, and the scenario is flown without its task.)"
        raise ScenarioError(message) from None


def until(state: FleetState, last_tick: int) -> FleetState:
    """The state of a flight that ends at a tick, so that its task's episode ends there, too."""
    if state.commander is None:
        return state
    own = replace(state.commander, last_tick=jnp.asarray(last_tick, jnp.int32))
    return replace(state, commander=own)


def judges_at(state: FleetState) -> int | None:
    """Return the tick at which the task judges what has happened by now.

    None without a task, after the episode's end, and where nothing is judged any more.
    """
    own: TaskState | None = state.commander
    if own is None or own.ended:
        return None
    elapsed, every = int(state.tick - state.began), int(own.every)
    tick = -(-elapsed // every) * every
    return int(state.began) + tick if tick <= own.last_tick else None


def task_metrics(scenario: Scenario, state: FleetState) -> dict[str, Any]:
    """For ``summary.json``, the return of a flight and the task's own figures.

    The return is None where the scenario does not fit its task, with the reason; without a task
    there is nothing.
    """
    said = scenario.document.data.get(KEY)
    if said is None:
        return {}
    name = said if isinstance(said, str) else said["type"]
    if state.commander is None:
        return {KEY: {"name": name, "return": None, "reason": _misfit(scenario)}}
    own: TaskState = state.commander
    figures = {key: _finite(value) for key, value in own.figures.items()}
    return {KEY: {"name": name, "return": _finite(own.total_reward), **figures}}


def _misfit(scenario: Scenario) -> str | None:
    try:
        Env(scenario, task_of(scenario), randomized=False)
    except ScenarioError as error:
        return str(error)
    return None


def _finite(value: Any) -> float | None:
    number = float(np.asarray(value))
    return number if isfinite(number) else None


def _policy(scenario: Scenario, env: Env) -> Policy:
    network = scenario.policy
    try:
        if not isinstance(network, Network):
            return _own_policy(env)
        if network.task and network.task != env.name:
            message = (
                f"it was trained for {network.task}, the task is {env.name}; write task: "
                f"{network.task}, or the file of a policy for {env.name}"
            )
            raise ScenarioError(message)
        return _network_policy(env, network)
    except ScenarioError as error:
        message = f"{scenario.document.where(('policy',))}: policy: {error}"
        raise ScenarioError(message) from None


def _own_policy(env: Env) -> Policy:
    """What the task itself does, without learning.

    Raises:
        ScenarioError: if the task leaves that to the scenario's guidance.
    """
    if type(env.task).baseline is AbstractTask.baseline:
        message = (
            f"{env.name} has no policy of its own; leave policy out, and the vehicles' guidance "
            "flies, or name the file of a trained one"
        )
        raise ScenarioError(message)

    def act(goal: Any, scene: TaskScene) -> Float[Array, "agents numbers"]:
        done = scene.each(lambda agent: env.task.baseline(goal, agent, scene))
        return jnp.clip(done, -1.0, 1.0)

    return act


def _network_policy(env: Env, network: Network) -> Policy:
    """What a network does that sees one agent, or all together.

    Raises:
        ScenarioError: if it takes or gives other numbers than the agents see and do.
    """
    agents, seen, done = len(env.agents), len(env.space.names), len(env.action_names)
    fitting = {(seen, done): False, (agents * seen, agents * done): True}
    size = network.inputs, network.outputs
    if size not in fitting:
        wanted = " or ".join(f"{given} numbers to {taken}" for given, taken in fitting)
        message = (
            f"the policy makes {size[1]} numbers from {size[0]}; what the agents of this task "
            f"see and do takes one from {wanted}"
        )
        raise ScenarioError(message)

    def act(goal: Any, scene: TaskScene) -> Float[Array, "agents numbers"]:
        rows = scene.each(lambda agent: env.space.flat(env.task.observe(goal, agent, scene)))
        if fitting[size]:
            actions = network(rows.reshape(-1)).reshape(agents, -1)
        else:
            actions = jax.vmap(network)(rows)
        return jnp.clip(actions, -1.0, 1.0)

    return act


def _numbers(figures: Mapping[str, Real]) -> dict[str, Float[Array, ""]]:
    return {
        name: jnp.asarray(value, jnp.result_type(float)).reshape(())
        for name, value in figures.items()
    }
