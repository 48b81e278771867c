"""Tasks of several agents in PettingZoo's parallel form: each sees and acts for itself.

All agents live as long as the episode; each is called as its vehicle in the scenario.
"""

from collections.abc import Mapping
from os import PathLike
from types import MappingProxyType
from typing import Any

import numpy as np
from jaxtyping import Float
from typing_extensions import override

from kittiwake.adapters.gymnasium import DIFFICULTY, TaskEnv, checked_action, spaces
from kittiwake.adapters.registration import environment_id
from kittiwake.core.extras import optional

try:
    import gymnasium
    from gymnasium.spaces import Box, Space
    from pettingzoo import ParallelEnv
except ModuleNotFoundError:
    optional("pettingzoo", "learning")  # raises an error that names the extra
    raise

Numbers = Float[np.ndarray, "..."]


class TaskParallelEnv(ParallelEnv[str, Numbers, Numbers]):
    """One world of a task, agent by agent.

    ``reset(options={"difficulty": 0.3})`` has that much of the curriculum's variety.
    """

    def __init__(
        self,
        task: str | PathLike[str],
        *,
        conditions: str | None = None,
        overrides: Mapping[str, Any] = MappingProxyType({}),
        render_mode: str | None = None,
    ) -> None:
        self._joint = TaskEnv(
            task, conditions=conditions, overrides=overrides, render_mode=render_mode
        )
        self.metadata = {**self._joint.metadata, "name": environment_id(str(task))}
        self.render_mode = render_mode
        self.possible_agents = list(self._joint.env.agents)
        self.agents: list[str] = []
        self._seen: Numbers | None = None
        seen, done = spaces(self._joint.env)
        self.observation_spaces = self._shared_out(seen)
        self.action_spaces = self._shared_out(done)

    @override
    def observation_space(self, agent: str) -> Space[Numbers]:
        return self.observation_spaces[agent]

    @override
    def action_space(self, agent: str) -> Space[Numbers]:
        return self.action_spaces[agent]

    @override
    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Numbers], dict[str, dict[str, Any]]]:
        # Of the options ``difficulty`` counts; others do not, as PettingZoo's own checks give some.
        known = {name: value for name, value in (options or {}).items() if name == DIFFICULTY}
        self._seen, _ = self._joint.reset(seed=seed, options=known)
        self.agents = [*self.possible_agents]
        return self._told(self._seen), {agent: {} for agent in self.agents}

    @override
    def step(
        self, actions: Mapping[str, Any]
    ) -> tuple[
        dict[str, Numbers],
        dict[str, float],
        dict[str, bool],
        dict[str, bool],
        dict[str, dict[str, Any]],
    ]:
        if self._seen is None:
            message = "there is no episode yet; call reset() first"
            raise gymnasium.error.ResetNeeded(message)
        if not self.agents:
            return {}, {}, {}, {}, {}
        if set(actions) != set(self.agents):
            message = f"actions of {sorted(actions)} are not those of the agents {self.agents}"
            raise ValueError(message)
        names = self._joint.env.action_names
        parts = [
            checked_action(actions[agent], (len(names),), [f"{agent}.{name}" for name in names])
            for agent in self.agents
        ]
        self._seen, reward, terminated, truncated, info = self._joint.step(np.concatenate(parts))
        agents, each = self.agents, info.get("rewards", [reward])
        if terminated or truncated:
            self.agents = []
        return (
            self._told(self._seen),
            {agent: float(one) for agent, one in zip(agents, each, strict=True)},
            dict.fromkeys(agents, terminated),
            dict.fromkeys(agents, truncated),
            {agent: {} for agent in agents},
        )

    @override
    def state(self) -> Numbers:
        if self._seen is None:
            message = "there is no episode yet; call reset() first"
            raise gymnasium.error.ResetNeeded(message)
        return self._seen.copy()

    @override
    def render(self) -> Any:
        return self._joint.render()

    @override
    def close(self) -> None:
        self._joint.close()

    def _told(self, seen: Numbers) -> dict[str, Numbers]:
        parts = np.split(seen, len(self.possible_agents))
        return {agent: part.copy() for agent, part in zip(self.possible_agents, parts, strict=True)}

    def _shared_out(self, space: Box) -> dict[str, Space[Numbers]]:
        count = len(self.possible_agents)
        ends = zip(np.split(space.low, count), np.split(space.high, count), strict=True)
        boxes = (Box(low, high, dtype=np.float32) for low, high in ends)
        return dict(zip(self.possible_agents, boxes, strict=True))
