"""Task of a drone: land on the deck of its partner, a moving vessel, by velocities.

With d the distance from the standing position at the center of the deck, w the drone's speed
relative to the deck there, w_0 that speed at the end of the last control step before touchdown, and
``s(x; m)`` for ``tolerance`` of 1 at 0 that falls to 0.1 at m, the reward of a step is::

    r = (d_before - d) / 5 m
        + (5 + 5 s(w_0; 1 m/s))    once it has landed

It has landed once w has been below ``rest_mps`` on the deck for ``settle_s``, which ends the
episode. It is lost below a height of ``wet_m`` over the water.
"""

from collections.abc import Sequence
from typing import Annotated, ClassVar, NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE, Bounds
from kittiwake.core.measurements import DeckMeasurement
from kittiwake.geometry.scalar import Flag, Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.required_sensors import RequiredSensor
from kittiwake.interfaces.vehicle import AssembledVehicle
from kittiwake.pytree import Module
from kittiwake.tasks.action_mapping import ActionMapping
from kittiwake.tasks.library.motion import UNIT_BOUNDS, VELOCITY_BOUNDS
from kittiwake.tasks.library.velocities import velocity_action, velocity_mapping
from kittiwake.tasks.library.winds import wind_and_gusts
from kittiwake.tasks.requirements import Requirements
from kittiwake.tasks.rewards import tolerance
from kittiwake.tasks.task import AbstractTask, Agent, Conditions, TaskScene

OFFSET_BOUNDS = Bounds(-100.0, 100.0)
# height over the standing position up to which it touches the deck
TOUCHING_M = 0.02
APPROACH_SCALE_M, SOFT_MPS = 5.0, 1.0
LANDED, LANDED_SOFTLY = 5.0, 5.0
LIMIT_MPS = Vec3(2.0, 2.0, 1.0)
VELOCITY_MAPPING = velocity_mapping(LIMIT_MPS)
# built-in policy: height over the deck and distance from its center at which it presses down
PRESS_M, ON_DECK_M = 0.01, 0.3


class LandOnDeckObservation(Module):
    """Observation of the deck, by the beacon and the drone's own estimate.

    Attributes:
        offset_world_m: offset to the standing position at the center of the deck.
        closing_world_mps: velocity of the deck relative to the drone.
        deck_world_mps: velocity of the deck over the ground.
        up_body: vertical direction in body axes.
    """

    offset_world_m: Annotated[Vec3, OFFSET_BOUNDS]
    closing_world_mps: Annotated[Vec3, VELOCITY_BOUNDS]
    deck_world_mps: Annotated[Vec3, VELOCITY_BOUNDS]
    up_body: Annotated[Vec3, UNIT_BOUNDS]


class LandingProgress(NamedTuple):
    """Progress of each agent's landing.

    Attributes:
        standing_height_m: height of its center of mass over the deck when it stands.
        away_m: d.
        nearer_m: decrease of d in the last control step.
        touch_mps: w_0, in the air the speed of the last step.
        stood_s: time at rest on the deck.
    """

    standing_height_m: Float[Array, " agents"]
    away_m: Float[Array, " agents"]
    nearer_m: Float[Array, " agents"]
    touch_mps: Float[Array, " agents"]
    stood_s: Float[Array, " agents"]


class DeckApproach(NamedTuple):
    """Motion of a drone relative to the deck: d, w, and contact."""

    away_m: Real
    speed_mps: Real
    touches: Flag


