"""Ultrasonic sensor on a two-axis head that keeps it perpendicular to a surface.

At each sample the sensor measures along the head's direction (``interfaces.head``) as
``ultrasonic`` does. Until the next one, dt later, both axes turn towards -n, where n is the
surface's normal at the point that the ray hits::

    (1 - exp(-dt / T)) (theta(-n) - theta),    at most with the servo's rate; phi the same

**The head receives n, which no single range provides.** That is the source's assumption, whose head
is aligned with the normal at every instant. This one receives nothing else and does not search: if
nothing is hit within its range, it holds its angles in the body. A reading is valid if there is an
echo and -n lies within the limit of phi.

Seen from the distance h, a convex surface of radius r moves a head that is off by a to -a h / r, a
concave one to a h / r. Hence the lag: a head settles if (1 - exp(-dt / T)) (1 + h / r) < 2.

Source: the Matlab drone simulator of R. Coronel: its front sensor at 16 Hz, the limit of 45
degrees. There phi is the angle of the normal to the body's z axis, for any theta. Chosen: lag and
rate of the servo, those of a common model servo.
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
from kittiwake.interfaces.beam import Beam
from kittiwake.interfaces.head import AbstractHead, HeadAngles, HeadMeasurement
from kittiwake.interfaces.sensor import SensorInputs
from kittiwake.sensors.ranging_pose import DetectionLimits, pose_at
from kittiwake.sensors.ray_scene import ray_scene
from kittiwake.sensors.ultrasonic import INCIDENCE_LIMIT_RAD, INCIDENCE_RAD
from kittiwake.world.ray import Hit

HALF_TURN_RAD = Bounds(-pi, pi)
# below a quarter turn, where theta has no effect
YAW_LIMIT_RAD = Bounds(0.0, 1.5)


class UltrasonicHead(AbstractHead[HeadAngles]):
    """Distance of the first surface along a line that turns towards the surface's normal.

    Attributes:
        position_body_m: position of the sensor, on both axes of the head.
        start_pitch_rad: theta before the first sample.
        start_yaw_rad: phi before the first sample.
        max_yaw_rad: limit of phi, to either side.
        time_constant_s: T, time constant of both angles.
        max_rate_radps: rate limit of each axis.
        min_range_m: nearer surfaces give no echo.
        max_range_m: farther surfaces give no echo, and the head does not turn to them.
        max_incidence_rad: surfaces hit at a larger angle to their normal give no echo.
        noise_bound_m: bound of the uniform noise of the range.
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

    def __post_init__(self) -> None:
        """Raise ValueError for an empty range, and for a start beyond the limit."""
        numbers = (self.min_range_m, self.max_range_m, self.start_yaw_rad, self.max_yaw_rad)
        if not all(isinstance(number, int | float) for number in numbers):
            return
        if not self.min_range_m < self.max_range_m:
            message = (
                f"min_range_m: got {self.min_range_m:g}; must be below max_range_m, "
                f"{self.max_range_m:g}. Write a smaller value or omit it"
            )
            raise ValueError(message)
        if not abs(self.start_yaw_rad) <= self.max_yaw_rad:
            message = (
                f"start_yaw_rad: got {self.start_yaw_rad:g}, beyond max_yaw_rad, "
                f"{self.max_yaw_rad:g}; must be from {-self.max_yaw_rad:g} to "
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
        next_state, measurement, _ = self.step_with_ideal(state, inputs, dt_s, key)
        return next_state, measurement

    @override
    def step_with_ideal(
        self, state: HeadAngles, inputs: SensorInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[HeadAngles, HeadMeasurement, HeadMeasurement]:
        scene, pose = ray_scene(inputs), pose_at(inputs.truth, self.position_body_m)
        ray = pose.ray(state.direction_body, Vec3.zero())
        hit = scene.cast_ray(ray)
        limits = DetectionLimits(self.min_range_m, self.max_range_m, self.max_incidence_rad)
        goal = self._perpendicular(state, hit, inputs.truth.q_world_from_body)
        reachable = jnp.abs(goal.yaw_rad) <= self.max_yaw_rad
        detected = jnp.where(reachable, limits.echo_m(scene, pose, ray, hit), jnp.inf)

        def reading(noise_m: Real) -> HeadMeasurement:
            range_m = limits.reported_m(detected, noise_m)
            return HeadMeasurement(range_m, jnp.isfinite(detected), state.pitch_rad, state.yaw_rad)

        spread = jax.random.uniform(key, (), jnp.result_type(float), -1.0, 1.0)
        next_state = self._turn(state, goal, hit.distance_m <= self.max_range_m, dt_s)
        return next_state, reading(spread * self.noise_bound_m), reading(0.0)

    def _perpendicular(
        self, state: HeadAngles, hit: Hit, q_world_from_body: Quaternion
    ) -> HeadAngles:
        """Return the angles perpendicular to the surface; the present ones without a surface."""
        inwards = q_world_from_body.inverse().rotate(-hit.normal_world)
        ahead = state.direction_body
        towards = Vec3(
            *(jnp.where(hit.exists, getattr(inwards, a), getattr(ahead, a)) for a in "xyz")
        )
        return state.towards(towards)

    def _turn(self, state: HeadAngles, goal: HeadAngles, known: Flag, dt_s: Real) -> HeadAngles:
        """Return the head's angles after a sample, closer to the goal if it is known."""
        gain, max_step = 1.0 - jnp.exp(-dt_s / self.time_constant_s), self.max_rate_radps * dt_s
        yaw = jnp.clip(goal.yaw_rad, -self.max_yaw_rad, self.max_yaw_rad)
        errors = (wrap_angle(goal.pitch_rad - state.pitch_rad), yaw - state.yaw_rad)
        pitch_by, yaw_by = (
            jnp.where(known, jnp.clip(gain * error, -max_step, max_step), 0.0) for error in errors
        )
        return HeadAngles(wrap_angle(state.pitch_rad + pitch_by), state.yaw_rad + yaw_by)

    @override
    def beam_geometry(self) -> dict[str, Beam]:
        return {"": Beam(self.position_body_m, Vec3(1.0, 0.0, 0.0), sound=True)}

    @classmethod
    @override
    def examples(cls) -> dict[str, "UltrasonicHead"]:
        return {
            "ahead": cls(),
            "aside": cls(
                start_pitch_rad=1.0, start_yaw_rad=0.5, noise_bound_m=0.01, max_range_m=20.0
            ),
        }
