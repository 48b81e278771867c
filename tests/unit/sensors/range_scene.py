"""Vehicle and its surroundings for tests of range sensors."""

import dataclasses
import math
from functools import cache

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from kittiwake.core.kinematics import Kinematics, Start
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.sensor import SensorInputs
from kittiwake.scenario.load import load_scenario
from kittiwake.world.surroundings import Air, Surroundings
from kittiwake.world.world import WorldModel

KEY = jax.random.key(0)
# sums and products of numbers of a few meters in double precision
EXACT_M = 1e-12
FAR_BELOW_M = -1000.0


@cache
def plain_world() -> WorldModel:
    """Without obstacles."""
    return load_scenario("keep-spot").world


def moving(start: Start, rates_body_radps: Vec3 | None = None) -> Kinematics:
    """The motion at a start, turning if asked for."""
    rates = Vec3.zero() if rates_body_radps is None else rates_body_radps
    return dataclasses.replace(start, angular_velocity_body_radps=rates).kinematics()


def around(obstacles=(), start=None, ground_z_m=FAR_BELOW_M, decks=(), neighbors=(), truth=None):
    """What a vehicle with a start, at the origin if none is given, can measure."""
    truth = (start or Start()).kinematics() if truth is None else truth
    air = Air(288.15, 101325.0, 1.225)
    felt = Surroundings(
        *(9.81, air, Vec3.zero(), 5.0, math.inf),
        decks=tuple(decks),
        vehicle_obstacles=tuple(neighbors),
    )
    world = dataclasses.replace(plain_world(), obstacles=tuple(obstacles), ground_z_m=ground_z_m)
    return SensorInputs(0.0, jax.tree.map(jnp.asarray, truth), felt, world, {})


def read(sensor, inputs, key=KEY):
    """A sensor's first reading."""
    return _read(sensor, inputs, key)


@eqx.filter_jit
def _read(sensor, inputs, key):
    return sensor.step(sensor.init(key), inputs, 0.1, key)[1]


@eqx.filter_jit
def ideal(sensor, inputs):
    """A sensor's measurement without errors, compiled: operation by operation it takes longer."""
    return sensor.ideal(inputs)


def many(sensor, inputs, count: int) -> Float[Array, "..."]:
    """So many independent readings along a leading axis."""
    keys = jax.random.split(KEY, count)
    return jax.jit(jax.vmap(lambda key: sensor.step(sensor.init(key), inputs, 0.1, key)[1]))(keys)
