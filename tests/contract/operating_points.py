"""Operating points of contract tests: motion, surroundings and commands that are varied."""

import dataclasses
import math
from functools import cache
from typing import Any, NamedTuple, get_args, get_origin, get_type_hints

import jax.numpy as jnp
import numpy as np

from kittiwake.core.columns import from_columns, to_columns
from kittiwake.core.kinematics import Kinematics, Start
from kittiwake.geometry.euler import EulerZYX
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.vec3 import Vec3
from kittiwake.pytree import Module
from kittiwake.world.surroundings import Air, Surroundings


class OperatingPoint(NamedTuple):
    """Test conditions of a component: motion, surroundings, and size of the inputs."""

    name: str
    start: Start
    wind: Vec3
    height_m: float
    signal_size: float

    @property
    def motion(self) -> Kinematics:
        """True motion, with a specific force."""
        return _motion(self, jnp.result_type(float))

    @property
    def surroundings(self) -> Surroundings:
        """Surroundings with air at sea level."""
        air = Air(288.15, 101325.0, 1.225)
        return Surroundings(9.81, air, self.wind, self.height_m, math.inf, self.wind * 0.1)


@cache
def _motion(point: OperatingPoint, dtype: Any) -> Kinematics:
    """Return the motion at a point, computed once for each precision."""
    del dtype
    force = Vec3(0.3, -0.2, 9.7) * (1.0 + point.signal_size)
    return dataclasses.replace(point.start.kinematics(), specific_force_body_mps2=force)


def cruising(shift: float = 0.0) -> OperatingPoint:
    """Return typical conditions; different ones for another shift."""
    position = Vec3(1.0 + shift, 2.0, 10.0 - shift)
    velocity = Vec3(1.0, -0.5 + shift, 0.2)
    rates = Vec3(0.1, -0.2, 0.3 + 0.1 * shift)
    start = Start(position, 0.1, -0.2, 0.3 + shift, velocity, rates)
    return OperatingPoint("cruising", start, Vec3(2.0, 1.0 + shift, 0.0), 10.0 - shift, 1.0 + shift)


CRUISING = cruising()
AT_REST = OperatingPoint("at rest", Start(), Vec3.zero(), 0.0, 0.0)
EXTREMES = (
    AT_REST,
    OperatingPoint(
        "far and fast",
        Start(Vec3(1e7, -1e7, 1e7), 1e3, -1e3, 1e4, Vec3(-1e3, 1e3, 1e3), Vec3(1e2, -1e2, 1e2)),
        *(Vec3(1e2, -1e2, 10.0), 1e6, 1e6),
    ),
    OperatingPoint(
        "nose up below ground",
        Start(Vec3(0.0, 0.0, -5e3), 3.0, np.pi / 2.0, -3.0, Vec3(0.0, 0.0, -1e3)),
        *(Vec3(-1e2, 0.0, 0.0), -5e3, -1e6),
    ),
    OperatingPoint(
        "hardly moving",
        Start(Vec3(1e-30, 0.0, 1e-30), 1e-30, -1e-30, 0.0, Vec3(1e-30, -1e-30, 0.0)),
        *(Vec3(1e-30, 1e-30, 0.0), 1e-30, 1e-30),
    ),
)


def signal(command_type: type[Module], size: float) -> Module:
    """Return a command of this type with numbers of this size."""

    def value(hint: Any) -> Any:
        if hint is Vec3:
            return Vec3(0.3, -0.2, 0.5) * size
        if hint is Quaternion:
            return Quaternion.from_euler(EulerZYX(0.3 * size, -0.2 * size, 0.5 * size))
        if get_origin(hint) is tuple:
            return tuple(value(item) for item in get_args(hint))
        if isinstance(hint, type) and issubclass(hint, Module):
            return signal(hint, size)
        return 0.4 * size

    hints = get_type_hints(command_type)
    return command_type(
        **{field.name: value(hints[field.name]) for field in dataclasses.fields(command_type)}
    )


def command(dynamics: Any, point: OperatingPoint) -> Any:
    """Return an actuator command within its bounds; on a bound in an extreme point."""
    size = point.signal_size
    share = 0.55 if 0.0 < size < 10.0 else float(size > 0.0)
    bounds = dynamics.command_bounds.items()
    inside = {name: low + (high - low) * share for name, (low, high) in bounds}
    return from_columns(
        dynamics.command_type, to_columns(signal(dynamics.command_type, size)) | inside
    )
