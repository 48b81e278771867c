"""Speed benchmarks, one case per process so that each has its own peak memory.

``python -m kittiwake.runtime.benchmark CASE`` prints one line of JSON.
"""

import json
import resource
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from types import MappingProxyType
from typing import Any

import jax
import numpy as np

from kittiwake.core.errors import KittiwakeError
from kittiwake.core.keys import seed_key
from kittiwake.core.precision import Precision
from kittiwake.runtime.loading import load
from kittiwake.runtime.simulation import Simulation
from kittiwake.runtime.vector_env_engines import batch_engine
from kittiwake.tasks.make import make

REPEATS = 5
AREA = {"world.area": {axis: [-1000, 1000] for axis in ("x_m", "y_m", "z_m")}}
# without sensors, satellites and task, for comparison with figures of other versions
NO_SENSORS = {
    "vehicles.pelican.estimator": "truth",
    "vehicles.pelican.sensors": {},
    "world.satellites": None,
}
CALM = {
    "vehicles.pelican.parameters.linear_noise_mps2": 0,
    "vehicles.pelican.parameters.angular_noise_radps2": 0,
}
GROUNDED = {
    "vehicles.crazyflie.start.position_world_m": [0, 0, 0.0135],
    # the setpoint is below the start, so that the landing gear carries the vehicle
    "vehicles.crazyflie.guidance": {"type": "hold", "position_world_m": [0, 0, 0]},
}
# ten physics steps per control step of a learning task
TEN_PHYSICS_STEPS = {"time.rate_hz": 1000}
ENVIRONMENTS = 1024
# with the density of the flock of 1,000
FLOCK_OF_10000 = {"vehicles.drone.count": 10_000, "vehicles.drone.grid": [22, 22]}


@dataclass(frozen=True)
class Result:
    """Measured figures of one case."""

    vehicles: int
    compile_s: float
    steps_per_s: float
    realtime_factor: float
    peak_memory_mb: float


def python_loop(steps: int, *, record: bool = False) -> Result:
    """Measure one vehicle with the scenario's controller, stepped from a Python loop."""
    simulation = load("keep-spot", NO_SENSORS | CALM | AREA)
    began = time.perf_counter()
    simulation.reset(record=record)
    simulation.step()
    compile_s = time.perf_counter() - began

    def fly() -> None:
        for _ in range(steps):
            simulation.step()
        # waits for the last step
        dict(simulation.observe())

    return _result(simulation, 1, steps, compile_s, _best(fly))


def pelicans(vehicles: int, steps: int, *, noise: bool = False) -> Result:
    """Measure Pelicans that hold their positions, with or without process noise."""
    given = NO_SENSORS if noise else NO_SENSORS | CALM
    return rollout("keep-spot", vehicles, steps, given)


def rollout(
    scenario: str,
    vehicles: int,
    steps: int,
    overrides: Mapping[str, Any] = MappingProxyType({}),
    precision: Precision = "float32",
) -> Result:
    """Measure a batch of worlds of a scenario with one vehicle."""
    simulation = load(scenario, {**AREA, **overrides}, precision)
    began = time.perf_counter()
    batch = simulation.batch(vehicles)
    batch.advance(1)
    compile_s = time.perf_counter() - began
    seconds = _best(lambda: batch.advance(steps))
    return _result(simulation, vehicles, steps, compile_s, seconds)


def together(
    scenario: str,
    vehicles: int,
    steps: int,
    overrides: Mapping[str, Any] = MappingProxyType({}),
    precision: Precision = "float64",
) -> Result:
    """Measure a scenario with some overrides in one compiled loop, by the engine that suits it."""
    simulation = load(scenario, overrides, precision)
    program = simulation.program
    began = time.perf_counter()
    with program.precision_context():
        state, step = program.start(0), program.functions.step_alone()
        values = program.inputs.values({}, program.vehicles)
        step.prepare(steps)
        compile_s = time.perf_counter() - began
        seconds = _best(
            lambda: jax.block_until_ready(step.steps(program.numbers, values, state, steps))
        )
    return _result(simulation, vehicles, steps, compile_s, seconds)


def vector_env(
    task: str,
    steps: int,
    conditions: str | None = None,
    overrides: Mapping[str, Any] = MappingProxyType({}),
) -> Result:
    """Measure a learning task with random actions, in 1,024 environments with automatic reset."""
    env = make(task, conditions=conditions, overrides=overrides)
    began = time.perf_counter()
    many = batch_engine(env, ENVIRONMENTS)
    many.reset(seed_key(0), 1.0)
    shape = 100, ENVIRONMENTS, env.action_size
    actions = np.asarray(jax.random.uniform(seed_key(1), shape, np.float32, minval=-1.0))
    many.step(actions[0])
    compile_s = time.perf_counter() - began

    def fly() -> None:
        for step in range(steps):
            many.step(actions[step % len(actions)])

    seconds = _best(fly)
    realtime = steps * env.physics_steps_per_action * env.fleet.dt_s / seconds
    return _measured(ENVIRONMENTS, steps / seconds, compile_s, realtime)


