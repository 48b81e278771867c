"""Long series of samples of a vehicle at rest, and their statistics."""

import math
from dataclasses import replace
from functools import cache

import jax
import jax.numpy as jnp
import numpy as np

from kittiwake.core.kinematics import Start
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.sensor import SensorInputs
from kittiwake.scenario.load import load_scenario
from kittiwake.world.world import WorldModel

AT_REST = Vec3(0.0, 0.0, 9.81)


@cache
def world() -> WorldModel:
    """That of a scenario of the library, at its origin on the Earth."""
    return load_scenario("keep-spot").world


def seen(start=None, force=AT_REST, **changes):
    """What there is to measure of a motion; ``changes`` are the world's."""
    place = replace(world(), **changes)
    start = start or Start()
    motion = replace(start.kinematics(), specific_force_body_mps2=force)
    around = place.surroundings(motion, Vec3(0.1, 0.1, 0.1))
    return SensorInputs(0.0, motion, around, place, {})


def series(sensor, inputs, steps, seeds, dt_s):
    """Measurements by seed and time."""

    def one(seed):
        key = jax.random.key(seed)

        def step(state, tick):
            return sensor.step(state, inputs, dt_s, jax.random.fold_in(key, tick))

        return jax.lax.scan(step, first(sensor.init(jax.random.fold_in(key, steps))), ticks)[1]

    ticks = jnp.arange(steps)
    return jax.tree.map(np.asarray, jax.jit(jax.vmap(one))(jnp.arange(seeds)))


def first(state):
    """A state that a loop can carry."""
    return jax.tree.map(jnp.asarray, state)


def by_axis(vectors):
    """All seeds of all axes, one series a row."""
    return np.concatenate([vectors.x, vectors.y, vectors.z])


def standard_errors_off(independent, expected):
    """How many standard errors the mean of independent numbers lies from the expected value."""
    error = np.std(independent, ddof=1) / math.sqrt(len(independent))
    return (np.mean(independent) - expected) / error


def allan_variances(rows, samples):
    """Of each row, over averaging times of so many samples, from all overlapping pairs."""
    sums = np.cumsum(np.pad(rows, ((0, 0), (1, 0))), axis=1)
    means = (sums[:, samples:] - sums[:, :-samples]) / samples
    return 0.5 * np.mean((means[:, samples:] - means[:, :-samples]) ** 2, axis=1)


def slope_and_error(rows, shorter, longer):
    """Of the Allan deviation between two averaging times on double logarithmic paper."""
    both = [allan_variances(rows, samples) for samples in (shorter, longer)]
    octaves = 2.0 * math.log(longer / shorter)
    relative = [np.std(v, ddof=1) / np.mean(v) / math.sqrt(len(v)) for v in both]
    return math.log(np.mean(both[1]) / np.mean(both[0])) / octaves, math.hypot(*relative) / octaves
