"""QRSim's plume tasks: estimate the concentrations of a plume at reference locations.

With each action an agent reports a number for each reference location: an action a from -1 to 1
reports the concentration ``most ((1 + a) / 2)^4``, as most concentrations are small. The reports of
several agents count as their mean q. All agents share one reward in the last step. For a steady
plume with true concentrations c_j it is

    r = -sum_j (q_j - c_j)^2            with the concentrations reported in the last step

A plume of puffs changes all the time. There the reports of the last ``window`` steps are samples of
an agent's belief of the concentration at a location, one in each step, and

    r = -sum_j D(P_j || Q_j)            over all c_j and q_j of these steps

with the divergence of ``divergence``. Source: QRSim (R. De Nardi, 2013), plume tasks: 1000 steps of
1 s, 100 reference locations (25 for a single source of puffs), squared errors, and a divergence
that is estimated by nearest neighbors. Ours: the scale of the reports, up to ``most``; the choice
of samples; the sum of the divergences of locations, as if these were independent (the original
takes one joint divergence); the mean of a team's reports. Steps are counted in blocks of
``window``, of which the last one counts: an episode should have a whole number of them.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import POSITIVE, Bounds
from kittiwake.core.kinematics import Start
from kittiwake.geometry.scalar import Integer, Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.required_sensors import RequiredSensor
from kittiwake.interfaces.vehicle import AssembledVehicle
from kittiwake.pytree import Module, field
from kittiwake.sensors.plume_sensor import ConcentrationMeasurement
from kittiwake.tasks.action_mapping import ActionMapping
from kittiwake.tasks.library.divergence import SampleSet
from kittiwake.tasks.library.motion import POSITION_BOUNDS, VELOCITY_BOUNDS, WorldMotion
from kittiwake.tasks.library.other_agents import offsets_to, other_agents, rows
from kittiwake.tasks.library.pelican import (
    EPSILON,
    LOST_REWARD,
    MAX_SPEED_MPS,
    pelican_velocity_mapping,
    without_noise,
)
from kittiwake.tasks.library.plume_sources import (
    PUFFS,
    STEADY,
    Axes,
    Emissions,
    SourceBeliefs,
    puff_pattern,
)
from kittiwake.tasks.library.reference_locations import reference_locations, region_of
from kittiwake.tasks.library.separation import avoidance_velocity_mps, current_positions
from kittiwake.tasks.library.velocities import velocity_action
from kittiwake.tasks.requirements import Requirements
from kittiwake.tasks.starts import inner_area, scatter_starts
from kittiwake.tasks.task import AbstractTask, Agent, Conditions, TaskScene
from kittiwake.world.plume import PLUME, WIND_HEIGHT_M, AbstractCloud
from kittiwake.world.world import FlightArea, WorldModel

SMOKE, NOSE = "smoke", "nose"
CONCENTRATION = Bounds(-10.0, 100.0)
LOCATIONS, STEPS = Bounds(1.0, 1000.0), Bounds(0.0, 10000.0)
# exponent of the reported concentration, for a fine resolution near zero
STEEPNESS = 4
# lowest number of samples of a divergence, as a nearest neighbor is another sample
LEAST_SAMPLES = 2
# built-in policy in a cloud at rest: correlation length of the concentration, weight of
# measurements below which a location is still to be visited, and position gain
CORRELATION_M, VISITED_WEIGHT, GAIN_PER_S = 2.0, 0.5, 0.6
# built-in policy among sources: time near a source, time at each of some distances downwind of it,
# these distances, distance sideways, and additional distance of further agents at the same source;
# then the wind speed in which an agent can hold a position, and the number of levels to search it
SOURCE_S, POINT_S, DOWNWIND_M = 100.0, 10.0, (12.0, 6.0, 3.0, 1.5, 4.5)
ASIDE_M, FOLLOWER_M = 1.0, 25.0
HOLD_MPS, LEVELS = 4.2, 40
# distance of target locations from the limits, distance from which it returns, and its height then
EDGE_M, RETURN_M, SHELTER_M = 12.0, 10.0, 8.0
# the largest tilt of the controller allows 5.1 m/s
MAX_AIRSPEED_MPS = 4.6


class PlumeObservation(WorldMotion):
    """Observation of an agent, in world axes.

    Attributes:
        concentration: measured concentration.
        ways_to_locations_world_m: offsets to the reference locations.
        offsets_to_teammates_world_m: offsets to the other agents, the next one first.
        wind_world_mps: mean wind 6 m over the ground.
    """

    concentration: Annotated[Real, CONCENTRATION]
    ways_to_locations_world_m: Annotated[Float[Array, "locations 3"], POSITION_BOUNDS]
    offsets_to_teammates_world_m: Annotated[Float[Array, "other_agents 3"], POSITION_BOUNDS]
    wind_world_mps: Annotated[Vec3, VELOCITY_BOUNDS]


class Findings(Module):
    """Reference locations of an episode, reported concentrations, and the built-in policy's memory.

    Attributes:
        locations_world_m: reference locations.
        weights: total weight of the measurements near each location, for the built-in policy.
        sums: weighted sum of these measurements.
        reported: concentrations that were reported last.
        samples: reported and true samples; None if only the last report counts.
        sources: beliefs of the sources, for the built-in policy; None in a cloud at rest and for
            learners.
    """

    locations_world_m: Float[Array, "locations 3"]
    weights: Float[Array, " locations"]
    sums: Float[Array, " locations"]
    reported: Float[Array, " locations"]
    samples: SampleSet | None
    sources: SourceBeliefs | None


class AbstractPlumeTask(AbstractTask[Findings]):
    """Base class: flight by velocities along three axes, with a report for each location.

    ``resolution`` is that of the divergence; with a ``window`` of 0 squared errors count.

    Attributes:
        locations: number of reference locations; four fifths are in the support of the plume.
        most: highest concentration that can be reported.
        window: number of last steps whose reports are samples; 0 for a steady plume.
        resolution: distance added in the divergence, so that equal samples are not singular.
        has_beliefs: whether the state holds the beliefs of the built-in policy.
    """

    rate_hz: Annotated[Real, POSITIVE] = 1.0
    locations: Annotated[int, LOCATIONS] = field(static=True, default=100)
    most: Annotated[Real, POSITIVE] = 2.0
    window: Annotated[int, STEPS] = field(static=True, default=0)
    resolution: Annotated[Real, POSITIVE] = 1e-4
    # True to keep the beliefs of sources that the built-in policy needs
    has_beliefs: bool = field(static=True, default=False)

    agents: ClassVar[str] = "pelican"
    conditions: ClassVar[Conditions] = {
        "noiseless": without_noise("pelican", sensors={NOSE: {"type": "plume", "deviation": 0}}),
        "noisy": {},
    }
    requirements: ClassVar[Requirements] = Requirements(
        [RequiredSensor(NOSE, ConcentrationMeasurement, "plume")],
        {PLUME + SMOKE: f"plumes: {{{SMOKE}: gaussian}}"},
    )
    lost_reward: ClassVar[float] = LOST_REWARD
    shared: ClassVar[bool] = True
    # prior of the emissions; None for a cloud at rest
    emissions: ClassVar[Emissions | None] = STEADY

    @override
    def check(self, world: WorldModel, agents: int, steps: int) -> None:
        del world, agents
        if not self.window:
            return
        left = steps % self.window
        if not LEAST_SAMPLES <= self.window <= steps or 0 < left < LEAST_SAMPLES:
            message = (
                f"window: got {self.window}; must be {LEAST_SAMPLES} or more, best a divisor of "
                f"the {steps} control steps of an episode, or 0 for squared errors at the end"
            )
            raise ValueError(message)

    @override
    def starts(self, given: Start, world: WorldModel, key: PRNGKeyArray) -> Start:
        return scatter_starts(given, inner_area(world.area), world.collision_distance_m, key)

    @override
    def action_mapping(self, vehicle: AssembledVehicle) -> ActionMapping:
        del vehicle
        return pelican_velocity_mapping(tuple(f"concentration_{i}" for i in range(self.locations)))

    @override
    def init_goal(
        self, scene: TaskScene, vehicles: Sequence[AssembledVehicle], key: PRNGKeyArray
    ) -> Findings:
        del vehicles
        place_key, source_key = jax.random.split(key)
        places = reference_locations(_cloud(scene), scene.world.area, self.locations, place_key)
        zeros = jnp.zeros(self.locations, places.dtype)
        samples = SampleSet.empty(self.locations, self.window) if self.window else None
        sources = None
        if self.has_beliefs and self.emissions is not None:
            sources = SourceBeliefs.initial(
                places, _wind(scene), scene.world.ground_z_m, self.emissions, source_key
            )
        return Findings(places, zeros, zeros, zeros, samples, sources)

    @override
    def update_goal(self, goal: Findings, scene: TaskScene, key: PRNGKeyArray) -> Findings:
        sources = goal.sources
        goal = replace(goal, reported=self._reported_concentrations(scene))
        if goal.samples is not None:
            samples = goal.samples.append(self._true_concentrations(goal, scene), goal.reported)
            goal = replace(goal, samples=samples)
        if sources is not None and self.emissions is not None:
            here = current_positions(scene.agents.estimate)
            measured = scene.agents.measurements[NOSE].concentration
            for i, own in enumerate(jax.random.split(key, len(here))):
                sources = sources.update(
                    here[i],
                    measured[i],
                    _wind(scene),
                    scene.world.ground_z_m,
                    self.emissions,
                    own,
                )
            return replace(goal, sources=sources)
        weights, sums = scene.each(lambda agent: _weighted_measurement(goal, agent))
        return replace(
            goal,
            weights=goal.weights + weights.sum(axis=0),
            sums=goal.sums + sums.sum(axis=0),
        )

    @override
    def observe(self, goal: Findings, agent: Agent, scene: TaskScene) -> PlumeObservation:
        own = agent.estimate
        return PlumeObservation(
            position_world_m=own.position_world_m,
            velocity_world_mps=own.velocity_world_mps,
            concentration=agent.measurements[NOSE].concentration,
            ways_to_locations_world_m=goal.locations_world_m - rows(own.position_world_m)[None],
            offsets_to_teammates_world_m=offsets_to(other_agents(scene, agent).estimate, own),
            wind_world_mps=_wind(scene),
        )

    @override
    def reward(self, goal: Findings, agent: Agent, scene: TaskScene) -> Real:
        del agent
        if goal.samples is None:
            error = ((goal.reported - self._true_concentrations(goal, scene)) ** 2).sum()
        else:
            error = goal.samples.divergence(self.resolution)
        return -jnp.where(scene.last, error, 0.0)

    @override
    def expert_action(
        self, goal: Findings, agent: Agent, scene: TaskScene
    ) -> Float[Array, " numbers"]:
        # An agent that drifts to a limit returns to the middle of the locations at low height,
        # where the wind is weaker.
        here, area = current_positions(scene.agents.estimate), scene.world.area
        own, height = here[agent.index], here[agent.index, 2] - scene.world.ground_z_m
        if goal.sources is None:
            target_m, goes_on = self._next_location(goal, agent, scene)
            expected = goal.sums / (goal.weights + 0.1 * VISITED_WEIGHT)
        else:
            target_m, goes_on = _place_by_source(goal.sources, agent.index, scene), True
            expected = self._expected(goal, goal.sources, scene)
        usable = _distance_from_limits_m(goal.locations_world_m, area) > EDGE_M
        share = usable.astype(own.dtype) / jnp.maximum(usable.astype(own.dtype).sum(), 1.0)
        middle = (share @ goal.locations_world_m).at[2].set(own[2] + SHELTER_M - height)
        goes_on = goes_on & (_distance_from_limits_m(own[None], area)[0] > RETURN_M)
        velocity = GAIN_PER_S * (jnp.where(goes_on, target_m, middle) - own)
        velocity = velocity + avoidance_velocity_mps(agent.index, here)
        x, y, z = _attainable(
            velocity, rows(scene.world.wind.velocity_world_mps(height, scene.time_s))
        )
        reported = 2.0 * jnp.clip(expected / self.most, 0.0, 1.0) ** (1.0 / STEEPNESS) - 1.0
        mapping = pelican_velocity_mapping(tuple(map(str, range(self.locations))))
        return velocity_action(mapping, Vec3(x, y, z), reported)

    @override
    def with_beliefs(self) -> "AbstractPlumeTask":
        complete = self.has_beliefs or self.emissions is None
        return self if complete else replace(self, has_beliefs=True)

    @override
    def metrics(self, goal: Findings, scene: TaskScene) -> dict[str, Real]:
        # The estimated source is the location of the largest report, among puffs on average over
        # the current window.
        reported = goal.reported
        if goal.samples is None:
            errors = {
                "squared_error": ((reported - self._true_concentrations(goal, scene)) ** 2).sum()
            }
        else:
            filled = jnp.arange(self.window, dtype=jnp.int32)[None] < goal.samples.count
            reported = jnp.where(filled, goal.samples.reported, 0.0).sum(axis=1)
            errors = {"divergence": goal.samples.divergence(self.resolution)}
        place = goal.locations_world_m[jnp.argmax(reported)]
        distance_m = region_of(_cloud(scene)).distance_m(place)
        return {"distance_from_source_m": distance_m, **errors}

    def _next_location(
        self, goal: Findings, agent: Agent, scene: TaskScene
    ) -> tuple[Float[Array, "3"], Bool[Array, ""]]:
        """Return an agent's nearest unvisited location, and True if there is one.

        The locations are divided among the agents from west to east; those near the limits are
        skipped.
        """
        places, here = goal.locations_world_m, rows(agent.estimate.position_world_m)
        count = len(jnp.asarray(scene.agents.index))
        ranks = jnp.argsort(jnp.argsort(places[:, 0])).astype(jnp.int32)
        own = (ranks * count) // self.locations == agent.index
        own = own & (_distance_from_limits_m(places, scene.world.area) > EDGE_M)
        offsets = places - here[None]
        squared = jnp.where(
            own & (goal.weights < VISITED_WEIGHT), (offsets**2).sum(axis=1), jnp.inf
        )
        nearest = jnp.argmin(squared)
        return places[nearest], jnp.isfinite(squared[nearest])

    def _expected(
        self, goal: Findings, sources: SourceBeliefs, scene: TaskScene
    ) -> Float[Array, " locations"]:
        """Return the expected concentrations at the locations; among puffs a sample of them."""
        places, wind = goal.locations_world_m, _wind(scene)
        each = sources.concentrations(places, wind, scene.world.ground_z_m)
        if goal.samples is not None:
            positions = sources.sources_world_m()
            each = each * puff_pattern(Axes.of(wind), positions, places, scene.time_s)
        return each.sum(axis=0)

    def _true_concentrations(self, goal: Findings, scene: TaskScene) -> Float[Array, " locations"]:
        cloud, time_s = _cloud(scene), scene.time_s
        concentration = jax.vmap(lambda place: cloud.concentration(Vec3.of(place), time_s))
        return jnp.asarray(concentration(goal.locations_world_m))

    def _reported_concentrations(self, scene: TaskScene) -> Float[Array, " locations"]:
        share = 0.5 * (1.0 + scene.agents.reported)
        return self.most * (share**STEEPNESS).mean(axis=0)


def _cloud(scene: TaskScene) -> AbstractCloud:
    return scene.processes[PLUME + SMOKE]


def _wind(scene: TaskScene) -> Vec3:
    """Return the mean wind that agents observe."""
    return scene.world.wind.velocity_world_mps(WIND_HEIGHT_M, scene.time_s)


def _place_by_source(sources: SourceBeliefs, index: Integer, scene: TaskScene) -> Float[Array, "3"]:
    """Return an agent's measuring position: at varying distances downwind, around a plume's axis.

    If there are more sources than agents, each agent visits several in turn. The height is limited
    to where the position can be held in the wind.
    """
    count, time_s = len(jnp.asarray(scene.agents.index)), scene.time_s
    turn = jnp.floor(time_s / SOURCE_S).astype(jnp.int32)
    existing = jnp.maximum(sources.exists.sum(), 1).astype(jnp.int32)
    turn = jnp.where(existing > count, turn, 0)
    # existing sources first
    order = jnp.argsort(~sources.exists)
    source = sources.sources_world_m()[order[(index + turn * count) % existing]]
    step = jnp.floor(time_s / POINT_S)
    behind = FOLLOWER_M * jnp.asarray(index // existing, source.dtype)
    ahead = jnp.asarray(DOWNWIND_M, source.dtype)[step.astype(jnp.int32) % len(DOWNWIND_M)] + behind
    axes = Axes.of(_wind(scene))
    around = ASIDE_M * jnp.stack([jnp.cos(2.4 * step), jnp.sin(2.4 * step)])
    x, y = axes.east * ahead - axes.north * around[0], axes.north * ahead + axes.east * around[0]
    place = source + jnp.stack([x, y, around[1]])
    area, ground = scene.world.area, scene.world.ground_z_m
    levels = jnp.linspace(SHELTER_M, area.z_m[1] - ground - RETURN_M, LEVELS, dtype=place.dtype)
    speeds = jax.vmap(lambda z: scene.world.wind.velocity_world_mps(z, scene.time_s).norm())(levels)
    highest = jnp.max(jnp.where(speeds < HOLD_MPS, levels, SHELTER_M))
    low, high = jnp.asarray([area.x_m, area.y_m], place.dtype).T
    level = jnp.clip(place[:2], low + EDGE_M, high - EDGE_M)
    return jnp.append(level, ground + jnp.clip(place[2] - ground, 0.5 * SHELTER_M, highest))


def _distance_from_limits_m(
    positions_world_m: Float[Array, "positions 3"], area: FlightArea
) -> Float[Array, " places"]:
    """Return the distance of each position from the nearest side of the area."""
    low, high = jnp.asarray([area.x_m, area.y_m], positions_world_m.dtype).T
    level = positions_world_m[:, :2]
    return jnp.minimum(level - low[None], high[None] - level).min(axis=1)


def _attainable(velocity: Float[Array, "3"], wind: Float[Array, "3"]) -> Float[Array, "3"]:
    """Return a velocity, shortened to what can be flown in a wind.

    A velocity that cannot be reached would wind up the controller's integral.
    """
    fastest = jnp.minimum(1.0, MAX_SPEED_MPS / jnp.maximum(jnp.abs(velocity).max(), EPSILON))
    square = jnp.maximum((velocity**2).sum(), EPSILON)
    along = (velocity * wind).sum()
    spare = jnp.maximum(along**2 + square * (MAX_AIRSPEED_MPS**2 - (wind**2).sum()), 0.0)
    share = (along + jnp.sqrt(spare)) / square
    return velocity * jnp.clip(share, 0.0, fastest)


def _weighted_measurement(
    goal: Findings, agent: Agent
) -> tuple[Float[Array, " locations"], Float[Array, " locations"]]:
    """Return the weight of a measurement for each location, and the weighted measurement."""
    offsets = goal.locations_world_m - rows(agent.estimate.position_world_m)[None]
    weights = jnp.exp(-0.5 * (offsets**2).sum(axis=1) / CORRELATION_M**2)
    return weights, weights * agent.measurements[NOSE].concentration


class PlumeGaussian(AbstractPlumeTask):
    """Cloud at rest, with a concentration of 1 at its center."""

    most: Annotated[Real, POSITIVE] = 1.0

    scenario: ClassVar[str] = "plume-gaussian"
    emissions: ClassVar[Emissions | None] = None


class PlumeDispersion(AbstractPlumeTask):
    """One source in the wind."""

    scenario: ClassVar[str] = "plume-dispersion"


class PlumeMultiSource(AbstractPlumeTask):
    """One to five sources in the wind."""

    scenario: ClassVar[str] = "plume-multi-source"


class PlumeTeam(AbstractPlumeTask):
    """One to five sources in the wind, for three agents."""

    scenario: ClassVar[str] = "plume-team"


class AbstractPuffTask(AbstractPlumeTask):
    """Base class of tasks with puffs."""

    most: Annotated[Real, POSITIVE] = 1.0
    window: Annotated[int, STEPS] = field(static=True, default=100)

    emissions: ClassVar[Emissions | None] = PUFFS


class PlumePuff(AbstractPuffTask):
    """One source of puffs."""

    locations: Annotated[int, LOCATIONS] = field(static=True, default=25)

    scenario: ClassVar[str] = "plume-puff"


class PlumeMultiPuff(AbstractPuffTask):
    """One to four sources of puffs."""

    scenario: ClassVar[str] = "plume-multi-puff"


class PlumeTeamPuff(AbstractPuffTask):
    """One to four sources of puffs, for three agents."""

    scenario: ClassVar[str] = "plume-team-puff"
