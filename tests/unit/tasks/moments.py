"""Scenes written down by hand, for which a task's functions are computed without a flight."""

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
from kittiwake.world.world import World


def task_in(name: str, *overrides: str) -> tuple[AbstractTask, World, Any]:
    """A task of the library, its world and its vehicles, of which nothing is compiled."""
    scenario = load_scenario(name, overrides)
    return task_of(scenario), scenario.world, scenario.vehicles


def moving(
    position_world_m: Sequence[float],
    velocity_world_mps: Sequence[float] = (0.0, 0.0, 0.0),
    **others: Any,
) -> Kinematics:
    """A vehicle's motion; level and to the east where nothing else is said."""
    start = Start(Vec3.of(position_world_m), velocity_world_mps=Vec3.of(velocity_world_mps))
    return replace(start, **others).kinematics()


def around(height_m: float, **others: Any) -> Surroundings:
    """Calm air so high over the ground, and what else is said."""
    inf = float("inf")
    still = Surroundings(9.81, Air(288.15, 101325.0, 1.225), Vec3.zero(), height_m, inf)
    return replace(still, **others)


def agent_of(truth: Kinematics, number: int = 0, **others: Any) -> Agent:
    """A vehicle that believes what is true."""
    plain = Agent(
        truth=truth,
        estimate=truth,
        measurements={},
        command=None,
        reports=jnp.zeros(0),
        actuators={},
        surroundings=around(float(truth.position_world_m.z)),
        number=jnp.asarray(number, jnp.int32),
    )
    return as_arrays(replace(plain, **others))


def ranges_of(ranges_m: Sequence[float]) -> RangesMeasurement:
    """What a sensor says that has an answer in each direction."""
    return RangesMeasurement(jnp.asarray(ranges_m), jnp.ones(len(ranges_m), bool))


def scene_of(world: World, *agents: Agent, time_s: float = 1.0, last: bool = False) -> TaskScene:
    """A world with these agents."""
    stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *agents)
    return TaskScene(time_s, stacked, {}, world, {}, last)
