"""Environment steps per second through Gymnasium's vector interface, with random actions.

Run as ``python benchmarks/learning.py [--worlds N]``; ``kittiwake bench learn-hover`` and similar
measure the same inside a compiled loop. Also compares generators of random numbers.
"""

import argparse
import time

import gymnasium
import jax

import kittiwake as kw

CASES = {
    "keep-spot without noise": ("kittiwake/KeepSpot-v0", {"conditions": "noiseless"}),
    "keep-spot with all noise": ("kittiwake/KeepSpot-v0", {}),
    "keep-spot with all noise and gusts": ("kittiwake/KeepSpot-v0", {"conditions": "gusty"}),
    "hover": ("kittiwake/Hover-v0", {}),
    "hover, ten physics steps": ("kittiwake/Hover-v0", {"overrides": {"time.rate_hz": 1000}}),
}
STEPS, REPEATS, DRAWS = 100, 10, 3


def steps_per_s(name: str, given: dict, worlds: int) -> float:
    """Return the best rate of several runs."""
    env = gymnasium.make_vec(name, num_envs=worlds, **given)
    env.action_space.seed(0)
    actions = [env.action_space.sample() for _ in range(16)]
    env.reset(seed=0)
    times = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        for step in range(STEPS):
            env.step(actions[step % 16])
        times.append(time.perf_counter() - began)
    env.close()
    return worlds * STEPS / min(times)


def normals_per_s(generator: str, worlds: int) -> float:
    """Return the rate of normal numbers, three for each key as in a step."""
    keys = jax.random.split(jax.random.key(0, impl=generator), worlds)
    draw = jax.jit(jax.vmap(lambda key: jax.random.normal(key, (DRAWS,))))
    jax.block_until_ready(draw(keys))
    times = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        for _ in range(STEPS):
            numbers = draw(keys)
        jax.block_until_ready(numbers)
        times.append(time.perf_counter() - began)
    return DRAWS * worlds * STEPS / min(times)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--worlds", type=int, default=1024)
    worlds = parser.parse_args().worlds
    kw.register_envs()
    for label, (name, given) in CASES.items():
        rate = steps_per_s(name, given, worlds)
        print(f"{label:36s} {rate / 1e6:6.2f} M environment steps/s", flush=True)
    for generator in ("threefry2x32", "rbg", "unsafe_rbg"):
        rate = normals_per_s(generator, worlds)
        print(f"normal numbers, {generator:12s} {rate / 1e6:6.1f} M/s", flush=True)


if __name__ == "__main__":
    main()
