"""Pure pursuit of a path in the air: the vehicle flies towards a point ahead on a smooth curve.

The curve is the clamped cubic spline through the waypoints at even times over ``duration_s``, as
``samples`` points. At each tick the pursued point is the first one, from the last one on, that is
horizontally at least a look-ahead distance L away; with the error e to it and its acceleration a
along the curve::

    L = 2 m + 1 s |v|, within 2 to 8 m
    v = K_p e + K_d e' + K_i int(e) + c a dt,    |v| at most 12 m/s, |dv| at most 2 m/s a tick
    yaw rate = K_p e_psi + K_d e_psi',           at most 90 deg/s, changing at most so much a tick

Source of law and numbers: the pursuit of uav_gazebo (fork of dringakn). Corrected: its speed was
that of a twist with two components mixed up, and its accelerations were divided by the square of a
control period instead of that of the samples. Given per second instead of per tick, the limits
hold at any rate. A waypoint counts as visited when it is within L, in order, the last one when the
curve has ended and it is within ``acceptance_radius_m``; there the vehicle stays.
"""

from collections.abc import Callable
from math import pi
from typing import Annotated, ClassVar, Literal

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE, Bounds
from kittiwake.core.commands import VelocityYawRate
from kittiwake.core.errors import ScenarioError
from kittiwake.geometry.scalar import Integer, Real
from kittiwake.geometry.trigonometry import wrap_angle
from kittiwake.geometry.vec3 import Vec3
from kittiwake.guidance.positions import check_positions
from kittiwake.guidance.route import Route
from kittiwake.guidance.trajectories.polynomials import spline
from kittiwake.interfaces.build_context import BuildContext, independent_of_start
from kittiwake.interfaces.guidance import AbstractGuidance, GuidanceInputs
from kittiwake.pytree import Module, field, replace_unchecked

SAMPLES = Bounds(low=2.0, high=1e5)
# nearer points have no direction; the square is representable in single precision
MIN_DISTANCE_M = 1e-12


class LookAhead(Module):
    """Look-ahead distance of the pursued point: it grows with the speed, within a range."""

    base_m: Annotated[Real, NOT_NEGATIVE] = 2.0
    time_s: Annotated[Real, NOT_NEGATIVE] = 1.0
    min_m: Annotated[Real, POSITIVE] = 2.0
    max_m: Annotated[Real, POSITIVE] = 8.0

    def at(self, speed_mps: Real) -> Real:
        """Return the look-ahead distance at a speed."""
        return jnp.clip(self.base_m + self.time_s * speed_mps, self.min_m, self.max_m)


class PathSamples(Module):
    """Points of the curve with their accelerations, and its waypoints."""

    positions_world_m: Float[Array | np.ndarray, "samples 3"]
    accelerations_world_mps2: Float[Array | np.ndarray, "samples 3"]
    waypoints_world_m: Float[Array | np.ndarray, "waypoints 3"]


class PursuitState(Module):
    """Index of the pursued point, number of visited waypoints, and states of the loops."""

    started: Bool[Array, ""]
    point: Int[Array, ""]
    visited: Int[Array, ""]
    error_world_m: Vec3
    integral_world_ms: Vec3
    velocity_world_mps: Vec3
    yaw_error_rad: Real
    yaw_rate_radps: Real


