"""Train a policy by proximal policy optimization, fully compiled: environments, policy and updates.

Source: Schulman and others (2017), arXiv:1707.06347, with generalized advantage estimation (2016,
arXiv:1506.02438). ``python examples/learning/ppo.py keep-spot --minutes 3`` saves the policy and
its learning curve, and prints the mean returns of the policy, of random actions and of the
scenario's own controller.
"""

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from matplotlib.figure import Figure

import kittiwake as kw

# easier conditions for training: longer control steps, short flights that start nearby, and a
# running cost of the distance
TRAINING: dict[str, dict[str, Any]] = {"keep-spot": {
    "task.rate_hz": 10, "task.running_per_s": 0.3, "time.duration_s": 8,
    "curriculum.vehicles.pelican.start": {
        "position_world_m": {"uniform": [[-0.5, -0.5, 9.5], [0.5, 0.5, 10.5]]},
        "yaw_deg": {"uniform": [70, 110]},
    },
}}  # fmt: skip


class Settings(NamedTuple):
    """Hyperparameters that usually work for vehicles."""

    envs: int = 512
    steps: int = 32
    epochs: int = 4
    batches: int = 8
    discount: float = 0.99
    smoothing: float = 0.95
    clip: float = 0.2
    rate: float = 1e-3
    width: int = 32
    log_deviation: float = -2.0


class Policy(eqx.Module):
    """Gaussian policy and value function of normalized observations."""

    actor: eqx.nn.MLP
    critic: eqx.nn.MLP
    log_deviation: jax.Array

    def __init__(self, env: kw.Env, settings: Settings, key: jax.Array) -> None:
        one, two = jax.random.split(key)
        seen, done, width = env.observation_size, env.action_size, settings.width
        actor = eqx.nn.MLP(seen, done, width, 2, jax.nn.tanh, key=one)
        last = actor.layers[-1].weight
        self.actor = eqx.tree_at(lambda net: net.layers[-1].weight, actor, 0.01 * last)
        self.critic = eqx.nn.MLP(seen, "scalar", width, 2, jax.nn.tanh, key=two)
        self.log_deviation = jnp.zeros(done) + settings.log_deviation

    def likelihood(self, seen: jax.Array, action: jax.Array) -> jax.Array:
        """Return the log likelihood of an action, up to a constant."""
        error = (action - self.actor(seen)) * jnp.exp(-self.log_deviation)
        return -0.5 * jnp.sum(error**2) - self.log_deviation.sum()


class Scale(NamedTuple):
    """Running mean and variance."""

    mean: jax.Array
    variance: jax.Array
    batches: jax.Array

    @property
    def deviation(self) -> jax.Array:
        """The standard deviation, which is always above zero."""
        return jnp.sqrt(self.variance + 1e-8)

    def apply(self, seen: jax.Array) -> jax.Array:
        """Return normalized and clipped values."""
        return jnp.clip((seen - self.mean) / self.deviation, -10.0, 10.0)

    def after(self, seen: jax.Array, least: float) -> "Scale":
        """Return the statistics with another batch of equal weight, but at least a share."""
        share = jnp.maximum(1.0 / (self.batches + 1.0), least)
        mean = self.mean + share * (seen.mean((0, 1)) - self.mean)
        spread = seen.var((0, 1)) + (seen.mean((0, 1)) - mean) * (seen.mean((0, 1)) - self.mean)
        return Scale(mean, self.variance + share * (spread - self.variance), self.batches + 1.0)


class Flights(NamedTuple):
    """State of all environments between steps; ``worth`` is the discounted return so far."""

    envs: Any
    seen: jax.Array
    worth: jax.Array
    returns: jax.Array


class Trace(NamedTuple):
    """One step of all environments, from the observation to the next one."""

    seen: jax.Array
    action: jax.Array
    reward: jax.Array
    after: jax.Array
    terminated: jax.Array
    ended: jax.Array
    worth: jax.Array
    returns: jax.Array


