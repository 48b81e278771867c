"""Fly the hallway by model predictive path integral control, in real time.

Fifty times per second, a thousand plans of two seconds are simulated in a simple model: a drone
without rotors whose angles lag, in steps of 0.1 s. Plans are weighted by their returns. The
controlled drone has rotors, controllers and noise in its estimates; the pillars' positions are
given.
"""

import argparse
import os
import time
from pathlib import Path
from typing import Any

import jax
import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Circle

import kittiwake as kw

RATE_HZ = 50
# the AR.Drone without its rotors: mass, size, attitude lag and drag
MODEL = {
    "time.rate_hz": 10,
    "task.rate_hz": 10,
    "vehicles.drone.model": "angle-velocity",
    "vehicles.drone.parameters": {
        "mass_kg": 0.441,
        "max_thrust_n": 9.9,
        "size_body_m": [0.451, 0.451, 0.12],
        "angle_time_constant_s": 0.1,
        "drag_forward_per_s": 0.59,
        "drag_sideways_per_s": 0.59,
        "drag_vertical_per_s": 0.59,
    },
    "vehicles.drone.sensors.lidar.deviation_m": 0,
}


ready: Any = jax.block_until_ready


def fly(env: kw.Env, mppi: kw.tasks.Mppi, seed: int) -> tuple[Any, ...]:
    """Fly an episode; return its last step, the path in meters, rewards and planning times."""
    key = kw.seed_key(seed)
    act, step = jax.jit(mppi.act), jax.jit(env.step)
    places = jax.jit(lambda state: env.fleet.truths(state.fleet)[0].position_world_m)
    state, _ = jax.jit(env.reset)(key)
    plan, trace = mppi.init_plan(), []
    ready(step(key, state, act(plan, state, key)[1]))  # compiles
    for _ in range(env.max_steps):
        key, own = jax.random.split(key)
        began_s = time.perf_counter()
        plan, action = ready(act(plan, state, own))
        wall_s = time.perf_counter() - began_s
        outcome = step(own, state, action)
        state = outcome.state
        place = places(state)
        trace.append((float(place.x[0]), float(place.y[0]), float(outcome.reward), wall_s))
        if outcome.terminated | outcome.truncated:
            break
    east_m, north_m, rewards, walls_s = np.array(trace).T
    return outcome, (east_m, north_m), rewards, walls_s


def draw(env: kw.Env, state: Any, path_m: tuple[np.ndarray, np.ndarray], file: Path) -> None:
    """Plot the path among the pillars of this episode from above."""
    figure = Figure(figsize=(12, 2.6), layout="constrained")
    axes = figure.subplots()
    obstacles: Any = env.randomization.apply_lasting(env.fleet, state.drawn).world.obstacles
    walls, *pillars = obstacles
    for pillar in pillars:
        center = float(pillar.center_world_m.x), float(pillar.center_world_m.y)
        axes.add_patch(Circle(center, float(pillar.radius_m), color="0.5"))
    for side in (-0.5, 0.5):
        axes.axhline(side * float(walls.width_m), color="0.5")
    axes.plot(*path_m)
    axes.set(xlabel="east [m]", ylabel="north [m]", aspect="equal")
    figure.savefig(file, dpi=120)


def main() -> None:
    """Fly an episode, print its return and the planning times, and save a plot of the path."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--samples", type=int, default=1024)
    parser.add_argument("--out", type=Path, default=Path("runs/mppi"))
    given = parser.parse_args()
    env = kw.make("hallway", conditions="noisy", overrides={"task.rate_hz": RATE_HZ})
    mppi = kw.tasks.Mppi(env, kw.make("hallway", overrides=MODEL), samples=given.samples)
    outcome, path_m, rewards, walls_s = fly(env, mppi, given.seed)
    contact = bool(outcome.terminated) and rewards[-1] == env.task.lost_reward
    print(f"{path_m[0][-1]:.1f} m in {len(rewards) / RATE_HZ:.1f} s, contact: {contact}")
    mean_ms, most_ms = 1e3 * walls_s.mean(), 1e3 * np.percentile(walls_s, 99)
    times = f"mean {mean_ms:.1f} ms, 99th percentile {most_ms:.1f} ms"
    print(f"return {rewards.sum():.2f}; load of the machine {os.getloadavg()[0]:.1f}")
    print(f"control step: {times}, {1e3 / RATE_HZ / mean_ms:.1f} times real time")
    given.out.mkdir(parents=True, exist_ok=True)
    draw(env, outcome.state, path_m, given.out / "path.png")


if __name__ == "__main__":
    main()
