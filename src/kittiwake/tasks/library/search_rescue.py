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
from typing_extensions import override

from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE, Bounds
from kittiwake.core.kinematics import Kinematics, Start
from kittiwake.geometry.scalar import Count, Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.required_sensors import RequiredSensor
from kittiwake.interfaces.vehicle import Vehicle
from kittiwake.sensors.person_camera import PersonCamera, PersonsMeasurement
from kittiwake.tasks.action_mapping import ActionMapping
from kittiwake.tasks.library.motion import COMPONENT, FAR, WorldMotion
from kittiwake.tasks.library.other_agents import mates, ways_to
from kittiwake.tasks.library.pelican import (
    LOST,
    free_velocities,
    windy_from_anywhere,
    without_noise,
)
from kittiwake.tasks.library.person_search import Beliefs
from kittiwake.tasks.library.separation import whereabouts
from kittiwake.tasks.library.velocities import asking
from kittiwake.tasks.requirements import Requirements
from kittiwake.tasks.starts import inside, scattered
from kittiwake.tasks.task import AbstractTask, Agent, TaskScene
from kittiwake.world.terrain import TERRAIN, Terrain
from kittiwake.world.world import World

CAMERA = "camera"
EVIDENCE = Bounds(-200.0, 200.0)


class SearchObservation(WorldMotion):
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
        beliefs: of the searchers without learning, by estimates and images alone; None for others.
    """

    found: Bool[Array, " persons"]
    new: Count
    beliefs: Beliefs | None


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
    # whether what searchers believe is remembered, for the baseline
    believing: bool = eqx.field(static=True, default=False)

    agents: ClassVar[str] = "pelican"
    requirements: ClassVar[Requirements] = Requirements(
        [RequiredSensor(CAMERA, PersonsMeasurement, "person-camera")], {TERRAIN: "terrain: pour"}
    )
    lost_reward: ClassVar[float] = LOST
    shared: ClassVar[bool] = True

    @override
    def starts(self, given: Start, world: World, key: PRNGKeyArray) -> Start:
        return scattered(given, inside(world.area), world.collision_distance_m, key)

    @override
    def action_mapping(self, vehicle: Vehicle) -> ActionMapping:
        del vehicle
        return free_velocities()

    @override
    def begin(self, scene: TaskScene, vehicles: Sequence[Vehicle], key: PRNGKeyArray) -> Search:
        del key
        ground: Terrain = scene.processes[TERRAIN]
        beliefs = None
        if self.believing:
            camera = vehicles[0].sensors[CAMERA].component.sensor
            assert isinstance(camera, PersonCamera), "nothing else measures persons"
            beliefs = Beliefs.begun(camera, scene.agents.estimate, scene.world.area)
        nobody = jnp.zeros_like(ground.there)
        return Search(nobody, jnp.zeros((), jnp.int32), beliefs)

    @override
    def proceed(self, goal: Search, scene: TaskScene, key: PRNGKeyArray) -> Search:
        del key
        ground: Terrain = scene.processes[TERRAIN]

        def stands_beside(agent: Agent) -> Bool[Array, " persons"]:
            away = jax.vmap(lambda person: self._away_m(agent.truth, person, scene))
            slow = agent.truth.velocity_world_mps.norm() <= self.slower_than_mps
            return jnp.asarray(away(ground.persons_world_m) <= self.within_m) & slow

        beside = jnp.asarray(scene.each(stands_beside)).any(axis=0) & ground.there
        new = jnp.sum(beside & ~goal.found, dtype=jnp.int32)
        own, beliefs = scene.agents, goal.beliefs
        if beliefs is not None:
            seen = own.estimate, own.measurements[CAMERA]
            beliefs = beliefs.after(*seen, scene.world.ground_z_m, 1.0 / self.rate_hz)
        return Search(goal.found | beside, new, beliefs)

    @override
    def observe(self, goal: Search, agent: Agent, scene: TaskScene) -> SearchObservation:
        del goal
        own = agent.estimate
        return SearchObservation(
            position_world_m=own.position_world_m,
            velocity_world_mps=own.velocity_world_mps,
            up_body=own.q_world_from_body.inverse().rotate(Vec3(0.0, 0.0, 1.0)),
            evidence=agent.measurements[CAMERA].evidence,
            ways_to_mates_world_m=ways_to(mates(scene, agent).estimate, own),
        )

    @override
    def reward(self, goal: Search, agent: Agent, scene: TaskScene) -> Real:
        del agent, scene
        found = jnp.asarray(goal.new, jnp.result_type(float))
        return jnp.where(goal.new > 0, found, -self.cost_of_a_step)

    @override
    def baseline(self, goal: Search, agent: Agent, scene: TaskScene) -> Float[Array, " numbers"]:
        assert goal.beliefs is not None, "only a task with beliefs has a baseline"
        here = whereabouts(scene.agents.estimate)
        velocity = goal.beliefs.velocity_world_mps(agent.number, here, scene.world.ground_z_m)
        return asking(free_velocities(), Vec3.of(velocity))

    @override
    def with_beliefs(self) -> "AbstractSearchRescue":
        return self if self.believing else replace(self, believing=True)

    @override
    def figures(self, goal: Search, scene: TaskScene) -> dict[str, Real]:
        ground: Terrain = scene.processes[TERRAIN]
        counts = {"persons_found": goal.found, "persons": ground.there}
        return {name: who.astype(float).sum() for name, who in counts.items()}

    def _away_m(self, motion: Kinematics, person: Float[Array, "2"], scene: TaskScene) -> Real:
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