class Learner(NamedTuple):
    """State of the training."""

    policy: Policy
    optimizer: Any
    scale: Scale
    worth_scale: Scale
    flights: Flights
    key: jax.Array


class Ppo:
    """Proximal policy optimization in one environment."""

    def __init__(self, env: kw.Env, settings: Settings) -> None:
        self.env, self.settings = env, settings
        self.vector_env = kw.VectorEnv(env, settings.envs)
        self.optimizer = optax.chain(optax.clip_by_global_norm(0.5), optax.adam(settings.rate))

    def begin(self, seed: int) -> Learner:
        """Return the initial state of the training."""
        size, count = self.env.observation_size, self.settings.envs
        keys = jax.random.split(kw.seed_key(seed), 3)
        policy = Policy(self.env, self.settings, keys[0])
        envs, seen = jax.jit(self.vector_env.reset)(keys[1])
        flights = Flights(envs, seen, jnp.zeros(count), jnp.zeros(count))
        optimizer = self.optimizer.init(eqx.filter(policy, eqx.is_array))
        seen_scale, reward_scale = (
            Scale(jnp.zeros(n), jnp.ones(n), jnp.zeros(())) for n in (size, ())
        )
        return Learner(policy, optimizer, seen_scale, reward_scale, flights, keys[2])

    def compiled_update(self, learner: Learner) -> Any:
        """Return the compiled update, a function of a learner and the remaining share of time."""
        compiled: Any = eqx.filter_jit(self._update)
        return compiled.lower(learner, jnp.asarray(1.0)).compile()

    def _update(self, learner: Learner, left: jax.Array) -> tuple[Learner, Any]:
        """Learn from some steps; return the learner, the ended episodes and their total return."""
        flights, trace, following = self.flown(learner)
        score = trace.ended.sum(), (trace.ended * trace.returns).sum()
        return self.learned(learner._replace(flights=flights, key=following), trace, left), score

    def flown(self, learner: Learner) -> tuple[Flights, Trace, jax.Array]:
        """Return the environments after some steps, these steps, and a key for what follows."""
        fly, following = jax.random.split(learner.key)
        keys = jax.random.split(fly, self.settings.steps)
        flights, trace = jax.lax.scan(lambda *own: self._step(learner, *own), learner.flights, keys)
        return flights, trace, following

    def learned(self, learner: Learner, trace: Trace, left: jax.Array) -> Learner:
        """Return the learner after it has learned from some steps of any number of environments."""
        learn, following = jax.random.split(learner.key)
        worth_scale = learner.worth_scale.after(trace.worth, 0.03)
        fair = jnp.clip(trace.reward / worth_scale.deviation, -10.0, 10.0)
        policy, optimizer = self._learned(learner, trace._replace(reward=fair), left, learn)
        scale = learner.scale.after(trace.seen, 0.002)
        return Learner(policy, optimizer, scale, worth_scale, learner.flights, following)

    def _step(self, learner: Learner, flights: Flights, key: Any) -> tuple[Flights, Trace]:
        """Step all environments by the stochastic policy; rewards are clipped at ten deviations."""
        mean = jax.vmap(learner.policy.actor)(learner.scale.apply(flights.seen))
        noise = jax.random.normal(key, mean.shape)
        action = mean + noise * jnp.exp(learner.policy.log_deviation)
        out = self.vector_env.step(flights.envs, action)
        ended = out.terminated | out.truncated
        most = 10.0 * learner.worth_scale.deviation
        reward = jnp.clip(out.reward, -most, most)
        worth = self.settings.discount * flights.worth + reward
        returns = flights.returns + out.reward
        trace = Trace(
            seen=flights.seen,
            action=action,
            reward=reward,
            after=out.final_observation,
            terminated=out.terminated,
            ended=ended,
            worth=worth,
            returns=returns,
        )
        worth, returns = (jnp.where(ended, 0.0, sums) for sums in (worth, returns))
        return Flights(out.state, out.observation, worth, returns), trace

    def _advantages(self, trace: Trace, value: jax.Array, following: jax.Array) -> jax.Array:
        """Return the generalized advantage estimates."""
        discount, smoothing = self.settings.discount, self.settings.smoothing
        residual = trace.reward + discount * jnp.where(trace.terminated, 0.0, following) - value

        def back(later: jax.Array, step: Any) -> tuple[jax.Array, jax.Array]:
            own, ended = step
            advantage = own + discount * smoothing * jnp.where(ended, 0.0, later)
            return advantage, advantage

        return jax.lax.scan(back, 0.0 * residual[0], (residual, trace.ended), reverse=True)[1]

    def _learned(self, learner: Learner, trace: Trace, left: Any, key: Any) -> tuple[Policy, Any]:
        """Return the policy after several epochs over the steps, in batches."""
        policy, settings = learner.policy, self.settings
        seen, after = learner.scale.apply(trace.seen), learner.scale.apply(trace.after)
        value, following = (jax.vmap(jax.vmap(policy.critic))(at) for at in (seen, after))
        likelihood = jax.vmap(jax.vmap(policy.likelihood))(seen, trace.action)
        gains = self._advantages(trace, value, following)
        columns = (seen, trace.action, likelihood, gains, gains + value)
        rows = [column.reshape(-1, *column.shape[2:]) for column in columns]
        arrays, rest = eqx.partition(policy, eqx.is_array)

        def batch(carried: Any, order: jax.Array) -> tuple[Any, None]:
            arrays, optimizer = carried
            own = [row[order] for row in rows]
            slope = jax.grad(lambda given: self._loss(eqx.combine(given, rest), own))(arrays)
            change, optimizer = self.optimizer.update(slope, optimizer)
            return (optax.apply_updates(arrays, optax.tree.scale(left, change)), optimizer), None

        orders = jnp.argsort(jax.random.uniform(key, (settings.epochs, value.size)), axis=1)
        orders = orders.reshape(settings.epochs * settings.batches, -1)
        (arrays, optimizer), _ = jax.lax.scan(batch, (arrays, learner.optimizer), orders)
        return eqx.combine(arrays, rest), optimizer

    def _loss(self, policy: Policy, rows: Any) -> Any:
        """Return the sum of the clipped surrogate loss and the value loss."""
        seen, action, before, advantage, goal = rows
        ratio = jnp.exp(jax.vmap(policy.likelihood)(seen, action) - before)
        within = jnp.clip(ratio, 1.0 - self.settings.clip, 1.0 + self.settings.clip)
        fair = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        gain = jnp.minimum(ratio * fair, within * fair)
        return 0.5 * ((jax.vmap(policy.critic)(seen) - goal) ** 2).mean() - gain.mean()


