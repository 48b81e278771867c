"""Obstacle avoidance by a repulsive lean of the attitude.

The lean is a hyperbola of the distance d

    alpha(d) = A / d^2 + B / d,     at most alpha_max;     0 for d > d_max

through alpha(d_ref) = alpha_ref and alpha(d_min) = alpha_max. Several are added as vectors, each
weighted by its own lean: with the horizontal parts u_i of the directions

    alpha = - sum_i alpha_i^2 u_i / sum_i alpha_i

so that opposite ones cancel, and many ranges of one wall lean no more than a single one. The
commanded attitude is rotated by |alpha| about the horizontal axis z x alpha of the world.

Source: the Matlab drone simulator of R. Coronel, with its distances of 0.4, 1 and 4.5 m and its
angles of 0.08 and 0.1 rad; it adds weighted vectors. The assignment of angles to distances and the
weights are chosen here.
"""

from typing import Annotated, ClassVar

import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import POSITIVE, Bounds
from kittiwake.core.commands import ThrustAttitude
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.guidance.avoidance.range_sensors import (
    AbstractRangeAvoidance,
    Directions,
    world_directions,
)
from kittiwake.interfaces.guidance import AvoidanceInputs
from kittiwake.pytree import field

LEAN_RAD = Bounds(0.0, 1.0, open_below=True)


class Repulsion(AbstractRangeAvoidance[tuple[()], ThrustAttitude]):
    """Leans away from near obstacles.

    Attributes:
        sensors: names of range sensors; by default all of the vehicle.
        least_m: d_min.
        reference_m: d_ref.
        farthest_m: d_max.
        reference_lean_rad: alpha_ref.
        max_lean_rad: alpha_max.
    """

    command_type: ClassVar[type] = ThrustAttitude

    sensors: tuple[str, ...] | None = field(static=True, default=None)
    least_m: Annotated[Real, POSITIVE] = 0.4
    reference_m: Annotated[Real, POSITIVE] = 1.0
    farthest_m: Annotated[Real, POSITIVE] = 4.5
    reference_lean_rad: Annotated[Real, LEAN_RAD] = 0.08
    max_lean_rad: Annotated[Real, LEAN_RAD] = 0.1
    beam_directions_body: Directions | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        """Raise an error for distances and angles that define no such hyperbola."""
        distances = (self.least_m, self.reference_m, self.farthest_m)
        angles = (self.reference_lean_rad, self.max_lean_rad)
        if not all(isinstance(number, int | float) for number in (*distances, *angles)):
            return
        if not self.least_m < self.reference_m <= self.farthest_m:
            given = ", ".join(f"{d:g}" for d in distances)
            message = (
                f"`least_m`, `reference_m`, `farthest_m`: got {given}; must increase, such as "
                "0.4, 1 and 4.5"
            )
            raise ValueError(message)
        if self.reference_lean_rad > self.max_lean_rad:
            message = (
                f"`reference_lean_rad`: got {angles[0]:g}; must be at most max_lean_rad, "
                f"{angles[1]:g}, as the lean decreases with distance"
            )
            raise ValueError(message)

    def lean_rad(self, distance_m: Float[Array, "..."]) -> Float[Array, "..."]:
        """Return alpha(d)."""
        near, far = self.least_m, self.reference_m
        # solves alpha d = A / d + B at both distances
        slope = self.max_lean_rad * near - self.reference_lean_rad * far
        a = slope / (1.0 / near - 1.0 / far)
        b = self.reference_lean_rad * far - a / far
        d = jnp.maximum(distance_m, near)
        lean = jnp.clip((a / d + b) / d, 0.0, self.max_lean_rad)
        return jnp.where(distance_m > self.farthest_m, 0.0, lean)

    @override
    def step(
        self, state: tuple[()], inputs: AvoidanceInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[tuple[()], ThrustAttitude]:
        del dt_s, key
        command: ThrustAttitude = inputs.command
        ranges = self._ranges(inputs)
        lean = jnp.where(ranges.valid, self.lean_rad(ranges.distance_m), 0.0)
        directions = world_directions(self._directions, inputs.estimate.q_world_from_body)
        total = jnp.sum(lean)
        x, y, _ = -(lean * lean / jnp.where(total > 0.0, total, 1.0)) @ directions
        rotation = Quaternion.from_rotation_vector(Vec3(-y, x, jnp.zeros_like(x)))
        attitude = rotation * command.q_world_from_body
        return state, ThrustAttitude(
            command.thrust_n, attitude, command.angular_velocity_body_radps
        )

    @classmethod
    @override
    def examples(cls) -> dict[str, "Repulsion"]:
        return {"by turns": cls(("ultrasonic-array", "sonar-cone"))}
