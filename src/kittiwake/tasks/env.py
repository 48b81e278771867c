"""A task as pure functions: ``reset`` and ``step`` of one world, to be jitted and mapped."""

from dataclasses import replace
from functools import cached_property
from typing import Any, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from kittiwake.core.arrays import as_arrays
from kittiwake.core.errors import ScenarioError
from kittiwake.core.keys import named_each, seed_key
from kittiwake.core.kinematics import Kinematics, Start
from kittiwake.core.streams import Stream
from kittiwake.geometry.scalar import Count, Flag, Real
from kittiwake.scenario.scenario import Scenario
from kittiwake.sim.fleet import Fleet, Perceived
from kittiwake.sim.record import columns, rows
from kittiwake.sim.schedule import steps_between
from kittiwake.sim.state import FleetState, Snapshot
from kittiwake.tasks.agent_index import AgentIndex, agents_of
from kittiwake.tasks.difficulty import check_difficulty
from kittiwake.tasks.randomization import Randomization
from kittiwake.tasks.requirements import check_command_type, check_requirements
from kittiwake.tasks.space import Space
from kittiwake.tasks.task import AbstractTask, Agent, TaskScene

Precision = Literal["float32", "float64"]


class EnvState(eqx.Module):
    """One world between two control steps.

    Attributes:
        fleet: everything that moves.
        perceived: what all vehicles see at this tick; None if that follows from ``fleet`` alone.
        goal: what the task remembers.
        drawn: the numbers that are different in each episode.
        steps: control steps since the episode began.
        key: the episode's own, from which the task draws.
    """

    fleet: FleetState
    perceived: Perceived | None
    goal: Any
    drawn: tuple[Any, ...]
    steps: Count
    key: PRNGKeyArray


class EnvStep(eqx.Module):
    """What a control step gives.

    Attributes:
        observation: of all agents, one after another.
        reward: of all together: their sum, or the one that they share.
        terminated: whether a vehicle was lost or the task is done.
        truncated: whether only the time is up.
        rewards: of each agent.
    """

    state: EnvState
    observation: Float[Array, " numbers"]
    reward: Real
    terminated: Flag
    truncated: Flag
    rewards: Float[Array, " agents"]


