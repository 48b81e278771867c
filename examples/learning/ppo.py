"""Learns a task by proximal policy optimisation, wholly compiled: worlds, policy and updates.

The algorithm is that of Schulman and others (2017), arXiv:1707.06347, with generalised advantages
(2016, arXiv:1506.02438). Run as ``python examples/learning/ppo.py keep-spot --minutes 3``; it
prints returns, and saves the policy and its learning curve.
"""

import argparse
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import matplotlib as mpl
import numpy as np
import optax

import kittiwake as kw

mpl.use("Agg")
import matplotlib.pyplot as plt


@dataclass(frozen=True)
class Settings:
    """What usually works for vehicles."""

    worlds: int = 1024
    steps: int = 32
    epochs: int = 4
    batches: int = 8
    discount: float = 0.99
    smoothing: float = 0.95
    clip: float = 0.2
    entropy: float = 0.0
    rate: float = 1e-3
    width: int = 64
    reward_scale: float = 1.0


class Policy(eqx.Module):
    """A Gaussian policy and a value, of observations that are scaled to about one."""

    actor: eqx.nn.MLP
    critic: eqx.nn.MLP
    log_deviation: jax.Array

    def __init__(self, seen: int, done: int, width: int, key: jax.Array) -> None:
        one, two = jax.random.split(key)
        self.actor = eqx.nn.MLP(seen, done, width, 2, jax.nn.tanh, key=one)
        last = lambda net: net.layers[-1].weight  # noqa: E731
        self.actor = eqx.tree_at(last, self.actor, 0.01 * last(self.actor))
        self.critic = eqx.nn.MLP(seen, "scalar", width, 2, jax.nn.tanh, key=two)
        self.log_deviation = jnp.full(done, -1.0)

    def likelihood(self, seen: jax.Array, action: jax.Array) -> jax.Array:
        """The logarithm of how likely an action is, but for a constant."""
        away = (action - self.actor(seen)) * jnp.exp(-self.log_deviation)
        return -0.5 * jnp.sum(away**2) - self.log_deviation.sum()


class Scale(NamedTuple):
    """The mean and square of all observations so far."""

    count: jax.Array
    mean: jax.Array
    variance: jax.Array

    def apply(self, seen: jax.Array) -> jax.Array:
        """Observations about zero, of about one."""
        return jnp.clip((seen - self.mean) / jnp.sqrt(self.variance + 1e-8), -10.0, 10.0)

    def after(self, seen: jax.Array) -> "Scale":
        """With a batch more (Chan, Golub and LeVeque, 1983)."""
        rows = seen.reshape(-1, seen.shape[-1])
        count = self.count + len(rows)
        shift = rows.mean(axis=0) - self.mean
        share = len(rows) / count
        spread = self.variance * (1 - share) + rows.var(axis=0) * share
        return Scale(count, self.mean + share * shift, spread + shift**2 * share * (1 - share))


class Learner(NamedTuple):
    """Everything that learning goes on with."""

    policy: Policy
    optimiser: Any
    scale: Scale
    worlds: Any
    seen: jax.Array
    returns: jax.Array
    key: jax.Array


class Trace(NamedTuple):
    """One step of all worlds; ``following`` is the value of what was seen at its end."""

    seen: jax.Array
    action: jax.Array
    likelihood: jax.Array
    value: jax.Array
    following: jax.Array
    reward: jax.Array
    terminated: jax.Array
    ended: jax.Array
    score: jax.Array


