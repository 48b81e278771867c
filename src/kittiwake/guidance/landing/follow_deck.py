"""Staying over a deck that moves, at its velocity; over the place where it was lost, at rest."""

from typing import Annotated

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.core.arrays import as_arrays
from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE
from kittiwake.core.commands import PositionYaw
from kittiwake.core.tree_where import tree_where
from kittiwake.geometry.scalar import Real
from kittiwake.guidance.initial_pose import InitialPose
from kittiwake.guidance.landing.deck_estimate import LOST_AFTER_S, DeckEstimate, refuse_blind
from kittiwake.interfaces.build_context import BuildContext
from kittiwake.interfaces.guidance import AbstractGuidance, GuidanceInputs


class FollowDeckState(eqx.Module):
    """Where it began, and where the deck is believed to be."""

    beginning: InitialPose
    deck: DeckEstimate


class FollowDeck(AbstractGuidance):
    """Over the middle of the deck that a sensor sees, at a height over it; at its place till then.

    Attributes:
        sensor: that tells where the deck is.
        altitude_m: of the vehicle's center of mass over the deck.
        smoothing_s: tau, the memory for what the sensor says.
        lost_after_s: without a message it waits where it is.
        yaw_rad: to look along; the yaw that it begins with if not given.
    """

    sensor: str = eqx.field(static=True, default="deck")
    altitude_m: Annotated[Real, NOT_NEGATIVE] = 1.65
    smoothing_s: Annotated[Real, NOT_NEGATIVE] = 0.2
    lost_after_s: Annotated[Real, POSITIVE] = LOST_AFTER_S
    yaw_rad: Real | None = None

    @override
    def prepare(self, context: BuildContext) -> "FollowDeck":
        refuse_blind(context.sensors, self.sensor)
        return self

    @override
    def command_types(self) -> tuple[type[PositionYaw]]:
        return (PositionYaw,)

    @override
    def init(self, key: PRNGKeyArray) -> FollowDeckState:
        del key
        return FollowDeckState(InitialPose.ahead(), DeckEstimate.unknown())

    @override
    def step(
        self, state: FollowDeckState, inputs: GuidanceInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[FollowDeckState, PositionYaw]:
        del key
        beginning = state.beginning.at(inputs.estimate)
        deck = state.deck.at(inputs, self.sensor, self.smoothing_s, dt_s, self.lost_after_s)
        yaw = beginning.yaw_rad if self.yaw_rad is None else self.yaw_rad
        place = deck.position_world_m
        over = PositionYaw(
            eqx.tree_at(lambda p: p.z, place, place.z + self.altitude_m),
            yaw,
            deck.velocity_world_mps,
        )
        waits = PositionYaw(beginning.position_world_m, jnp.asarray(yaw))
        return FollowDeckState(beginning, deck), tree_where(
            deck.seen, as_arrays(over), as_arrays(waits)
        )
