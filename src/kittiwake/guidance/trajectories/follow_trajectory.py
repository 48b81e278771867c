"""Following of a smooth trajectory through waypoints, with feed-forward of its derivatives.

The trajectory (``polynomials``) begins at rest at its first waypoint, and ends at rest at its last
one. A vehicle elsewhere is led to the first waypoint before, along a straight line and from rest to
rest, by s^4 (35 - 84 s + 70 s^2 - 20 s^3): the piece of minimum snap. The yaw passes given angles
as smoothly as the position passes the waypoints, or follows the horizontal velocity; where that is
nearly zero, the yaw is constant.
"""

from functools import lru_cache
from itertools import pairwise
from typing import Annotated

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import POSITIVE
from kittiwake.core.commands import PositionYaw
from kittiwake.core.errors import ScenarioError
from kittiwake.core.tree_where import tree_where
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.trigonometry import wrap_angle
from kittiwake.geometry.vec3 import Vec3
from kittiwake.guidance.positions import check_positions
from kittiwake.guidance.trajectories.polynomials import Pieces, Shape, derived, horner, spline
from kittiwake.guidance.trajectories.time_allocation import allocated_times, peaks
from kittiwake.interfaces.build_context import BuildContext
from kittiwake.interfaces.guidance import AbstractGuidance, GuidanceInputs
from kittiwake.pytree import Module, field, replace_unchecked

# piece of minimum snap from 0 to 1, and its largest derivative
LEAD_IN = (0.0, 0.0, 0.0, 0.0, 35.0, -84.0, 70.0, -20.0)
LEAD_IN_PEAK = 35.0 / 16.0
LEAD_IN_YAW_RATE_RADPS = 1.0
# shortest duration, so that the acceleration is at most 2 m/s^2
MIN_LEAD_IN_S = 2.0
# distances at which a vehicle is at the first waypoint
ARRIVED_M, ARRIVED_RAD = 1e-3, 1e-3
# slower velocities have no direction
SLOW_MPS = 0.05
YAW_SAMPLES = 200


class TrajectoryPlan(Module):
    """Trajectory that is computed before the flight.

    Attributes:
        pieces: x, y, z and, if it is given, the yaw.
        first_yaw_rad: yaw at the start; None if the trajectory has no horizontal direction.
    """

    pieces: Pieces
    first_yaw_rad: Real | None


class TrajectoryState(Module):
    """Initial pose of the lead-in, and time on the trajectory.

    ``time_s`` counts from the beginning of the trajectory and is negative before it.
    """

    started: Bool[Array, ""]
    from_world_m: Vec3
    from_yaw_rad: Real
    lead_in_s: Real
    time_s: Real
    yaw_rad: Real


