"""Train a policy by the PPO of stable-baselines3, and save it for use in scenarios.

Run ``python examples/learning/stable_baselines.py keep-spot --minutes 3``, then fly the policy with
``kittiwake run keep-spot --set policy=runs/sb3/policy.npz``. Requires stable-baselines3 2.9.
"""

import argparse
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from ppo import TRAINING
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import VecEnv, VecMonitor, VecNormalize

from kittiwake.adapters.gymnasium import TaskVectorEnv


class TaskVecEnv(VecEnv):
    """Vectorized environment in the interface of stable-baselines3."""

    def __init__(self, task: str, count: int, **given: Any) -> None:
        self.vector_env = TaskVectorEnv(task, count, **given)
        spaces = self.vector_env.single_observation_space, self.vector_env.single_action_space
        super().__init__(count, *spaces)

    def reset(self) -> np.ndarray:
        """Begin new episodes in all environments."""
        return self.vector_env.reset(seed=self._seeds[0])[0]

    def step_async(self, actions: np.ndarray) -> None:
        """Keep the actions for ``step_wait``."""
        self._actions = actions

    def step_wait(self) -> Any:
        """Advance all environments by a control step."""
        seen, rewards, terminated, truncated, info = self.vector_env.step(self._actions)
        infos: list[dict[str, Any]] = [{} for _ in rewards]
        for index in np.flatnonzero(terminated | truncated):
            infos[index]["terminal_observation"] = info["final_obs"][index]
            infos[index]["TimeLimit.truncated"] = bool(truncated[index])
        return seen, rewards, terminated | truncated, infos

    def close(self) -> None:
        """Close all environments."""
        self.vector_env.close()

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Return an attribute for each environment; all share it."""
        return [getattr(self.vector_env, attr_name)] * len(list(self._get_indices(indices)))

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Raise an error: single environments have no attributes."""
        raise NotImplementedError

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **given: Any) -> Any:
        """Raise an error: single environments have no methods."""
        raise NotImplementedError

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """Return False for each environment."""
        del wrapper_class
        return [False] * len(list(self._get_indices(indices)))


class Until(BaseCallback):
    """Callback that stops when the time is up, counted from the first step without compilation."""

    def __init__(self, minutes: float) -> None:
        super().__init__()
        self._minutes, self._end_s = minutes, np.inf

    def _on_step(self) -> bool:
        self._end_s = min(self._end_s, time.monotonic() + 60.0 * self._minutes)
        return time.monotonic() < self._end_s


def train(task: str, minutes: float, seed: int = 0, count: int = 128) -> tuple[PPO, VecNormalize]:
    """Train for some time."""
    envs = TaskVecEnv(task, count, overrides=TRAINING.get(task, {}))
    scaled = VecNormalize(VecMonitor(envs), gamma=0.99)
    ppo = PPO(
        "MlpPolicy", scaled, seed=seed, verbose=1, device="cpu", n_steps=64, batch_size=16 * count,
        n_epochs=5, learning_rate=1e-3, policy_kwargs={"log_std_init": -1.5},
    )  # fmt: skip
    return ppo.learn(10**9, callback=Until(minutes), log_interval=10), scaled


def save(path: Path, task: str, ppo: PPO, scaled: VecNormalize) -> None:
    """Save the policy as plain arrays."""
    layers: list[Any] = [
        one for one in ppo.policy.mlp_extractor.policy_net if hasattr(one, "weight")
    ]
    layers.append(ppo.policy.action_net)
    arrays: dict[str, Any] = {
        f"weight_{i}": layer.weight.detach().numpy() for i, layer in enumerate(layers)
    }
    arrays |= {f"bias_{i}": layer.bias.detach().numpy() for i, layer in enumerate(layers)}
    path.parent.mkdir(parents=True, exist_ok=True)
    observed: Any = scaled.obs_rms
    arrays["deviation"] = np.sqrt(observed.var + scaled.epsilon)
    np.savez(path, **arrays, mean=observed.mean, task=task)


def main() -> None:
    """Train and save a policy."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("task")
    parser.add_argument("--minutes", type=float, default=3.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("runs/sb3"))
    given = parser.parse_args()
    if not given.minutes > 0.0:
        parser.error("--minutes must be above 0")
    torch.set_num_threads(1)  # small networks: more threads would only wait for each other
    ppo, scaled = train(given.task, given.minutes, given.seed)
    if not ppo._n_updates:
        sys.exit("Nothing was learned or saved: the time was up before the first update.")
    save(given.out / "policy.npz", scaled.get_attr("env")[0].name, ppo, scaled)
    print(f"Saved: {given.out}/policy.npz")


if __name__ == "__main__":
    main()
