"""What all that avoids shares: the ranges of a vehicle's sensors, each with its direction.

A range that is not valid says that nothing was heard, and counts as free. Distances are those from
the sensors, of which only the directions are known here.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float
from typing_extensions import override

from kittiwake.core.errors import ScenarioError
from kittiwake.core.kinematics import Kinematics
from kittiwake.core.measurements import AbstractMeasurement
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.trigonometry import sin_cos
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.build_context import BuildContext
from kittiwake.interfaces.guidance import AbstractAvoidance, AvoidanceInputs
from kittiwake.interfaces.sensor import AbstractSensor

# a sensor all of whose looks point further down is for landing
DOWNWARDS = -0.9
Directions = Float[Array | np.ndarray, "ranges 3"]


class Ranges(eqx.Module):
    """Of all sensors, one after another: distances, and whether something is there."""

    distance_m: Float[Array, " ranges"]
    valid: Bool[Array, " ranges"]


class AbstractRangeAvoidance(AbstractAvoidance):
    """Avoids by the ranges of sensors: those named, or all that tell ranges not straight down."""

    sensors: eqx.AbstractVar[tuple[str, ...] | None]
    looks_body: eqx.AbstractVar[Directions | None]

    @override
    def prepare(self, context: BuildContext) -> "AbstractRangeAvoidance":
        looks = looks_of(context.sensors, self.sensors)
        known: Any = np.array([[v.x, v.y, v.z] for one in looks.values() for v in one], float)
        named = replace(self, sensors=tuple(looks))
        return eqx.tree_at(lambda own: own.looks_body, named, known, is_leaf=lambda x: x is None)

    @property
    def _looks(self) -> Float[Array, "ranges 3"]:
        assert self.looks_body is not None, "prepared() comes before the flight"
        return jnp.asarray(self.looks_body)

    def _ranges(self, inputs: AvoidanceInputs) -> Ranges:
        """What the sensors said last."""
        said = [inputs.measurements[name] for name in self.sensors or ()]
        return Ranges(
            jnp.concatenate([_distances(one) for one in said]),
            jnp.concatenate([jnp.ravel(one.valid) for one in said]),
        )


def level_looks(looks_body: Directions, estimate: Kinematics) -> Float[Array, "ranges 3"]:
    """Directions of a body held level, in the world: turned by its yaw alone."""
    sine, cosine = sin_cos(jnp.asarray(estimate.euler_world_from_body.yaw_rad))
    x, y, z = jnp.asarray(looks_body).T
    return jnp.stack([cosine * x - sine * y, sine * x + cosine * y, z], axis=-1)


def world_looks(looks_body: Directions, q_world_from_body: Quaternion) -> Directions:
    """Directions of the body as it is, in the world."""
    q = q_world_from_body
    return jax.vmap(lambda look: q.rotate(Vec3.of(look)).array)(jnp.asarray(looks_body))


def looks_of(
    sensors: Mapping[str, AbstractSensor], names: tuple[str, ...] | None
) -> dict[str, tuple[Vec3, ...]]:
    """Where each of the sensors looks, by its name.

    Raises:
        ScenarioError: if one is missing, or tells no ranges, or if there is none.
    """
    looks = {name: sensor.looks_body() for name, sensor in sensors.items()}
    ranging = {name: look for name, look in looks.items() if look is not None}
    aside = [name for name, look in ranging.items() if any(one.z > DOWNWARDS for one in look)]
    can = f"those of this vehicle that do: {', '.join(ranging) or 'none'}"
    problems = [
        f"sensors: {_lacking(name, sensors)}; {can}" for name in names or () if name not in ranging
    ]
    if problems:
        raise ScenarioError("; ".join(problems))
    if names == () or not (names or aside):
        message = (
            "sensors: none tells how far obstacles are; write one under the vehicle's sensors, "
            "such as ring: ultrasonic-fan, and its name here, or leave this out for all"
        )
        raise ScenarioError(message)
    return {name: ranging[name] for name in names or aside}


def _lacking(name: str, sensors: Mapping[str, AbstractSensor]) -> str:
    if name not in sensors:
        return f"the vehicle has no sensor '{name}' that tells ranges"
    return (
        f"the sensor '{name}' tells no ranges along fixed directions (a range-camera does with "
        "along: ray)"
    )


def _distances(measurement: AbstractMeasurement) -> Float[Array, " ranges"]:
    """The one quantity in meters."""
    (name,) = [name for name, unit in measurement.quantities().items() if unit == "m"]
    return jnp.ravel(getattr(measurement, name))