class FollowTrajectory(AbstractGuidance[TrajectoryState]):
    """Follows a trajectory through waypoints, at given times or as fast as limits allow.

    Attributes:
        positions_world_m: positions on the way.
        shape: degree of smoothness of the polynomials.
        yaws_rad: heading at each position.
        times_s: time of each position, in place of the limits.
        max_speed_mps: limit of the speed.
        max_acceleration_mps2: limit of the acceleration.
        lead_in_speed_mps: speed of the straight flight to the first position.
    """

    positions_world_m: tuple[Vec3, ...]
    shape: Shape = field(static=True, default="minimum-snap")
    yaws_rad: tuple[Real, ...] | None = None
    times_s: tuple[Real, ...] | None = None
    max_speed_mps: Annotated[Real, POSITIVE] = 5.0
    max_acceleration_mps2: Annotated[Real, POSITIVE] = 4.0
    lead_in_speed_mps: Annotated[Real, POSITIVE] = 1.0
    plan: TrajectoryPlan | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        """Raise an error for too few waypoints, or for yaws and times of another number."""
        given = len(self.positions_world_m)
        if given < 2:
            message = (
                f"`positions_world_m`: got {given}; must be at least two positions; for one write "
                "guidance hold"
            )
            raise ValueError(message)
        if self.yaws_rad is not None and len(self.yaws_rad) not in (1, given):
            message = (
                f"`yaws_rad`: got {len(self.yaws_rad)} for {given} positions; must be one for "
                "each, or one for all"
            )
            raise ValueError(message)
        if self.times_s is not None and len(self.times_s) != given:
            message = (
                f"`times_s`: got {len(self.times_s)} for {given} positions; must be one for each; "
                "or omit times_s"
            )
            raise ValueError(message)

    @override
    def command_types(self) -> tuple[type[PositionYaw]]:
        return (PositionYaw,)

    @override
    def prepare(self, context: BuildContext) -> "FollowTrajectory":
        places = tuple((float(p.x), float(p.y), float(p.z)) for p in self.positions_world_m)
        _check_waypoints(np.array(places))
        check_positions(context, self.positions_world_m, "positions_world_m")
        plan = _plan(
            places,
            self.shape,
            None if self.yaws_rad is None else tuple(map(float, self.yaws_rad)),
            None if self.times_s is None else tuple(map(float, self.times_s)),
            (float(self.max_speed_mps), float(self.max_acceleration_mps2)),
        )
        return replace_unchecked(self, plan=plan)

    @override
    def end_position_world_m(self, context: BuildContext) -> Vec3:
        del context
        return self.positions_world_m[-1]

    @override
    def init(self, key: PRNGKeyArray) -> TrajectoryState:
        del key
        zero = jnp.asarray(0.0)
        return TrajectoryState(
            jnp.asarray(False), Vec3(zero, zero, zero), zero, zero, jnp.asarray(-1.0), zero
        )

    @override
    def step(
        self, state: TrajectoryState, inputs: GuidanceInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[TrajectoryState, PositionYaw]:
        del dt_s, key
        start = tree_where(state.started, state, self._start(inputs))
        time_s = inputs.time_s - start.lead_in_s
        on_it = self._on_trajectory(start.yaw_rad, time_s)
        setpoint = tree_where(time_s < 0.0, self._lead_in(start, inputs.time_s), on_it)
        yaw_rad = jnp.where(time_s < 0.0, start.yaw_rad, on_it.yaw_rad)
        later = TrajectoryState(
            start.started, start.from_world_m, start.from_yaw_rad, start.lead_in_s, time_s, yaw_rad
        )
        return later, setpoint

    @override
    def finished(self, state: TrajectoryState) -> Bool[Array, ""]:
        return state.started & self._planned.pieces.over(state.time_s)

    @override
    def phases(self) -> tuple[str, ...]:
        return ("", "on the trajectory", "at the end of the trajectory")

    @override
    def phase(self, state: TrajectoryState) -> Int[Array, ""]:
        on_it = state.started & (state.time_s >= 0.0)
        return on_it.astype(jnp.int32) + self.finished(state).astype(jnp.int32)

    @override
    def waypoints_reached(self, state: TrajectoryState) -> Int[Array, ""]:
        times = jnp.asarray(self._planned.pieces.times_s)
        passed = jnp.sum(times <= state.time_s, dtype=jnp.int32)
        return jnp.where(state.started, passed, 0)

    @override
    def planned_waypoints(self) -> int:
        return len(self.positions_world_m)

    @property
    def _planned(self) -> TrajectoryPlan:
        assert self.plan is not None, "prepare() comes before the flight"
        return self.plan

    def _start(self, inputs: GuidanceInputs) -> TrajectoryState:
        """Return the state at the start, from the vehicle's estimate."""
        here = inputs.estimate.position_world_m
        yaw = inputs.estimate.euler_world_from_body.yaw_rad
        first = self._first_yaw_rad(yaw)
        away_m = (self._first_place() - here).norm()
        turn = jnp.abs(wrap_angle(first - yaw))
        needed_s = LEAD_IN_PEAK * jnp.maximum(
            away_m / self.lead_in_speed_mps, turn / LEAD_IN_YAW_RATE_RADPS
        )
        arrived = (away_m < ARRIVED_M) & (turn < ARRIVED_RAD)
        lead_in_s = jnp.where(arrived, 0.0, jnp.maximum(needed_s, MIN_LEAD_IN_S))
        return TrajectoryState(jnp.asarray(True), here, yaw, lead_in_s, -lead_in_s, first)

    def _lead_in(self, start: TrajectoryState, time_s: Real) -> PositionYaw:
        """Return the setpoint on the straight line to the first waypoint."""
        lasts_s = jnp.where(start.lead_in_s > 0.0, start.lead_in_s, 1.0)
        s = jnp.clip(time_s / lasts_s, 0.0, 1.0)
        value, *rates = (horner(derived(LEAD_IN, n), s) / lasts_s**n for n in range(4))
        offset = self._first_place() - start.from_world_m
        turn = wrap_angle(self._first_yaw_rad(start.from_yaw_rad) - start.from_yaw_rad)
        return PositionYaw(
            start.from_world_m + offset * value,
            wrap_angle(start.from_yaw_rad + turn * value),
            *(offset * rate for rate in rates),
            yaw_rate_radps=turn * rates[0],
        )

    def _on_trajectory(self, yaw_before_rad: Real, time_s: Real) -> PositionYaw:
        motion = self._planned.pieces.at(time_s, 3)
        place, velocity, acceleration, jerk = (Vec3(row[0], row[1], row[2]) for row in motion)
        if self.yaws_rad is None:
            yaw, rate = _along(velocity, acceleration, yaw_before_rad)
        else:
            yaw, rate = motion[0][3], motion[1][3]
        return PositionYaw(place, wrap_angle(yaw), velocity, acceleration, jerk, rate)

    def _first_place(self) -> Vec3:
        first = jnp.asarray(self._planned.pieces.coefficients)[0, 0]
        return Vec3(first[0], first[1], first[2])

    def _first_yaw_rad(self, otherwise_rad: Real) -> Real:
        known = self._planned.first_yaw_rad
        return otherwise_rad if known is None else known

    @classmethod
    @override
    def examples(cls) -> dict[str, "FollowTrajectory"]:
        places = (Vec3(1.0, 2.0, 10.0), Vec3(3.0, 4.0, 5.0), Vec3(-2.0, 4.0, 6.0))
        upwards = (Vec3(0.0, 0.0, 0.0), Vec3(0.0, 0.0, 1.0))
        return {
            "along its way": cls(places),
            "turning": cls(places, "minimum-jerk", (0.0, 1.0, -3.0), (0.0, 4.0, 8.0)),
            "upwards": cls(upwards, "cubic-spline"),
        }


@lru_cache(maxsize=64)
def _plan(
    positions_m: tuple[tuple[float, float, float], ...],
    shape: Shape,
    yaws_rad: tuple[float, ...] | None,
    given_times_s: tuple[float, ...] | None,
    limits: tuple[float, float],
) -> TrajectoryPlan:
    """Return the polynomials through waypoints; cached for vehicles with the same ones."""
    places = np.array(positions_m)
    if given_times_s is None:
        times_s = allocated_times(places, shape, *limits)
    else:
        times_s = _increasing_times(given_times_s)
    columns = places
    if yaws_rad is not None:
        yaws = np.broadcast_to(np.asarray(yaws_rad), len(places))
        columns = np.column_stack([places, np.unwrap(yaws)])
    pieces = spline(times_s, columns, shape)
    _check_limits(pieces, *limits)
    return TrajectoryPlan(pieces, _first_yaw_rad(pieces))


def _along(velocity: Vec3, acceleration: Vec3, before_rad: Real) -> tuple[Real, Real]:
    """Return the yaw of a horizontal velocity and its rate; without one, the yaw before."""
    square = velocity.x * velocity.x + velocity.y * velocity.y
    moves = square > SLOW_MPS**2
    x, y = jnp.where(moves, velocity.x, 1.0), jnp.where(moves, velocity.y, 0.0)
    turning = x * acceleration.y - y * acceleration.x
    yaw = jnp.where(moves, jnp.arctan2(y, x), before_rad)
    return yaw, jnp.where(moves, turning / (x * x + y * y), 0.0)


def _first_yaw_rad(pieces: Pieces) -> float | None:
    """Return the first given yaw, or that of the first velocity with a direction."""
    if pieces.coefficients.shape[2] > 3:
        return float(pieces.coefficients[0, 0, 3])
    rates = pieces.sampled(np.linspace(0.0, 1.0, YAW_SAMPLES), 1).reshape(-1, 3)
    moving = np.flatnonzero(np.hypot(rates[:, 0], rates[:, 1]) > SLOW_MPS)
    return float(np.arctan2(rates[moving[0], 1], rates[moving[0], 0])) if moving.size else None


def _check_waypoints(places: Float[np.ndarray, "knots 3"]) -> None:
    if not np.isfinite(places).all():
        row = int(np.flatnonzero(~np.isfinite(places).all(axis=1))[0])
        message = f"`positions_world_m`: got {places[row].tolist()} in entry {row}; must be finite"
        raise ScenarioError(message)
    for number, (one, other) in enumerate(pairwise(places)):
        if np.array_equal(one, other):
            message = (
                f"`positions_world_m`: got {one.tolist()} twice, in entries {number} and "
                f"{number + 1}; a trajectory does not wait, so write it once"
            )
            raise ScenarioError(message)


def _increasing_times(given: tuple[float, ...]) -> Float[np.ndarray, " knots"]:
    times_s = np.asarray(given, float)
    if not np.isfinite(times_s).all() or not (np.diff(times_s) > 0.0).all():
        message = f"`times_s`: got {times_s.tolist()}; must be finite and increasing"
        raise ScenarioError(message)
    return times_s - times_s[0]


def _check_limits(pieces: Pieces, max_speed_mps: float, max_acceleration_mps2: float) -> None:
    speed, acceleration = peaks(pieces)
    stretch = max(speed / max_speed_mps, (acceleration / max_acceleration_mps2) ** 0.5)
    if stretch > 1.0:
        message = (
            f"`times_s`: got a trajectory with {speed:.3g} m/s and {acceleration:.3g} m/s^2; must "
            f"be at most max_speed_mps {max_speed_mps:g} and max_acceleration_mps2 "
            f"{max_acceleration_mps2:g}: multiply all times by {stretch:.3g}, or raise the limits"
        )
        raise ScenarioError(message)
