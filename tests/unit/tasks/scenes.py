"""Scenes with vehicles at given positions, and short flights of an environment."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np

from kittiwake.core.arrays import as_arrays
from kittiwake.core.commands import AttitudeThrottle
from kittiwake.core.keys import seed_key
from kittiwake.core.kinematics import Start
from kittiwake.geometry.vec3 import Vec3
from kittiwake.scenario.files.network import Network
from kittiwake.scenario.load import load_scenario
from kittiwake.tasks.task import Agent, TaskScene


def motion(position_m, velocity_mps=(0.0, 0.0, 0.0)):
    """Return a level motion, facing east."""
    start = Start(Vec3.of(position_m), velocity_world_mps=Vec3.of(velocity_mps))
    return as_arrays(start.kinematics())


def sticks(pitch=0.0, roll=0.0, throttle=0.59, yaw_rate=0.0):
    return as_arrays(AttitudeThrottle(pitch, roll, throttle, yaw_rate, 12.0))


def agent(
    position_m, velocity_mps=(0.0, 0.0, 0.0), *, command=None, reported=(), measurements=None
):
    """Return a vehicle whose estimate is the truth."""
    world = load_scenario("keep-spot").world
    there = motion(position_m, velocity_mps)
    return Agent(
        truth=there,
        estimate=there,
        measurements=measurements or {},
        command=sticks() if command is None else command,
        reported=jnp.asarray(reported, float),
        actuators={},
        surroundings=as_arrays(world.surroundings(there, Vec3(1.0, 1.0, 1.0))),
        index=jnp.asarray(0, jnp.int32),
    )


def scene(agents, *, others=None, processes=None, last=False, time_s=1.0, world="keep-spot"):
    """Return a scene with these agents, numbered in order."""
    numbered = [replace(own, index=jnp.asarray(i, jnp.int32)) for i, own in enumerate(agents)]
    return TaskScene(
        time_s=jnp.asarray(time_s),
        agents=jax.tree.map(lambda *leaves: jnp.stack(leaves), *numbered),
        others=others or {},
        world=load_scenario(world).world,
        processes=processes or {},
        last=jnp.asarray(last),
    )


class Flights:
    """Environment with functions compiled once."""

    def __init__(self, env):
        self.env = env
        with env.precision_context():
            self.reset = jax.jit(env.reset)
            self.step = jax.jit(env.step)
            self._begun = jax.jit(jax.vmap(env.reset))

    def begun(self, count):
        """Return the initial states of several episodes."""
        with self.env.precision_context():
            return self._begun(keys(count))[0]

    def truths(self, state):
        """Return true positions and velocities of all vehicles by name, in the fleet's order."""
        motions = self.env.fleet.truths(state.fleet)
        names = [name for group in self.env.fleet.groups for name in group.names]
        rows = [
            np.concatenate([np.stack([v.x, v.y, v.z], -1) for v in vectors])
            for vectors in (
                [own.position_world_m for own in motions],
                [own.velocity_world_mps for own in motions],
            )
        ]
        return {name: (rows[0][i], rows[1][i]) for i, name in enumerate(names)}


def keys(count):
    return jax.vmap(lambda i: jax.random.fold_in(seed_key(1), i))(
        jnp.arange(count, dtype=jnp.int32)
    )


def positions(fleet, state):
    """Return the positions of all vehicles, in the fleet's order."""
    places = [own.position_world_m for own in fleet.truths(state)]
    return jnp.concatenate([jnp.stack([p.x, p.y, p.z], axis=-1) for p in places])


def policy(folder, inputs, outputs, task, seed=0):
    """Write the file of a network with random weights; return its path and the network."""
    drawn = np.random.default_rng(seed)
    arrays = {
        "weight_0": drawn.normal(0.0, 0.3, (8, inputs)),
        "bias_0": drawn.normal(0.0, 0.1, 8),
        "weight_1": drawn.normal(0.0, 0.1, (outputs, 8)),
        "bias_1": np.zeros(outputs),
        "mean": np.zeros(inputs),
        "deviation": np.ones(inputs),
    }
    path = folder / "policy.npz"
    np.savez(path, **arrays, task=task)
    layers = [arrays[f"weight_{i}"] for i in range(2)], [arrays[f"bias_{i}"] for i in range(2)]
    return path, Network(*map(tuple, layers), arrays["mean"], arrays["deviation"])
