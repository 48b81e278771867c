"""Following of a moving deck at its velocity; after losing it, a hover at its last position."""

from dataclasses import replace
from typing import Annotated

import jax.numpy as jnp
from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.core.arrays import as_arrays
from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE
from kittiwake.core.commands import PositionYaw
from kittiwake.core.tree_where import tree_where
from kittiwake.geometry.scalar import Real
from kittiwake.guidance.initial_pose import InitialPose
from kittiwake.guidance.landing.deck_estimate import LOST_AFTER_S, DeckEstimate, check_deck_sensor
from kittiwake.interfaces.build_context import BuildContext, independent_of_start
from kittiwake.interfaces.guidance import AbstractGuidance, GuidanceInputs
from kittiwake.pytree import Module, field


class FollowDeckState(Module):
    """Initial pose, and estimate of the deck."""

    initial: InitialPose
    deck: DeckEstimate


class FollowDeck(AbstractGuidance[FollowDeckState]):
    """Hovers over the center of the deck that a sensor measures; before, at its initial position.

    Attributes:
        sensor: name of the sensor that measures the deck.
        altitude_m: height of the vehicle's center of mass over the deck.
        smoothing_s: tau of the deck estimate.
        lost_after_s: time without a message after which it waits at its position.
        yaw_rad: constant yaw; by default that at the start.
    """

    sensor: str = field(static=True, default="deck")
    altitude_m: Annotated[Real, NOT_NEGATIVE] = 1.65
    smoothing_s: Annotated[Real, NOT_NEGATIVE] = 0.2
    lost_after_s: Annotated[Real, POSITIVE] = LOST_AFTER_S
    yaw_rad: Real | None = None

    @override
    @independent_of_start
    def prepare(self, context: BuildContext) -> "FollowDeck":
        check_deck_sensor(context.sensors, self.sensor)
        return self

    @override
    def command_types(self) -> tuple[type[PositionYaw]]:
        return (PositionYaw,)

    @override
    def init(self, key: PRNGKeyArray) -> FollowDeckState:
        del key
        return FollowDeckState(InitialPose.unknown(), DeckEstimate.unknown())

    @override
    def step(
        self, state: FollowDeckState, inputs: GuidanceInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[FollowDeckState, PositionYaw]:
        del key
        initial = state.initial.updated(inputs.estimate)
        deck = state.deck.at(inputs, self.sensor, self.smoothing_s, dt_s, self.lost_after_s)
        yaw = initial.yaw_rad if self.yaw_rad is None else self.yaw_rad
        place = deck.position_world_m
        over = PositionYaw(
            replace(place, z=place.z + self.altitude_m),
            yaw,
            deck.velocity_world_mps,
        )
        waits = PositionYaw(initial.position_world_m, jnp.asarray(yaw))
        return FollowDeckState(initial, deck), tree_where(
            deck.seen, as_arrays(over), as_arrays(waits)
        )

    @classmethod
    @override
    def examples(cls) -> dict[str, "FollowDeck"]:
        return {
            "over a deck": cls("beacon"),
            "at a yaw": cls("beacon", 2.0, smoothing_s=0.0, yaw_rad=0.3),
        }
