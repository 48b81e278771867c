"""Environment of a task: pure functions ``reset`` and ``step``."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from kittiwake.core.arrays import ArrayTree, as_arrays
from kittiwake.core.commands import Command
from kittiwake.core.errors import ScenarioError
from kittiwake.core.html import column_table, fact_table, heading
from kittiwake.core.keys import fold_in_names, seed_key
from kittiwake.core.kinematics import Kinematics, Start
from kittiwake.core.precision import Precision, is_transformed
from kittiwake.core.streams import Stream
from kittiwake.core.trace_once import trace_once
from kittiwake.geometry.scalar import Flag, Integer, Real
from kittiwake.pytree import Module
from kittiwake.scenario.scenario import Scenario
from kittiwake.sim.fleet import Fleet, FleetPerception
from kittiwake.sim.record import columns, rows
from kittiwake.sim.schedule import steps_between
from kittiwake.sim.state import FleetState, Snapshot
from kittiwake.sim.vectorized_reset import reset_at_tick
from kittiwake.tasks.agent_index import AgentIndex, agent_names
from kittiwake.tasks.difficulty import check_difficulty
from kittiwake.tasks.randomization import Randomization
from kittiwake.tasks.requirements import check_command_type, check_requirements
from kittiwake.tasks.space import Space
from kittiwake.tasks.task import AbstractTask, Agent, TaskScene

# agents that are named in notebooks
MAX_SHOWN = 5


class EnvState(Module):
    """One environment between two control steps.

    Attributes:
        fleet: state of the fleet and of the world's processes.
        perceived: perceptions of all vehicles at this tick; None if ``fleet`` determines them.
        goal: memory of the task.
        drawn: values drawn for this episode.
        steps: control steps since the episode began.
        key: random key of the episode, for the task.
    """

    fleet: FleetState
    perceived: FleetPerception | None
    goal: ArrayTree
    drawn: tuple[Array, ...]
    steps: Integer
    key: PRNGKeyArray


class EnvStep(Module):
    """Result of a control step.

    Attributes:
        observation: observations of all agents, concatenated.
        reward: total reward: the sum over all agents, or the one that they share.
        terminated: True if a vehicle was lost or the task is done.
        truncated: True if only the time is up.
        rewards: reward of each agent.
    """

    state: EnvState
    observation: Float[Array, " numbers"]
    reward: Float[Array, ""]
    terminated: Bool[Array, ""]
    truncated: Bool[Array, ""]
    rewards: Float[Array, " agents"]


class Env:
    """A task in a scenario.

    ``reset(key)`` and ``step(key, state, action)`` are pure functions and can be
    jitted and mapped. Actions and observations are those of all agents, concatenated, as numbers
    without units: actions are from -1 to 1.
    """

    def __init__(
        self,
        scenario: Scenario,
        task: AbstractTask,
        precision: Precision = "float32",
        *,
        randomized: bool = True,
    ) -> None:
        """Create the environment of a task in a scenario.

        Args:
            scenario: scenario of the task.
            task: learning task.
            precision: floating-point format of all computations.
            randomized: True to apply the scenario's ``randomize`` and ``curriculum``.

        Raises:
            ScenarioError: if the scenario lacks something that the task requires.
        """
        self.scenario, self.task, self.precision = scenario, task, precision
        self.agents = agent_names(scenario, task)
        self.single_precision = precision == "float32"
        self.fleet = scenario.fleet(single_precision=self.single_precision)
        try:
            self.physics_steps_per_action = steps_between(
                self.fleet.rate_hz, task.rate_hz, "task.rate_hz"
            )
        except ScenarioError as error:
            message = f"{scenario.document.where(('task', 'rate_hz'))}: {error}"
            raise ScenarioError(message) from None
        self.max_steps = round(scenario.duration_s * float(task.rate_hz))
        self.vehicles = [scenario.vehicles[name] for name in self.agents]
        check_requirements(scenario, task.requirements, self.agents)
        self.action_mapping = task.action_mapping(self.vehicles[0])
        for name, vehicle in zip(self.agents, self.vehicles, strict=True):
            check_command_type(name, vehicle, self.action_mapping)
        self.randomization = Randomization.of(scenario) if randomized else Randomization()
        self._begin = trace_once(self._begin_episode)
        self.agent_index = AgentIndex.of(self.fleet, self.agents, len(self.action_mapping.reported))

    @property
    def definition(self) -> Sequence[Any]:
        """All values on which what it does depends."""
        return (
            self.fleet,
            self.task,
            self.vehicles,
            self.agents,
            self.action_mapping,
            self.agent_index,
            self.randomization,
            self.physics_steps_per_action,
            self.max_steps,
        )

    def _repr_html_(self) -> str:
        spans, space = self.action_mapping.spans, self.space
        command = self.action_mapping.command_type.__name__
        facts = {
            "scenario": self.scenario.name,
            "agents": ", ".join(self.agents[:MAX_SHOWN]) + ("…" if self.agents[MAX_SHOWN:] else ""),
            "actions": f"{command}, {float(self.task.rate_hz):g} Hz",
            "episode": f"{self.scenario.duration_s:g} s, {self.max_steps} actions",
            "precision": self.precision,
        }
        actions = [
            (name, f"{span.offset - span.scale:g}", f"{span.offset + span.scale:g}")
            for name, span in spans.items()
        ]
        actions += [(name, "-1", "1") for name in self.action_mapping.reported]
        observed = [
            (name, f"{low:g}", f"{high:g}")
            for name, low, high in zip(space.names, space.low, space.high, strict=True)
        ]
        return (
            heading("Env", self.name)
            + fact_table(facts)
            + column_table(("action", "at -1", "at 1"), actions)
            + column_table(("observation", "lowest", "highest"), observed)
        )

    @property
    def name(self) -> str:
        """Name of the task in the scenario; empty if the scenario has none."""
        entry = self.scenario.document.data.get("task", "")
        return entry if isinstance(entry, str) else entry["type"]

    @property
    def action_names(self) -> tuple[str, ...]:
        """Names of the numbers in one agent's action."""
        return self.action_mapping.names

    @property
    def action_size(self) -> int:
        """Length of the action of all agents."""
        return len(self.agents) * len(self.action_mapping.names)

    @cached_property
    def space(self) -> Space:
        """Observation space of one agent."""
        spaces: list[Space] = []

        def trace(key: PRNGKeyArray) -> None:
            state, goal, scene = self._begin(key, jnp.zeros((), jnp.int32), jnp.ones(()))
            del state
            agent = jax.tree.map(lambda leaf: leaf[0], scene.agents)
            spaces.append(Space.of(self.task.observe(goal, agent, scene)))

        with self.precision_context():
            jax.eval_shape(trace, seed_key(0))
        return spaces[0]

    @property
    def observation_size(self) -> int:
        """Length of the observation of all agents."""
        return len(self.agents) * len(self.space.names)

    def precision_context(self) -> AbstractContextManager[None]:
        """Return the context manager for the floating-point mode of compiled functions.

        Functions of one's own that are compiled, and call this environment, are called inside it;
        ``reset`` and ``step`` outside of compiled functions enter it themselves.
        """
        return jax.enable_x64(not self.single_precision)

    def own_precision(self, *arguments: ArrayTree) -> AbstractContextManager[None]:
        """Return ``precision_context()``, or inside JAX's transformations one that does nothing."""
        return nullcontext() if is_transformed(*arguments) else self.precision_context()

    def reset(
        self, key: PRNGKeyArray, difficulty: Real = 1.0
    ) -> tuple[EnvState, Float[Array, " numbers"]]:
        """Begin a new episode.

        Args:
            key: random key that determines the episode.
            difficulty: share of the curriculum's variation, from 0 to 1.

        Raises:
            ValueError: for a difficulty outside of 0 to 1.
        """
        check_difficulty(difficulty)
        with self.own_precision(key):
            tick = jnp.zeros((), jnp.int32)
            return self.reset_at(key, tick, jnp.asarray(difficulty, jnp.result_type(float)))

    def reset_at(
        self, key: PRNGKeyArray, tick: Integer, difficulty: Real
    ) -> tuple[EnvState, Float[Array, " numbers"]]:
        """Begin a new episode at a tick of a clock that is shared with other environments."""
        state, goal, scene = self._begin(key, tick, difficulty)
        return state, self._observe(goal, scene)

    def step(
        self, key: PRNGKeyArray, state: EnvState, action: Float[Array, " numbers"] | None
    ) -> EnvStep:
        """Return the result of a control step; without an action the scenario's guidance flies.

        ``reset`` an episode that has ended before the next step.

        Args:
            key: random key for the task's own draws in this step.
            state: state of the environment.
            action: action of all agents, from -1 to 1; values beyond are clipped.

        Raises:
            ValueError: for an action of wrong length.
        """
        with self.own_precision(key, state, action):
            return self.step_in_batch(None, key, state, action)

    def step_in_batch(
        self,
        axis: str | None,
        key: PRNGKeyArray,
        state: EnvState,
        action: Float[Array, " numbers"] | None,
    ) -> EnvStep:
        """Return the result of ``step`` inside a ``vmap`` over environments with one clock."""
        fleet = replace(self.randomization.apply_lasting(self.fleet, state.drawn), shared_axis=axis)
        actions = jnp.zeros(
            (len(self.agents), len(self.action_mapping.names)), jnp.result_type(float)
        )
        agent_commands: dict[str, Command] = {}
        if action is not None:
            if jnp.shape(action) != (self.action_size,):
                message = (
                    f"action: got shape {jnp.shape(action)}; must be {self.action_size} numbers "
                    f"from -1 to 1: {', '.join(self.action_names)}"
                )
                if len(self.agents) > 1:
                    message += f", for each of {len(self.agents)} agents"
                raise ValueError(message)
            actions = jnp.reshape(action, actions.shape)
            agent_commands = {
                name: self.action_mapping.command(actions[i]) for i, name in enumerate(self.agents)
            }
        reported = jnp.clip(actions[:, len(self.action_mapping.spans) :], -1.0, 1.0)

        def physics_step(
            world: tuple[FleetState, FleetPerception],
        ) -> tuple[tuple[FleetState, FleetPerception], list[Command]]:
            now, perceived = world
            scene = self.agent_index.scene(
                fleet, now, perceived, None, reported, state.steps >= self.max_steps
            )
            others = self.task.others(state.goal, scene)
            later, snapshots = fleet.act(
                now, perceived, fleet.group_commands({**agent_commands, **others})
            )
            return (later, fleet.perceive(later)), [snapshot.command for snapshot in snapshots]

        world = (state.fleet, self._perceived(fleet, state))
        if self.physics_steps_per_action > 1:
            world, _ = jax.lax.scan(
                lambda now, _: (physics_step(now)[0], None),
                world,
                None,
                length=self.physics_steps_per_action - 1,
            )
        (later, perceived), commands = physics_step(world)
        steps = state.steps + 1
        scene = self.agent_index.scene(
            fleet, later, perceived, commands, reported, steps >= self.max_steps
        )
        goal = as_arrays(self.task.update_goal(state.goal, scene, key))
        rewards, terminated = self.reward_and_termination(goal, scene, perceived)
        truncated = scene.last & ~terminated
        reward = rewards[0] if self.task.shared else rewards.sum()
        return EnvStep(
            state=self._env_state(later, perceived, goal, state.drawn, steps, state.key),
            observation=self._observe(goal, scene),
            reward=reward,
            terminated=terminated,
            truncated=truncated,
            rewards=rewards,
        )

    def reward_and_termination(
        self, goal: ArrayTree, scene: TaskScene, perceived: FleetPerception
    ) -> tuple[Float[Array, " agents"], Bool[Array, ""]]:
        """Return the reward of each agent for the last control step; True if the episode ended."""
        lost = jnp.stack([jnp.any(group.status != 0) for group in perceived.groups]).any()
        rewards = scene.each(lambda agent: self._reward(goal, agent, scene, lost))
        return rewards, lost | self.task.ended(goal, scene)

    def expert_action(self, state: EnvState) -> Float[Array, " numbers"] | None:
        """Return the built-in policy's action; None if the scenario's guidance is the policy.

        Raises:
            ScenarioError: if it needs beliefs, which only ``with_beliefs()`` holds.
        """
        if self.task.with_beliefs() is not self.task:
            message = (
                f"the built-in policy of {type(self.task).__name__} needs beliefs, which take "
                "time and are not computed for learners; take env.with_beliefs()"
            )
            raise ScenarioError(message)
        scene = self.scene(state)
        actions = scene.each(lambda agent: self.task.expert_action(state.goal, agent, scene))
        return None if actions is None else actions.reshape(-1)

    def with_beliefs(self) -> "Env":
        """Return the environment with the beliefs that the built-in policy needs."""
        task = self.task.with_beliefs()
        if task is self.task:
            return self
        precision: Precision = "float32" if self.single_precision else "float64"
        env = Env(self.scenario, task, precision)
        env.randomization = self.randomization
        return env

    def scene(self, state: EnvState) -> TaskScene:
        """Return the scene between two steps, without the last commands and reported numbers."""
        fleet = self.randomization.apply_lasting(self.fleet, state.drawn)
        reported, perceived = self.agent_index.zero_reported(), self._perceived(fleet, state)
        last = state.steps >= self.max_steps
        return self.agent_index.scene(fleet, state.fleet, perceived, None, reported, last)

    def estimates(self, state: EnvState) -> Kinematics:
        """Return the estimated motions of all agents, along a leading axis."""
        fleet = self.randomization.apply_lasting(self.fleet, state.drawn)
        return self.agent_index.select(
            self._perceived(fleet, state).groups[self.agent_index.group].estimate
        )

    def elapsed_s(self, state: EnvState) -> Real:
        """Return the time since the episode began."""
        elapsed = jnp.asarray(state.fleet.tick - state.fleet.began, jnp.result_type(float))
        return elapsed * self.fleet.dt_s

    def continue_episode(
        self, key: PRNGKeyArray, motion: Kinematics, state: EnvState, elapsed_s: Real
    ) -> EnvState:
        """Return a state that continues an episode of another environment of the same task.

        Agents begin with ``motion``. The drawn values, the task's memory and the time are those
        of the other environment; everything else begins as in the scenario.

        Args:
            key: random key for the noise in this environment.
            motion: motions of the agents, along a leading axis.
            state: state of the other environment.
            elapsed_s: time since the episode began there.
        """
        fleet = self.randomization.apply_lasting(self.fleet, state.drawn)
        fleet = self.agent_index.with_starts(fleet, jax.vmap(_start_of)(motion))
        ticks = jnp.round(elapsed_s * fleet.rate_hz).astype(jnp.int32)
        initial = replace(fleet.init(key), began=-ticks)
        steps = ticks // self.physics_steps_per_action
        return self._env_state(
            initial, fleet.perceive(initial), state.goal, state.drawn, steps, key
        )

    @cached_property
    def columns(self) -> dict[str, tuple[str, ...]]:
        """Column names of ``rows`` by vehicle, the time first."""
        with self.precision_context():
            state = jax.eval_shape(self.reset, seed_key(0))[0]
            snapshots = jax.eval_shape(self._snapshots, state)
            names = columns(self.fleet, snapshots)
        return {
            name: ("time_s", *own)
            for group, own in zip(self.fleet.groups, names, strict=True)
            for name in group.names
        }

    def rows(self, state: EnvState) -> dict[str, Float[Array, " columns"]]:
        """Return a row of the log for each vehicle; its commands are those of its guidance."""
        time_s = jnp.asarray(self.elapsed_s(state))
        groups = rows(self.fleet, self._snapshots(state))
        return {
            name: jnp.concatenate([time_s[None], group[index]])
            for own, group in zip(self.fleet.groups, groups, strict=True)
            for index, name in enumerate(own.names)
        }

    def _snapshots(self, state: EnvState) -> tuple[Snapshot, ...]:
        fleet = self.randomization.apply_lasting(self.fleet, state.drawn)
        return fleet.act(state.fleet, self._perceived(fleet, state), fleet.group_commands({}))[1]

    def _begin_episode(
        self, key: PRNGKeyArray, tick: Integer, difficulty: Real
    ) -> tuple[EnvState, ArrayTree, TaskScene]:
        keys = fold_in_names(key, [Stream.RANDOMIZE, Stream.STARTS, Stream.FLEET, Stream.GOAL])
        drawn = self.randomization.draw(keys[Stream.RANDOMIZE], difficulty)
        fleet = self._with_starts(self.randomization.apply(self.fleet, drawn), keys[Stream.STARTS])
        initial = reset_at_tick(fleet, fleet.init(keys[Stream.FLEET]), tick)
        perceived = fleet.perceive(initial)
        zero = jnp.zeros((), jnp.int32)
        scene = self.agent_index.scene(
            fleet,
            initial,
            perceived,
            None,
            self.agent_index.zero_reported(),
            zero >= self.max_steps,
        )
        goal = as_arrays(self.task.init_goal(scene, self.vehicles, keys[Stream.GOAL]))
        lasting = self.randomization.lasting_values(drawn)
        return self._env_state(initial, perceived, goal, lasting, zero, key), goal, scene

    def _env_state(
        self, fleet: FleetState, perceived: FleetPerception, goal: ArrayTree, *rest: ArrayTree
    ) -> EnvState:
        return EnvState(fleet, None if self._perceives_without_state else perceived, goal, *rest)

    def _perceived(self, fleet: Fleet, state: EnvState) -> FleetPerception:
        return fleet.perceive(state.fleet) if state.perceived is None else state.perceived

    def _with_starts(self, fleet: Fleet, key: PRNGKeyArray) -> Fleet:
        """Return the fleet with the starts that the task gives the agents."""
        if type(self.task).starts is AbstractTask.starts:
            return fleet
        given = self.agent_index.scenario_starts(fleet)
        return self.agent_index.with_starts(fleet, self.task.starts(given, fleet.world, key))

    def _observe(self, goal: ArrayTree, scene: TaskScene) -> Float[Array, " numbers"]:
        each = scene.each(lambda agent: self.space.flat(self.task.observe(goal, agent, scene)))
        return each.reshape(-1)

    def _reward(
        self, goal: ArrayTree, agent: Agent, scene: TaskScene, lost: Flag
    ) -> Float[Array, ""]:
        reward = jnp.asarray(self.task.reward(goal, agent, scene), jnp.result_type(float))
        if reward.shape:
            message = (
                f"{type(self.task).__name__}.reward: got shape {reward.shape}; must be one number "
                "for each agent"
            )
            raise ValueError(message)
        shares = len(self.agents) if self.task.lost_together else 1
        return jnp.where(lost, self.task.lost_reward / shares, reward)

    @cached_property
    def _perceives_without_state(self) -> bool:
        """True if perceiving twice gives the same: no noise, memory or held values."""
        with self.precision_context():
            form = jax.eval_shape(
                lambda key: self.fleet.perceive(self.fleet.init(key)), seed_key(0)
            )
        parts = [(own.turbulence, own.sensors, own.estimator) for own in form.groups]
        return not jax.tree.leaves((form.processes, form.radio, parts))


def _start_of(motion: Kinematics) -> Start:
    euler = motion.euler_world_from_body
    return Start(
        position_world_m=motion.position_world_m,
        roll_rad=euler.roll_rad,
        pitch_rad=euler.pitch_rad,
        yaw_rad=euler.yaw_rad,
        velocity_world_mps=motion.velocity_world_mps,
        angular_velocity_body_radps=motion.angular_velocity_body_radps,
    )