def evaluate(env: kw.Env, act: Any, episodes: int = 64, seed: int = 1) -> tuple[float, float]:
    """Return the mean return of some episodes, and the share that ended early."""

    def once(carried: Any, key: jax.Array) -> tuple[Any, None]:
        state, seen, going, total = carried
        step = env.step(key, state, act(state, seen, key))
        total = total + jnp.where(going, step.reward, 0.0)
        return (step.state, step.observation, going & ~step.terminated, total), None

    def episode(key: jax.Array) -> tuple[jax.Array, jax.Array]:
        begin, fly = jax.random.split(key)
        initial = (*env.reset(begin), jnp.asarray(True), jnp.asarray(0.0))
        (_, _, going, total), _ = jax.lax.scan(once, initial, jax.random.split(fly, env.max_steps))
        return total, ~going

    totals, ended = jax.jit(jax.vmap(episode))(jax.random.split(kw.seed_key(seed), episodes))
    return float(totals.mean()), float(ended.mean())


def train(
    env: kw.Env, settings: Settings, minutes: float, seed: int = 0, steps: float = jnp.inf
) -> tuple[Learner, np.ndarray]:
    """Train for some time or number of steps; return rows of seconds, steps and mean return.

    Time counts from the first update on, without compilation.
    """
    ppo = Ppo(env, settings)
    print("compiling, which takes a minute or two on a busy machine", flush=True)
    learner, curve = ppo.begin(seed), []
    update = ppo.compiled_update(learner)
    began, done, printed_s = time.monotonic(), 0, 0.0
    while (used := max((time.monotonic() - began) / (60.0 * minutes), done / steps)) < 1.0:
        learner, (ended, score) = update(learner, jnp.asarray(1.0 - used))
        done += settings.envs * settings.steps
        if ended:
            curve.append((time.monotonic() - began, done, float(score / ended)))
        if curve and curve[-1][0] > printed_s + 10.0:
            printed_s = curve[-1][0]
            print("{:5.0f} s  {:10.0f} steps  return {:10.3f}".format(*curve[-1]))
    return learner, np.array(curve).reshape(-1, 3)


