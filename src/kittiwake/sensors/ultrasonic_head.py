"""An ultrasonic sensor on a head with two axes, which keeps it square to a surface.

At each sample the sensor measures along the head's direction (``core.head``) as ``ultrasonic``
does. Until the next one, dt later, both axes turn towards -n, where n is the surface's normal at
the point that the ray has met::

    (1 - exp(-dt / T)) (theta(-n) - theta),    at most with the servo's rate; phi the same

**The head is told n, which no single range holds.** That is the source's assumption, whose head
stands along the normal at every instant. This one is told nothing else and searches nothing: where
nothing is met within its range it stays as it is in the body. A reading is valid where there is an
echo and -n lies within the limit of phi.

Seen from h, a surface that bulges with the radius r throws a head that is off by a to -a h / r, a
hollow one to a h / r. Hence the lag: a head settles where (1 - exp(-dt / T)) (1 + h / r) < 2.

Source: the Matlab drone simulator of R. Coronel: its front sensor at 16 Hz, the limit of 45
degrees. There phi is the angle of the normal to the body's z axis, whatever theta is. Chosen: lag
and rate of the servo, those of a common one for models.
"""

from math import pi, radians
from typing import Annotated, ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE, Bounds
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.scalar import Flag, Real
from kittiwake.geometry.trigonometry import wrap_angle
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.head import AbstractHead, HeadAngles, HeadMeasurement
from kittiwake.interfaces.sensor import SensorInputs
from kittiwake.sensors.ray_scene import ray_scene
from kittiwake.sensors.ultrasonic import INCIDENCE_LIMIT_RAD, INCIDENCE_RAD
from kittiwake.sensors.view import Reach, view_from
from kittiwake.world.ray import Hit

HALF_TURN_RAD = Bounds(-pi, pi)
# short of a quarter turn, where theta turns nothing
YAW_LIMIT_RAD = Bounds(0.0, 1.5)


class UltrasonicHead(AbstractHead):
    """The distance of the first surface along a line that turns towards its normal.

    Attributes:
        position_body_m: of the sensor, on both axes of the head.
        start_pitch_rad: theta before the first sample.
        start_yaw_rad: phi then.
        max_yaw_rad: of phi, to either side.
        time_constant_s: T, with which both angles follow.
        max_rate_radps: of each axis.
        min_range_m: what is nearer is not heard.
        max_range_m: what is farther is neither heard nor turned to.
        max_incidence_rad: what is met at a larger angle to its normal is not heard.
        noise_bound_m: of the range, evenly spread.
    """

    default_rate_hz: ClassVar[float | None] = 16.0

    position_body_m: Vec3 = Vec3(0.215, 0.0, -0.01)
    start_pitch_rad: Annotated[Real, HALF_TURN_RAD] = 0.0
    start_yaw_rad: Annotated[Real, HALF_TURN_RAD] = 0.0
    max_yaw_rad: Annotated[Real, YAW_LIMIT_RAD] = pi / 4
    time_constant_s: Annotated[Real, POSITIVE] = 0.1
    max_rate_radps: Annotated[Real, POSITIVE] = radians(300.0)
    min_range_m: Annotated[Real, NOT_NEGATIVE] = 0.0
    max_range_m: Annotated[Real, POSITIVE] = 5.0
    max_incidence_rad: Annotated[Real, INCIDENCE_RAD] = INCIDENCE_LIMIT_RAD
    noise_bound_m: Annotated[Real, NOT_NEGATIVE] = 0.0

    def __check_init__(self) -> None:
        """Refuses ranges of which there is none, and a start beyond the limit."""
        numbers = (self.min_range_m, self.max_range_m, self.start_yaw_rad, self.max_yaw_rad)
        if not all(isinstance(number, int | float) for number in numbers):
            return
        if not self.min_range_m < self.max_range_m:
            message = (
                f"min_range_m: {self.min_range_m:g} is not below max_range_m, "
                f"{self.max_range_m:g}; write a smaller one, or leave it out"
            )
            raise ValueError(message)
        if not abs(self.start_yaw_rad) <= self.max_yaw_rad:
            message = (
                f"start_yaw_rad: {self.start_yaw_rad:g} is beyond max_yaw_rad, "
                f"{self.max_yaw_rad:g}; write one from {-self.max_yaw_rad:g} to "
                f"{self.max_yaw_rad:g}"
            )
            raise ValueError(message)

    @override
    def init(self, key: PRNGKeyArray) -> HeadAngles:
        del key
        dtype = jnp.result_type(float)
        return HeadAngles(
            jnp.asarray(self.start_pitch_rad, dtype), jnp.asarray(self.start_yaw_rad, dtype)
        )

    @override
    def step(
        self, state: HeadAngles, inputs: SensorInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[HeadAngles, HeadMeasurement]:
        later, measurement, _ = self.step_beside_ideal(state, inputs, dt_s, key)
        return later, measurement

    @override
    def step_beside_ideal(
        self, state: HeadAngles, inputs: SensorInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[HeadAngles, HeadMeasurement, HeadMeasurement]:
        around, view = ray_scene(inputs), view_from(inputs.truth, self.position_body_m)
        ray = view.ray(state.direction_body, Vec3.zero())
        hit = around.cast(ray)
        reach = Reach(self.min_range_m, self.max_range_m, self.max_incidence_rad)
        square = self._square(state, hit, inputs.truth.q_world_from_body)
        reached = jnp.abs(square.yaw_rad) <= self.max_yaw_rad
        answer = jnp.where(reached, reach.echo_m(around, view, ray, hit), jnp.inf)

        def reading(noise_m: Real) -> HeadMeasurement:
            told = reach.reported_m(answer, noise_m)
            return HeadMeasurement(told, jnp.isfinite(answer), state.pitch_rad, state.yaw_rad)

        spread = jax.random.uniform(key, (), jnp.result_type(float), -1.0, 1.0)
        later = self._turned(state, square, hit.distance_m <= self.max_range_m, dt_s)
        return later, reading(spread * self.noise_bound_m), reading(0.0)

    def _square(self, state: HeadAngles, hit: Hit, q_world_from_body: Quaternion) -> HeadAngles:
        """The angles at which it would look straight at the surface; as now, if there is none."""
        inwards = q_world_from_body.inverse().rotate(-hit.normal_world)
        ahead = state.direction_body
        towards = Vec3(*(jnp.where(hit.met, getattr(inwards, a), getattr(ahead, a)) for a in "xyz"))
        return state.towards(towards)

    def _turned(self, state: HeadAngles, goal: HeadAngles, told: Flag, dt_s: Real) -> HeadAngles:
        """The head after a sample, nearer to its goal if it was told one."""
        share, most = 1.0 - jnp.exp(-dt_s / self.time_constant_s), self.max_rate_radps * dt_s
        yaw = jnp.clip(goal.yaw_rad, -self.max_yaw_rad, self.max_yaw_rad)
        ways = (wrap_angle(goal.pitch_rad - state.pitch_rad), yaw - state.yaw_rad)
        pitch_by, yaw_by = (
            jnp.where(told, jnp.clip(share * way, -most, most), 0.0) for way in ways
        )
        return HeadAngles(wrap_angle(state.pitch_rad + pitch_by), state.yaw_rad + yaw_by)
