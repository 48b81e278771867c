"""Circle through the start of the vehicle, flown once in each period, along its nose.

With radius r, angular rate w = 2 pi / T and the bearing b of the start from the center c::

    x(t) = c_x + r cos(b + w t),    y(t) = c_y + r sin(b + w t),    yaw(t) = b + w t + pi / 2

clockwise with -w and -pi / 2. It is a ``Curve``, with the derivatives as feed-forward.
"""

import math
from typing import Annotated, Literal

from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import POSITIVE
from kittiwake.core.commands import PositionYaw
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.guidance.trajectories.curve import Curve, FeedForward
from kittiwake.interfaces.build_context import BuildContext
from kittiwake.interfaces.guidance import AbstractGuidance, GuidanceInputs
from kittiwake.pytree import field

RIGHT_ANGLE_RAD = math.pi / 2.0


class Circle(AbstractGuidance[tuple[()]]):
    """Flies a level circle at constant speed, with the nose along the path.

    Attributes:
        radius_m: radius of the circle.
        period_s: time of one round.
        center_world_m: center and height of the circle, which then begins at its point nearest to
            the start; by default beside the start, so that the vehicle sets off straight ahead at
            its height.
        direction: the sense of the rounds, seen from above.
        feed_forward: the highest derivative of the position that setpoints contain.
    """

    radius_m: Annotated[Real, POSITIVE]
    period_s: Annotated[Real, POSITIVE]
    center_world_m: Vec3 | None = None
    direction: Literal["counterclockwise", "clockwise"] = field(
        static=True, default="counterclockwise"
    )
    feed_forward: FeedForward = field(static=True, default="jerk")

    @override
    def command_types(self) -> tuple[type[PositionYaw]]:
        return (PositionYaw,)

    @override
    def prepare(self, context: BuildContext) -> Curve:
        sense = 1.0 if self.direction == "counterclockwise" else -1.0
        start, center = context.task_start_world_m, self.center_world_m
        if center is None:
            bearing_rad = context.start.yaw_rad - sense * RIGHT_ANGLE_RAD
            outward = Vec3(math.cos(bearing_rad), math.sin(bearing_rad), 0.0)
            center = start - outward * self.radius_m
        else:
            bearing_rad = math.atan2(start.y - center.y, start.x - center.x)
        rate_radps = sense * 2.0 * math.pi / self.period_s
        return Curve(
            center_world_m=center,
            amplitude_world_m=Vec3(self.radius_m, self.radius_m, 0.0),
            angular_rates_radps=Vec3(rate_radps, rate_radps, 0.0),
            phases_rad=Vec3(bearing_rad + RIGHT_ANGLE_RAD, bearing_rad, 0.0),
            yaw_rad=bearing_rad + sense * RIGHT_ANGLE_RAD,
            yaw_rate_radps=rate_radps,
            feed_forward=self.feed_forward,
        )

    @override
    def step(
        self, state: tuple[()], inputs: GuidanceInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[tuple[()], PositionYaw]:
        del state, inputs, dt_s, key
        message = "prepare() comes before the flight"
        raise AssertionError(message)

    @classmethod
    @override
    def examples(cls) -> dict[str, "Circle"]:
        return {
            "ahead": cls(2.0, 6.0),
            "clockwise around a point": cls(1.0, 5.0, Vec3(1.0, 2.0, 3.0), "clockwise"),
        }
