"""A trained policy as what flies the agents of a task in any flight of its scenario."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from kittiwake.core.errors import ScenarioError
from kittiwake.core.network import Network
from kittiwake.core.strong import strong
from kittiwake.scenario.scenario import Scenario
from kittiwake.sim.commander import AbstractCommander
from kittiwake.sim.fleet import Fleet, Perceived
from kittiwake.sim.state import FleetState, Snapshot
from kittiwake.tasks.env import Env
from kittiwake.tasks.make import task_of
from kittiwake.tasks.task import Scene


class Flying(eqx.Module):
    """What is remembered between two ticks.

    Attributes:
        goal: what the task remembers.
        rows: the actions of the agents, which hold until they act again.
        commands: the native commands of each group at the tick before.
        key: from which the task draws.
    """

    goal: Any
    rows: Float[Array, "agents numbers"]
    commands: tuple[Any, ...]
    key: PRNGKeyArray


class Trained(AbstractCommander):
    """Flies as in training: agents see and act at the task's rate, and hold in between."""

    def __init__(self, env: Env, policy: Network) -> None:
        """What a policy makes of a task.

        Raises:
            ScenarioError: if it takes or gives other numbers than the agents see and do.
        """
        self._env, self._policy = env, policy
        # of one agent, or of all together
        agents, seen, done = len(env.agents), len(env.space.names), len(env.action_names)
        fitting = {(seen, done): False, (agents * seen, agents * done): True}
        size = policy.inputs, policy.outputs
        if size not in fitting:
            wanted = " or ".join(f"{given} numbers to {taken}" for given, taken in fitting)
            message = (
                f"the policy makes {size[1]} numbers from {size[0]}; what the agents of this task "
                f"see and do takes one from {wanted}"
            )
            raise ScenarioError(message)
        self._together = fitting[size]

    def begin(
        self, fleet: Fleet, state: FleetState, perceived: Perceived, key: PRNGKeyArray
    ) -> Flying:
        """The goal of an episode that begins where the scenario says."""
        env = self._env
        begin, later = jax.random.split(key)
        told, last = env.cast.nothing_told(), jnp.asarray(False)
        scene = env.cast.scene(fleet, state, perceived, None, told, last)
        goal = strong(env.task.begin(scene, env.vehicles, begin))
        rows = jnp.zeros((len(env.agents), len(env.action_names)), jnp.result_type(float))
        # as if carried out before the first tick, when nothing is proceeded from
        return Flying(goal, rows, self._nothing_carried_out(fleet, state, perceived), later)

    def command(
        self, fleet: Fleet, state: FleetState, perceived: Perceived
    ) -> tuple[Flying, Mapping[str, Any]]:
        """The signals of all agents, anew where the task's rate says."""
        env, flying = self._env, state.commander
        elapsed = state.tick - state.began
        told = flying.rows[:, len(env.rung.spans) :]
        last = elapsed // env.every >= env.max_steps
        scene = env.cast.scene(fleet, state, perceived, flying.commands, told, last)

        def anew(flying: Flying) -> Flying:
            key = jax.random.fold_in(flying.key, elapsed)
            later = strong(env.task.proceed(flying.goal, scene, key))
            goal = jax.tree.map(lambda a, b: jnp.where(elapsed > 0, a, b), later, flying.goal)
            return replace(flying, goal=goal, rows=self._rows(goal, scene))

        flying = jax.lax.cond(elapsed % env.every == 0, anew, lambda held: held, flying)
        signals = {name: env.rung.signal(flying.rows[i]) for i, name in enumerate(env.agents)}
        return flying, {**signals, **env.task.others(flying.goal, scene)}

    def after(self, own: Flying, snapshots: Sequence[Snapshot]) -> Flying:
        """With what was carried out."""
        return replace(own, commands=tuple(snapshot.command for snapshot in snapshots))

    def _rows(self, goal: Any, scene: Scene) -> Float[Array, "agents numbers"]:
        env = self._env
        seen = scene.each(lambda agent: env.space.flat(env.task.observe(goal, agent, scene)))
        if self._together:
            done = self._policy(seen.reshape(-1)).reshape(len(env.agents), -1)
        else:
            done = jax.vmap(self._policy)(seen)
        return jnp.clip(done, -1.0, 1.0)

    def _nothing_carried_out(
        self, fleet: Fleet, state: FleetState, perceived: Perceived
    ) -> tuple[Any, ...]:
        form = jax.eval_shape(lambda: fleet.act(state, perceived, fleet.orders({}))[1])
        return tuple(
            jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), snapshot.command)
            for snapshot in form
        )


def fleet_of(scenario: Scenario, *, single_precision: bool = False, tunable: bool = False) -> Fleet:
    """The fleet of a scenario, whose agents its policy flies if it has one.

    Raises:
        ScenarioError: if the policy does not fit the task.
    """
    fleet = scenario.fleet(single_precision=single_precision, tunable=tunable)
    if scenario.policy is None:
        return fleet
    where, task, meant = scenario.document.where, task_of(scenario), scenario.policy.task
    precision = "float32" if single_precision else "float64"
    try:
        env = Env(scenario, task, precision, randomised=False)
        if meant and meant != env.name:
            message = (
                f"it was trained for {meant}, the task is {env.name}; write task: {meant}, or the "
                f"file of a policy for {env.name}"
            )
            raise ScenarioError(message)
        return replace(fleet, commander=Trained(env, scenario.policy))
    except ScenarioError as error:
        message = f"{where(('policy',))}: policy: {error}"
        raise ScenarioError(message) from None
