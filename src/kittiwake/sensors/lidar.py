"""A lidar that turns in a plane.

Beam i of n stands at the angle a_i to the left of its x axis,

    a_i = -A / 2 + i da,    da = A / (n - 1),    or A / n where A is a whole turn

so that no beam of a whole turn is told twice. The reading is r_i + sigma N(0, 1), cut to the range
that can be told; all beams of a scan are taken at one instant.
"""

import math
from typing import Annotated, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE, Bounds
from kittiwake.core.component import AbstractSensor, SensorInputs
from kittiwake.core.measurements import RangesMeasurement
from kittiwake.core.scene import scene
from kittiwake.geometry.scalar import Real
from kittiwake.sensors.mount import Mount
from kittiwake.sensors.view import Ranges, Reach, directions, refuse_without_range, view_of

BEAMS = Bounds(2.0, 4096.0)
TURN_RAD = 2.0 * math.pi
FIELD_RAD = Bounds(0.0, TURN_RAD, open_below=True)
# an angle in degrees may come out as a little less than the whole turn that it is
TOLERANCE_RAD = 1e-6


class Lidar2D(AbstractSensor):
    """Ranges in a plane, evenly spread over an angle about the x axis of its mount."""

    measures: ClassVar[type] = RangesMeasurement
    default_rate_hz: ClassVar[float | None] = 10.0

    mount: Mount = Mount()
    beams: Annotated[int, BEAMS] = eqx.field(static=True, default=90)
    field_of_view_rad: Annotated[Real, FIELD_RAD] = TURN_RAD
    min_range_m: Annotated[Real, NOT_NEGATIVE] = 0.1
    max_range_m: Annotated[Real, POSITIVE] = 12.0
    deviation_m: Annotated[Real, NOT_NEGATIVE] = 0.01

    def __check_init__(self) -> None:
        """Refuses ranges of which there is none."""
        refuse_without_range(self.min_range_m, self.max_range_m)

    def step(
        self, state: tuple[()], inputs: SensorInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[tuple[()], RangesMeasurement]:
        """The scan."""
        del dt_s
        noise = jax.random.normal(key, (self.beams,), jnp.result_type(float)) * self.deviation_m
        return state, self._read(inputs, noise)

    def ideal(self, inputs: SensorInputs) -> RangesMeasurement:
        """The scan without noise."""
        return self._read(inputs, 0.0)

    def angles_rad(self) -> Float[Array, " beams"]:
        """Of the beams, to the left from the x axis of the mount."""
        whole = self.field_of_view_rad >= TURN_RAD - TOLERANCE_RAD
        gaps = jnp.where(whole, float(self.beams), self.beams - 1.0)
        places = jnp.arange(self.beams, dtype=jnp.result_type(float))
        return places * (self.field_of_view_rad / gaps) - 0.5 * self.field_of_view_rad

    def _read(self, inputs: SensorInputs, noise_m: Ranges) -> RangesMeasurement:
        reach, view = Reach(self.min_range_m, self.max_range_m), view_of(inputs.truth, self.mount)
        angles = self.angles_rad()
        rays = directions(angles, jnp.zeros_like(angles))[:, None]
        answers = reach.nearest_answers_m(scene(inputs), view, rays, jnp.zeros((self.beams, 3)))
        return RangesMeasurement(reach.told_m(answers, noise_m), jnp.isfinite(answers))
