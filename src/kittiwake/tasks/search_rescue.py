"""QRSim's SearchRescue: find persons on the ground with a camera, and stop beside each of them.

A person is found when an agent is within 5 m of it at 0.1 m/s or less at the end of a control step.
All agents have one reward: in each step the number of persons found in it, and -1/200 in a step
without. Episodes go on when all are found. Source: QRSim (R. De Nardi, 2013), TaskSearchRescue; its
starts are drawn from a generator that nobody seeds. There each keeps a heading that is drawn, here
all look north.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE, Bounds
from kittiwake.core.kinematics import Kinematics, Start
from kittiwake.core.needed import Needed
from kittiwake.core.terrain import TERRAIN, Terrain
from kittiwake.core.vehicle import Vehicle
from kittiwake.core.world import World
from kittiwake.geometry.scalar import Count, Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.sensors.person_camera import PersonsMeasurement
from kittiwake.tasks.mates import mates, rows, ways_to
from kittiwake.tasks.motion import COMPONENT, FAR, Travel
from kittiwake.tasks.needs import Needs
from kittiwake.tasks.pelican import LOST, free_velocities, windy_from_anywhere, without_noise
from kittiwake.tasks.rung import Rung
from kittiwake.tasks.starts import inside, scattered
from kittiwake.tasks.task import AbstractTask, Agent, Scene
from kittiwake.tasks.velocities import asking

CAMERA = "camera"
EVIDENCE = Bounds(-200.0, 200.0)
# of the baseline: the height of the first agent's lanes and how much higher those of the next one
# are, how wide they are, and the evidence that it goes after, first from there and then from nearby
SWEEP_M, HIGHER_M, LANE_M, CLEAR, LIKELY = 15.0, 3.0, 8.0, 7.0, 3.5
# how long it remembers a place
KEPT_S = 6.0
# how high it stops beside a person, how fast it flies, how fast it makes up for what is missing
BESIDE_M, SPEED_MPS, GAIN_PER_S = 3.0, 2.5, 0.5


class SearchObservation(Travel):
    """What a searcher knows.

    Attributes:
        up_body: the vertical in its own axes, by which an image can be laid on the ground.
        evidence: by row and column of the image how much likelier a person is than none.
        ways_to_mates_world_m: to the other searchers, the next one first.
    """

    up_body: Annotated[Vec3, COMPONENT]
    evidence: Annotated[Float[Array, "rows columns"], EVIDENCE]
    ways_to_mates_world_m: Annotated[Float[Array, "mates 3"], FAR]


class Search(eqx.Module):
    """What is remembered of an episode.

    Attributes:
        found: which persons have been found.
        new: how many of them in the last step.
        marks_world_m: where each agent's camera saw what looked most like a person.
        since_s: how long ago.
    """

    found: Bool[Array, " persons"]
    new: Count
    marks_world_m: Float[Array, "agents 2"]
    since_s: Float[Array, " agents"]


def _conditions(east_m: int) -> dict[str, dict[str, Any]]:
    """Those of searchers of which the first begins so far in the east; without noise higher up."""
    return {
        "noiseless": {
            **without_noise("pelican", sensors={CAMERA: "person-camera"}),
            "vehicles.pelican.start.position_world_m": [east_m, 0, 45],
        },
        "noisy": {},
        "windy": windy_from_anywhere(2.0),
    }


class AbstractSearchRescue(AbstractTask):
    """Searchers with velocities in three axes."""

    rate_hz: Annotated[Real, POSITIVE] = 1.0
    within_m: Annotated[Real, POSITIVE] = 5.0
    slower_than_mps: Annotated[Real, POSITIVE] = 0.1
    cost_of_a_step: Annotated[Real, NOT_NEGATIVE] = 0.005

    agents: ClassVar[str] = "pelican"
    needs: ClassVar[Needs] = Needs(
        [Needed(CAMERA, PersonsMeasurement, "person-camera")], {TERRAIN: "terrain: pour"}
    )
    lost_reward: ClassVar[float] = LOST
    shared: ClassVar[bool] = True

    def starts(self, given: Start, world: World, key: PRNGKeyArray) -> Start:
        """Anywhere but near the limits and each other."""
        return scattered(given, inside(world.area), world.collision_distance_m, key)

    def rung(self, vehicle: Vehicle) -> Rung:
        """A velocity."""
        del vehicle
        return free_velocities()

    def begin(self, scene: Scene, vehicles: Sequence[Vehicle], key: PRNGKeyArray) -> Search:
        """Nobody is found."""
        del key
        ground: Terrain = scene.processes[TERRAIN]
        nowhere = jnp.zeros((len(vehicles), 2))
        long_ago = jnp.full(len(vehicles), jnp.inf, nowhere.dtype)
        nobody = jnp.zeros_like(ground.there)
        return Search(nobody, jnp.zeros((), jnp.int32), nowhere, long_ago)

    def proceed(self, goal: Search, scene: Scene, key: PRNGKeyArray) -> Search:
        """Who is found now."""
        del key
        ground: Terrain = scene.processes[TERRAIN]

        def stands_beside(agent: Agent) -> Bool[Array, " persons"]:
            away = jax.vmap(lambda person: self._away_m(agent.truth, person, scene))
            slow = agent.truth.velocity_world_mps.norm() <= self.slower_than_mps
            return jnp.asarray(away(ground.persons_world_m) <= self.within_m) & slow

        beside = jnp.asarray(scene.each(stands_beside)).any(axis=0) & ground.there
        new = jnp.sum(beside & ~goal.found, dtype=jnp.int32)
        later = replace(goal, found=goal.found | beside, new=new)
        marks, since = scene.each(lambda agent: self._marked(later, agent, scene))
        return replace(later, marks_world_m=marks, since_s=since)

    def observe(self, goal: Search, agent: Agent, scene: Scene) -> SearchObservation:
        """What it believes of itself and is told by the camera and the others."""
        del goal
        own = agent.estimate
        return SearchObservation(
            position_world_m=own.position_world_m,
            velocity_world_mps=own.velocity_world_mps,
            up_body=own.q_world_from_body.inverse().rotate(Vec3(0.0, 0.0, 1.0)),
            evidence=agent.measurements[CAMERA].evidence,
            ways_to_mates_world_m=ways_to(mates(scene, agent).estimate, own),
        )

    def reward(self, goal: Search, agent: Agent, scene: Scene) -> Real:
        """The reward above."""
        del agent, scene
        found = jnp.asarray(goal.new, jnp.result_type(float))
        return jnp.where(goal.new > 0, found, -self.cost_of_a_step)

    def baseline(self, goal: Search, agent: Agent, scene: Scene) -> Float[Array, " numbers"]:
        """Lanes to the north and back, one east of the other, and down to what looks like a person.

        It remembers where that was as long as it may be out of the image.
        """
        here = rows(agent.estimate.position_world_m)
        height = here[2] - scene.world.ground_z_m
        way = goal.marks_world_m[agent.number] - here[:2]
        near = (height < self.within_m - 1.0) & (jnp.abs(way).max() < 1.5)
        there = GAIN_PER_S * jnp.concatenate([way, (BESIDE_M - height)[None]])
        going = jnp.where(near, 0.0, there)
        follows = goal.since_s[agent.number] < KEPT_S
        x, y, z = jnp.where(follows, going, self._sweeping(here, height, agent, scene))
        return asking(free_velocities(), Vec3(x, y, z))

    def _marked(
        self, goal: Search, agent: Agent, scene: Scene
    ) -> tuple[Float[Array, "2"], Float[Array, ""]]:
        """What looks like a person that is not found: near the mark there is, or else very much."""
        mark, since = goal.marks_world_m[agent.number], goal.since_s[agent.number]
        image, ground = agent.measurements[CAMERA], scene.processes[TERRAIN]
        places = jnp.stack([image.x_world_m, image.y_world_m], axis=-1)

        def known(place: Float[Array, "2"]) -> Bool[Array, ""]:
            apart = jnp.abs(place[None] - ground.persons_world_m).max(axis=1)
            return ((apart < self.within_m) & goal.found).any()

        follows = (since < KEPT_S) & ~known(mark)
        beside = jnp.abs(places - mark[None, None]).max(axis=-1) < self.within_m
        fresh = image.valid & ~jax.vmap(jax.vmap(known))(places) & (beside | ~follows)
        evidence = jnp.where(fresh, image.evidence, -jnp.inf)
        best = jnp.unravel_index(jnp.argmax(evidence), evidence.shape)
        seen = evidence[best] > jnp.where(follows, LIKELY, CLEAR)
        waited = jnp.where(follows, since + 1.0 / self.rate_hz, jnp.inf)
        return jnp.where(seen, places[best], mark), jnp.where(seen, 0.0, waited)

    def _sweeping(
        self, here: Float[Array, "3"], height: Real, agent: Agent, scene: Scene
    ) -> Float[Array, "3"]:
        """The velocity of who has seen nobody."""
        area = scene.world.area
        middle = 0.4 * (area.y_m[1] - area.y_m[0])
        north = jnp.floor(here[0] / LANE_M) % 2.0 == 0.0
        done = jnp.where(north, here[1] > middle, here[1] < -middle)
        along = jnp.where(done, 0.0, jnp.where(north, SPEED_MPS, -SPEED_MPS))
        lane = (jnp.floor(here[0] / LANE_M) + 0.5) * LANE_M
        east = jnp.where(done, SPEED_MPS, GAIN_PER_S * (lane - here[0]))
        level = SWEEP_M + HIGHER_M * jnp.asarray(agent.number, jnp.result_type(float))
        return jnp.stack([east, along, GAIN_PER_S * (level - height)])

    def _away_m(self, motion: Kinematics, person: Float[Array, "2"], scene: Scene) -> Real:
        place = Vec3(person[0], person[1], scene.world.ground_z_m)
        return (motion.position_world_m - place).norm()


class SearchRescue(AbstractSearchRescue):
    """One searcher."""

    scenario: ClassVar[str] = "search-rescue"
    conditions: ClassVar[Mapping[str, Mapping[str, Any]]] = _conditions(0)


class SearchRescue3(AbstractSearchRescue):
    """Three searchers in an area that is three times as large."""

    scenario: ClassVar[str] = "search-rescue-3"
    conditions: ClassVar[Mapping[str, Mapping[str, Any]]] = _conditions(-40)
