"""Landing on a deck that moves: follow, approach, align, descend in a cone, switch off, go around.

With the height h over where the vehicle will stand, and the horizontal distance e from the middle
of the deck::

    looking        until the sensor has seen the deck
    following      at the altitude over the deck, until the landing is due
    approaching    down to the approach altitude
    aligning       there, until e has been below the threshold for a while
    descending     while e < threshold + cone h; within ``commit_m`` of the deck whatever happens
    going around   up to the approach altitude, where it aligns again
    motors off     once it stands: near the deck, and not moving against it

The set point moves along with the deck, up and down too, and its velocity is fed forward. A vehicle
that has lost the deck, as ``deck`` says, goes around up to the altitude from which it followed, and
waits there until it sees the deck again. Neither that nor the aligning has an end.

After Velasco et al. (2020), Drones 4(3), 37 (``vtol``), which has no memory: it does not feed the
deck's velocity forward, falls the last way in one step, and leaves the motors on.
"""

from dataclasses import replace
from typing import Annotated, ClassVar

import equinox as eqx
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
    refuse_blind,
    refuse_without_feet,
)
from kittiwake.interfaces.build_context import BuildContext
from kittiwake.interfaces.guidance import AbstractGuidance, GuidanceInputs

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
# nearer to a wanted height than this it is there
THERE_M = 0.1


class DeckLandingState(eqx.Module):
    """What is remembered.

    Attributes:
        beginning: where it began.
        deck: where that is believed to be.
        phase: as in ``PHASES``.
        height_m: of the set point over where the vehicle will stand.
        settled_s: for how long the error has been small, or the vehicle has stood still.
    """

    beginning: InitialPose
    deck: DeckEstimate
    phase: Int[Array, ""]
    height_m: Real
    settled_s: Real


class DeckRelativeState(eqx.Module):
    """A vehicle over a deck: its height, its speed against it, and its horizontal distance."""

    height_m: Real
    speed_mps: Real
    error_m: Real


