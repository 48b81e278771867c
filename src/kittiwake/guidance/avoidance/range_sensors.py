"""Common part of all avoidance: the ranges of a vehicle's sensors with their directions.

An invalid range means that nothing was detected, and counts as free. Distances are those from the
sensors, of which only the directions are known here.
"""

from collections.abc import Mapping
from typing import Generic

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float
from typing_extensions import override

from kittiwake.core.component import Input, State
from kittiwake.core.errors import ScenarioError
from kittiwake.core.kinematics import Kinematics
from kittiwake.core.measurements import AbstractMeasurement
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.trigonometry import sin_cos
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.build_context import BuildContext, independent_of_start
from kittiwake.interfaces.guidance import AbstractAvoidance, AvoidanceInputs
from kittiwake.interfaces.sensor import AbstractSensor
from kittiwake.pytree import AbstractVar, Module, replace_unchecked

# a sensor whose beams all point further down is for landing
DOWNWARD_Z = -0.9
Directions = Float[Array | np.ndarray, "ranges 3"]


class Ranges(Module):
    """Ranges of all sensors, concatenated, and flags of the detections."""

    distance_m: Float[Array, " ranges"]
    valid: Bool[Array, " ranges"]


class AbstractRangeAvoidance(AbstractAvoidance[State, Input], Generic[State, Input]):
    """Avoidance with range sensors: the named ones, or all that do not look straight down."""

    sensors: AbstractVar[tuple[str, ...] | None]
    beam_directions_body: AbstractVar[Directions | None]

    @override
    @independent_of_start
    def prepare(self, context: BuildContext) -> "AbstractRangeAvoidance[State, Input]":
        directions = directions_of(context.sensors, self.sensors)
        known = np.array([[v.x, v.y, v.z] for one in directions.values() for v in one], float)
        return replace_unchecked(self, sensors=tuple(directions), beam_directions_body=known)

    @property
    def _directions(self) -> Float[Array, "ranges 3"]:
        assert self.beam_directions_body is not None, "prepare() comes before the flight"
        return jnp.asarray(self.beam_directions_body)

    def _ranges(self, inputs: AvoidanceInputs[Input]) -> Ranges:
        """Return the last ranges of the sensors."""
        measurements = [inputs.measurements[name] for name in self.sensors or ()]
        return Ranges(
            jnp.concatenate([_distances(one) for one in measurements]),
            jnp.concatenate([jnp.ravel(one.valid) for one in measurements]),
        )


def level_directions(
    beam_directions_body: Directions, estimate: Kinematics
) -> Float[Array, "ranges 3"]:
    """Return (ranges, 3) directions in the world for a level body: rotated by its yaw alone."""
    sine, cosine = sin_cos(jnp.asarray(estimate.euler_world_from_body.yaw_rad))
    x, y, z = jnp.asarray(beam_directions_body).T
    return jnp.stack([cosine * x - sine * y, sine * x + cosine * y, z], axis=-1)


def world_directions(beam_directions_body: Directions, q_world_from_body: Quaternion) -> Directions:
    """Return (ranges, 3) directions in the world for the actual attitude of the body."""
    q = q_world_from_body
    return jax.vmap(lambda direction: q.rotate(Vec3.of(direction)).array)(
        jnp.asarray(beam_directions_body)
    )


def directions_of(
    sensors: Mapping[str, AbstractSensor], names: tuple[str, ...] | None
) -> dict[str, tuple[Vec3, ...]]:
    """Return the beam directions of the sensors by name.

    Raises:
        ScenarioError: if a sensor is missing or measures no ranges, or if there is none.
    """
    directions = {name: sensor.beam_directions_body() for name, sensor in sensors.items()}
    ranging = {name: direction for name, direction in directions.items() if direction is not None}
    aside = [
        name for name, direction in ranging.items() if any(one.z > DOWNWARD_Z for one in direction)
    ]
    allowed = f"range sensors of this vehicle: {', '.join(ranging) or 'none'}"
    problems = [
        f"`sensors`: {_problem(name, sensors)}; {allowed}"
        for name in names or ()
        if name not in ranging
    ]
    if problems:
        raise ScenarioError("; ".join(problems))
    if names == () or not (names or aside):
        message = (
            "`sensors`: the vehicle has no range sensor; write one under the vehicle's sensors, "
            "such as ring: ultrasonic-fan, and its name here, or omit this key for all"
        )
        raise ScenarioError(message)
    return {name: ranging[name] for name in names or aside}


def _problem(name: str, sensors: Mapping[str, AbstractSensor]) -> str:
    if name not in sensors:
        return f"the vehicle has no range sensor '{name}'"
    return (
        f"the sensor '{name}' measures no ranges along fixed directions (a range-camera does with "
        "along: ray)"
    )


def _distances(measurement: AbstractMeasurement) -> Float[Array, " ranges"]:
    """Return the only quantity in meters."""
    (name,) = [name for name, unit in measurement.quantities().items() if unit == "m"]
    return jnp.ravel(getattr(measurement, name))
