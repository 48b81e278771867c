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
from typing import Any, TypeAlias

import jax
import numpy as np

from kittiwake.core.arrays import ArrayTree
from kittiwake.core.errors import KittiwakeError
from kittiwake.core.keys import seed_key
from kittiwake.core.precision import Precision
from kittiwake.runtime.engine import EngineName
from kittiwake.runtime.flight_state import FlightState
from kittiwake.runtime.loading import load
from kittiwake.runtime.simulation import Simulation
from kittiwake.runtime.vector_env_engines import batch_engine
from kittiwake.tasks.make import make

# name of the engine, and size of the code if it is known
Code: TypeAlias = tuple[EngineName, int | None]

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


@dataclass(frozen=True)
class Result:
    """Measured figures of one case.

    Attributes:
        vehicles: number of vehicles.
        compile_s: time until the first step has been flown, or is compiled.
        steps_per_s: vehicle steps per second.
        realtime_factor: simulated time per time.
        peak_memory_mb: largest memory of the process.
        vehicle_bytes: memory of a vehicle: its states before and after a step.
        engine: what compiled the step.
        code_bytes: size of its code; None if it is unknown.
    """

    vehicles: int
    compile_s: float
    steps_per_s: float
    realtime_factor: float
    peak_memory_mb: float
    vehicle_bytes: int
    engine: EngineName
    code_bytes: int | None


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

    functions = simulation.program.functions
    compiled = functions.recorded_step() if record else functions.step_alone()
    code = functions.chosen_engine.engine.name, compiled.code_bytes
    return _result(simulation, 1, steps, compile_s, _best(fly), code)


def pelicans(vehicles: int, steps: int, *, noise: bool = False) -> Result:
    """Measure Pelicans that hold their positions, with or without process noise."""
    given = NO_SENSORS if noise else NO_SENSORS | CALM
    return rollout("keep-spot", vehicles, steps, given)


def one_world(vehicles: int, steps: int) -> Result:
    """Measure Pelicans that hold their positions in one world."""
    given = NO_SENSORS | CALM | AREA | {"vehicles.pelican.count": vehicles}
    return together("keep-spot", vehicles, steps, given, "float32")


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
    code = batch.engine, batch.code_bytes
    return _result(simulation, vehicles, steps, compile_s, seconds, code)


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
        state, step = FlightState.of(program.start(0)), program.functions.step_alone()
        values = program.inputs.values({}, program.vehicles)
        step.prepare(steps)
        compile_s = time.perf_counter() - began
        seconds = _best(
            lambda: jax.block_until_ready(
                step.steps(program.numbers, values, state, steps)[0].fleet
            )
        )
    code = program.functions.chosen_engine.engine.name, step.code_bytes
    return _result(simulation, vehicles, steps, compile_s, seconds, code)


def flock(vehicles: int, steps: int) -> Result:
    """Measure flocking Crazyflies, of the same density for any number."""
    row = round(vehicles ** (1 / 3))
    given = {"vehicles.drone.count": vehicles, "vehicles.drone.grid": [row, row]}
    return together("flock-1000", vehicles, steps, given, "float32")


def vector_env(
    task: str,
    steps: int,
    conditions: str | None = None,
    overrides: Mapping[str, Any] = MappingProxyType({}),
    vehicles: int = 1024,
) -> Result:
    """Measure a learning task with random actions, in environments with automatic reset."""
    env = make(task, conditions=conditions, overrides=overrides)
    began = time.perf_counter()
    many = batch_engine(env, vehicles)
    many.reset(seed_key(0), 1.0)
    shape = 100, vehicles, env.action_size
    actions = np.asarray(jax.random.uniform(seed_key(1), shape, np.float32, minval=-1.0))
    many.step(actions[0])
    compile_s = time.perf_counter() - began

    def fly() -> None:
        for step in range(steps):
            many.step(actions[step % len(actions)])

    seconds = _best(fly)
    realtime = steps * env.physics_steps_per_action * env.fleet.dt_s / seconds
    code = many.name, many.code_bytes
    of_vehicle = _bytes(many.state) // vehicles
    return _measured(vehicles, steps / seconds, compile_s, realtime, of_vehicle, code)


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
    "rollout-1000000": ("1,000,000 Pelicans, float32", partial(pelicans, 1_000_000, steps=10)),
    "world-10000": (
        "10,000 Pelicans in one world, float32",
        partial(one_world, vehicles=10_000, steps=300),
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
        partial(flock, vehicles=1_000, steps=200),
    ),
    "flock-10000": (
        "10,000 flocking Crazyflies, float32",
        partial(flock, vehicles=10_000, steps=100),
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
    simulation: Simulation, vehicles: int, steps: int, compile_s: float, seconds: float, code: Code
) -> Result:
    realtime = steps * simulation.dt_s / seconds
    program = simulation.program
    of_vehicle = _bytes(program.shape) // len(program.vehicles)
    return _measured(vehicles, steps / seconds, compile_s, realtime, of_vehicle, code)


def _measured(
    vehicles: int,
    rate_hz: float,
    compile_s: float,
    realtime_factor: float,
    state_bytes: int,
    code: Code,
) -> Result:
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    rate = vehicles * rate_hz
    return Result(vehicles, compile_s, rate, realtime_factor, peak_mb, 2 * state_bytes, *code)


def _bytes(tree: ArrayTree) -> int:
    """Return the size of a tree of arrays, or of their shapes."""
    return sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(tree))


if __name__ == "__main__":
    try:
        measured = CASES[sys.argv[1]][1]()
    except KittiwakeError as error:  # such as an extra that is missing
        sys.exit(str(error))
    sys.stdout.write(json.dumps(asdict(measured)) + "\n")
