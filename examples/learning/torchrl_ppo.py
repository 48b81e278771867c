"""Train a policy by the PPO of TorchRL, and save it for use in scenarios.

Run ``python examples/learning/torchrl_ppo.py hover --minutes 3``, then fly the policy with
``kittiwake run hover --set policy=runs/torchrl/policy.npz``. Requires torchrl 0.14.
"""

import argparse
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from ppo import TRAINING
from tensordict.nn import TensorDictModule
from torch import nn
from torchrl import torchrl_logger
from torchrl.collectors import Collector
from torchrl.data import LazyTensorStorage, ReplayBuffer, SamplerWithoutReplacement
from torchrl.envs import Compose, EnvBase, GymWrapper, RewardSum, TransformedEnv, VecNormV2
from torchrl.modules import MLP, IndependentNormal, ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

from kittiwake.adapters.gymnasium import TaskVectorEnv

STEPS, EPOCHS, MINIBATCHES = 32, 4, 8
WIDTH, LOG_DEVIATION = 32, -2.0


class Learned(NamedTuple):
    """Result of a training: the mean of the policy, and the scale of its observations."""

    network: nn.Sequential
    mean: np.ndarray
    deviation: np.ndarray
    updates: int


def make_env(task: str, count: int, seed: int) -> tuple[EnvBase, VecNormV2]:
    """Return environments side by side, and the running scale of their observations."""
    vector_env = TaskVectorEnv(task, count, overrides=TRAINING.get(task, {}))
    seen, gained = (
        VecNormV2([key], decay=0.999, reduce_batch_dims=True) for key in ("observation", "reward")
    )
    env = TransformedEnv(GymWrapper(vector_env), Compose(RewardSum(), seen, gained))
    env.set_seed(seed)
    return env, seen


def make_mean(seen: int, done: int) -> nn.Sequential:
    """Return a network from normalized observations to actions, which are near zero at first."""
    network: nn.Sequential = MLP(seen, done, depth=2, num_cells=WIDTH, activation_class=nn.Tanh)
    for parameter in network[-1].parameters():
        parameter.data *= 0.01
    return network


class Gaussian(nn.Module):
    """Mean of a network, and deviations that do not depend on the observation."""

    def __init__(self, mean: nn.Sequential, done: int) -> None:
        super().__init__()
        self.mean, self.log_deviation = mean, nn.Parameter(torch.full((done,), LOG_DEVIATION))

    def forward(self, seen: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return mean and deviation of the action."""
        mean = self.mean(seen)
        return mean, self.log_deviation.exp().expand_as(mean)


def train(task: str, minutes: float, seed: int = 0, count: int = 256) -> Learned:
    """Train for some time, counted from the first update on, without compilation."""
    torch.manual_seed(seed)
    env, scale = make_env(task, count, seed)
    seen, done = (spec.shape[-1] for spec in (env.observation_spec["observation"], env.action_spec))
    mean = make_mean(seen, done)
    actor = ProbabilisticActor(
        TensorDictModule(Gaussian(mean, done), ["observation"], ["loc", "scale"]),
        in_keys=["loc", "scale"],
        distribution_class=IndependentNormal,
        distribution_kwargs={"tanh_loc": False},
        return_log_prob=True,
    )
    critic = ValueOperator(MLP(seen, 1, depth=2, num_cells=WIDTH, activation_class=nn.Tanh))
    advantage = GAE(gamma=0.99, lmbda=0.95, value_network=critic, average_gae=True)
    loss = ClipPPOLoss(actor, critic, entropy_bonus=False, critic_coeff=0.5)
    optimizer = torch.optim.Adam(loss.parameters(), lr=1e-3)
    rows = count * STEPS
    buffer = ReplayBuffer(
        storage=LazyTensorStorage(rows),
        sampler=SamplerWithoutReplacement(),
        batch_size=rows // MINIBATCHES,
    )
    collector = Collector(env, actor, frames_per_batch=rows, total_frames=-1)
    end_s, printed_s, updates = np.inf, 0.0, 0
    for batch in collector:
        now_s = time.monotonic()
        end_s = min(end_s, now_s + 60.0 * minutes)
        if now_s > end_s:
            break
        optimizer.param_groups[0]["lr"] = 1e-3 * (end_s - now_s) / (60.0 * minutes)
        for _ in range(EPOCHS):
            advantage(batch)
            buffer.extend(batch.reshape(-1))
            for part in buffer:
                found = loss(part)
                optimizer.zero_grad()
                (found["loss_objective"] + found["loss_critic"]).backward()
                nn.utils.clip_grad_norm_(loss.parameters(), 0.5)
                optimizer.step()
        updates += 1
        collector.update_policy_weights_()
        ended = batch["next", "done"].squeeze(-1)
        if ended.any() and now_s > printed_s + 10.0:
            printed_s = now_s
            reached = batch["next", "episode_reward"][ended].mean().item()
            print(f"{updates * rows:10d} steps  return {reached:8.3f}", flush=True)
    parts: Any = scale.loc, scale.scale
    loc, spread = (part["observation"].numpy().ravel() for part in parts)
    collector.shutdown()
    return Learned(mean, loc, spread, updates)


def save(path: Path, task: str, learned: Learned) -> None:
    """Save the policy as plain arrays."""
    layers = [one for one in learned.network if isinstance(one, nn.Linear)]
    arrays: dict[str, Any] = {
        f"weight_{i}": layer.weight.detach().numpy() for i, layer in enumerate(layers)
    }
    arrays |= {f"bias_{i}": layer.bias.detach().numpy() for i, layer in enumerate(layers)}
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez(path, **arrays, mean=learned.mean, deviation=learned.deviation, task=task)


def main() -> None:
    """Train and save a policy."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("task", help="name of a task, or a scenario with a task")
    parser.add_argument("--minutes", type=float, default=3.0, help="default: %(default)g")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("runs/torchrl"))
    given = parser.parse_args()
    if not given.minutes > 0.0:
        parser.error("--minutes must be above 0")
    torchrl_logger.setLevel("WARNING")
    torch.set_num_threads(1)  # small networks: more threads would only wait for each other
    learned = train(given.task, given.minutes, given.seed)
    if not learned.updates:
        sys.exit("Nothing was learned or saved: the time was up before the first update.")
    save(given.out / "policy.npz", given.task, learned)
    print(f"Saved: {given.out}/policy.npz")


if __name__ == "__main__":
    main()
