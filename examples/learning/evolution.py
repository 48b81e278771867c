"""Train a policy by an evolution strategy of evosax, compiled with the environments.

Run ``python examples/learning/evolution.py hover --minutes 1``, then fly the policy with
``kittiwake run hover --set policy=runs/evolution/policy.npz``. Requires evosax 0.3. The strategy is
OpenAI-ES (Salimans and others, 2017, arXiv:1703.03864).
"""

import argparse
import sys
import time
from pathlib import Path
from typing import Any, cast

import jax
import jax.numpy as jnp
import numpy as np
import optax
from evosax.algorithms import Open_ES

import kittiwake as kw

POPULATION, WIDTH = 256, 16
RATE, DEVIATION = 0.02, 0.05

Network = dict[str, jax.Array]


def first_network(env: kw.Env) -> Network:
    """Return a network with one hidden layer, whose actions are near zero."""
    first, second = jax.random.split(kw.seed_key(0))
    shapes = (WIDTH, env.observation_size), (env.action_size, WIDTH)
    scales = (1.0, 0.01)
    weights = [
        scale * jax.random.normal(key, shape) / np.sqrt(shape[1])
        for key, shape, scale in zip((first, second), shapes, scales, strict=True)
    ]
    network = {f"weight_{i}": weight for i, weight in enumerate(weights)}
    return network | {f"bias_{i}": jnp.zeros(len(weight)) for i, weight in enumerate(weights)}


def act(network: Network, seen: jax.Array) -> jax.Array:
    """Return the action for a normalized observation."""
    hidden = jnp.tanh(network["weight_0"] @ seen + network["bias_0"])
    return network["weight_1"] @ hidden + network["bias_1"]


class Episodes:
    """Episodes of a task, with observations on the scale of flights by random actions."""

    def __init__(self, env: kw.Env) -> None:
        self._env = env
        self.mean, self.deviation = jnp.zeros(env.observation_size), jnp.ones(env.observation_size)
        keys = jax.random.split(kw.seed_key(1), 64)
        seen, flying = jax.jit(jax.vmap(self._random))(keys)
        seen = seen[flying]
        self.mean, self.deviation = seen.mean(0), seen.std(0) + 1e-3

    def total(self, network: Network, key: jax.Array) -> jax.Array:
        """Return the return of one episode."""

        def step(carried: Any, key: jax.Array) -> tuple[Any, None]:
            state, seen, flying, total = carried
            scaled = (seen - self.mean) / self.deviation
            out = self._env.step(key, state, act(network, scaled))
            total = total + jnp.where(flying, out.reward, 0.0)
            return (out.state, out.observation, flying & ~out.terminated, total), None

        begin, fly = jax.random.split(key)
        initial = (*self._env.reset(begin), jnp.asarray(True), jnp.zeros(()))
        keys = jax.random.split(fly, self._env.max_steps)
        return jax.lax.scan(step, initial, keys)[0][-1]

    def _random(self, key: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Return the observations under random actions, and which were seen in flight."""

        def step(carried: Any, key: jax.Array) -> tuple[Any, Any]:
            state, seen, flying = carried
            chosen, fly = jax.random.split(key)
            action = jax.random.uniform(chosen, (self._env.action_size,), minval=-1.0)
            out = self._env.step(fly, state, action)
            return (out.state, out.observation, flying & ~out.terminated), (seen, flying)

        begin, fly = jax.random.split(key)
        initial = (*self._env.reset(begin), jnp.asarray(True))
        _, seen_and_flying = jax.lax.scan(step, initial, jax.random.split(fly, 100))
        return cast("tuple[jax.Array, jax.Array]", seen_and_flying)


def train(task: str, minutes: float, seed: int = 0, population: int = POPULATION) -> dict[str, Any]:
    """Return the trained network with its scale, and the number of generations."""
    env = kw.make(task)
    print("compiling, which takes a minute or two on a busy machine", flush=True)
    episodes, network = Episodes(env), first_network(env)
    strategy = Open_ES(
        population,
        network,
        optimizer=optax.adam(RATE),
        std_schedule=optax.constant_schedule(DEVIATION),
    )
    params = strategy.default_params
    state = strategy.init(kw.seed_key(seed), network, params)

    @jax.jit
    def generation(state: Any, key: jax.Array) -> tuple[Any, jax.Array]:
        ask, fly, tell = jax.random.split(key, 3)
        candidates, state = strategy.ask(ask, state, params)
        totals = jax.vmap(episodes.total, (0, None))(candidates, fly)
        # it minimizes
        state, _ = strategy.tell(tell, candidates, -totals, state, params)
        return state, totals.mean()

    keys = iter(jax.random.split(kw.seed_key(seed + 1), 100_000))
    generation.lower(state, next(keys)).compile()
    began, done, printed_s = time.monotonic(), 0, 0.0
    while (now_s := time.monotonic() - began) < 60.0 * minutes:
        state, mean = generation(state, next(keys))
        done += 1
        if now_s > printed_s + 10.0:
            printed_s = now_s
            print(f"{done:6d} generations  return {float(mean):8.3f}", flush=True)
    learned = strategy.get_mean(state)
    return {**learned, "mean": episodes.mean, "deviation": episodes.deviation, "generations": done}


def save(path: Path, task: str, learned: dict[str, Any]) -> None:
    """Save the policy as plain arrays."""
    arrays: dict[str, Any] = {
        key: np.asarray(value) for key, value in learned.items() if key != "generations"
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez(path, **arrays, task=np.asarray(task))


def main() -> None:
    """Train and save a policy."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("task", help="name of a task, or a scenario with a task")
    parser.add_argument("--minutes", type=float, default=1.0, help="default: %(default)g")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("runs/evolution"))
    given = parser.parse_args()
    if not given.minutes > 0.0:
        parser.error("--minutes must be above 0")
    learned = train(given.task, given.minutes, given.seed)
    if not learned["generations"]:
        sys.exit("Nothing was learned or saved: the time was up before the first generation.")
    save(given.out / "policy.npz", given.task, learned)
    print(f"Saved: {given.out}/policy.npz")


if __name__ == "__main__":
    main()
