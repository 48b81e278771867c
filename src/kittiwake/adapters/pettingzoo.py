"""Tasks as PettingZoo parallel environments, with an observation and an action for each agent.

All agents live until the end of the episode; each has the name of its vehicle in the scenario.
"""

from collections.abc import Mapping
from os import PathLike
from types import MappingProxyType

import numpy as np
from jaxtyping import ArrayLike, Float
from typing_extensions import override

from kittiwake.adapters.gymnasium import DIFFICULTY, Image, Info, TaskEnv, checked_action, spaces
from kittiwake.adapters.registration import environment_id
from kittiwake.core.extras import import_optional
from kittiwake.tasks.task import Overrides

try:
    import gymnasium
    from gymnasium.spaces import Box, Space
    from pettingzoo import ParallelEnv
except ModuleNotFoundError:
    import_optional("pettingzoo", "learning")  # raises an error that names the extra
    raise

Numbers = Float[np.ndarray, "..."]


class TaskParallelEnv(ParallelEnv[str, Numbers, Numbers]):
    """PettingZoo parallel environment of a task.

    ``reset(options={"difficulty": 0.3})`` sets the part of the curriculum's variety, 0 to 1.
    """

    def __init__(
        self,
        task: str | PathLike[str],
        *,
        conditions: str | None = None,
        overrides: Overrides = MappingProxyType({}),
        render_mode: str | None = None,
    ) -> None:
        self._env = TaskEnv(
            task, conditions=conditions, overrides=overrides, render_mode=render_mode
        )
        self.metadata = {**self._env.metadata, "name": environment_id(str(task))}
        self.render_mode = render_mode
        self.possible_agents = list(self._env.env.agents)
        self.agents: list[str] = []
        self._observation: Numbers | None = None
        observations, actions = spaces(self._env.env)
        self.observation_spaces = self._split_space(observations)
        self.action_spaces = self._split_space(actions)

    @override
    def observation_space(self, agent: str) -> Space[Numbers]:
        return self.observation_spaces[agent]

    @override
    def action_space(self, agent: str) -> Space[Numbers]:
        return self.action_spaces[agent]

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
        if set(actions) != set(self.agents):
            message = f"`actions`: got {sorted(actions)}; must be those of the agents {self.agents}"
            raise ValueError(message)
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

    def _split_space(self, space: Box) -> dict[str, Space[Numbers]]:
        count = len(self.possible_agents)
        bounds = zip(np.split(space.low, count), np.split(space.high, count), strict=True)
        boxes = (Box(low, high, dtype=np.float32) for low, high in bounds)
        return dict(zip(self.possible_agents, boxes, strict=True))
