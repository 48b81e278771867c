"""QRSim's SearchRescue: find persons on the ground with a camera and stop beside each of them.

A person is found when an agent is within 5 m of it at 0.1 m/s or less at the end of a control step.
All agents share one reward: the number of persons found in a step, or -1/200 in a step without.
Episodes continue after all are found. Source: QRSim (R. De Nardi, 2013), TaskSearchRescue; its
starts are drawn from an unseeded generator. There each agent keeps a random heading, here all face
north.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE, Bounds
from kittiwake.core.kinematics import Kinematics, Start
from kittiwake.geometry.scalar import Integer, Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.required_sensors import RequiredSensor
from kittiwake.interfaces.vehicle import AssembledVehicle
from kittiwake.pytree import Module, field
from kittiwake.sensors.person_camera import PersonCamera, PersonsMeasurement
from kittiwake.tasks.action_mapping import ActionMapping
from kittiwake.tasks.library.motion import POSITION_BOUNDS, UNIT_BOUNDS, WorldMotion
from kittiwake.tasks.library.other_agents import offsets_to, other_agents
from kittiwake.tasks.library.pelican import (
    LOST_REWARD,
    pelican_velocity_mapping,
    wind_from_any_direction,
    without_noise,
)
from kittiwake.tasks.library.person_search import SearchBeliefs
from kittiwake.tasks.library.separation import current_positions
from kittiwake.tasks.library.velocities import velocity_action
from kittiwake.tasks.requirements import Requirements
from kittiwake.tasks.starts import inner_area, scatter_starts
from kittiwake.tasks.task import AbstractTask, Agent, Conditions, TaskScene
from kittiwake.world.terrain import TERRAIN, Terrain
from kittiwake.world.world import WorldModel

CAMERA = "camera"
EVIDENCE = Bounds(-200.0, 200.0)


class SearchObservation(WorldMotion):
    """Observation of a searcher.

    Attributes:
        up_body: vertical direction in body axes, for the projection of the image.
        evidence: log-likelihood ratio of a person to none, by row and column of the image.
        offsets_to_teammates_world_m: offsets to the other searchers, the next one first.
    """

    up_body: Annotated[Vec3, UNIT_BOUNDS]
    evidence: Annotated[Float[Array, "rows columns"], EVIDENCE]
    offsets_to_teammates_world_m: Annotated[Float[Array, "other_agents 3"], POSITION_BOUNDS]


class SearchProgress(Module):
    """Persons found in an episode, and the built-in policy's beliefs.

    Attributes:
        found: True for each person that has been found.
        new: number of persons found in the last step.
        beliefs: beliefs of the built-in policy, from estimates and images alone; None for learners.
    """

    found: Bool[Array, " persons"]
    new: Integer
    beliefs: SearchBeliefs | None


def _conditions(east_m: int) -> Conditions:
    """Return the conditions; ``east_m`` is the first searcher's start in ``noiseless``."""
    return {
        "noiseless": {
            **without_noise("pelican", sensors={CAMERA: "person-camera"}),
            "vehicles.pelican.start.position_world_m": [east_m, 0, 45],
        },
        "noisy": {},
        "windy": wind_from_any_direction(2.0),
    }


