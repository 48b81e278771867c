"""Distances to radio anchors at known positions, measured one after another.

    y_k = |p - a_k| + n,    n evenly spread in [-b, b]

p: the vehicle's center of mass; a_k: the anchor of this slot; n: noise. A reading is clipped to the
range; an anchor farther away does not answer: the reading is the longest range, not valid.

Source: the Matlab drone simulator of R. Coronel: eight anchors, of which 4 to 8 are used, noise of
0.1 m, up to 100 m. Its slots last 63 ms, 1/16 s in whole milliseconds; here they are exact.
Neglected: reflection and blockage of the radio by walls, the antenna's position, motion within a
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
MIN_ANCHORS = 4


class AnchorRanging(AbstractSensor[Int[Array, ""], AnchorMeasurement]):
    """Ranges to anchors in turn; ``rate_hz`` is the number of ranges per second.

    Attributes:
        anchors_world_m: positions of at least four anchors.
        noise_bound_m: b.
        max_range_m: distance beyond which an anchor does not answer.
    """

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

    def __post_init__(self) -> None:
        """Raise ValueError if the anchors are too few to determine a position."""
        if len(self.anchors_world_m) < MIN_ANCHORS:
            message = (
                f"anchors_world_m: got {len(self.anchors_world_m)} anchors, too few for a fix; "
                f"write at least {MIN_ANCHORS}, such as [[0, 0, 0], [9, 0, 3], ...]"
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
        next_state, measured, _ = self.step_with_ideal(state, inputs, dt_s, key)
        return next_state, measured

    @override
    def step_with_ideal(
        self, state: Int[Array, ""], inputs: SensorInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[Int[Array, ""], AnchorMeasurement, AnchorMeasurement]:
        del dt_s
        anchors = jnp.stack([jnp.asarray(anchor.array) for anchor in self.anchors_world_m])
        distance = (inputs.truth.position_world_m - Vec3.of(anchors[state])).norm()
        noise = uniform(key) * self.noise_bound_m
        true = self._measurement(distance, jnp.zeros_like(noise), state)
        measured = self._measurement(distance, noise, state)
        return (state + 1) % len(self.anchors_world_m), measured, true

    def _measurement(
        self, distance_m: Real, noise_m: Real, anchor: Int[Array, ""]
    ) -> AnchorMeasurement:
        answers = distance_m <= self.max_range_m
        reading = jnp.clip(distance_m + noise_m, 0.0, self.max_range_m)
        return AnchorMeasurement(jnp.where(answers, reading, self.max_range_m), anchor, answers)
