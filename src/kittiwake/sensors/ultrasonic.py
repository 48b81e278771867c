"""Ultrasonic sensor along a single line.

    P = P_sensor + lambda d,    |d| = 1,    range = lambda

d: direction of view; lambda: distance of the first surface. It echoes if the angle between its
normal and -d is at most the limit of incidence, if the range lies between the shortest and the
longest one, and if the echo's frequency is not shifted too far: by the Doppler effect a range rate
v shifts a frequency f by 2 f v / c, which limits |v|.

Source: the Matlab drone simulator of R. Coronel, equations 5-5 to 5-7: 27.5 degrees, 5 m. It reads
0 to 5 m, its text says 0.6 to 5. Corrected: there, sound passes through surfaces that do not echo.
"""

import math
from typing import Annotated, ClassVar

import jax.numpy as jnp
from jaxtyping import Array, Float
from typing_extensions import override

from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE, Bounds
from kittiwake.core.measurements import RangeMeasurement
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.sensor import SensorInputs
from kittiwake.sensors.ranging import AbstractUltrasonic
from kittiwake.sensors.ranging_pose import pose_at
from kittiwake.sensors.ray_scene import RayScene
from kittiwake.world.ray import unit, validate_direction

INCIDENCE_RAD = Bounds(0.0, math.pi / 2)
INCIDENCE_LIMIT_RAD = math.radians(27.5)


class Ultrasonic(AbstractUltrasonic[tuple[()], RangeMeasurement]):
    """Distance of the first surface along a line, if it echoes.

    Attributes:
        position_body_m: position on the vehicle.
        direction_body: direction of any length, forward, left, up.
    """

    measures: ClassVar[type] = RangeMeasurement
    default_rate_hz: ClassVar[float | None] = 10.0

    position_body_m: Vec3 = Vec3(0.0, 0.0, 0.0)
    direction_body: Vec3 = Vec3(1.0, 0.0, 0.0)
    min_range_m: Annotated[Real, NOT_NEGATIVE] = 0.0
    max_range_m: Annotated[Real, POSITIVE] = 5.0
    max_incidence_rad: Annotated[Real, INCIDENCE_RAD] = INCIDENCE_LIMIT_RAD
    max_range_rate_mps: Annotated[Real, POSITIVE] | None = None
    noise_bound_m: Annotated[Real, NOT_NEGATIVE] = 0.0

    @override
    def __post_init__(self) -> None:
        super().__post_init__()
        validate_direction(self.direction_body, "direction_body", "[1, 0, 0] to look ahead")

    @override
    def axes_body(self) -> Float[Array, "1 3"]:
        return jnp.asarray(unit(self.direction_body).array)[None]

    @override
    def detected_ranges_m(self, scene: RayScene, inputs: SensorInputs) -> Float[Array, ""]:
        pose = pose_at(inputs.truth, self.position_body_m)
        return self.detection_limits().detected_range_m(
            scene, pose, unit(self.direction_body), Vec3.zero()
        )

    @classmethod
    @override
    def examples(cls) -> dict[str, "Ultrasonic"]:
        return {
            "ahead": cls(noise_bound_m=0.01),
            "downwards": cls(
                position_body_m=Vec3(0.1, 0.0, -0.1),
                direction_body=Vec3(0.1, 0.0, -2.0),
                max_range_m=20.0,
                max_range_rate_mps=3.0,
            ),
        }
