"""Bodies flown alone: dynamics stepped in one compiled loop, in air that moves or stands still."""

import dataclasses
import math
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from kittiwake.core.arrays import as_arrays
from kittiwake.core.kinematics import Start
from kittiwake.geometry.inertia import Inertia
from kittiwake.geometry.vec3 import Vec3
from kittiwake.physics.wrench_body import WrenchBody
from kittiwake.scenario.parameters import build_component
from kittiwake.vehicles import VEHICLES
from kittiwake.world.surroundings import Air, Surroundings

KEY = jax.random.key(0)


def around(wind: Vec3 | None = None, gravity_mps2: float = 9.81) -> Surroundings:
    """Air at sea level, moving with a wind, far above the ground."""
    air = Air(288.15, 101325.0, 1.225)
    return Surroundings(gravity_mps2, air, wind or Vec3.zero(), 500.0, math.inf)


def vehicle(name: str, **parameters: Any) -> Any:
    """The dynamics of a registered vehicle with parameters changed."""
    model = VEHICLES.find(name)
    return build_component(model.dynamics, {**model.parameters(), **parameters}, str)


def airborne(name: str, **parameters: Any) -> Any:
    """The same without feet, which high in the air change nothing but the time to compile."""
    dynamics = vehicle(name, **parameters)
    return (
        dataclasses.replace(dynamics, landing_gear=None)
        if hasattr(dynamics, "landing_gear")
        else dynamics
    )


def body(xx: float, yy: float, zz: float, **given: Any) -> WrenchBody:
    """A body of 1 kg with these moments, unless other parameters are given."""
    return WrenchBody(**{"mass_kg": 1.0, "inertia_kgm2": Inertia(xx, yy, zz), **given})


def numbers_as_arrays(given: Any) -> Any:
    """What is given with its numbers as arguments of a program, not as parts of it."""
    return jax.tree.map(lambda leaf: jnp.asarray(leaf) if isinstance(leaf, float) else leaf, given)


def flown(
    dynamics: Any,
    start: Start,
    command: Any,
    dt_s: float,
    steps: int,
    surroundings: Surroundings,
    every: int = 1,
) -> Any:
    """The motion after each ``every`` steps under a constant command, the start first."""
    numbers = numbers_as_arrays((dynamics, start, command, dt_s, surroundings))
    return _flown(*numbers, steps, every)


@eqx.filter_jit
def _flown(
    dynamics: Any,
    start: Any,
    command: Any,
    dt_s: Any,
    surroundings: Any,
    steps: int,
    every: int,
) -> Any:
    begun = dynamics.init(start.kinematics(), surroundings)
    state = as_arrays(begun)

    def step(state: Any, _: None) -> tuple[Any, None]:
        return dynamics.step(state, command, surroundings, dt_s, KEY), None

    def block(state: Any, _: None) -> tuple[Any, Any]:
        later = jax.lax.scan(step, state, None, length=every)[0]
        return later, dynamics.kinematics(later)

    _, rest = jax.lax.scan(block, state, None, length=steps // every)
    first = dynamics.kinematics(state)
    return jax.tree.map(lambda a, b: jnp.concatenate([jnp.asarray(a)[None], b]), first, rest)


def turned(v: Vec3, angle_rad: float) -> Vec3:
    """A vector turned about the world's z axis."""
    c, s = math.cos(angle_rad), math.sin(angle_rad)
    return Vec3(c * v.x - s * v.y, s * v.x + c * v.y, v.z)