class Ppo:
    """The algorithm for one environment."""

    def __init__(self, env: kw.Env, settings: Settings) -> None:
        self.env, self.settings = env, settings
        self.worlds = kw.Worlds(env, settings.worlds)
        adam = optax.adam(settings.rate, eps=1e-5)
        self.optimiser = optax.chain(optax.clip_by_global_norm(0.5), adam)
        self.update = eqx.filter_jit(self._update, donate="all")

    def begin(self, seed: int) -> Learner:
        """Before anything is learned."""
        env, settings = self.env, self.settings
        key = kw.seed_key(seed)
        policy = Policy(env.observation_size, env.action_size, settings.width, key)
        worlds, seen = jax.jit(self.worlds.reset)(key)
        zero = jnp.zeros(env.observation_size)
        return Learner(
            policy=policy,
            optimiser=self.optimiser.init(eqx.filter(policy, eqx.is_array)),
            scale=Scale(jnp.asarray(1e-4), zero, zero + 1.0),
            worlds=worlds,
            seen=seen,
            returns=jnp.zeros(settings.worlds),
            key=key,
        )

    def _update(self, learner: Learner) -> tuple[Learner, tuple[jax.Array, jax.Array]]:
        """Some steps of all worlds, and what is learned from them.

        Beside the learner: how many episodes have ended, and the mean of their returns.
        """
        act, learn, following = jax.random.split(learner.key, 3)
        scale, policy = learner.scale, learner.policy

        def once(carried: Any, key: jax.Array) -> tuple[Any, Trace]:
            worlds, seen, returns = carried
            scaled = jax.vmap(scale.apply)(seen)
            mean = jax.vmap(policy.actor)(scaled)
            noise = jax.random.normal(key, mean.shape)
            action = mean + noise * jnp.exp(policy.log_deviation)
            out = self.worlds.step(worlds, action)
            returns = returns + out.reward
            ended = out.terminated | out.truncated
            trace = Trace(
                seen=seen,
                action=action,
                likelihood=jax.vmap(policy.likelihood)(scaled, action),
                value=jax.vmap(policy.critic)(scaled),
                following=jax.vmap(policy.critic)(jax.vmap(scale.apply)(out.final_observation)),
                reward=out.reward * self.settings.reward_scale,
                terminated=out.terminated,
                ended=ended,
                score=jnp.where(ended, returns, 0.0),
            )
            return (out.state, out.observation, jnp.where(ended, 0.0, returns)), trace

        begun = (learner.worlds, learner.seen, learner.returns)
        keys = jax.random.split(act, self.settings.steps)
        (worlds, seen, returns), trace = jax.lax.scan(once, begun, keys)
        advantages = self._advantages(trace)
        policy, optimiser = self._learned(learner, trace, advantages, learn)
        ended = trace.ended.sum()
        told = ended, trace.score.sum() / jnp.maximum(ended, 1)
        after = scale.after(trace.seen)
        return Learner(policy, optimiser, after, worlds, seen, returns, following), told

    def _advantages(self, trace: Trace) -> jax.Array:
        """How much better each action was than what was expected."""
        discount, smoothing = self.settings.discount, self.settings.smoothing
        goes_on = discount * jnp.where(trace.terminated, 0.0, trace.following)
        surprise = trace.reward + goes_on - trace.value

        def back(later: jax.Array, step: Any) -> tuple[jax.Array, jax.Array]:
            own, ended = step
            advantage = own + discount * smoothing * jnp.where(ended, 0.0, later)
            return advantage, advantage

        steps = (surprise, trace.ended)
        return jax.lax.scan(back, jnp.zeros_like(surprise[0]), steps, reverse=True)[1]

    def _learned(
        self, learner: Learner, trace: Trace, advantages: jax.Array, key: jax.Array
    ) -> tuple[Policy, Any]:
        """The policy after several passes over the steps, in batches."""
        batches = self.settings.batches
        scaled = jax.vmap(jax.vmap(learner.scale.apply))(trace.seen)
        columns = (scaled, trace.action, trace.likelihood, advantages, advantages + trace.value)
        rows = jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:]), columns)
        arrays, rest = eqx.partition(learner.policy, eqx.is_array)

        def batch(carried: Any, own: Any) -> tuple[Any, None]:
            arrays, optimiser = carried
            slope = jax.grad(lambda given: self._loss(eqx.combine(given, rest), own))(arrays)
            change, optimiser = self.optimiser.update(slope, optimiser)
            return (optax.apply_updates(arrays, change), optimiser), None

        def epoch(carried: Any, key: jax.Array) -> tuple[Any, None]:
            order = jax.random.permutation(key, len(advantages.reshape(-1)))
            mixed = jax.tree.map(
                lambda leaf: leaf[order].reshape(batches, -1, *leaf.shape[1:]), rows
            )
            return jax.lax.scan(batch, carried, mixed)[0], None

        keys = jax.random.split(key, self.settings.epochs)
        (arrays, optimiser), _ = jax.lax.scan(epoch, (arrays, learner.optimiser), keys)
        return eqx.combine(arrays, rest), optimiser

    def _loss(self, policy: Policy, rows: Any) -> jax.Array:
        """Of the clipped surrogate, and of the value."""
        seen, action, before, advantage, goal = rows
        ratio = jnp.exp(jax.vmap(policy.likelihood)(seen, action) - before)
        clip = self.settings.clip
        fair = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        gain = jnp.minimum(ratio * fair, jnp.clip(ratio, 1.0 - clip, 1.0 + clip) * fair)
        miss = jax.vmap(policy.critic)(seen) - goal
        spread = policy.log_deviation.sum()
        return -gain.mean() + 0.5 * (miss**2).mean() - self.settings.entropy * spread