class DeckLanding(AbstractGuidance):
    """Onto the middle of the deck that a sensor sees.

    Attributes:
        sensor: that tells where the deck is.
        altitude_m: over the deck while the vehicle follows it.
        approach_altitude_m: over the deck, where it aligns.
        begin_after_s: when the landing is due.
        error_threshold_m: how far from the middle it may begin to descend.
        cone: by how much more it may be off for each meter of height.
        settle_s: for how long it has to be near.
        climb_mps: at most, of the set point.
        descent_mps: of the set point.
        commit_m: nearer to the deck's height it does not go around.
        rest_mps: slower against the deck it stands.
        rest_s: for so long, before the motors go off.
        lost_after_s: without a message it goes around.
        smoothing_s: tau, the memory for what the sensor says.
        standing_height_m: of the center of mass over the deck; that of its feet if not given.
        yaw_rad: to look along; the yaw that it begins with if not given.
    """

    tracked: ClassVar[bool] = True

    sensor: str = eqx.field(static=True, default="deck")
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

    def __check_init__(self) -> None:
        """Refuses an approach from above where it follows."""
        low, high = self.approach_altitude_m, self.altitude_m
        if isinstance(low, int | float) and isinstance(high, int | float) and low > high:
            message = (
                f"approach_altitude_m: {low:g} is above altitude_m {high:g}; write a lower one"
            )
            raise ValueError(message)

    @override
    def prepare(self, context: BuildContext) -> "DeckLanding":
        refuse_blind(context.sensors, self.sensor)
        standing_m = refuse_without_feet(context, self.standing_height_m)
        lowest_m = standing_m + self.commit_m
        if not lowest_m < self.approach_altitude_m:
            message = (
                f"approach_altitude_m: {self.approach_altitude_m:g} is not over the height at "
                f"which it stands and commit_m, {standing_m:g} and {self.commit_m:g} m; write "
                f"more than {lowest_m:.4g}"
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
            InitialPose.ahead(),
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
        beginning = state.beginning.at(inputs.estimate)
        # what is too near to see the deck goes along with it; any other that lost it goes around
        lost_after_s = jnp.where(state.phase == DESCENDING, jnp.inf, self.lost_after_s)
        deck = state.deck.at(inputs, self.sensor, self.smoothing_s, dt_s, lost_after_s)
        here = self._situated(deck, inputs)
        settled_s = jnp.where(self._settles(state.phase, here), state.settled_s + dt_s, 0.0)
        phase = self._next(state, deck, here, inputs.time_s, settled_s)
        settled_s = jnp.where(phase == state.phase, settled_s, 0.0)
        # from where the vehicle is when it begins to follow
        before_m = jnp.where(state.phase == LOOKING, here.height_m, state.height_m)
        height_m, rate_mps = self._moved(phase, deck.lost(self.lost_after_s), before_m, dt_s)
        later = DeckLandingState(beginning, deck, phase, height_m, settled_s)
        signal = self._signal(beginning, deck, phase, height_m, rate_mps)
        return later, CommandChoice((signal, MotorsOff()), jnp.where(phase == MOTORS_OFF, 1, 0))

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

    def _situated(self, deck: DeckEstimate, inputs: GuidanceInputs) -> DeckRelativeState:
        away = inputs.estimate.position_world_m - deck.position_world_m
        against = inputs.estimate.velocity_world_mps - deck.velocity_world_mps
        level = Vec3(away.x, away.y, jnp.zeros_like(away.z))
        return DeckRelativeState(away.z - self._standing_m, against.norm(), level.norm())

    def _settles(self, phase: Int[Array, ""], here: DeckRelativeState) -> Flag:
        """Whether it is near enough to descend, or stands still on the deck."""
        near = (here.error_m < self.error_threshold_m) & self._at(here, self._approach_m)
        stands = self._low(here) & (here.speed_mps < self.rest_mps)
        return jnp.where(phase == DESCENDING, stands, (phase == ALIGNING) & near)

    def _next(
        self,
        state: DeckLandingState,
        deck: DeckEstimate,
        here: DeckRelativeState,
        time_s: Real,
        settled_s: Real,
    ) -> Int[Array, ""]:
        """The phase that follows, or the present one."""
        strays = here.error_m >= self.error_threshold_m + self.cone * jnp.maximum(here.height_m, 0)
        lost, low = deck.lost(self.lost_after_s), self._low(here)
        known = jnp.logical_not(lost)
        turns = [
            (LOOKING, deck.seen, FOLLOWING),
            (FOLLOWING, known & (time_s >= self.begin_after_s), APPROACHING),
            (APPROACHING, lost, GOING_AROUND),
            (APPROACHING, self._at(here, self._approach_m), ALIGNING),
            (ALIGNING, lost, GOING_AROUND),
            (ALIGNING, settled_s > self.settle_s, DESCENDING),
            (DESCENDING, settled_s > self.rest_s, MOTORS_OFF),
            (DESCENDING, (strays | lost) & jnp.logical_not(low), GOING_AROUND),
            (GOING_AROUND, known & self._at(here, self._approach_m), ALIGNING),
        ]
        begins = [(state.phase == now) & jnp.asarray(when) for now, when, _ in turns]
        goals = [jnp.asarray(then, jnp.int32) for _, _, then in turns]
        return jnp.select(begins, goals, state.phase)

    @property
    def _approach_m(self) -> Real:
        return self.approach_altitude_m - self._standing_m

    def _at(self, here: DeckRelativeState, height_m: Real) -> Flag:
        return jnp.abs(here.height_m - height_m) < THERE_M

    def _low(self, here: DeckRelativeState) -> Flag:
        """Whether it is about as high as where it would stand, not beside the deck below that."""
        return jnp.abs(here.height_m) < self.commit_m

    def _moved(
        self, phase: Int[Array, ""], lost: Flag, before_m: Real, dt_s: Real
    ) -> tuple[Real, Real]:
        """The set point's height, and how fast it moves."""
        # a descent goes on below the deck, until the vehicle stands for sure
        pressed_m = before_m - self.descent_mps * dt_s
        high = (phase <= FOLLOWING) | lost
        goal_m = jnp.where(high, self.altitude_m - self._standing_m, self._approach_m)
        goal_m = jnp.where(phase == DESCENDING, pressed_m, goal_m)
        most_m = self.climb_mps * dt_s
        way_m = jnp.clip(goal_m - before_m, -most_m, most_m)
        return before_m + way_m, way_m / dt_s

    def _signal(
        self,
        beginning: InitialPose,
        deck: DeckEstimate,
        phase: Int[Array, ""],
        height_m: Real,
        rate_mps: Real,
    ) -> PositionYaw:
        yaw = beginning.yaw_rad if self.yaw_rad is None else self.yaw_rad
        up = Vec3(0.0, 0.0, 1.0)
        over = PositionYaw(
            deck.position_world_m + up * (self._standing_m + height_m),
            yaw,
            deck.velocity_world_mps + up * rate_mps,
        )
        waits = PositionYaw(beginning.position_world_m, yaw)
        return tree_where(phase == LOOKING, as_arrays(waits), as_arrays(over))