# description and measuring function of each case
CASES: dict[str, tuple[str, Callable[..., Result]]] = {
    "python-loop": ("1 Pelican stepped from Python, float64", partial(python_loop, steps=20_000)),
    "python-loop-recorded": (
        "1 Pelican stepped from Python with its log, float64",
        partial(python_loop, steps=20_000, record=True),
    ),
    "rollout-1": (
        "1 Pelican, compiled loop, float64",
        partial(together, "keep-spot", 1, steps=50_000, overrides=NO_SENSORS | CALM | AREA),
    ),
    "rollout-100": ("100 Pelicans, float32", partial(pelicans, 100, steps=10_000)),
    "rollout-1000": ("1,000 Pelicans, float32", partial(pelicans, 1_000, steps=2_000)),
    "rollout-10000": ("10,000 Pelicans, float32", partial(pelicans, 10_000, steps=300)),
    "world-10000": (
        "10,000 Pelicans in one world, float32",
        partial(
            together,
            "keep-spot",
            10_000,
            steps=300,
            overrides=NO_SENSORS | CALM | AREA | {"vehicles.pelican.count": 10_000},
            precision="float32",
        ),
    ),
    "noisy-10000": (
        "10,000 Pelicans with process noise, float32",
        partial(pelicans, 10_000, steps=100, noise=True),
    ),
    "ar-drone-10000": (
        "10,000 AR.Drones, RK4, float32",
        partial(rollout, "hover-ar-drone", 10_000, steps=100),
    ),
    "crazyflie-10000": (
        "10,000 Crazyflies, RK4, float32",
        partial(rollout, "hover-crazyflie", 10_000, steps=100),
    ),
    "os4-10000": (
        "10,000 OS4 with blade elements, RK4, float32",
        partial(rollout, "hover-os4", 10_000, steps=100),
    ),
    "grounded-10000": (
        "10,000 Crazyflies on the ground, RK4, float32",
        partial(rollout, "hover-crazyflie", 10_000, steps=100, overrides=GROUNDED),
    ),
    "deck-landing": (
        "an AR.Drone lands on a Strider, compliant landing gear, float64",
        partial(together, "deck-landing", 2, steps=2_000),
    ),
    "deck-landing-mujoco": (
        "the same with MuJoCo",
        partial(together, "deck-landing", 2, steps=2_000, overrides={"physics": "mujoco"}),
    ),
    "flock-1000": (
        "1,000 flocking Crazyflies, float32",
        partial(together, "flock-1000", 1_000, steps=200, precision="float32"),
    ),
    "flock-10000": (
        "10,000 flocking Crazyflies, float32",
        partial(
            together,
            "flock-1000",
            10_000,
            steps=100,
            overrides=FLOCK_OF_10000,
            precision="float32",
        ),
    ),
    "learn-keep-spot": (
        "1,024 worlds of the task keep-spot without noise, random actions, float32",
        partial(vector_env, "keep-spot", steps=500, conditions="noiseless"),
    ),
    "learn-keep-spot-noisy": (
        "the same with all its sensors and their noise",
        partial(vector_env, "keep-spot", steps=200),
    ),
    "learn-hover": (
        "1,024 worlds of the task hover, one physics step per control step, float32",
        partial(vector_env, "hover", steps=1_000),
    ),
    "learn-hover-10": (
        "the same with ten physics steps per control step",
        partial(vector_env, "hover", steps=200, overrides=TEN_PHYSICS_STEPS),
    ),
}


def _best(fly: Callable[[], Any]) -> float:
    """Return the shortest time of some runs, since other loads on the machine only add."""
    fly()
    times: list[float] = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        fly()
        times.append(time.perf_counter() - began)
    return min(times)


def _result(
    simulation: Simulation, vehicles: int, steps: int, compile_s: float, seconds: float
) -> Result:
    return _measured(vehicles, steps / seconds, compile_s, steps * simulation.dt_s / seconds)


def _measured(vehicles: int, rate_hz: float, compile_s: float, realtime_factor: float) -> Result:
    peak_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return Result(vehicles, compile_s, vehicles * rate_hz, realtime_factor, peak_kb / 1024)


if __name__ == "__main__":
    try:
        measured = CASES[sys.argv[1]][1]()
    except KittiwakeError as error:  # such as an extra that is missing
        sys.exit(str(error))
    sys.stdout.write(json.dumps(asdict(measured)) + "\n")
