"""Tasks as PettingZoo parallel environments, with an observation and an action for each agent.

All agents live until the end of the episode; each has the name of its vehicle in the scenario.
PettingZoo itself has no vector environments: ``TaskParallelVectorEnv`` keeps the methods and the
dictionaries of a parallel environment, whose values are arrays with the worlds as first axis.
"""

from collections.abc import Mapping, Sequence
from os import PathLike
from types import MappingProxyType

import numpy as np
from jaxtyping import ArrayLike, Bool, Float
from typing_extensions import override

from kittiwake.adapters.gymnasium import (
    DIFFICULTY,
    Image,
    Info,
    TaskEnv,
    TaskVectorEnv,
    action_array,
    checked_action,
    spaces,
)
from kittiwake.adapters.registration import environment_id
from kittiwake.core.errors import UnknownVehicleError, did_you_mean, listed
from kittiwake.core.extras import import_optional
from kittiwake.runtime.engine import EngineName
from kittiwake.tasks.env import Env
from kittiwake.tasks.task import Overrides

try:
    import gymnasium
    from gymnasium.spaces import Box, Space
    from gymnasium.vector.utils import batch_space
    from pettingzoo import ParallelEnv
except ModuleNotFoundError:
    import_optional("pettingzoo", "learning")  # raises an error that names the extra
    raise

Numbers = Float[np.ndarray, "..."]
Flags = Bool[np.ndarray, " worlds"]


class TaskParallelEnv(ParallelEnv[str, Numbers, Numbers]):
    """PettingZoo parallel environment of a task.

    ``reset(options={"difficulty": 0.3})`` sets the part of the curriculum's variety, 0 to 1.
    """

    def __init__(
        self,
        task: str | PathLike[str] | Env,
        *,
        conditions: str | None = None,
        overrides: Overrides = MappingProxyType({}),
        render_mode: str | None = None,
    ) -> None:
        self._env = TaskEnv(
            task, conditions=conditions, overrides=overrides, render_mode=render_mode
        )
        self.metadata = {**self._env.metadata, "name": _name_of(task)}
        self.render_mode = render_mode
        self.possible_agents = list(self._env.env.agents)
        self.agents: list[str] = []
        self._observation: Numbers | None = None
        observations, actions = spaces(self._env.env)
        self.observation_spaces = _split_space(observations, self.possible_agents)
        self.action_spaces = _split_space(actions, self.possible_agents)

    @override
    def observation_space(self, agent: str) -> Space[Numbers]:
        return _of_agent(self.observation_spaces, agent)

    @override
    def action_space(self, agent: str) -> Space[Numbers]:
        return _of_agent(self.action_spaces, agent)

    @override
    def reset(
        self, seed: int | None = None, options: Info | None = None
    ) -> tuple[dict[str, Numbers], dict[str, Info]]:
        # other options are ignored, as PettingZoo's own checks pass some
        known = {name: value for name, value in (options or {}).items() if name == DIFFICULTY}
        self._observation, _ = self._env.reset(seed=seed, options=known)
        self.agents = [*self.possible_agents]
        return self._split_observation(self._observation), {agent: {} for agent in self.agents}

    @override
    def step(
        self, actions: Mapping[str, ArrayLike]
    ) -> tuple[
        dict[str, Numbers],
        dict[str, float],
        dict[str, bool],
        dict[str, bool],
        dict[str, Info],
    ]:
        if self._observation is None:
            message = "no episode has begun; call reset() first"
            raise gymnasium.error.ResetNeeded(message)
        if not self.agents:
            return {}, {}, {}, {}, {}
        _require_agents(actions, self.agents)
        names = self._env.env.action_names
        parts = [
            checked_action(actions[agent], (len(names),), [f"{agent}.{name}" for name in names])
            for agent in self.agents
        ]
        self._observation, reward, terminated, truncated, info = self._env.step(
            np.concatenate(parts)
        )
        agents, rewards = self.agents, info.get("rewards", [reward])
        if terminated or truncated:
            self.agents = []
        return (
            self._split_observation(self._observation),
            {agent: float(each) for agent, each in zip(agents, rewards, strict=True)},
            dict.fromkeys(agents, terminated),
            dict.fromkeys(agents, truncated),
            {agent: {} for agent in agents},
        )

    @override
    def state(self) -> Numbers:
        if self._observation is None:
            message = "no episode has begun; call reset() first"
            raise gymnasium.error.ResetNeeded(message)
        return self._observation.copy()

    @override
    def render(self) -> Image | None:
        return self._env.render()

    @override
    def close(self) -> None:
        self._env.close()

    def _split_observation(self, observation: Numbers) -> dict[str, Numbers]:
        parts = np.split(observation, len(self.possible_agents))
        return {agent: part.copy() for agent, part in zip(self.possible_agents, parts, strict=True)}


