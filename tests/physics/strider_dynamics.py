"""The Strider's dynamics sailed alone, without scenario, area or control cascade."""

import math
from functools import cache
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from tests.physics.body_dynamics import numbers_as_arrays

from kittiwake.core.commands import RudderThrust
from kittiwake.core.kinematics import Start
from kittiwake.geometry.vec3 import Vec3
from kittiwake.physics.surface_vessel import SurfaceVessel
from kittiwake.scenario.merging import merged
from kittiwake.scenario.parameters import build_component
from kittiwake.vehicles import VEHICLES
from kittiwake.world.surroundings import Air, Surroundings

DT_S = 0.01
# rows of shared programs
LENGTH = 3000


@cache
def _strider() -> Any:
    return VEHICLES.find("strider").parameters()


def strider(**parameters: Any) -> SurfaceVessel:
    """The Strider with parameters changed, inside its parts too."""
    return build_component(SurfaceVessel, merged(_strider(), parameters), str)


def around(wind: Vec3 | None = None, current: Vec3 | None = None) -> Surroundings:
    """Air and water that move, at the surface."""
    still = Vec3(0.0, 0.0, 0.0)
    air = Air(288.15, 101325.0, 1.225)
    return Surroundings(9.81, air, wind or still, 0.0, math.inf, current or still)


def sailing(surge: float, sway: float = 0.0, yaw_rate: float = 0.0, yaw: float = 0.0) -> Start:
    """A start at the origin with velocities in the body."""
    c, s = math.cos(yaw), math.sin(yaw)
    velocity = Vec3(c * surge - s * sway, s * surge + c * sway, 0.0)
    return Start(
        yaw_rad=yaw, velocity_world_mps=velocity, angular_velocity_body_radps=Vec3(0, 0, yaw_rate)
    )


def orders(steps: int, rudder_rad: Any = 0.0, thrust_n: Any = 0.0) -> np.ndarray:
    """Rows of rudder and thrust."""
    columns = [np.broadcast_to(np.asarray(v, float), steps) for v in (rudder_rad, thrust_n)]
    return np.column_stack(columns)


@eqx.filter_jit
def _sailed(model: Any, state: Any, rows: Any, world: Any, dt_s: Any) -> Any:
    def step(state: Any, row: Any) -> tuple[Any, Any]:
        command = model.limit_command(RudderThrust(*row))
        later = model.step(state, command, world, dt_s, jax.random.key(0))
        return later, (model.kinematics(later), model.actuators(later))

    first = (model.kinematics(state), model.actuators(state))
    rest = jax.lax.scan(step, state, rows)[1]
    return jax.tree.map(lambda a, b: jnp.concatenate([jnp.atleast_1d(a), b]), first, rest)


def sail(
    model: SurfaceVessel,
    rows: np.ndarray,
    start: Start,
    world: Surroundings | None = None,
    dt_s: float = DT_S,
) -> tuple[Any, Any]:
    """Motion and actuators at the start and after each row's step."""
    world = jax.tree.map(
        lambda leaf: jnp.asarray(leaf, float), around() if world is None else world
    )
    state = model.init(start.kinematics(), world)
    state = jax.tree.map(lambda leaf: jnp.asarray(leaf, float), state)
    return at_any_length(_sailed, model, state, rows, world, dt_s)


def at_any_length(
    sailed: Any, model: Any, state: Any, rows: Any, world: Any, dt_s: float
) -> tuple[Any, Any]:
    """Motion and actuators by a program that voyages of several lengths and models share."""
    given = (numbers_as_arrays(model), state, world, jnp.asarray(dt_s))
    if any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves((given, rows))):
        return sailed(given[0], state, rows, world, given[3])
    more = -len(rows) % LENGTH
    longer = np.concatenate([rows, np.broadcast_to(rows[-1], (more, rows.shape[1]))])
    found = sailed(given[0], state, jnp.asarray(longer), world, given[3])
    return jax.tree.map(lambda leaf: np.asarray(leaf)[: len(rows) + 1], found)