class AbstractSearchRescue(AbstractTask[SearchProgress]):
    """Base class: search by velocities along three axes.

    Attributes:
        within_m: distance within which a person is found.
        slower_than_mps: speed below which a person is found.
        cost_of_a_step: cost of a step without a find.
        has_beliefs: whether the state holds the beliefs of the built-in policy.
    """

    rate_hz: Annotated[Real, POSITIVE] = 1.0
    within_m: Annotated[Real, POSITIVE] = 5.0
    slower_than_mps: Annotated[Real, POSITIVE] = 0.1
    cost_of_a_step: Annotated[Real, NOT_NEGATIVE] = 0.005
    # True to keep the beliefs that the built-in policy needs
    has_beliefs: bool = field(static=True, default=False)

    agents: ClassVar[str] = "pelican"
    requirements: ClassVar[Requirements] = Requirements(
        [RequiredSensor(CAMERA, PersonsMeasurement, "person-camera")], {TERRAIN: "terrain: pour"}
    )
    lost_reward: ClassVar[float] = LOST_REWARD
    shared: ClassVar[bool] = True

    @override
    def starts(self, given: Start, world: WorldModel, key: PRNGKeyArray) -> Start:
        return scatter_starts(given, inner_area(world.area), world.collision_distance_m, key)

    @override
    def action_mapping(self, vehicle: AssembledVehicle) -> ActionMapping:
        del vehicle
        return pelican_velocity_mapping()

    @override
    def init_goal(
        self, scene: TaskScene, vehicles: Sequence[AssembledVehicle], key: PRNGKeyArray
    ) -> SearchProgress:
        del key
        ground: Terrain = scene.processes[TERRAIN]
        beliefs = None
        if self.has_beliefs:
            camera = vehicles[0].sensors[CAMERA].component.sensor
            assert isinstance(camera, PersonCamera), "no other sensor measures persons"
            beliefs = SearchBeliefs.initial(camera, scene.agents.estimate, scene.world.area)
        found = jnp.zeros_like(ground.person_exists)
        return SearchProgress(found, jnp.zeros((), jnp.int32), beliefs)

    @override
    def update_goal(
        self, goal: SearchProgress, scene: TaskScene, key: PRNGKeyArray
    ) -> SearchProgress:
        del key
        ground: Terrain = scene.processes[TERRAIN]

        def stands_beside(agent: Agent) -> Bool[Array, " persons"]:
            distance_m = jax.vmap(lambda person: self._distance_m(agent.truth, person, scene))
            slow = agent.truth.velocity_world_mps.norm() <= self.slower_than_mps
            return jnp.asarray(distance_m(ground.persons_world_m) <= self.within_m) & slow

        beside = jnp.asarray(scene.each(stands_beside)).any(axis=0) & ground.person_exists
        new = jnp.sum(beside & ~goal.found, dtype=jnp.int32)
        own, beliefs = scene.agents, goal.beliefs
        if beliefs is not None:
            beliefs = beliefs.update(
                own.estimate,
                own.measurements[CAMERA],
                scene.world.ground_z_m,
                1.0 / self.rate_hz,
            )
        return SearchProgress(goal.found | beside, new, beliefs)

    @override
    def observe(self, goal: SearchProgress, agent: Agent, scene: TaskScene) -> SearchObservation:
        del goal
        own = agent.estimate
        return SearchObservation(
            position_world_m=own.position_world_m,
            velocity_world_mps=own.velocity_world_mps,
            up_body=own.q_world_from_body.inverse().rotate(Vec3(0.0, 0.0, 1.0)),
            evidence=agent.measurements[CAMERA].evidence,
            offsets_to_teammates_world_m=offsets_to(other_agents(scene, agent).estimate, own),
        )

    @override
    def reward(self, goal: SearchProgress, agent: Agent, scene: TaskScene) -> Real:
        del agent, scene
        found = jnp.asarray(goal.new, jnp.result_type(float))
        return jnp.where(goal.new > 0, found, -self.cost_of_a_step)

    @override
    def expert_action(
        self, goal: SearchProgress, agent: Agent, scene: TaskScene
    ) -> Float[Array, " numbers"]:
        assert goal.beliefs is not None, "only a task with beliefs has an expert action"
        here = current_positions(scene.agents.estimate)
        velocity = goal.beliefs.velocity_world_mps(agent.index, here, scene.world.ground_z_m)
        return velocity_action(pelican_velocity_mapping(), Vec3.of(velocity))

    @override
    def with_beliefs(self) -> "AbstractSearchRescue":
        return self if self.has_beliefs else replace(self, has_beliefs=True)

    @override
    def metrics(self, goal: SearchProgress, scene: TaskScene) -> dict[str, Real]:
        ground: Terrain = scene.processes[TERRAIN]
        counts = {"persons_found": goal.found, "persons": ground.person_exists}
        return {name: flags.astype(float).sum() for name, flags in counts.items()}

    def _distance_m(self, motion: Kinematics, person: Float[Array, "2"], scene: TaskScene) -> Real:
        place = Vec3(person[0], person[1], scene.world.ground_z_m)
        return (motion.position_world_m - place).norm()


class SearchRescue(AbstractSearchRescue):
    """One searcher."""

    scenario: ClassVar[str] = "search-rescue"
    conditions: ClassVar[Conditions] = _conditions(0)


class SearchRescue3(AbstractSearchRescue):
    """Three searchers in an area that is three times as large."""

    scenario: ClassVar[str] = "search-rescue-3"
    conditions: ClassVar[Conditions] = _conditions(-40)