class Pursue(AbstractGuidance[PursuitState]):
    """Commands velocity and yaw rate towards a point ahead on a curve through waypoints."""

    default_rate_hz: ClassVar[float | None] = 50.0
    tracked: ClassVar[bool] = False

    file: Route | None = None
    positions_world_m: tuple[Vec3, ...] = ()
    duration_s: Annotated[Real, POSITIVE] = 100.0
    samples: Annotated[Integer, SAMPLES] = field(static=True, default=1000)
    look_ahead: LookAhead = LookAhead()
    position_gain_per_s: Annotated[Real, NOT_NEGATIVE] = 1.2
    derivative_gain: Annotated[Real, NOT_NEGATIVE] = 1e-4
    integral_gain_per_s2: Annotated[Real, NOT_NEGATIVE] = 0.0
    max_integral_ms: Annotated[Real, NOT_NEGATIVE] = 1.0
    acceleration_share: Annotated[Real, NOT_NEGATIVE] = 0.1
    max_speed_mps: Annotated[Real, POSITIVE] = 12.0
    max_acceleration_mps2: Annotated[Real, POSITIVE] = 100.0
    look: Literal["movement", "fixed", "point"] = field(static=True, default="movement")
    yaw_rad: Real = pi / 2.0
    point_of_interest_world_m: Vec3 = Vec3(10.0, 10.0, 5.0)
    yaw_gain_per_s: Annotated[Real, NOT_NEGATIVE] = 1.0
    yaw_derivative_gain: Annotated[Real, NOT_NEGATIVE] = 1e-4
    max_yaw_rate_radps: Annotated[Real, POSITIVE] = pi / 2.0
    max_yaw_acceleration_radps2: Annotated[Real, POSITIVE] = 25.0 * pi
    acceptance_radius_m: Annotated[Real, POSITIVE] = 0.5
    sampled: PathSamples | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        """Raise an error for waypoints from a file beside others, and for fewer than two."""
        if self.file is not None and self.positions_world_m:
            message = "`file`: not allowed with positions_world_m; omit one of them"
            raise ValueError(message)
        given = self._waypoint_count()
        if given < 2:
            message = (
                f"`positions_world_m`: got {given}; must be at least two, such as "
                "[[0, 0, 6], [0, 25, 6.5]], or a file with two or more"
            )
            raise ValueError(message)

    @override
    def command_types(self) -> tuple[type[VelocityYawRate]]:
        return (VelocityYawRate,)

    @override
    @independent_of_start
    def prepare(self, context: BuildContext) -> "Pursue":
        curve = self._curve()
        places = [Vec3(*place) for place in curve.waypoints_world_m.tolist()]
        check_positions(context, places, "positions_world_m" if self.file is None else "file")
        return replace_unchecked(self, sampled=curve)

    @override
    def end_position_world_m(self, context: BuildContext) -> Vec3:
        del context
        return Vec3(*self._curve().waypoints_world_m[-1].tolist())

    @override
    def init(self, key: PRNGKeyArray) -> PursuitState:
        del key
        zero, none = jnp.asarray(0.0), jnp.asarray(0, jnp.int32)
        origin = Vec3(zero, zero, zero)
        return PursuitState(
            started=jnp.asarray(False),
            point=none,
            visited=none,
            error_world_m=origin,
            integral_world_ms=origin,
            velocity_world_mps=origin,
            yaw_error_rad=zero,
            yaw_rate_radps=zero,
        )

    @override
    def step(
        self, state: PursuitState, inputs: GuidanceInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[PursuitState, VelocityYawRate]:
        del key
        here = inputs.estimate.position_world_m
        look_ahead_m = self.look_ahead.at(inputs.estimate.velocity_world_mps.norm())
        point = self._point(state.point, here, look_ahead_m)
        error = _row(self._samples.positions_world_m, point) - here
        grown = state.integral_world_ms + error * dt_s
        integral = _each(grown, lambda part: jnp.clip(part, *_symmetric(self.max_integral_ms)))
        rate = (error - state.error_world_m) * jnp.where(state.started, 1.0 / dt_s, 0.0)
        acceleration = _row(self._samples.accelerations_world_mps2, point)
        velocity = self._limited(
            state.velocity_world_mps,
            error * self.position_gain_per_s
            + rate * self.derivative_gain
            + integral * self.integral_gain_per_s2
            + acceleration * (self.acceleration_share * dt_s),
            dt_s,
        )
        yaw_error, yaw_rate = self._yaw_loop(state, inputs, error, dt_s)
        visited = self._visited(state.visited, point, here, look_ahead_m)
        started = jnp.asarray(True)
        later = PursuitState(
            started, point, visited, error, integral, velocity, yaw_error, yaw_rate
        )
        return later, VelocityYawRate(velocity, yaw_rate)

    @override
    def finished(self, state: PursuitState) -> Bool[Array, ""]:
        return state.visited >= self._waypoint_count()

    @override
    def waypoints_reached(self, state: PursuitState) -> Int[Array, ""]:
        return state.visited

    @override
    def planned_waypoints(self) -> int:
        return self._waypoint_count()

    @property
    def _samples(self) -> PathSamples:
        assert self.sampled is not None, "prepare() comes before the flight"
        return self.sampled

    def _waypoint_count(self) -> int:
        if self.file is None:
            return len(self.positions_world_m)
        return len(self.file.positions_world_m)

    def _curve(self) -> PathSamples:
        listed = [[p.x, p.y, p.z] for p in self.positions_world_m]
        places = np.asarray(listed if self.file is None else self.file.positions_world_m, float)
        if not np.isfinite(places).all():
            message = f"`positions_world_m`: got {places.tolist()}; must be finite"
            raise ScenarioError(message)
        curve = spline(
            np.linspace(0.0, float(self.duration_s), len(places)), places, "cubic-spline"
        )
        times_s = np.linspace(0.0, float(self.duration_s), int(self.samples))
        return PathSamples(curve.along(times_s), curve.along(times_s, 2), places)

    def _point(self, last: Int[Array, ""], here: Vec3, look_ahead_m: Real) -> Int[Array, ""]:
        """Return the first point from the last one on that is far enough ahead."""
        points = jnp.asarray(self._samples.positions_world_m)
        square = jnp.square(points[:, 0] - here.x) + jnp.square(points[:, 1] - here.y)
        ahead = (jnp.arange(len(points), dtype=jnp.int32) >= last) & (
            square >= look_ahead_m * look_ahead_m
        )
        return jnp.where(ahead.any(), jnp.argmax(ahead), len(points) - 1).astype(jnp.int32)

    def _limited(self, before: Vec3, desired: Vec3, dt_s: Real) -> Vec3:
        change = desired.clip_norm(self.max_speed_mps) - before
        return before + change.clip_norm(self.max_acceleration_mps2 * dt_s)

    def _yaw_loop(
        self, state: PursuitState, inputs: GuidanceInputs, error: Vec3, dt_s: Real
    ) -> tuple[Real, Real]:
        """Return the yaw error, and the yaw rate that corrects it."""
        yaw = inputs.estimate.euler_world_from_body.yaw_rad
        error_rad = wrap_angle(self._desired_yaw_rad(inputs, error, yaw) - yaw)
        growth = wrap_angle(error_rad - state.yaw_error_rad) * jnp.where(
            state.started, 1.0 / dt_s, 0.0
        )
        desired = self.yaw_gain_per_s * error_rad + self.yaw_derivative_gain * growth
        limited = jnp.clip(desired, *_symmetric(self.max_yaw_rate_radps))
        change = limited - state.yaw_rate_radps
        slew = _symmetric(self.max_yaw_acceleration_radps2 * dt_s)
        return error_rad, state.yaw_rate_radps + jnp.clip(change, *slew)

    def _desired_yaw_rad(self, inputs: GuidanceInputs, error: Vec3, yaw_rad: Real) -> Real:
        if self.look == "fixed":
            return self.yaw_rad
        towards, least_m = error, self.acceptance_radius_m
        if self.look == "point":
            towards = self.point_of_interest_world_m - inputs.estimate.position_world_m
            least_m = MIN_DISTANCE_M
        # at the end of the path the remaining error has no meaningful direction
        distant = towards.x * towards.x + towards.y * towards.y > least_m * least_m
        bearing = jnp.arctan2(
            jnp.where(distant, towards.y, 0.0), jnp.where(distant, towards.x, 1.0)
        )
        return jnp.where(distant, bearing, yaw_rad)

    def _visited(
        self, visited: Int[Array, ""], point: Int[Array, ""], here: Vec3, look_ahead_m: Real
    ) -> Int[Array, ""]:
        places = self._samples.waypoints_world_m
        last = len(places) - 1
        away = (_row(places, jnp.minimum(visited, last)) - here).norm()
        ended = point == len(self._samples.positions_world_m) - 1
        near = jnp.where(
            visited < last, away <= look_ahead_m, ended & (away <= self.acceptance_radius_m)
        )
        return visited + (near & (visited <= last)).astype(jnp.int32)

    @classmethod
    @override
    def examples(cls) -> dict[str, "Pursue"]:
        places = (Vec3(1.0, 2.0, 10.0), Vec3(3.0, 4.0, 5.0), Vec3(-2.0, 4.0, 6.0))
        route = Route("a.json", np.array([[0.0, 0.0, 1.0], [9.0, 9.0, 2.0]]))
        return {
            "looking ahead": cls(positions_world_m=places),
            "looking at a point": cls(route, samples=50, integral_gain_per_s2=0.1, look="point"),
            "looking north": cls(positions_world_m=places, samples=2, look="fixed"),
        }


def _row(table: Float[Array | np.ndarray, "rows 3"], index: Int[Array, ""]) -> Vec3:
    row = jnp.asarray(table)[index]
    return Vec3(row[0], row[1], row[2])


def _each(vector: Vec3, function: Callable[[Real], Real]) -> Vec3:
    return Vec3(function(vector.x), function(vector.y), function(vector.z))


def _symmetric(limit: Real) -> tuple[Real, Real]:
    return -limit, limit