class TaskParallelVectorEnv:
    """Many worlds of a task in one compiled step, with arrays for each agent.

    A world begins its next episode in the step that ends the previous one, as in Gymnasium's
    ``SAME_STEP``, so that all agents are there at any time.

    Attributes:
        possible_agents: names of all agents.
        agents: the same.
        num_envs: number of worlds.
        engine: name of what compiles the step.
        engine_reason: why it is not the usual one; empty if it is, or was asked for.
        observation_spaces: space of each agent's observations in all worlds.
        action_spaces: space of each agent's actions in all worlds.
        single_observation_spaces: space of each agent's observation in one world.
        single_action_spaces: space of each agent's action in one world.
    """

    def __init__(
        self,
        task: str | PathLike[str] | Env,
        num_envs: int = 1,
        *,
        conditions: str | None = None,
        overrides: Overrides = MappingProxyType({}),
        render_mode: str | None = None,
        engine: EngineName | None = None,
    ) -> None:
        """Create the worlds.

        Args:
            task: name of a task, scenario file with one, or a ``kw.Env``.
            num_envs: number of worlds.
            conditions: name of changes to the task.
            overrides: values of the scenario by path.
            render_mode: None, or ``rgb_array`` for pictures of all worlds.
            engine: what compiles the step; None for the one that suits the task.

        Raises:
            KittiwakeError: if there is no such task, or something in it is wrong.
            ValueError: for an invalid number of worlds or render mode.
        """
        self._env = TaskVectorEnv(
            task,
            num_envs,
            conditions=conditions,
            overrides=overrides,
            render_mode=render_mode,
            engine=engine,
        )
        self.metadata = {**self._env.metadata, "name": _name_of(task)}
        self.num_envs, self.render_mode = num_envs, render_mode
        self.engine, self.engine_reason = self._env.engine, self._env.engine_reason
        self.possible_agents = list(self._env.env.agents)
        self.agents = [*self.possible_agents]
        self.single_observation_spaces, self.single_action_spaces = (
            _split_space(space, self.agents) for space in spaces(self._env.env)
        )
        self.observation_spaces, self.action_spaces = (
            {agent: batch_space(space, num_envs) for agent, space in single.items()}
            for single in (self.single_observation_spaces, self.single_action_spaces)
        )

    def observation_space(self, agent: str) -> Space[Numbers]:
        """Return the space of an agent's observations in all worlds."""
        return _of_agent(self.observation_spaces, agent)

    def action_space(self, agent: str) -> Space[Numbers]:
        """Return the space of an agent's actions in all worlds."""
        return _of_agent(self.action_spaces, agent)

    def single_observation_space(self, agent: str) -> Space[Numbers]:
        """Return the space of an agent's observation in one world."""
        return _of_agent(self.single_observation_spaces, agent)

    def single_action_space(self, agent: str) -> Space[Numbers]:
        """Return the space of an agent's action in one world."""
        return _of_agent(self.single_action_spaces, agent)

    def reset(
        self, seed: int | None = None, options: Info | None = None
    ) -> tuple[dict[str, Numbers], dict[str, Info]]:
        """Begin new episodes in all worlds, or in some.

        Args:
            seed: seed of the episodes; None to draw one, or for worlds of a mask to go on with
                their own.
            options: ``difficulty``, the part of the curriculum's variety from 0 to 1, and
                ``reset_mask``, Booleans that are True for each world to reset.

        Returns:
            Observations of each agent, of shape (worlds, numbers), and an empty info for each.

        Raises:
            ValueError: for an unknown option or a wrong value.
            gymnasium.error.ClosedEnvironmentError: after ``close``.
            gymnasium.error.ResetNeeded: for a mask before the first reset of all worlds.
        """
        observation, _ = self._env.reset(seed=seed, options=options)
        return self._by_agent(observation), {agent: {} for agent in self.agents}

    def step(
        self, actions: Mapping[str, ArrayLike]
    ) -> tuple[
        dict[str, Numbers],
        dict[str, Numbers],
        dict[str, Flags],
        dict[str, Flags],
        dict[str, Info],
    ]:
        """Return the results of a control step; where an episode ends, the next one begins.

        Args:
            actions: actions of each agent, of shape (worlds, numbers), clipped to -1 to 1.

        Returns:
            Observations of shape (worlds, numbers), rewards, terminations and truncations of
            shape (worlds,), and infos, for each agent. Where an episode has ended, the observation
            is the first one of the next; the agent's last one is in ``final_obs`` of its info,
            ``_final_obs`` being True for these worlds. Later steps leave all arrays unchanged.

        Raises:
            ValueError: if an agent or a number is missing, or an action is invalid.
            gymnasium.error.ClosedEnvironmentError: after ``close``.
            gymnasium.error.ResetNeeded: before the first reset.
        """
        stepped = self._env.step(self._joined(actions))
        observation, reward, terminated, truncated, info = stepped
        rewards = info.get("rewards", reward[:, None])
        return (
            self._by_agent(observation),
            dict(zip(self.agents, rewards.T, strict=True)),
            {agent: terminated.copy() for agent in self.agents},
            {agent: truncated.copy() for agent in self.agents},
            self._infos(info),
        )

    def state(self) -> Numbers:
        """Return the observations of all agents, concatenated, of shape (worlds, numbers).

        Raises:
            gymnasium.error.ResetNeeded: before the first reset.
        """
        return self._env.present_observations()

    def render(self) -> tuple[Image, ...] | None:
        """Return a picture of each world; None without a render mode or before the first reset."""
        return self._env.render()

    def close(self) -> None:
        """Release the renderer; nothing can be stepped afterwards."""
        self._env.close()

    def _joined(self, actions: Mapping[str, ArrayLike]) -> np.ndarray:
        """Return the actions of all agents, concatenated.

        Raises:
            ValueError: if they are not those of the agents, or have another shape.
        """
        _require_agents(actions, self.agents)
        shape = self.num_envs, len(self._env.env.action_names)
        parts = [action_array(f"actions[{name!r}]", actions[name], shape) for name in self.agents]
        return np.concatenate(parts, axis=1)

    def _by_agent(self, observation: Numbers) -> dict[str, Numbers]:
        """Return each agent's part of the observations, without a copy."""
        worlds = observation.reshape(self.num_envs, len(self.agents), -1)
        return dict(zip(self.agents, worlds.swapaxes(0, 1), strict=True))

    def _infos(self, info: Info) -> dict[str, Info]:
        """Return the info of each agent, with its part of the final observations."""
        if "final_obs" not in info:
            return {agent: {} for agent in self.agents}
        final = np.full((len(self.agents), self.num_envs), None, object)
        for world in np.flatnonzero(info["_final_obs"]):
            parts = np.split(info["final_obs"][world], len(self.agents))
            for index, part in enumerate(parts):
                final[index, world] = part
        masks = "_final_obs", "_final_info"
        return {
            agent: {"final_obs": own, "final_info": {}}
            | {mask: info[mask].copy() for mask in masks}
            for agent, own in zip(self.agents, final, strict=True)
        }


