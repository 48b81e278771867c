"""The Pelican's dynamics flown alone, without scenario, area or control cascade."""

import math
from functools import cache
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from kittiwake.core.commands import AttitudeThrottle
from kittiwake.core.kinematics import Start
from kittiwake.geometry.vec3 import Vec3
from kittiwake.physics.attitude_response import AttitudeResponse
from kittiwake.scenario.parameters import build_component
from kittiwake.vehicles import VEHICLES
from kittiwake.world.surroundings import Air, Surroundings

DT_S = 0.02
HOVER = 0.590043539
ALOFT = Vec3(0.0, 0.0, 500.0)


@cache
def pelican(**parameters: float) -> AttitudeResponse:
    """The Pelican without process noise, with parameters changed."""
    noise_free = {"linear_noise_mps2": 0.0, "angular_noise_radps2": 0.0}
    given = {**VEHICLES.find("pelican").parameters(), **noise_free, **parameters}
    return build_component(AttitudeResponse, given, str)


def around(wind: Vec3 | None = None) -> Surroundings:
    """Air that moves with a wind, high up."""
    air = Air(288.15, 101325.0, 1.225)
    wind = Vec3.zero() if wind is None else wind
    return Surroundings(9.81, air, wind, 500.0, math.inf)


def sticks(steps: int, **given: Any) -> np.ndarray:
    """Rows of inputs, level at hover throttle unless given."""
    level = {"pitch_rad": 0.0, "roll_rad": 0.0, "throttle": HOVER, "yaw_rate_radps": 0.0}
    values = {**level, "battery_v": 11.0, **given}
    return np.column_stack([np.broadcast_to(np.asarray(v, float), steps) for v in values.values()])


@eqx.filter_jit
def _flown(model: Any, state: Any, rows: Any, wind: Vec3, dt_s: float) -> Any:
    def step(state: Any, row: Any) -> tuple[Any, Any]:
        command = AttitudeThrottle(*row)
        later = model.step(state, command, around(wind), dt_s, jax.random.key(0))
        return later, (
            model.kinematics(later),
            later.mechanical_state.velocities.thrust_n,
            _holding(model, later),
        )

    first = (
        model.kinematics(state),
        state.mechanical_state.velocities.thrust_n,
        _holding(model, state),
    )
    rest = jax.lax.scan(step, state, rows)[1]
    return jax.tree.map(lambda a, b: jnp.concatenate([jnp.atleast_1d(a), b]), first, rest)


def _holding(model: Any, state: Any) -> list[Any]:
    return [limit.is_satisfied for limit in model.limits(state)]


def fly(
    rows: np.ndarray,
    start: Start | None = None,
    wind: Vec3 | None = None,
    dt_s: float = DT_S,
    thrust_n: float | None = None,
    model: AttitudeResponse | None = None,
) -> tuple[Any, Any, Any]:
    """Motion, thrust and validity at the start and after each row's step."""
    model = pelican() if model is None else model
    start = Start(ALOFT) if start is None else start
    state = model.init(start.kinematics(), around())
    if thrust_n is not None:
        state = eqx.tree_at(lambda s: s.mechanical_state.velocities.thrust_n, state, thrust_n)
    wind = Vec3.zero() if wind is None else wind
    as_arrays = jax.tree.map(lambda leaf: jnp.asarray(leaf, float), (state, wind))
    return _flown(model, as_arrays[0], rows, as_arrays[1], dt_s)


def rows_of(v: Vec3) -> np.ndarray:
    """A vector over time as rows."""
    return np.column_stack([v.x, v.y, v.z])


def about_z(angle_rad: float) -> np.ndarray:
    """The matrix that turns vectors about the world's z axis."""
    c, s = math.cos(angle_rad), math.sin(angle_rad)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