def save(folder: Path, task: str, learner: Learner, curve: np.ndarray) -> None:
    """Save the policy as plain arrays, and the learning curve if an episode has ended."""
    folder.mkdir(parents=True, exist_ok=True)
    scale = learner.scale
    arrays: dict[str, Any] = {"task": task, "mean": scale.mean, "deviation": scale.deviation}
    for i, layer in enumerate(learner.policy.actor.layers):
        arrays |= {f"weight_{i}": layer.weight, f"bias_{i}": layer.bias}
    np.savez(folder / "policy.npz", **arrays)
    if not len(curve):
        return
    axes = (figure := Figure(figsize=(6, 4), layout="constrained")).subplots()
    axes.plot(curve[:, 0], curve[:, 2])
    axes.set_ylim(np.quantile(curve[3:, 2], 0.02) if len(curve) > 3 else None)
    axes.set(title=task, xlabel="time [s]", ylabel="mean return of finished episodes")
    figure.savefig(folder / "curve.png", dpi=80)
    np.savetxt(folder / "curve.csv", curve, "%.8g", ",", header="time_s,steps,return", comments="")


def main() -> None:
    """Train, then compare with random actions and with the scenario's own controller."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("task", help="name of a task, or a scenario with a task")
    parser.add_argument("--conditions", help="such as noiseless")
    parser.add_argument("--minutes", type=float, default=3.0, help="default: %(default)g")
    parser.add_argument("--steps", type=float, default=jnp.inf, help="total over all environments")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("runs/ppo"))
    given = parser.parse_args()
    if not min(given.minutes, given.steps) > 0.0:
        parser.error("--minutes and --steps must be above 0")
    eased = kw.make(given.task, conditions=given.conditions, overrides=TRAINING.get(given.task, {}))
    learner, curve = train(eased, Settings(), given.minutes, given.seed, given.steps)
    if not learner.scale.batches:
        sys.exit("Nothing was learned or saved: the time was up before the first update.")
    save(given.out, eased.name, learner, curve)
    env = kw.make(given.task, conditions=given.conditions).with_beliefs()
    policies: dict[str, Callable[[Any, Any, Any], Any]] = {
        "random": lambda _, __, key: jax.random.uniform(key, (env.action_size,), minval=-1.0),
        "baseline": lambda state, *_: env.expert_action(state),
        "trained": lambda _, seen, __: learner.policy.actor(learner.scale.apply(seen)),
    }
    for name, act in policies.items():
        print("{:>10}: mean return {:.3f}, {:.0%} end early".format(name, *evaluate(env, act)))
    print(f"Saved: {given.out}/policy.npz" + (", curve.png, curve.csv" if len(curve) else ""))
    if not len(curve):
        print("There is no curve, since no episode ended during training: raise --minutes.")


if __name__ == "__main__":
    main()