def _of_agent(spaces_of: Mapping[str, Space[Numbers]], agent: str) -> Space[Numbers]:
    """Return the space of an agent.

    Raises:
        UnknownVehicleError: if there is no such agent.
    """
    if agent not in spaces_of:
        message = f"there is no agent '{agent}'. {did_you_mean(str(agent), spaces_of)}"
        raise UnknownVehicleError(message)
    return spaces_of[agent]


def _require_agents(actions: Mapping[str, ArrayLike], agents: Sequence[str]) -> None:
    """Refuse actions that are not those of the agents.

    Raises:
        ValueError: with the first agent that is missing or unknown.
    """
    if not hasattr(actions, "keys"):
        given = type(actions).__name__
        message = f"`actions`: got {given}; must be a dictionary of the agents {listed(agents)}"
        raise ValueError(message)
    if unknown := [agent for agent in actions if agent not in agents]:
        known = did_you_mean(str(unknown[0]), agents)
        message = f"`actions`: there is no agent '{unknown[0]}'. {known}"
        raise ValueError(message)
    if missing := [agent for agent in agents if agent not in actions]:
        message = f"`actions`: has no action of {listed(missing)}; give one of each agent"
        raise ValueError(message)


def _name_of(task: str | PathLike[str] | Env) -> str:
    """Return the name of an environment: the identifier of a task, or the class of one's own."""
    return type(task.task).__name__ if isinstance(task, Env) else environment_id(str(task))


def _split_space(space: Box, agents: Sequence[str]) -> dict[str, Space[Numbers]]:
    """Return the part of each agent of a space of all of them."""
    bounds = zip(np.split(space.low, len(agents)), np.split(space.high, len(agents)), strict=True)
    boxes = (Box(low, high, dtype=np.float32) for low, high in bounds)
    return dict(zip(agents, boxes, strict=True))
