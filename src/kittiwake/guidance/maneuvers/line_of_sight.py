"""Path following of a vessel along straight legs: line of sight with a look-ahead distance.

With the direction alpha of a leg, the cross-track error e to its left and the look-ahead distance
D, after Fossen (2011), "Handbook of Marine Craft Hydrodynamics and Motion Control", section 10.3::

    psi = alpha - atan((e + k E) / D),      E' = D e / (D^2 + (e + k E)^2)

A vessel of speed U without drift then approaches its leg by e' = -U e / sqrt(D^2 + e^2). The
integral E, of Borhaug, Pavlov and Pettersen (2008), "Integral LOS control for path following of
underactuated marine surface vessels", brings the error to zero in a steady current as well, and
grows slowly while the vessel is far away. A leg is done when the remaining distance along its
direction is less than the radius of acceptance, regardless of the cross-track error.

``pursuit`` heads straight for the next waypoint instead, until it is within that radius, as in
Velasco et al. (2020), Drones 4(3), 37.
"""

from dataclasses import replace
from typing import Annotated, ClassVar, Literal, NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Bool, Int, PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE
from kittiwake.core.commands import HeadingSpeed
from kittiwake.core.tree_where import tree_where
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.trigonometry import sin_cos, wrap_angle
from kittiwake.geometry.vec3 import Vec3
from kittiwake.guidance.initial_pose import InitialPose
from kittiwake.guidance.planning.survey_pattern import SurveyPattern, check_positions_or_pattern
from kittiwake.guidance.positions import check_positions
from kittiwake.interfaces.build_context import BuildContext, independent_of_start
from kittiwake.interfaces.guidance import AbstractGuidance, GuidanceInputs
from kittiwake.pytree import Module, field

# nearer points have no direction; the square is representable in single precision
MIN_DISTANCE_M = 1e-12


class LineOfSightState(Module):
    """Start of the first leg, number of waypoints reached, and integral of the error."""

    initial: InitialPose
    reached: Int[Array, ""]
    integral_m: Real


class Leg(NamedTuple):
    """Direction of a leg, remaining distance along it, and cross-track error to its left."""

    direction_rad: Real
    left_m: Real
    cross_track_m: Real


