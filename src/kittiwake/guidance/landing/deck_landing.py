"""Landing on a moving deck: follow, approach, align, descend in a cone, switch off, go around.

With the height h over the standing height on the deck, and the horizontal distance e from the
center of the deck::

    looking        until the sensor has detected the deck
    following      at the altitude over the deck, until the landing is due
    approaching    down to the approach altitude
    aligning       there, until e has been below the threshold for a while
    descending     while e < threshold + cone h; within ``commit_m`` of the deck in any case
    going around   up to the approach altitude, where it aligns again
    motors off     once it stands: near the deck, and at rest relative to it

The setpoint moves with the deck, also vertically, and its velocity is fed forward. A vehicle that
has lost the deck, as defined in ``deck_estimate``, goes around up to the altitude at which it
followed, and waits there until it detects the deck again. Neither that nor the aligning has a
timeout.

After Velasco et al. (2020), Drones 4(3), 37 (``vtol``), which has no memory: it does not feed the
deck's velocity forward, drops over the last part in one step, and leaves the motors on.
"""

from dataclasses import replace
from typing import Annotated, ClassVar

import jax.numpy as jnp
from jaxtyping import Array, Int, PRNGKeyArray
from typing_extensions import override

from kittiwake.core.arrays import as_arrays
from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE
from kittiwake.core.commands import CommandChoice, MotorsOff, PositionYaw
from kittiwake.core.errors import ScenarioError
from kittiwake.core.tree_where import tree_where
from kittiwake.geometry.scalar import Flag, Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.guidance.initial_pose import InitialPose
from kittiwake.guidance.landing.deck_estimate import (
    LOST_AFTER_S,
    DeckEstimate,
    check_deck_sensor,
    required_standing_height_m,
)
from kittiwake.interfaces.build_context import BuildContext
from kittiwake.interfaces.guidance import AbstractGuidance, GuidanceInputs
from kittiwake.pytree import Module, field

LOOKING, FOLLOWING, APPROACHING, ALIGNING, DESCENDING, GOING_AROUND, MOTORS_OFF = range(7)
PHASES = (
    "looking for the deck",
    "following the deck",
    "approaching",
    "aligning",
    "descending",
    "going around",
    "motors off",
)
# distance at which a height counts as reached
REACHED_M = 0.1


class DeckLandingState(Module):
    """State of a deck landing.

    Attributes:
        initial: initial pose.
        deck: estimate of the deck.
        phase: index in ``PHASES``.
        height_m: height of the setpoint over the standing height on the deck.
        settled_s: time for which the error has been small, or the vehicle has been at rest.
    """

    initial: InitialPose
    deck: DeckEstimate
    phase: Int[Array, ""]
    height_m: Real
    settled_s: Real


class DeckRelativeState(Module):
    """Motion of a vehicle relative to a deck: height, speed and horizontal distance."""

    height_m: Real
    speed_mps: Real
    error_m: Real


