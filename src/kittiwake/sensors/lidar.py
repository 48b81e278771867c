"""Planar scanning lidar.

Beam i of n is at the angle a_i to the left of the x axis,

    a_i = -A / 2 + i da,    da = A / (n - 1),    or A / n where A is a whole turn

so that no beam of a whole turn is duplicated. The reading is r_i + sigma N(0, 1), clipped to the
measurable range; all beams of a scan are taken at one instant.
"""

import math
from typing import Annotated, ClassVar

import jax.numpy as jnp
from jaxtyping import Array, Float
from typing_extensions import override

from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE, Bounds
from kittiwake.core.measurements import RangesMeasurement
from kittiwake.geometry.scalar import Real
from kittiwake.interfaces.sensor import SensorInputs
from kittiwake.pytree import field
from kittiwake.sensors.mount import Mount
from kittiwake.sensors.ranging import AbstractOptical
from kittiwake.sensors.ranging_pose import directions, mounted_pose, to_body_axes
from kittiwake.sensors.ray_scene import RayScene

BEAMS = Bounds(2.0, 4096.0)
TURN_RAD = 2.0 * math.pi
FIELD_RAD = Bounds(0.0, TURN_RAD, open_below=True)
# an angle converted from degrees may be a little less than a whole turn
TOLERANCE_RAD = 1e-6


class Lidar2D(AbstractOptical[RangesMeasurement]):
    """Ranges in a plane, at equal angles about the x axis of the mount.

    Attributes:
        mount: pose on the vehicle.
        beams: number of beams.
        field_of_view_rad: A, the angle from the first to the last beam.
    """

    measures: ClassVar[type] = RangesMeasurement
    default_rate_hz: ClassVar[float | None] = 10.0

    mount: Mount = Mount()
    beams: Annotated[int, BEAMS] = field(static=True, default=90)
    field_of_view_rad: Annotated[Real, FIELD_RAD] = TURN_RAD
    min_range_m: Annotated[Real, NOT_NEGATIVE] = 0.1
    max_range_m: Annotated[Real, POSITIVE] = 12.0
    deviation_m: Annotated[Real, NOT_NEGATIVE] = 0.01

    @override
    def scan_angles_rad(self) -> Float[Array, " beams"]:
        whole = self.field_of_view_rad >= TURN_RAD - TOLERANCE_RAD
        gaps = jnp.where(whole, float(self.beams), self.beams - 1.0)
        indices = jnp.arange(self.beams, dtype=jnp.result_type(float))
        return indices * (self.field_of_view_rad / gaps) - 0.5 * self.field_of_view_rad

    @override
    def axes_body(self) -> Float[Array, "beams 3"]:
        angles = self.scan_angles_rad()
        return to_body_axes(directions(angles, jnp.zeros_like(angles)), self.mount)

    @override
    def detected_ranges_m(self, scene: RayScene, inputs: SensorInputs) -> Float[Array, " beams"]:
        angles, pose = self.scan_angles_rad(), mounted_pose(inputs.truth, self.mount)
        rays = directions(angles, jnp.zeros_like(angles))[:, None]
        return self.detection_limits().nearest_ranges_m(
            scene, pose, rays, jnp.zeros((self.beams, 3))
        )