class LineOfSight(AbstractGuidance[LineOfSightState]):
    """Commands heading and speed along straight legs between waypoints; stops at the end.

    Attributes:
        positions_world_m: waypoints.
        pattern: survey pattern, in place of waypoints.
        speed_mps: speed.
        look_ahead_m: distance of the point ahead on the path.
        integral_gain_per_s: integral of the distance from the path.
        acceptance_radius_m: distance at which a waypoint is reached.
        heading: law of the heading, along the ``track`` or by ``pursuit``.
        loop: whether it begins again after the last waypoint.
    """

    tracked: ClassVar[bool] = False

    positions_world_m: tuple[Vec3, ...] = ()
    pattern: SurveyPattern | None = None
    speed_mps: Annotated[Real, NOT_NEGATIVE] = 1.0
    look_ahead_m: Annotated[Real, POSITIVE] = 2.0
    integral_gain_per_s: Annotated[Real, NOT_NEGATIVE] = 0.0
    acceptance_radius_m: Annotated[Real, POSITIVE] = 1.5
    heading: Literal["track", "pursuit"] = field(static=True, default="track")
    loop: bool = field(static=True, default=False)

    def __post_init__(self) -> None:
        """Raise an error for no waypoints, and for a loop with one."""
        check_positions_or_pattern(self.positions_world_m, self.pattern)
        if self.loop and len(self.positions_world_m) == 1:
            message = "`loop`: requires at least two positions_world_m; a vessel cannot stay at one"
            raise ValueError(message)

    @override
    def command_types(self) -> tuple[type[HeadingSpeed]]:
        return (HeadingSpeed,)

    @override
    @independent_of_start
    def prepare(self, context: BuildContext) -> "LineOfSight":
        if self.pattern is None:
            check_positions(context, self.positions_world_m, "positions_world_m")
            return self
        places = self.pattern.positions_world_m(context.world.origin)
        check_positions(context, places, "pattern")
        return replace(self, positions_world_m=places, pattern=None)

    @override
    def end_position_world_m(self, context: BuildContext) -> Vec3:
        if self.loop:
            return context.task_start_world_m
        if self.pattern is None:
            return self.positions_world_m[-1]
        return self.pattern.positions_world_m(context.world.origin)[-1]

    @override
    def init(self, key: PRNGKeyArray) -> LineOfSightState:
        del key
        return LineOfSightState(InitialPose.unknown(), jnp.asarray(0, jnp.int32), jnp.asarray(0.0))

    @override
    def step(
        self, state: LineOfSightState, inputs: GuidanceInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[LineOfSightState, HeadingSpeed]:
        del key
        here = inputs.estimate.position_world_m
        initial = state.initial.updated(inputs.estimate)
        began = initial.position_world_m
        yaw = inputs.estimate.euler_world_from_body.yaw_rad
        before = self._leg(began, state.reached, here, yaw)
        done = self._done(before) & ~self._finished(state.reached)
        reached = state.reached + done.astype(jnp.int32)
        leg = self._leg(began, reached, here, yaw)
        heading, growth = self._steer(leg, jnp.where(done, 0.0, state.integral_m))
        over = self._finished(reached)
        # the correction of a drift across the last leg does not apply to the next one
        integral = jnp.where(done | over, 0.0, state.integral_m + growth * dt_s)
        later = LineOfSightState(initial, reached, integral)
        return later, HeadingSpeed(wrap_angle(heading), jnp.where(over, 0.0, self.speed_mps))

    @property
    @override
    def ends(self) -> bool:
        return not self.loop

    @override
    def finished(self, state: LineOfSightState) -> Bool[Array, ""]:
        return self._finished(state.reached)

    @override
    def waypoints_reached(self, state: LineOfSightState) -> Int[Array, ""]:
        return state.reached

    @override
    def planned_waypoints(self) -> int | None:
        return None if self.loop else len(self.positions_world_m)

    def _finished(self, reached: Int[Array, ""]) -> Bool[Array, ""]:
        return jnp.asarray(False) if self.loop else reached >= len(self.positions_world_m)

    def _done(self, leg: Leg) -> Bool[Array, ""]:
        radius = self.acceptance_radius_m
        if self.heading == "track":
            return jnp.asarray(leg.left_m < radius)
        return jnp.asarray(leg.left_m**2 + leg.cross_track_m**2 < radius * radius)

    def _steer(self, leg: Leg, integral_m: Real) -> tuple[Real, Real]:
        """Return the heading, and the growth rate of the integral."""
        if self.heading == "pursuit":
            behind, beside = leg.left_m, -leg.cross_track_m
            distinct = behind * behind + beside * beside > MIN_DISTANCE_M**2
            bearing = jnp.arctan2(
                jnp.where(distinct, beside, 0.0), jnp.where(distinct, behind, 1.0)
            )
            return leg.direction_rad + bearing, 0.0
        aside = leg.cross_track_m + self.integral_gain_per_s * integral_m
        ahead = self.look_ahead_m
        growth = ahead * leg.cross_track_m / (ahead * ahead + aside * aside)
        return leg.direction_rad - jnp.arctan2(aside, ahead), growth

    def _leg(self, began: Vec3, reached: Int[Array, ""], here: Vec3, yaw_rad: Real) -> Leg:
        """Return the present leg; after the last waypoint still the leg to it."""
        count = len(self.positions_world_m)
        goal = self._place(reached % count if self.loop else jnp.minimum(reached, count - 1))
        last = reached - 1 if self.loop else jnp.minimum(reached, count - 1) - 1
        origin = tree_where(last < 0, began, self._place(last % count))
        along = goal - origin
        distinct = along.x * along.x + along.y * along.y > MIN_DISTANCE_M**2
        sine, cosine = sin_cos(yaw_rad)
        direction = jnp.arctan2(
            jnp.where(distinct, along.y, sine), jnp.where(distinct, along.x, cosine)
        )
        s, c = sin_cos(direction)
        remaining = goal - here
        return Leg(direction, c * remaining.x + s * remaining.y, s * remaining.x - c * remaining.y)

    def _place(self, index: Int[Array, ""]) -> Vec3:
        def pick(axis: str) -> Real:
            places = [jnp.asarray(getattr(p, axis), float) for p in self.positions_world_m]
            return jnp.stack(places)[index]

        return Vec3(pick("x"), pick("y"), pick("z"))

    @classmethod
    @override
    def examples(cls) -> dict[str, "LineOfSight"]:
        places = (Vec3(1.0, 2.0, 10.0), Vec3(3.0, 4.0, 5.0), Vec3(-2.0, 4.0, 6.0))
        patterns = {name: cls(pattern=each) for name, each in SurveyPattern.examples().items()}
        return {
            "once": cls(places, integral_gain_per_s=0.1),
            "for ever": cls(places, loop=True),
            "in pursuit": cls(places, heading="pursuit"),
            **patterns,
        }