class DeckLanding(AbstractGuidance[DeckLandingState]):
    """Lands on the center of the deck that a sensor measures.

    Attributes:
        sensor: name of the sensor that measures the deck.
        altitude_m: height over the deck while following it.
        approach_altitude_m: height over the deck for aligning.
        begin_after_s: time at which the landing is due.
        error_threshold_m: largest distance from the center at which the descent begins.
        cone: additional permitted distance per meter of height.
        settle_s: time for which the error has to be below the threshold.
        climb_mps: largest vertical speed of the setpoint.
        descent_mps: speed of descent of the setpoint.
        commit_m: height over the deck below which it does not go around.
        rest_mps: speed relative to the deck below which it stands.
        rest_s: time at rest before the motors are switched off.
        lost_after_s: time without a message after which it goes around.
        smoothing_s: tau of the deck estimate.
        standing_height_m: height of the center of mass over the deck; by default of the gear.
        yaw_rad: constant yaw; by default that at the start.
    """

    tracked: ClassVar[bool] = True

    sensor: str = field(static=True, default="deck")
    altitude_m: Annotated[Real, POSITIVE] = 1.65
    approach_altitude_m: Annotated[Real, POSITIVE] = 0.65
    begin_after_s: Annotated[Real, NOT_NEGATIVE] = 0.0
    error_threshold_m: Annotated[Real, POSITIVE] = 0.1
    cone: Annotated[Real, NOT_NEGATIVE] = 0.1
    settle_s: Annotated[Real, NOT_NEGATIVE] = 0.5
    climb_mps: Annotated[Real, POSITIVE] = 1.0
    descent_mps: Annotated[Real, POSITIVE] = 0.3
    commit_m: Annotated[Real, NOT_NEGATIVE] = 0.05
    rest_mps: Annotated[Real, POSITIVE] = 0.1
    rest_s: Annotated[Real, NOT_NEGATIVE] = 0.2
    lost_after_s: Annotated[Real, POSITIVE] = LOST_AFTER_S
    smoothing_s: Annotated[Real, NOT_NEGATIVE] = 0.2
    standing_height_m: Annotated[Real, NOT_NEGATIVE] | None = None
    yaw_rad: Real | None = None

    def __post_init__(self) -> None:
        """Raise an error for an approach altitude above the following altitude."""
        low, high = self.approach_altitude_m, self.altitude_m
        if isinstance(low, int | float) and isinstance(high, int | float) and low > high:
            message = f"`approach_altitude_m`: got {low:g}; must be at most altitude_m, {high:g}"
            raise ValueError(message)

    @override
    def prepare(self, context: BuildContext) -> "DeckLanding":
        check_deck_sensor(context.sensors, self.sensor)
        standing_m = required_standing_height_m(context, self.standing_height_m)
        lowest_m = standing_m + self.commit_m
        if not lowest_m < self.approach_altitude_m:
            message = (
                f"`approach_altitude_m`: got {self.approach_altitude_m:g}; must be above "
                f"{lowest_m:.4g}, the standing height of {standing_m:g} m and commit_m, "
                f"{self.commit_m:g} m"
            )
            raise ScenarioError(message)
        return replace(self, standing_height_m=standing_m)

    @override
    def command_types(self) -> tuple[type, ...]:
        return (PositionYaw, MotorsOff)

    @override
    def init(self, key: PRNGKeyArray) -> DeckLandingState:
        del key
        zero = jnp.asarray(0.0)
        return DeckLandingState(
            InitialPose.unknown(),
            DeckEstimate.unknown(),
            jnp.asarray(LOOKING, jnp.int32),
            zero,
            zero,
        )

    @override
    def step(
        self, state: DeckLandingState, inputs: GuidanceInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[DeckLandingState, CommandChoice]:
        del key
        initial = state.initial.updated(inputs.estimate)
        # too near to detect the deck, the descent continues; in other phases a loss is a go-around
        lost_after_s = jnp.where(state.phase == DESCENDING, jnp.inf, self.lost_after_s)
        deck = state.deck.at(inputs, self.sensor, self.smoothing_s, dt_s, lost_after_s)
        relative = self._relative(deck, inputs)
        settled_s = jnp.where(self._settles(state.phase, relative), state.settled_s + dt_s, 0.0)
        phase = self._next(state, deck, relative, inputs.time_s, settled_s)
        settled_s = jnp.where(phase == state.phase, settled_s, 0.0)
        # the ramp starts at the vehicle's height when it begins to follow
        before_m = jnp.where(state.phase == LOOKING, relative.height_m, state.height_m)
        height_m, rate_mps = self._ramp(phase, deck.lost(self.lost_after_s), before_m, dt_s)
        later = DeckLandingState(initial, deck, phase, height_m, settled_s)
        setpoint = self._setpoint(initial, deck, phase, height_m, rate_mps)
        return later, CommandChoice((setpoint, MotorsOff()), jnp.where(phase == MOTORS_OFF, 1, 0))

    @override
    def finished(self, state: DeckLandingState) -> Flag:
        return state.phase == MOTORS_OFF

    @override
    def phases(self) -> tuple[str, ...]:
        return PHASES

    @override
    def phase(self, state: DeckLandingState) -> Int[Array, ""]:
        return state.phase

    @property
    def _standing_m(self) -> Real:
        return 0.0 if self.standing_height_m is None else self.standing_height_m

    def _relative(self, deck: DeckEstimate, inputs: GuidanceInputs) -> DeckRelativeState:
        offset = inputs.estimate.position_world_m - deck.position_world_m
        velocity = inputs.estimate.velocity_world_mps - deck.velocity_world_mps
        level = Vec3(offset.x, offset.y, jnp.zeros_like(offset.z))
        return DeckRelativeState(offset.z - self._standing_m, velocity.norm(), level.norm())

    def _settles(self, phase: Int[Array, ""], relative: DeckRelativeState) -> Flag:
        """Return True if it is aligned for the descent, or stands on the deck."""
        near = (relative.error_m < self.error_threshold_m) & self._at(relative, self._approach_m)
        stands = self._low(relative) & (relative.speed_mps < self.rest_mps)
        return jnp.where(phase == DESCENDING, stands, (phase == ALIGNING) & near)

    def _next(
        self,
        state: DeckLandingState,
        deck: DeckEstimate,
        relative: DeckRelativeState,
        time_s: Real,
        settled_s: Real,
    ) -> Int[Array, ""]:
        """Return the next phase."""
        strays = relative.error_m >= self.error_threshold_m + self.cone * jnp.maximum(
            relative.height_m, 0
        )
        lost, low = deck.lost(self.lost_after_s), self._low(relative)
        known = jnp.logical_not(lost)
        transitions = [
            (LOOKING, deck.seen, FOLLOWING),
            (FOLLOWING, known & (time_s >= self.begin_after_s), APPROACHING),
            (APPROACHING, lost, GOING_AROUND),
            (APPROACHING, self._at(relative, self._approach_m), ALIGNING),
            (ALIGNING, lost, GOING_AROUND),
            (ALIGNING, settled_s > self.settle_s, DESCENDING),
            (DESCENDING, settled_s > self.rest_s, MOTORS_OFF),
            (DESCENDING, (strays | lost) & jnp.logical_not(low), GOING_AROUND),
            (GOING_AROUND, known & self._at(relative, self._approach_m), ALIGNING),
        ]
        begins = [(state.phase == now) & jnp.asarray(when) for now, when, _ in transitions]
        goals = [jnp.asarray(then, jnp.int32) for _, _, then in transitions]
        return jnp.select(begins, goals, state.phase)

    @property
    def _approach_m(self) -> Real:
        return self.approach_altitude_m - self._standing_m

    def _at(self, relative: DeckRelativeState, height_m: Real) -> Flag:
        return jnp.abs(relative.height_m - height_m) < REACHED_M

    def _low(self, relative: DeckRelativeState) -> Flag:
        """Return True near the standing height; False beside the deck and below it."""
        return jnp.abs(relative.height_m) < self.commit_m

    def _ramp(
        self, phase: Int[Array, ""], lost: Flag, before_m: Real, dt_s: Real
    ) -> tuple[Real, Real]:
        """Return height and vertical speed of the setpoint."""
        # the setpoint descends below the deck, until the vehicle stands for certain
        pressed_m = before_m - self.descent_mps * dt_s
        high = (phase <= FOLLOWING) | lost
        goal_m = jnp.where(high, self.altitude_m - self._standing_m, self._approach_m)
        goal_m = jnp.where(phase == DESCENDING, pressed_m, goal_m)
        step_m = self.climb_mps * dt_s
        change_m = jnp.clip(goal_m - before_m, -step_m, step_m)
        return before_m + change_m, change_m / dt_s

    def _setpoint(
        self,
        initial: InitialPose,
        deck: DeckEstimate,
        phase: Int[Array, ""],
        height_m: Real,
        rate_mps: Real,
    ) -> PositionYaw:
        yaw = initial.yaw_rad if self.yaw_rad is None else self.yaw_rad
        up = Vec3(0.0, 0.0, 1.0)
        over = PositionYaw(
            deck.position_world_m + up * (self._standing_m + height_m),
            yaw,
            deck.velocity_world_mps + up * rate_mps,
        )
        waits = PositionYaw(initial.position_world_m, yaw)
        return tree_where(phase == LOOKING, as_arrays(waits), as_arrays(over))

    @classmethod
    @override
    def examples(cls) -> dict[str, "DeckLanding"]:
        return {
            "over a deck": cls("beacon", standing_height_m=0.06),
            "at once": cls("beacon", settle_s=0.0, smoothing_s=0.0, yaw_rad=0.3),
        }