class LandOnDeck(AbstractTask[LandingProgress]):
    """LandingProgress on the deck of the agent's partner, which its sensor ``deck`` measures.

    Attributes:
        rest_mps: speed relative to the deck below which the drone is at rest.
        settle_s: time at rest after which it has landed.
        wet_m: height over the water below which it is lost.
    """

    rate_hz: Annotated[Real, POSITIVE] = 10.0
    rest_mps: Annotated[Real, POSITIVE] = 0.2
    settle_s: Annotated[Real, NOT_NEGATIVE] = 0.3
    wet_m: Annotated[Real, NOT_NEGATIVE] = 0.1

    scenario: ClassVar[str] = "land-on-deck"
    agents: ClassVar[str] = "drone"
    requirements: ClassVar[Requirements] = Requirements(
        [RequiredSensor("deck", DeckMeasurement, "beacon")], partner=True
    )
    lost_reward: ClassVar[float] = -2.0
    conditions: ClassVar[Conditions] = {
        "noiseless": {
            "vehicles.drone.sensors.deck.position_deviation_m": 0,
            "vehicles.drone.sensors.deck.velocity_deviation_mps": 0,
            "vehicles.drone.sensors.deck.yaw_deviation_rad": 0,
        },
        "windy": wind_and_gusts(3.0, 45.0),
        # short-crested waves make the deck heave, roll and pitch with every executor
        "heaving-deck": {"world.waves": {"type": "jonswap", "sea_state": 2, "spreading": 5}},
    }

    @override
    def action_mapping(self, vehicle: AssembledVehicle) -> ActionMapping:
        del vehicle
        return VELOCITY_MAPPING

    @override
    def init_goal(
        self, scene: TaskScene, vehicles: Sequence[AssembledVehicle], key: PRNGKeyArray
    ) -> LandingProgress:
        del key
        dtype = jnp.result_type(float)
        standing = jnp.asarray([v.dynamics.standing_height_m or 0.0 for v in vehicles], dtype)
        approach = scene.each(lambda agent: _approach(standing[agent.index], agent))
        zero = jnp.zeros_like(standing)
        return LandingProgress(
            standing, jnp.asarray(approach.away_m), zero, jnp.asarray(approach.speed_mps), zero
        )

    @override
    def update_goal(
        self, goal: LandingProgress, scene: TaskScene, key: PRNGKeyArray
    ) -> LandingProgress:
        del key
        now = scene.each(lambda agent: _approach(goal.standing_height_m[agent.index], agent))
        rests = now.touches & (now.speed_mps < self.rest_mps)
        return goal._replace(
            away_m=now.away_m,
            nearer_m=goal.away_m - now.away_m,
            touch_mps=jnp.where(now.touches, goal.touch_mps, now.speed_mps),
            stood_s=jnp.where(rests, goal.stood_s + 1.0 / self.rate_hz, 0.0),
        )

    @override
    def observe(
        self, goal: LandingProgress, agent: Agent, scene: TaskScene
    ) -> LandOnDeckObservation:
        del scene
        own, deck = agent.estimate, _deck_measurement(agent)
        up = Vec3(0.0, 0.0, 1.0)
        place = deck.position_world_m + up * goal.standing_height_m[agent.index]
        return LandOnDeckObservation(
            offset_world_m=place - own.position_world_m,
            closing_world_mps=deck.velocity_world_mps - own.velocity_world_mps,
            deck_world_mps=deck.velocity_world_mps,
            up_body=own.q_world_from_body.inverse().rotate(up),
        )

    @override
    def reward(self, goal: LandingProgress, agent: Agent, scene: TaskScene) -> Real:
        del scene
        index = agent.index
        soft = tolerance(goal.touch_mps[index], margin=SOFT_MPS)
        landed = jnp.where(self._stands(goal)[index], LANDED + LANDED_SOFTLY * soft, 0.0)
        reward = goal.nearer_m[index] / APPROACH_SCALE_M + landed
        return jnp.where(self._wet(agent), self.lost_reward, reward)

    @override
    def ended(self, goal: LandingProgress, scene: TaskScene) -> Flag:
        return self._stands(goal).all() | scene.each(self._wet).any()

    @override
    def metrics(self, goal: LandingProgress, scene: TaskScene) -> dict[str, Real]:
        del scene
        landed = self._stands(goal).astype(goal.away_m.dtype).sum()
        return {"landed": landed, "distance_m": goal.away_m.max()}

    @override
    def expert_action(
        self, goal: LandingProgress, agent: Agent, scene: TaskScene
    ) -> Float[Array, " numbers"]:
        # On the deck it presses down, so that a falling deck does not throw it off.
        observation = self.observe(goal, agent, scene)
        offset, deck = observation.offset_world_m, observation.deck_world_mps
        height, aside = -offset.z, Vec3(offset.x, offset.y, 0.0).norm()
        sinking = jnp.clip(0.15 + 0.5 * height, 0.15, 0.5)
        waiting = jnp.clip(height - 0.4, -0.5, 0.5)
        down = jnp.where(aside < 0.12 + 0.2 * height, sinking, waiting)
        pressing = (height < PRESS_M) & (aside < ON_DECK_M)
        gain = jnp.where(pressing, 0.0, 1.5)
        climb = jnp.where(pressing, -LIMIT_MPS.z, deck.z - down)
        return velocity_action(
            VELOCITY_MAPPING, Vec3(deck.x + gain * offset.x, deck.y + gain * offset.y, climb)
        )

    def _stands(self, goal: LandingProgress) -> Array:
        # half a step of tolerance for the rounding of summed steps
        return goal.stood_s > self.settle_s - 0.5 / self.rate_hz

    def _wet(self, agent: Agent) -> Flag:
        return agent.surroundings.height_above_ground_m < self.wet_m


def _deck_measurement(agent: Agent) -> DeckMeasurement:
    return agent.measurements["deck"]


def _approach(standing_height_m: Real, agent: Agent) -> DeckApproach:
    deck, own = agent.surroundings.partner, agent.truth
    assert deck is not None, "a drone with a beacon has a partner"
    position = deck.to_deck_axes(own.position_world_m)
    offset = Vec3(position.x, position.y, position.z - standing_height_m)
    velocity = own.velocity_world_mps - deck.velocity_at(own.position_world_m)
    touches = deck.covers(own.position_world_m) & (offset.z < TOUCHING_M)
    return DeckApproach(offset.norm(), velocity.norm(), touches)
