"""Proximal policy optimization with flights on the workers of a Ray cluster.

Each worker flies environments of its own with the present policy; this process learns from all
their steps. ``python examples/learning/ppo_ray.py hover --workers 2 --minutes 1`` begins a cluster
of this machine, ``--ray ADDRESS`` joins one that is your own.
"""

import argparse
import os
import sys
import time
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import ray
from ppo import TRAINING, Learner, Ppo, Settings, evaluate, save

import kittiwake as kw


class Worker:
    """Environments of one worker, and the compiled flight of some steps in all of them."""

    def __init__(self, task: str, settings: Settings, seed: int) -> None:
        self.ppo = Ppo(kw.make(task, overrides=TRAINING.get(task, {})), settings)
        self.learner = self.ppo.begin(seed)
        self.flown = eqx.filter_jit(self.ppo.flown)

    def steps(self, arrays: Any, scale: Any, worth_scale: Any) -> Any:
        """Return some steps by a policy, of which the arrays are given."""
        _, rest = eqx.partition(self.learner.policy, eqx.is_array)
        learner = self.learner._replace(
            policy=eqx.combine(arrays, rest), scale=scale, worth_scale=worth_scale
        )
        flights, trace, key = self.flown(learner)
        self.learner = self.learner._replace(flights=flights, key=key)
        return jax.tree.map(np.asarray, trace)


def trained(
    ppo: Ppo, task: str, workers: int, minutes: float, seed: int
) -> tuple[Learner, np.ndarray]:
    """Train for some time; return rows of seconds, steps and mean return."""
    remote: Any = ray.remote(num_cpus=1)(Worker)
    pilots = [remote.remote(task, ppo.settings, seed + 1 + number) for number in range(workers)]
    learner, curve = ppo.begin(seed), []
    learn = eqx.filter_jit(ppo.learned)
    began = done = 0.0
    while not began or time.monotonic() - began < 60.0 * minutes:
        left = 1.0 - (time.monotonic() - began) / (60.0 * minutes) if began else 1.0
        arrays, _ = eqx.partition(learner.policy, eqx.is_array)
        present = jax.tree.map(np.asarray, (arrays, learner.scale, learner.worth_scale))
        sent = [*map(ray.put, present)]
        parts = ray.get([pilot.steps.remote(*sent) for pilot in pilots])
        trace = jax.tree.map(lambda *own: jnp.concatenate(own, axis=1), *parts)
        learner = learn(learner, trace, jnp.asarray(left))
        # compiled by now, here and there
        began = began or time.monotonic()
        done += trace.ended.size
        if ended := float(trace.ended.sum()):
            mean = float((trace.ended * trace.returns).sum()) / ended
            curve.append((time.monotonic() - began, done, mean))
    return learner, np.array(curve).reshape(-1, 3)


def main() -> None:
    """Train on a cluster, and compare the policy with the scenario's own controller."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("task", help="name of a task, or a scenario with a task")
    parser.add_argument("--ray", default="local", help="address of a cluster; default: %(default)s")
    parser.add_argument("--workers", type=int, default=2, help="default: %(default)s")
    parser.add_argument("--minutes", type=float, default=3.0, help="default: %(default)g")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("runs/ppo-ray"))
    given = parser.parse_args()
    # what the workers import
    path = {"PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])}
    cpus = {"num_cpus": given.workers} if given.ray == "local" else {}
    ray.init(address=given.ray, include_dashboard=False, runtime_env={"env_vars": path}, **cpus)
    ppo = Ppo(kw.make(given.task, overrides=TRAINING.get(given.task, {})), Settings())
    learner, curve = trained(ppo, given.task, given.workers, given.minutes, given.seed)
    ray.shutdown()
    save(given.out, ppo.env.name, learner, curve)
    env = kw.make(given.task).with_beliefs()
    trained_policy = lambda _, seen, __: learner.policy.actor(learner.scale.apply(seen))  # noqa: E731
    for name, act in (
        ("baseline", lambda state, *_: env.expert_action(state)),
        ("trained", trained_policy),
    ):
        print("{:>10}: mean return {:.3f}, {:.0%} end early".format(name, *evaluate(env, act)))
    print(f"{curve[-1, 1]:,.0f} steps in {curve[-1, 0]:.0f} s. Saved: {given.out}/policy.npz")


if __name__ == "__main__":
    main()
