"""Distances of radio anchors at known places, measured one after another.

    y_k = |p - a_k| + n,    n evenly spread in [-b, b]

p: the vehicle's center of mass; a_k: the anchor whose turn it is; n: noise. A reading is cut to the
range; an anchor farther away does not answer, and the longest range is told as not valid.

Source: the Matlab drone simulator of R. Coronel: eight anchors, of which 4 to 8 are used, noise of
0.1 m, up to 100 m. Its slots last 63 ms, 1/16 s in whole milliseconds; here they are exact.
Neglected: walls that reflect the radio or are in its way, where the antenna sits, motion within a
slot.
"""

from typing import Annotated, ClassVar

import jax.numpy as jnp
from jaxtyping import Array, Int, PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE
from kittiwake.core.measurements import AnchorMeasurement
from kittiwake.core.noise import uniform
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.sensor import AbstractSensor, SensorInputs

# three spheres meet in two points
FEWEST_ANCHORS = 4


class AnchorRanging(AbstractSensor):
    """Ranges to anchors in turn; ``rate_hz`` is how many of them a second."""

    measures: ClassVar[type] = AnchorMeasurement
    default_rate_hz: ClassVar[float | None] = 16.0

    anchors_world_m: tuple[Vec3, ...] = (
        Vec3(1.0, 0.0, 0.0),
        Vec3(0.0, 1.0, 0.0),
        Vec3(0.0, 0.0, 1.0),
        Vec3(1.0, 1.0, 0.0),
        Vec3(1.0, 0.0, 1.0),
        Vec3(1.0, 1.0, 1.0),
        Vec3(0.0, 1.0, 1.0),
        Vec3(2.0, 1.0, 2.0),
    )
    noise_bound_m: Annotated[Real, NOT_NEGATIVE] = 0.1
    max_range_m: Annotated[Real, POSITIVE] = 100.0

    def __check_init__(self) -> None:
        """Refuses so few anchors that no place follows from them."""
        if len(self.anchors_world_m) < FEWEST_ANCHORS:
            message = (
                f"anchors_world_m: {len(self.anchors_world_m)} is too few to tell a place by; "
                f"write at least {FEWEST_ANCHORS} places, such as [[0, 0, 0], [9, 0, 3], ...]"
            )
            raise ValueError(message)

    @override
    def init(self, key: PRNGKeyArray) -> Int[Array, ""]:
        del key
        return jnp.asarray(0, jnp.int32)

    @override
    def step(
        self, state: Int[Array, ""], inputs: SensorInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[Int[Array, ""], AnchorMeasurement]:
        later, measured, _ = self.step_beside_ideal(state, inputs, dt_s, key)
        return later, measured

    @override
    def step_beside_ideal(
        self, state: Int[Array, ""], inputs: SensorInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[Int[Array, ""], AnchorMeasurement, AnchorMeasurement]:
        del dt_s
        anchors = jnp.stack([jnp.asarray(anchor.array) for anchor in self.anchors_world_m])
        distance = (inputs.truth.position_world_m - Vec3.of(anchors[state])).norm()
        noise = uniform(key) * self.noise_bound_m
        true = self._told(distance, jnp.zeros_like(noise), state)
        measured = self._told(distance, noise, state)
        return (state + 1) % len(self.anchors_world_m), measured, true

    def _told(self, distance_m: Real, noise_m: Real, anchor: Int[Array, ""]) -> AnchorMeasurement:
        answers = distance_m <= self.max_range_m
        reading = jnp.clip(distance_m + noise_m, 0.0, self.max_range_m)
        return AnchorMeasurement(jnp.where(answers, reading, self.max_range_m), anchor, answers)
