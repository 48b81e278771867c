"""Scenes with given values, for tests of a task's functions without a flight."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp

from kittiwake.core.arrays import as_arrays
from kittiwake.core.kinematics import Kinematics, Start
from kittiwake.core.measurements import RangesMeasurement
from kittiwake.geometry.vec3 import Vec3
from kittiwake.scenario.load import load_scenario
from kittiwake.tasks.make import task_of
from kittiwake.tasks.task import AbstractTask, Agent, TaskScene
from kittiwake.world.surroundings import Air, Surroundings
from kittiwake.world.world import WorldModel


def task_in(name: str, *overrides: str) -> tuple[AbstractTask, WorldModel, Any]:
    """Return a task of the library, its world and its vehicles, without compilation."""
    scenario = load_scenario(name, overrides)
    return task_of(scenario), scenario.world, scenario.vehicles


def moving(
    position_world_m: Sequence[float],
    velocity_world_mps: Sequence[float] = (0.0, 0.0, 0.0),
    **others: Any,
) -> Kinematics:
    """Return a vehicle's motion, by default level and facing east."""
    start = Start(Vec3.of(position_world_m), velocity_world_mps=Vec3.of(velocity_world_mps))
    return replace(start, **others).kinematics()


def around(height_m: float, **others: Any) -> Surroundings:
    """Return surroundings in calm air at a height over the ground."""
    inf = float("inf")
    still = Surroundings(9.81, Air(288.15, 101325.0, 1.225), Vec3.zero(), height_m, inf)
    return replace(still, **others)


def agent_of(truth: Kinematics, index: int = 0, **others: Any) -> Agent:
    """Return a vehicle whose estimate is the truth."""
    plain = Agent(
        truth=truth,
        estimate=truth,
        measurements={},
        command=None,
        reported=jnp.zeros(0),
        actuators={},
        surroundings=around(float(truth.position_world_m.z)),
        index=jnp.asarray(index, jnp.int32),
    )
    return as_arrays(replace(plain, **others))


def ranges_of(ranges_m: Sequence[float]) -> RangesMeasurement:
    """Return ranges that are valid in all directions."""
    return RangesMeasurement(jnp.asarray(ranges_m), jnp.ones(len(ranges_m), bool))


def scene_of(
    world: WorldModel, *agents: Agent, time_s: float = 1.0, last: bool = False
) -> TaskScene:
    """Return a scene with these agents."""
    stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *agents)
    return TaskScene(time_s, stacked, {}, world, {}, last)