def evaluate(env: kw.Env, act: Any, episodes: int = 64, seed: int = 1) -> float:
    """The mean return of so many episodes; ``act(state, seen, key)`` gives an action."""

    def once(carried: Any, key: jax.Array) -> tuple[Any, None]:
        state, seen, going, total = carried
        step = env.step(key, state, act(state, seen, key))
        total = total + going * step.reward
        going = going * (1.0 - (step.terminated | step.truncated))
        return (step.state, step.observation, going, total), None

    def episode(key: jax.Array) -> jax.Array:
        begin, fly = jax.random.split(key)
        begun = (*env.reset(begin), jnp.asarray(1.0), jnp.asarray(0.0))
        return jax.lax.scan(once, begun, jax.random.split(fly, env.max_steps))[0][3]

    keys = jax.random.split(kw.seed_key(seed), episodes)
    return float(jax.jit(jax.vmap(episode))(keys).mean())


def train(
    env: kw.Env, settings: Settings, minutes: float, seed: int = 0
) -> tuple[Learner, list[tuple[float, float, float]]]:
    """Learns for so long; of each update the seconds, the steps so far and the mean return."""
    ppo = Ppo(env, settings)
    learner, curve = ppo.begin(seed), []
    began, steps, told_s = time.monotonic(), 0, -10.0
    while (now_s := time.monotonic() - began) < 60.0 * minutes:
        learner, (ended, score) = ppo.update(learner)
        steps += settings.worlds * settings.steps
        if int(ended):
            curve.append((now_s, float(steps), float(score)))
        if curve and now_s - told_s > 10.0:
            told_s = now_s
            print(f"{now_s:5.0f} s  {steps / 1e6:7.1f} M steps  return {float(score):10.3f}")
    return learner, curve


def save(folder: Path, learner: Learner, curve: list[tuple[float, float, float]]) -> None:
    """The policy as plain arrays, and a picture of how it was learned."""
    folder.mkdir(parents=True, exist_ok=True)
    layers = learner.policy.actor.layers
    arrays = {f"weight_{i}": np.asarray(layer.weight) for i, layer in enumerate(layers)}
    arrays |= {f"bias_{i}": np.asarray(layer.bias) for i, layer in enumerate(layers)}
    scale = {
        "mean": np.asarray(learner.scale.mean),
        "deviation": np.sqrt(np.asarray(learner.scale.variance) + 1e-8),
    }
    np.savez(folder / "policy.npz", **arrays, **scale)
    times_s, _, returns = np.array(curve).T
    figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    axes.plot(times_s, returns)
    axes.set(xlabel="time [s]", ylabel="mean return of finished episodes")
    figure.savefig(folder / "curve.png", dpi=120)
    np.savetxt(
        folder / "curve.csv",
        np.array(curve),
        "%.6g",
        ",",
        header="time_s,steps,return",
        comments="",
    )


def main() -> None:
    """Trains, then compares with random actions and with the scenario's own controller."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("task")
    parser.add_argument("--conditions")
    parser.add_argument("--minutes", type=float, default=3.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("runs/ppo"))
    given = parser.parse_args()
    env = kw.make(given.task, conditions=given.conditions)
    learner, curve = train(env, Settings(), given.minutes, given.seed)
    save(given.out, learner, curve)
    size = env.action_size
    policies = {
        "random": lambda _, __, key: jax.random.uniform(key, (size,), minval=-1.0),
        "baseline": lambda state, *_: env.baseline(state),
        "trained": lambda _, seen, __: learner.policy.actor(learner.scale.apply(seen)),
    }
    for name, act in policies.items():
        print(f"{name:>10}: mean return {evaluate(env, act):.3f}")
    print(f"Saved: {given.out}/policy.npz, curve.png, curve.csv")


if __name__ == "__main__":
    main()
