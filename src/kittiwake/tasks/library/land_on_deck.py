"""A drone that lands on the deck of its partner, a vessel that sails, by velocities.

With d the distance from where it would stand on the middle of the deck, w its speed against the
deck there, w_0 that speed at the end of the last control step before it touched the deck, and
``s(x; m)`` for ``tolerance`` of 1 at 0 that falls to 0.1 at m, the reward of a step is::

    r = (d_before - d) / 5 m
        + (5 + 5 s(w_0; 1 m/s))    once it stands

It stands once w has been below ``rest_mps`` on the deck for ``settle_s``, and the episode ends.
Below ``wet_m`` over the water it is lost.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, NamedTuple

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE, Bounds
from kittiwake.core.measurements import DeckMeasurement
from kittiwake.geometry.scalar import Flag, Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.required_sensors import RequiredSensor
from kittiwake.interfaces.vehicle import Vehicle
from kittiwake.tasks.action_mapping import ActionMapping
from kittiwake.tasks.library.motion import COMPONENT, FAST
from kittiwake.tasks.library.velocities import asking, velocities
from kittiwake.tasks.library.winds import windy
from kittiwake.tasks.requirements import Requirements
from kittiwake.tasks.rewards import tolerance
from kittiwake.tasks.task import AbstractTask, Agent, TaskScene

NEAR = Bounds(-100.0, 100.0)
# higher than this over where it would stand, it does not touch
TOUCHING_M = 0.02
APPROACH_SCALE_M, SOFT_MPS = 5.0, 1.0
LANDED, LANDED_SOFTLY = 5.0, 5.0
REACH_MPS = Vec3(2.0, 2.0, 1.0)
VELOCITIES = velocities(REACH_MPS)
# of the baseline: so near over the deck, and to its middle, it presses down
PRESSED_M, ON_DECK_M = 0.01, 0.3


class LandOnDeckObservation(eqx.Module):
    """What the beacon and the drone's own estimate say, in world axes.

    Attributes:
        offset_world_m: the way to where it would stand on the middle of the deck.
        closing_world_mps: the velocity of the deck, seen from the drone.
        deck_world_mps: the velocity of the deck over the ground.
        up_body: the vertical in the drone's axes.
    """

    offset_world_m: Annotated[Vec3, NEAR]
    closing_world_mps: Annotated[Vec3, FAST]
    deck_world_mps: Annotated[Vec3, FAST]
    up_body: Annotated[Vec3, COMPONENT]


class Landing(NamedTuple):
    """What is remembered of each agent.

    Attributes:
        standing_height_m: of its center of mass over the deck.
        away_m: d.
        nearer_m: by how much that has shrunk in the last control step.
        touch_mps: w_0, that of the last step while it is in the air.
        stood_s: for how long it has been at rest on the deck.
    """

    standing_height_m: Float[Array, " agents"]
    away_m: Float[Array, " agents"]
    nearer_m: Float[Array, " agents"]
    touch_mps: Float[Array, " agents"]
    stood_s: Float[Array, " agents"]


class Against(NamedTuple):
    """A drone and the deck: d, w, and whether it touches."""

    away_m: Real
    speed_mps: Real
    touches: Flag


class LandOnDeck(AbstractTask):
    """Onto the deck of the agent's partner, of which its sensor ``deck`` tells."""

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
    conditions: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "noiseless": {
            "vehicles.drone.sensors.deck.position_deviation_m": 0,
            "vehicles.drone.sensors.deck.velocity_deviation_mps": 0,
            "vehicles.drone.sensors.deck.yaw_deviation_rad": 0,
        },
        "windy": windy(3.0, 45.0),
        # with short crests, so that the deck heaves, rolls and pitches on every executor
        "heaving-deck": {"world.waves": {"type": "jonswap", "sea_state": 2, "spreading": 5}},
    }

    @override
    def action_mapping(self, vehicle: Vehicle) -> ActionMapping:
        del vehicle
        return VELOCITIES

    @override
    def begin(self, scene: TaskScene, vehicles: Sequence[Vehicle], key: PRNGKeyArray) -> Landing:
        del key
        dtype = jnp.result_type(float)
        standing = jnp.asarray([v.dynamics.standing_height_m or 0.0 for v in vehicles], dtype)
        against = scene.each(lambda agent: _against(standing[agent.number], agent))
        zero = jnp.zeros_like(standing)
        return Landing(standing, against.away_m, zero, against.speed_mps, zero)

    @override
    def proceed(self, goal: Landing, scene: TaskScene, key: PRNGKeyArray) -> Landing:
        del key
        now = scene.each(lambda agent: _against(goal.standing_height_m[agent.number], agent))
        rests = now.touches & (now.speed_mps < self.rest_mps)
        return goal._replace(
            away_m=now.away_m,
            nearer_m=goal.away_m - now.away_m,
            touch_mps=jnp.where(now.touches, goal.touch_mps, now.speed_mps),
            stood_s=jnp.where(rests, goal.stood_s + 1.0 / self.rate_hz, 0.0),
        )

    @override
    def observe(self, goal: Landing, agent: Agent, scene: TaskScene) -> LandOnDeckObservation:
        del scene
        own, deck = agent.estimate, _told(agent)
        up = Vec3(0.0, 0.0, 1.0)
        place = deck.position_world_m + up * goal.standing_height_m[agent.number]
        return LandOnDeckObservation(
            offset_world_m=place - own.position_world_m,
            closing_world_mps=deck.velocity_world_mps - own.velocity_world_mps,
            deck_world_mps=deck.velocity_world_mps,
            up_body=own.q_world_from_body.inverse().rotate(up),
        )

    @override
    def reward(self, goal: Landing, agent: Agent, scene: TaskScene) -> Real:
        del scene
        number = agent.number
        soft = tolerance(goal.touch_mps[number], margin=SOFT_MPS)
        landed = jnp.where(self._stands(goal)[number], LANDED + LANDED_SOFTLY * soft, 0.0)
        reward = goal.nearer_m[number] / APPROACH_SCALE_M + landed
        return jnp.where(self._wet(agent), self.lost_reward, reward)

    @override
    def ended(self, goal: Landing, scene: TaskScene) -> Flag:
        return self._stands(goal).all() | scene.each(self._wet).any()

    @override
    def figures(self, goal: Landing, scene: TaskScene) -> dict[str, Real]:
        del scene
        landed = self._stands(goal).astype(goal.away_m.dtype).sum()
        return {"landed": landed, "distance_m": goal.away_m.max()}

    @override
    def baseline(self, goal: Landing, agent: Agent, scene: TaskScene) -> Float[Array, " numbers"]:
        # On the deck it presses down, so that a deck that falls away does not throw it off.
        told = self.observe(goal, agent, scene)
        way, deck = told.offset_world_m, told.deck_world_mps
        height, aside = -way.z, Vec3(way.x, way.y, 0.0).norm()
        sinking = jnp.clip(0.15 + 0.5 * height, 0.15, 0.5)
        waiting = jnp.clip(height - 0.4, -0.5, 0.5)
        down = jnp.where(aside < 0.12 + 0.2 * height, sinking, waiting)
        pressed = (height < PRESSED_M) & (aside < ON_DECK_M)
        gain = jnp.where(pressed, 0.0, 1.5)
        climb = jnp.where(pressed, -REACH_MPS.z, deck.z - down)
        return asking(VELOCITIES, Vec3(deck.x + gain * way.x, deck.y + gain * way.y, climb))

    def _stands(self, goal: Landing) -> Array:
        # sums of steps are never quite the time asked for
        return goal.stood_s > self.settle_s - 0.5 / self.rate_hz

    def _wet(self, agent: Agent) -> Flag:
        return agent.surroundings.height_above_ground_m < self.wet_m


def _told(agent: Agent) -> DeckMeasurement:
    return agent.measurements["deck"]


def _against(standing_height_m: Real, agent: Agent) -> Against:
    deck, own = agent.surroundings.partner, agent.truth
    assert deck is not None, "a drone with a beacon has a partner"
    there = deck.across(own.position_world_m)
    away = Vec3(there.x, there.y, there.z - standing_height_m)
    against = own.velocity_world_mps - deck.velocity_at(own.position_world_m)
    touches = deck.covers(own.position_world_m) & (away.z < TOUCHING_M)
    return Against(away.norm(), against.norm(), touches)
