"""Position error of dead reckoning over time, for several inertial units.

An OS4 flies from its pad to (2, 2, 5) and hovers there, controlled by its true state. The
measurements of each inertial unit are integrated, with 50 draws of its errors. Prints the RMS
error over the draws along each axis, and their norm. Run: ``python benchmarks/dead_reckoning.py``.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

import kittiwake as kw
from kittiwake.core.arrays import as_arrays, match_dtypes
from kittiwake.core.kinematics import Kinematics
from kittiwake.estimation.dead_reckoning import DeadReckoning
from kittiwake.interfaces.estimator import EstimatorInputs
from kittiwake.interfaces.sensor import SensorInputs
from kittiwake.sensors.imu import Imu
from kittiwake.sensors.imu_sets import MicklischImu, QrsimImu

RATE_HZ = 500
SEEDS = 50
TIMES_S = (5.0, 10.0, 30.0, 60.0)
# each with its rate; the first one without noise, for the error of the integration itself
UNITS: dict[str, tuple[Any, int]] = {
    "imu-micklisch, exact": (MicklischImu(0.0, 0.0), 100),
    "imu-micklisch": (MicklischImu(), 100),
    "imu-qrsim": (QrsimImu(), 50),
    "imu": (Imu(), RATE_HZ),
}


def flight() -> tuple[Kinematics, float]:
    """Return the true motion at each step, and gravity."""
    simulation = kw.load("dead-reckoning", {"vehicles.os4.estimator": "truth"})
    steps = round(max(TIMES_S) * RATE_HZ) + 1
    fly = jax.jit(
        lambda key: simulation.rollout(simulation.init(key), steps, lambda seen: seen[0].truth)[1]
    )
    rows = fly(kw.seed_key(0))
    world = simulation.scenario.world
    return jax.tree.map(lambda leaf: leaf[:, 0], rows), float(world.gravity_mps2)


def errors_m(
    unit: Any, motion: Kinematics, gravity_mps2: float, dt_s: float
) -> Float[Array, "seeds times 3"]:
    """Return the position error at each sample of a unit with period ``dt_s``."""
    estimator = DeadReckoning(gravity_mps2=gravity_mps2)
    initial = jax.tree.map(lambda leaf: leaf[0], motion)

    def one(key: PRNGKeyArray) -> Float[Array, "times 3"]:
        first, draws = jax.random.split(key)

        def step(states: Any, numbered: Any) -> tuple[Any, Array]:
            tick, true = numbered
            # inertial units do not depend on surroundings, world or time
            there: Any = SensorInputs(0.0, true, None, None, {})  # pyright: ignore[reportArgumentType]
            unit_state, sample = unit.step(states[0], there, dt_s, jax.random.fold_in(draws, tick))
            inputs = EstimatorInputs(true, {"imu": sample}, {"imu": jnp.asarray(True)})
            estimator_state, estimate = estimator.step(states[1], inputs, dt_s, key)
            error_m = true.position_world_m - estimate.position_world_m
            later = match_dtypes((unit_state, estimator_state), states)
            return later, jnp.asarray(error_m.array)

        states = as_arrays((unit.init(first), estimator.init(initial, first)))
        ticks = jnp.arange(len(jax.tree.leaves(motion)[0]))
        return jax.lax.scan(step, states, (ticks, motion))[1]

    return jax.jit(jax.vmap(one))(jax.random.split(kw.seed_key(1), SEEDS))


def main() -> None:
    """Print the table."""
    with jax.enable_x64(True):  # noqa: FBT003  JAX's own
        motion, gravity = flight()
        for name, (unit, rate_hz) in UNITS.items():
            every = RATE_HZ // rate_hz
            seen = jax.tree.map(lambda leaf, every=every: leaf[::every], motion)
            errors = np.asarray(errors_m(unit, seen, gravity, 1.0 / rate_hz))
            for time_s in TIMES_S:
                axes = np.sqrt(np.mean(errors[:, round(time_s * rate_hz)] ** 2, axis=0))
                row = " ".join(f"{axis:9.4f}" for axis in axes)
                print(f"{name:22} {time_s:4.0f} s  {row}  {np.linalg.norm(axes):9.4f} m")


if __name__ == "__main__":
    main()