class Env:
    """A task in a scenario.

    ``reset(key)`` and ``step(key, state, action)`` are pure functions of one world. Actions and
    observations are those of all agents, one after another, and are numbers without units: actions
    go from -1 to 1.
    """

    def __init__(
        self,
        scenario: Scenario,
        task: AbstractTask,
        precision: Precision = "float32",
        *,
        randomized: bool = True,
    ) -> None:
        """What a task makes of a scenario.

        Args:
            scenario: in which it is set.
            task: what there is to learn.
            precision: the floating-point format to compute in.
            randomized: whether episodes differ in what the scenario's ``randomize`` and
                ``curriculum`` say.

        Raises:
            ScenarioError: if the scenario does not have what the task needs.
        """
        self.scenario, self.task, self.precision = scenario, task, precision
        self.agents = agents_of(scenario, task)
        self.single_precision = precision == "float32"
        self.fleet = scenario.fleet(single_precision=self.single_precision)
        try:
            self.every = steps_between(self.fleet.rate_hz, task.rate_hz, "task.rate_hz")
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
        self.agent_index = AgentIndex.of(self.fleet, self.agents, len(self.action_mapping.reports))

    @property
    def name(self) -> str:
        """What the scenario calls the task; empty if it does not say any."""
        said = self.scenario.document.data.get("task", "")
        return said if isinstance(said, str) else said["type"]

    @property
    def action_names(self) -> tuple[str, ...]:
        """What one agent's actions ask for."""
        return self.action_mapping.names

    @property
    def action_size(self) -> int:
        """How many numbers all agents choose."""
        return len(self.agents) * len(self.action_mapping.names)

    @cached_property
    def space(self) -> Space:
        """The observations of one agent."""
        kept: list[Space] = []

        def look(key: PRNGKeyArray) -> None:
            state, goal, scene = self._begun(key, jnp.zeros((), jnp.int32), jnp.ones(()))
            del state
            agent = jax.tree.map(lambda leaf: leaf[0], scene.agents)
            kept.append(Space.of(self.task.observe(goal, agent, scene)))

        with self.mode():
            jax.eval_shape(look, seed_key(0))
        return kept[0]

    @property
    def observation_size(self) -> int:
        """How many numbers all agents see."""
        return len(self.agents) * len(self.space.names)

    def mode(self) -> Any:
        """The floating-point mode in which the functions are to be called."""
        return jax.enable_x64(not self.single_precision)

    def reset(
        self, key: PRNGKeyArray, difficulty: Real = 1.0
    ) -> tuple[EnvState, Float[Array, " numbers"]]:
        """A new episode.

        Args:
            key: from which everything in it follows.
            difficulty: how much of the curriculum's variety there is, from 0 to 1.

        Raises:
            ValueError: for another difficulty.
        """
        check_difficulty(difficulty)
        tick = jnp.zeros((), jnp.int32)
        return self.reset_at(key, tick, jnp.asarray(difficulty, jnp.result_type(float)))

    def reset_at(
        self, key: PRNGKeyArray, tick: Count, difficulty: Real
    ) -> tuple[EnvState, Float[Array, " numbers"]]:
        """The same on a clock that stands at a tick, which other worlds share."""
        state, goal, scene = self._begun(key, tick, difficulty)
        return state, self._observed(goal, scene)

    def step(
        self, key: PRNGKeyArray, state: EnvState, action: Float[Array, " numbers"] | None
    ) -> EnvStep:
        """A control step; without an action the scenario's own guidance flies.

        An episode that is over has to be ``reset``.

        Args:
            key: of what the task itself draws in this step.
            state: the world.
            action: what all agents do, from -1 to 1; what is beyond counts as the limit.

        Raises:
            ValueError: for another number of numbers.
        """
        return self.step_beside(None, key, state, action)

    def step_beside(
        self,
        axis: str | None,
        key: PRNGKeyArray,
        state: EnvState,
        action: Float[Array, " numbers"] | None,
    ) -> EnvStep:
        """The same while worlds are mapped over along a named axis and share their clock."""
        fleet = replace(self.randomization.flown(self.fleet, state.drawn), shared_axis=axis)
        rows = jnp.zeros((len(self.agents), len(self.action_mapping.names)), jnp.result_type(float))
        signals: dict[str, Any] = {}
        if action is not None:
            if jnp.shape(action) != (self.action_size,):
                message = (
                    f"an action of shape {jnp.shape(action)} is not allowed; give "
                    f"{self.action_size} numbers from -1 to 1: {', '.join(self.action_names)}"
                )
                if len(self.agents) > 1:
                    message += f", of each of {len(self.agents)} agents"
                raise ValueError(message)
            rows = jnp.reshape(action, rows.shape)
            signals = {
                name: self.action_mapping.command(rows[i]) for i, name in enumerate(self.agents)
            }
        told = jnp.clip(rows[:, len(self.action_mapping.spans) :], -1.0, 1.0)

        def once(
            world: tuple[FleetState, Perceived],
        ) -> tuple[tuple[FleetState, Perceived], list[Any]]:
            now, perceived = world
            scene = self.agent_index.scene(
                fleet, now, perceived, None, told, state.steps >= self.max_steps
            )
            others = self.task.others(state.goal, scene)
            later, snapshots = fleet.act(now, perceived, fleet.orders({**signals, **others}))
            return (later, fleet.perceive(later)), [snapshot.command for snapshot in snapshots]

        world = (state.fleet, self._seen_in(fleet, state))
        if self.every > 1:
            world, _ = jax.lax.scan(
                lambda now, _: (once(now)[0], None), world, None, length=self.every - 1
            )
        (later, perceived), commands = once(world)
        steps = state.steps + 1
        scene = self.agent_index.scene(
            fleet, later, perceived, commands, told, steps >= self.max_steps
        )
        goal = as_arrays(self.task.proceed(state.goal, scene, key))
        rewards, terminated = self.judge(goal, scene, perceived)
        truncated = scene.last & ~terminated
        reward = rewards[0] if self.task.shared else rewards.sum()
        return EnvStep(
            state=self._kept(later, perceived, goal, state.drawn, steps, state.key),
            observation=self._observed(goal, scene),
            reward=reward,
            terminated=terminated,
            truncated=truncated,
            rewards=rewards,
        )

    def judge(
        self, goal: Any, scene: TaskScene, perceived: Perceived
    ) -> tuple[Float[Array, " agents"], Bool[Array, ""]]:
        """What the last control step was worth to each agent, and whether it ended the episode."""
        lost = jnp.stack([jnp.any(group.status != 0) for group in perceived.groups]).any()
        rewards = scene.each(lambda agent: self._rewarded(goal, agent, scene, lost))
        return rewards, lost | self.task.ended(goal, scene)

    def baseline(self, state: EnvState) -> Float[Array, " numbers"] | None:
        """What a controller without learning does; None where the scenario's guidance is one.

        Raises:
            ScenarioError: if it acts on beliefs, which only ``with_beliefs()`` remembers.
        """
        if self.task.with_beliefs() is not self.task:
            message = (
                f"the built-in policy of {type(self.task).__name__} follows what it believes, "
                "which takes time and is not remembered for learners; take env.with_beliefs()"
            )
            raise ScenarioError(message)
        scene = self.scene(state)
        first = jax.tree.map(lambda leaf: leaf[0], scene.agents)
        if self.task.baseline(state.goal, first, scene) is None:
            return None
        return scene.each(lambda agent: self.task.baseline(state.goal, agent, scene)).reshape(-1)

    def with_beliefs(self) -> "Env":
        """The same, which remembers what the built-in policy believes, so that it can fly."""
        task = self.task.with_beliefs()
        if task is self.task:
            return self
        precision: Precision = "float32" if self.single_precision else "float64"
        env = Env(self.scenario, task, precision)
        env.randomization = self.randomization
        return env

    def scene(self, state: EnvState) -> TaskScene:
        """A world between two steps, without what agents did and told in the last one."""
        fleet = self.randomization.flown(self.fleet, state.drawn)
        told, seen = self.agent_index.no_reports(), self._seen_in(fleet, state)
        last = state.steps >= self.max_steps
        return self.agent_index.scene(fleet, state.fleet, seen, None, told, last)

    def believed(self, state: EnvState) -> Kinematics:
        """How agents believe to move, along a leading axis."""
        fleet = self.randomization.flown(self.fleet, state.drawn)
        return self.agent_index.picked(
            self._seen_in(fleet, state).groups[self.agent_index.group].estimate
        )

    def elapsed_s(self, state: EnvState) -> Real:
        """How long an episode has lasted."""
        elapsed = jnp.asarray(state.fleet.tick - state.fleet.began, jnp.result_type(float))
        return elapsed * self.fleet.dt_s

    def resumed(
        self, key: PRNGKeyArray, motion: Kinematics, state: EnvState, elapsed_s: Real
    ) -> EnvState:
        """An episode of another environment of the same task, gone on with in this one.

        Agents move as told. Of the other world there counts what was drawn, what the task
        remembers and the time; everything else begins as the scenario says.

        Args:
            key: of the noise in this one.
            motion: of agents, along a leading axis.
            state: of the other environment.
            elapsed_s: how long the episode has lasted there.
        """
        fleet = self.randomization.flown(self.fleet, state.drawn)
        fleet = self.agent_index.starting(fleet, jax.vmap(_moving)(motion))
        ticks = jnp.round(elapsed_s * fleet.rate_hz).astype(jnp.int32)
        begun = replace(fleet.init(key), began=-ticks)
        steps = ticks // self.every
        return self._kept(begun, fleet.perceive(begun), state.goal, state.drawn, steps, key)

    @cached_property
    def columns(self) -> dict[str, tuple[str, ...]]:
        """By vehicle what its row of ``rows`` holds, the time first."""
        with self.mode():
            state = jax.eval_shape(self.reset, seed_key(0))[0]
            snapshots = jax.eval_shape(self._snapshots, state)
            names = columns(self.fleet, snapshots)
        return {
            name: ("time_s", *own)
            for group, own in zip(self.fleet.groups, names, strict=True)
            for name in group.names
        }

    def rows(self, state: EnvState) -> dict[str, Float[Array, " columns"]]:
        """What a log would hold of each vehicle now; its commands are those of its guidance."""
        time_s = jnp.asarray(self.elapsed_s(state))
        groups = rows(self.fleet, self._snapshots(state))
        return {
            name: jnp.concatenate([time_s[None], group[lane]])
            for own, group in zip(self.fleet.groups, groups, strict=True)
            for lane, name in enumerate(own.names)
        }

    def _snapshots(self, state: EnvState) -> tuple[Snapshot, ...]:
        fleet = self.randomization.flown(self.fleet, state.drawn)
        return fleet.act(state.fleet, self._seen_in(fleet, state), fleet.orders({}))[1]

    def _begun(
        self, key: PRNGKeyArray, tick: Count, difficulty: Real
    ) -> tuple[EnvState, Any, TaskScene]:
        keys = named_each(key, [Stream.RANDOMIZE, Stream.STARTS, Stream.FLEET, Stream.GOAL])
        drawn = self.randomization.draw(keys[Stream.RANDOMIZE], difficulty)
        fleet = self._placed(self.randomization.applied(self.fleet, drawn), keys[Stream.STARTS])
        begun = fleet.reset_at_tick(fleet.init(keys[Stream.FLEET]), tick)
        perceived = fleet.perceive(begun)
        zero = jnp.zeros((), jnp.int32)
        scene = self.agent_index.scene(
            fleet, begun, perceived, None, self.agent_index.no_reports(), zero >= self.max_steps
        )
        goal = as_arrays(self.task.begin(scene, self.vehicles, keys[Stream.GOAL]))
        lasting = self.randomization.lasting(drawn)
        return self._kept(begun, perceived, goal, lasting, zero, key), goal, scene

    def _kept(self, fleet: FleetState, perceived: Perceived, goal: Any, *rest: Any) -> EnvState:
        return EnvState(fleet, None if self._forgetful else perceived, goal, *rest)

    def _seen_in(self, fleet: Fleet, state: EnvState) -> Perceived:
        return fleet.perceive(state.fleet) if state.perceived is None else state.perceived

    def _placed(self, fleet: Fleet, key: PRNGKeyArray) -> Fleet:
        """With the agents where the task wants them to begin."""
        if type(self.task).starts is AbstractTask.starts:
            return fleet
        given = self.agent_index.given_starts(fleet)
        return self.agent_index.starting(fleet, self.task.starts(given, fleet.world, key))

    def _observed(self, goal: Any, scene: TaskScene) -> Float[Array, " numbers"]:
        each = scene.each(lambda agent: self.space.flat(self.task.observe(goal, agent, scene)))
        return each.reshape(-1)

    def _rewarded(self, goal: Any, agent: Agent, scene: TaskScene, lost: Flag) -> Real:
        reward = jnp.asarray(self.task.reward(goal, agent, scene), jnp.result_type(float))
        if reward.shape:
            message = (
                f"the reward of {type(self.task).__name__} has shape {reward.shape}; return one "
                "number for each agent"
            )
            raise ValueError(message)
        sharing = len(self.agents) if self.task.lost_together else 1
        return jnp.where(lost, self.task.lost_reward / sharing, reward)

    @cached_property
    def _forgetful(self) -> bool:
        """Whether what is seen can be looked at twice: nothing is drawn, remembered or held."""
        with self.mode():
            form = jax.eval_shape(
                lambda key: self.fleet.perceive(self.fleet.init(key)), seed_key(0)
            )
        parts = [(own.turbulence, own.sensors, own.estimator) for own in form.groups]
        return not jax.tree.leaves((form.processes, form.radio, parts))


def _moving(motion: Kinematics) -> Start:
    euler = motion.euler_world_from_body
    return Start(
        *(motion.position_world_m, euler.roll_rad, euler.pitch_rad, euler.yaw_rad),
        *(motion.velocity_world_mps, motion.angular_velocity_body_radps),
    )
