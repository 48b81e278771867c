"""Landing of the UAV-USV simulator: a setpoint height for each step, without memory.

With the height z over the pad, and the horizontal distance e from its center::

    before the landing is due                the altitude
    z >= approach altitude + 0.1             the approach altitude
    e > threshold                            the approach altitude
    else                                     the landing height

always over the pad. The vehicle descends at its own rate, climbs again when it strays, and its
motors stay on. Source: Velasco et al. (2020), Drones 4(3), 37, with its program, whose heights are
over the water: 2 m, 1 m and 0 m, with a pad 0.35 m over it. The pad's velocity may be fed forward,
which the source does not do: without it the vehicle is back over the pad only some seconds after a
turn. ``deck-landing`` lands more softly.
"""

from typing import Annotated, ClassVar

import jax.numpy as jnp
from jaxtyping import Array, Int, PRNGKeyArray
from typing_extensions import override

from kittiwake.core.arrays import as_arrays
from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE
from kittiwake.core.commands import PositionYaw
from kittiwake.core.tree_where import tree_where
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.guidance.landing.deck_estimate import LOST_AFTER_S, check_deck_sensor
from kittiwake.guidance.landing.follow_deck import FollowDeck, FollowDeckState
from kittiwake.interfaces.build_context import BuildContext
from kittiwake.interfaces.guidance import AbstractGuidance, GuidanceInputs
from kittiwake.pytree import Module, field

ABOVE_M = 0.1
FOLLOWING, APPROACHING, LANDING = range(3)
PHASES = ("following the pad", "approaching", "landing")


class UavUsvLandingState(Module):
    """State of the pad estimate, and the phase, which is for the log."""

    follows: FollowDeckState
    phase: Int[Array, ""]


class UavUsvLanding(AbstractGuidance[UavUsvLandingState]):
    """Follows the pad that a sensor measures, and descends onto it.

    Attributes:
        sensor: name of the sensor that measures the pad.
        altitude_m: height over the pad.
        approach_altitude_m: approach height over the pad.
        landing_height_m: setpoint height over the pad at the end.
        landing_at_s: time at which the landing is due; never if not given.
        error_threshold_m: largest horizontal distance for the descent.
        feed_velocity: feeds the pad's velocity forward.
        lost_after_s: time without a message after which it waits.
        yaw_rad: constant yaw.
    """

    registered_as: ClassVar[str | None] = "vtol"

    sensor: str = field(static=True, default="deck")
    altitude_m: Real = 1.65
    approach_altitude_m: Real = 0.65
    landing_height_m: Real = -0.35
    landing_at_s: Annotated[Real, NOT_NEGATIVE] | None = 5.0
    error_threshold_m: Annotated[Real, POSITIVE] = 0.1
    feed_velocity: bool = field(static=True, default=False)
    lost_after_s: Annotated[Real, POSITIVE] = LOST_AFTER_S
    yaw_rad: Real = 0.0

    @override
    def prepare(self, context: BuildContext) -> "UavUsvLanding":
        check_deck_sensor(context.sensors, self.sensor)
        return self

    @override
    def command_types(self) -> tuple[type[PositionYaw]]:
        return (PositionYaw,)

    @override
    def init(self, key: PRNGKeyArray) -> UavUsvLandingState:
        return UavUsvLandingState(self._follower.init(key), jnp.asarray(FOLLOWING, jnp.int32))

    @override
    def step(
        self, state: UavUsvLandingState, inputs: GuidanceInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[UavUsvLandingState, PositionYaw]:
        follows, _ = self._follower.step(state.follows, inputs, dt_s, key)
        pad = follows.deck.position_world_m
        phase = self._phase(inputs.estimate.position_world_m - pad, inputs.time_s)
        known = follows.deck.seen & jnp.logical_not(follows.deck.lost(self.lost_after_s))
        phase = jnp.where(known, phase, FOLLOWING).astype(jnp.int32)
        heights = (self.altitude_m, self.approach_altitude_m, self.landing_height_m)
        wanted = jnp.stack([jnp.asarray(height, float) for height in heights])[phase]
        velocity = follows.deck.velocity_world_mps if self.feed_velocity else Vec3.zero()
        over = PositionYaw(Vec3(pad.x, pad.y, pad.z + wanted), self.yaw_rad, velocity)
        waits = PositionYaw(follows.initial.position_world_m, self.yaw_rad)
        return UavUsvLandingState(follows, phase), tree_where(
            follows.deck.seen, as_arrays(over), as_arrays(waits)
        )

    @override
    def phases(self) -> tuple[str, ...]:
        return PHASES

    @override
    def phase(self, state: UavUsvLandingState) -> Int[Array, ""]:
        return state.phase

    def _phase(self, offset: Vec3, time_s: Real) -> Int[Array, ""]:
        """Return the phase by the vehicle's position relative to the pad, and the time."""
        distance = Vec3(offset.x, offset.y, jnp.zeros_like(offset.z)).norm()
        high = offset.z >= self.approach_altitude_m + ABOVE_M
        phase = jnp.where(high | (distance > self.error_threshold_m), APPROACHING, LANDING)
        if self.landing_at_s is None:
            return jnp.full_like(phase, FOLLOWING)
        return jnp.where(time_s < self.landing_at_s, FOLLOWING, phase)

    @property
    def _follower(self) -> FollowDeck:
        """Estimator of the pad, which adopts each message."""
        return FollowDeck(self.sensor, smoothing_s=0.0, lost_after_s=self.lost_after_s)

    @classmethod
    @override
    def examples(cls) -> dict[str, "UavUsvLanding"]:
        return {"down": cls("beacon", landing_at_s=0.01), "above": cls("beacon", landing_at_s=None)}
