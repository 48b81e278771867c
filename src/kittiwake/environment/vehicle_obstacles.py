"""Other vehicles that a vehicle's range sensors can detect.

All pairs are compared, so the cost grows with the square of their number.
"""

from dataclasses import replace
from functools import reduce
from operator import and_
from typing import Annotated

import jax
import jax.numpy as jnp
from typing_extensions import override

from kittiwake.core.bounds import Bounds
from kittiwake.environment.obstacles.boxes import Box
from kittiwake.geometry.scalar import Flag, Integer
from kittiwake.pytree import field
from kittiwake.world.environment import AbstractInteraction
from kittiwake.world.interaction_input import InteractionInput
from kittiwake.world.moving_obstacles import VehicleObstacle
from kittiwake.world.surroundings import Surroundings

NEAREST_BOUNDS = Bounds(1.0, 64.0)


class VehicleObstacles(AbstractInteraction):
    """The nearest other vehicles of each vehicle, as bounding boxes.

    Distances are between centers of mass. A vehicle without ``size_body_m`` is invisible.

    Attributes:
        nearest: number of others that each vehicle can detect.
    """

    nearest: Annotated[int, NEAREST_BOUNDS] = field(static=True, default=4)

    @override
    def __call__(self, vehicles: InteractionInput, surroundings: Surroundings) -> Surroundings:
        count = jnp.size(vehicles.motion.position_world_m.x)
        if count == 1:
            return surroundings
        present = jax.vmap(_present)(vehicles)

        def with_obstacles(around: Surroundings, own: Integer) -> Surroundings:
            others = present & (jnp.arange(count) != own)
            distances_m2 = jax.vmap(lambda other: _square_m2(other, _vehicle_at(vehicles, own)))(
                vehicles
            )
            _, near = jax.lax.top_k(
                -jnp.where(others, distances_m2, jnp.inf), min(self.nearest, count - 1)
            )
            obstacles = tuple(_neighbor(_vehicle_at(vehicles, i), others[i]) for i in near)
            return replace(around, vehicle_obstacles=obstacles)

        return jax.vmap(with_obstacles)(surroundings, jnp.arange(count))


def _vehicle_at(vehicles: InteractionInput, index: Integer) -> InteractionInput:
    return jax.tree.map(lambda leaf: leaf[index], vehicles)


def _square_m2(one: InteractionInput, other: InteractionInput) -> jax.Array:
    offset = one.motion.position_world_m - other.motion.position_world_m
    return jnp.asarray(offset.dot(offset))


def _present(vehicle: InteractionInput) -> Flag:
    """Return True if the vehicle has a size and has not diverged."""
    numbers = jax.tree.leaves((vehicle.motion, vehicle.size_body_m))
    size = vehicle.size_body_m
    return reduce(and_, map(jnp.isfinite, numbers)) & (size.x > 0.0) & (size.y > 0.0)


def _neighbor(vehicle: InteractionInput, present: Flag) -> VehicleObstacle:
    # zeros instead of NaN of a diverged vehicle
    vehicle = jax.tree.map(lambda leaf: jnp.where(present, leaf, 0.0), vehicle)
    motion, angles = vehicle.motion, vehicle.motion.euler_world_from_body
    rates_body = motion.angular_velocity_body_radps
    body = Box(
        center_world_m=motion.position_world_m,
        sides_m=vehicle.size_body_m,
        yaw_rad=angles.yaw_rad,
        pitch_rad=angles.pitch_rad,
        roll_rad=angles.roll_rad,
    )
    return VehicleObstacle(
        body=body,
        position_world_m=motion.position_world_m,
        velocity_world_mps=motion.velocity_world_mps,
        angular_velocity_world_radps=motion.q_world_from_body.rotate(rates_body),
        present=present,
    )
