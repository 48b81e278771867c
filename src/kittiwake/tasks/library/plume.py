"""QRSim's plumes: fly about in one, and say how dense it is at places that are given.

With each action an agent tells a number for each reference location: an action a from -1 to 1 says
the concentration ``most ((1 + a) / 2)^4``, as most concentrations are small. What several agents
tell counts as its mean q. The one reward of all comes in the last step. Of a plume that stays as it
is, with true concentrations c_j:

    r = -sum_j (q_j - c_j)^2            with what is told in the last step

A plume in puffs is never twice the same. There the numbers told in the last ``window`` steps are
samples of what an agent believes that the air holds at a location, one in each step, and

    r = -sum_j D(P_j || Q_j)            of all c_j and q_j of these steps

with the divergence of ``divergence``. Source: QRSim (R. De Nardi, 2013), plume tasks: 1000 steps of
1 s, 100 reference locations (25 for a single source of puffs), squared errors, and a divergence
that is estimated by nearest neighbors. Ours: the scale of what is told, which ends at ``most``;
which samples are compared; that the divergences of locations are summed as if these were
independent (the original's is that of all of them together); that what a team tells is its mean.
Steps are counted in blocks of ``window``, of which the last one counts: an episode should have a
whole number of them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import POSITIVE, Bounds
from kittiwake.core.kinematics import Start
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.required_sensors import RequiredSensor
from kittiwake.interfaces.vehicle import Vehicle
from kittiwake.sensors.plume_sensor import ConcentrationMeasurement
from kittiwake.tasks.action_mapping import ActionMapping
from kittiwake.tasks.library.divergence import SampleSet
from kittiwake.tasks.library.motion import FAR, FAST, WorldMotion
from kittiwake.tasks.library.other_agents import mates, rows, ways_to
from kittiwake.tasks.library.pelican import (
    LEAST,
    LOST,
    MAX_SPEED_MPS,
    free_velocities,
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
from kittiwake.tasks.library.separation import away_from_others_mps, whereabouts
from kittiwake.tasks.library.velocities import asking
from kittiwake.tasks.requirements import Requirements
from kittiwake.tasks.starts import inside, scattered
from kittiwake.tasks.task import AbstractTask, Agent, TaskScene
from kittiwake.world.plume import PLUME, WIND_HEIGHT_M, AbstractCloud
from kittiwake.world.world import FlightArea, World

SMOKE, NOSE = "smoke", "nose"
CONCENTRATION = Bounds(-10.0, 100.0)
LOCATIONS, STEPS = Bounds(1.0, 1000.0), Bounds(0.0, 10000.0)
# of what is told: it is near zero where actions are small
STEEPNESS = 4
# of a divergence: the nearest neighbor of a sample is another one
LEAST_SAMPLES = 2
# of the baseline, in a cloud at rest: how far around itself it takes the air to be alike, and how
# little of its own measurements makes it go to a location
ALIKE_M, VISITED, GAIN_PER_S = 2.0, 0.5, 0.6
# among sources: how long it stays near one, how long at each of some distances downwind of it, and
# how far aside; who comes later stays farther away; and the wind in which it still holds a place
DWELLS_S, PASSES_S, PASSES_M, ASIDE_M, BEHIND_M = 100.0, 10.0, (12.0, 6.0, 3.0, 1.5, 4.5), 1.0, 25.0
HOLDS_MPS, LEVELS = 4.2, 40
# how far from the limits the locations are that it goes to, from where it comes back, and how low
KEPT_M, NEAR_M, SHELTERED_M = 12.0, 10.0, 8.0
# at the tilt that its controller goes to it is 5.1 m/s
MAX_AIRSPEED_MPS = 4.6


class PlumeObservation(WorldMotion):
    """What an agent knows, in axes of the world.

    Attributes:
        concentration: what its sensor says.
        ways_to_locations_world_m: to the reference locations.
        ways_to_mates_world_m: to the other agents, the next one first.
        wind_world_mps: 6 m over the ground.
    """

    concentration: Annotated[Real, CONCENTRATION]
    ways_to_locations_world_m: Annotated[Float[Array, "locations 3"], FAR]
    ways_to_mates_world_m: Annotated[Float[Array, "mates 3"], FAR]
    wind_world_mps: Annotated[Vec3, FAST]


class Findings(eqx.Module):
    """What is remembered of an episode.

    Attributes:
        locations_world_m: the reference locations.
        weights: how much has been measured about each of them, for the baseline.
        sums: what was measured, by its weight.
        told: the concentrations that were told last.
        samples: what was told and true; None where only the end counts.
        sources: what is believed of them, for the baseline; None for a cloud at rest and learners.
    """

    locations_world_m: Float[Array, "locations 3"]
    weights: Float[Array, " locations"]
    sums: Float[Array, " locations"]
    reports: Float[Array, " locations"]
    samples: SampleSet | None
    sources: SourceBeliefs | None


class AbstractPlumeTask(AbstractTask):
    """Agents with velocities in three axes, who tell as many numbers as there are locations.

    ``resolution`` is that of the divergence; with a ``window`` of 0 squared errors count.
    """

    rate_hz: Annotated[Real, POSITIVE] = 1.0
    locations: Annotated[int, LOCATIONS] = eqx.field(static=True, default=100)
    most: Annotated[Real, POSITIVE] = 2.0
    window: Annotated[int, STEPS] = eqx.field(static=True, default=0)
    resolution: Annotated[Real, POSITIVE] = 1e-4
    # whether what is believed of sources is remembered, for the baseline
    believing: bool = eqx.field(static=True, default=False)

    agents: ClassVar[str] = "pelican"
    conditions: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "noiseless": without_noise("pelican", sensors={NOSE: {"type": "plume", "deviation": 0}}),
        "noisy": {},
    }
    requirements: ClassVar[Requirements] = Requirements(
        [RequiredSensor(NOSE, ConcentrationMeasurement, "plume")],
        {PLUME + SMOKE: f"plumes: {{{SMOKE}: gaussian}}"},
    )
    lost_reward: ClassVar[float] = LOST
    shared: ClassVar[bool] = True
    # what may leave a source; None for a cloud at rest
    emissions: ClassVar[Emissions | None] = STEADY

    @override
    def check(self, world: World, agents: int, steps: int) -> None:
        del world, agents
        if not self.window:
            return
        left = steps % self.window
        if not LEAST_SAMPLES <= self.window <= steps or 0 < left < LEAST_SAMPLES:
            message = (
                f"window: {self.window} is not allowed; write {LEAST_SAMPLES} or more, best a "
                f"divisor of the {steps} control steps of an episode, or 0 for squared errors at "
                "the end"
            )
            raise ValueError(message)

    @override
    def starts(self, given: Start, world: World, key: PRNGKeyArray) -> Start:
        return scattered(given, inside(world.area), world.collision_distance_m, key)

    @override
    def action_mapping(self, vehicle: Vehicle) -> ActionMapping:
        del vehicle
        return free_velocities(tuple(f"concentration_{i}" for i in range(self.locations)))

    @override
    def begin(self, scene: TaskScene, vehicles: Sequence[Vehicle], key: PRNGKeyArray) -> Findings:
        del vehicles
        place_key, source_key = jax.random.split(key)
        places = reference_locations(_cloud(scene), scene.world.area, self.locations, place_key)
        none = jnp.zeros(self.locations, places.dtype)
        samples = SampleSet.none(self.locations, self.window) if self.window else None
        sources = None
        if self.believing and self.emissions is not None:
            told = _wind(scene), scene.world.ground_z_m, self.emissions
            sources = SourceBeliefs.begun(places, *told, source_key)
        return Findings(places, none, none, none, samples, sources)

    @override
    def proceed(self, goal: Findings, scene: TaskScene, key: PRNGKeyArray) -> Findings:
        sources = goal.sources
        goal = replace(goal, reports=self._told(scene))
        if goal.samples is not None:
            samples = goal.samples.joined(self._true(goal, scene), goal.reports)
            goal = replace(goal, samples=samples)
        if sources is not None and self.emissions is not None:
            here = whereabouts(scene.agents.estimate)
            measured = scene.agents.measurements[NOSE].concentration
            for i, own in enumerate(jax.random.split(key, len(here))):
                told = _wind(scene), scene.world.ground_z_m, self.emissions
                sources = sources.after(here[i], measured[i], *told, own)
            return replace(goal, sources=sources)
        weights, sums = scene.each(lambda agent: _measured(goal, agent))
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
            ways_to_mates_world_m=ways_to(mates(scene, agent).estimate, own),
            wind_world_mps=_wind(scene),
        )

    @override
    def reward(self, goal: Findings, agent: Agent, scene: TaskScene) -> Real:
        del agent
        if goal.samples is None:
            missed = ((goal.reports - self._true(goal, scene)) ** 2).sum()
        else:
            missed = goal.samples.divergence(self.resolution)
        return -jnp.where(scene.last, missed, 0.0)

    @override
    def baseline(self, goal: Findings, agent: Agent, scene: TaskScene) -> Float[Array, " numbers"]:
        # Who is blown to a limit goes to the middle of the locations and down, where there is less
        # wind.
        here, area = whereabouts(scene.agents.estimate), scene.world.area
        own, height = here[agent.number], here[agent.number, 2] - scene.world.ground_z_m
        if goal.sources is None:
            goal_m, goes_on = self._next_location(goal, agent, scene)
            expected = goal.sums / (goal.weights + 0.1 * VISITED)
        else:
            goal_m, goes_on = _place_by_source(goal.sources, agent.number, scene), True
            expected = self._expected(goal, goal.sources, scene)
        inside = _inside_by(goal.locations_world_m, area) > KEPT_M
        share = inside.astype(own.dtype) / jnp.maximum(inside.astype(own.dtype).sum(), 1.0)
        middle = (share @ goal.locations_world_m).at[2].set(own[2] + SHELTERED_M - height)
        goes_on = goes_on & (_inside_by(own[None], area)[0] > NEAR_M)
        asked = GAIN_PER_S * (jnp.where(goes_on, goal_m, middle) - own)
        asked = asked + away_from_others_mps(agent.number, here)
        x, y, z = _attainable(
            asked, rows(scene.world.wind.velocity_world_mps(height, scene.time_s))
        )
        told = 2.0 * jnp.clip(expected / self.most, 0.0, 1.0) ** (1.0 / STEEPNESS) - 1.0
        return asking(free_velocities(tuple(map(str, range(self.locations)))), Vec3(x, y, z), told)

    @override
    def with_beliefs(self) -> "AbstractPlumeTask":
        there = self.believing or self.emissions is None
        return self if there else replace(self, believing=True)

    @override
    def figures(self, goal: Findings, scene: TaskScene) -> dict[str, Real]:
        # Among puffs it is that of which most has been told on average in the present window.
        told = goal.reports
        if goal.samples is None:
            wrong = {"squared_error": ((told - self._true(goal, scene)) ** 2).sum()}
        else:
            there = jnp.arange(self.window, dtype=jnp.int32)[None] < goal.samples.count
            told = jnp.where(there, goal.samples.reports, 0.0).sum(axis=1)
            wrong = {"divergence": goal.samples.divergence(self.resolution)}
        place = goal.locations_world_m[jnp.argmax(told)]
        away_m = region_of(_cloud(scene)).away_m(place)
        return {"distance_from_source_m": away_m, **wrong}

    def _next_location(
        self, goal: Findings, agent: Agent, scene: TaskScene
    ) -> tuple[Float[Array, "3"], Bool[Array, ""]]:
        """The nearest of one's locations that nobody was at, and whether there is one.

        Each agent has as many of them, from west to east, and leaves out what is near the limits.
        """
        places, here = goal.locations_world_m, rows(agent.estimate.position_world_m)
        count = len(jnp.asarray(scene.agents.number))
        ranks = jnp.argsort(jnp.argsort(places[:, 0])).astype(jnp.int32)
        own = (ranks * count) // self.locations == agent.number
        own = own & (_inside_by(places, scene.world.area) > KEPT_M)
        ways = places - here[None]
        apart = jnp.where(own & (goal.weights < VISITED), (ways**2).sum(axis=1), jnp.inf)
        nearest = jnp.argmin(apart)
        return places[nearest], jnp.isfinite(apart[nearest])

    def _expected(
        self, goal: Findings, sources: SourceBeliefs, scene: TaskScene
    ) -> Float[Array, " locations"]:
        """What the locations hold as believed of the sources; among puffs a sample of it."""
        places, wind = goal.locations_world_m, _wind(scene)
        each = sources.concentrations(places, wind, scene.world.ground_z_m)
        if goal.samples is not None:
            at = sources.sources_world_m()
            each = each * puff_pattern(Axes.of(wind), at, places, scene.time_s)
        return each.sum(axis=0)

    def _true(self, goal: Findings, scene: TaskScene) -> Float[Array, " locations"]:
        cloud, time_s = _cloud(scene), scene.time_s
        dense = jax.vmap(lambda place: cloud.concentration(Vec3.of(place), time_s))
        return jnp.asarray(dense(goal.locations_world_m))

    def _told(self, scene: TaskScene) -> Float[Array, " locations"]:
        share = 0.5 * (1.0 + scene.agents.reports)
        return self.most * (share**STEEPNESS).mean(axis=0)


def _cloud(scene: TaskScene) -> AbstractCloud:
    return scene.processes[PLUME + SMOKE]


def _wind(scene: TaskScene) -> Vec3:
    """As agents are told it."""
    return scene.world.wind.velocity_world_mps(WIND_HEIGHT_M, scene.time_s)


def _place_by_source(sources: SourceBeliefs, number: Any, scene: TaskScene) -> Float[Array, "3"]:
    """Where an agent is to measure: nearer to a source and farther away, around its middle line.

    Where there are more sources than agents, these take them in turn. The place is never so high
    that it could not be held in the wind.
    """
    count, time_s = len(jnp.asarray(scene.agents.number)), scene.time_s
    turn = jnp.floor(time_s / DWELLS_S).astype(jnp.int32)
    there = jnp.maximum(sources.there.sum(), 1).astype(jnp.int32)
    turn = jnp.where(there > count, turn, 0)
    # those that there are come first
    order = jnp.argsort(~sources.there)
    source = sources.sources_world_m()[order[(number + turn * count) % there]]
    step = jnp.floor(time_s / PASSES_S)
    behind = BEHIND_M * jnp.asarray(number // there, source.dtype)
    ahead = jnp.asarray(PASSES_M, source.dtype)[step.astype(jnp.int32) % len(PASSES_M)] + behind
    axes = Axes.of(_wind(scene))
    around = ASIDE_M * jnp.stack([jnp.cos(2.4 * step), jnp.sin(2.4 * step)])
    x, y = axes.east * ahead - axes.north * around[0], axes.north * ahead + axes.east * around[0]
    place = source + jnp.stack([x, y, around[1]])
    area, ground = scene.world.area, scene.world.ground_z_m
    levels = jnp.linspace(SHELTERED_M, area.z_m[1] - ground - NEAR_M, LEVELS, dtype=place.dtype)
    speeds = jax.vmap(lambda z: scene.world.wind.velocity_world_mps(z, scene.time_s).norm())(levels)
    highest = jnp.max(jnp.where(speeds < HOLDS_MPS, levels, SHELTERED_M))
    low, high = jnp.asarray([area.x_m, area.y_m], place.dtype).T
    level = jnp.clip(place[:2], low + KEPT_M, high - KEPT_M)
    return jnp.append(level, ground + jnp.clip(place[2] - ground, 0.5 * SHELTERED_M, highest))


def _inside_by(
    places_world_m: Float[Array, "places 3"], area: FlightArea
) -> Float[Array, " places"]:
    """How far each is from the nearest side of the area."""
    low, high = jnp.asarray([area.x_m, area.y_m], places_world_m.dtype).T
    level = places_world_m[:, :2]
    return jnp.minimum(level - low[None], high[None] - level).min(axis=1)


def _attainable(asked: Float[Array, "3"], wind: Float[Array, "3"]) -> Float[Array, "3"]:
    """As much of a velocity as can be flown in a wind.

    What cannot be flown would be summed up by the controller, which then takes long to forget it.
    """
    fastest = jnp.minimum(1.0, MAX_SPEED_MPS / jnp.maximum(jnp.abs(asked).max(), LEAST))
    square = jnp.maximum((asked**2).sum(), LEAST)
    along = (asked * wind).sum()
    spare = jnp.maximum(along**2 + square * (MAX_AIRSPEED_MPS**2 - (wind**2).sum()), 0.0)
    share = (along + jnp.sqrt(spare)) / square
    return asked * jnp.clip(share, 0.0, fastest)


def _measured(
    goal: Findings, agent: Agent
) -> tuple[Float[Array, " locations"], Float[Array, " locations"]]:
    """By its nearness how much a measurement says of each location, and what."""
    ways = goal.locations_world_m - rows(agent.estimate.position_world_m)[None]
    weights = jnp.exp(-0.5 * (ways**2).sum(axis=1) / ALIKE_M**2)
    return weights, weights * agent.measurements[NOSE].concentration


class PlumeGaussian(AbstractPlumeTask):
    """A cloud at rest, whose middle holds 1."""

    most: Annotated[Real, POSITIVE] = 1.0

    scenario: ClassVar[str] = "plume-gaussian"
    emissions: ClassVar[Emissions | None] = None


class PlumeDispersion(AbstractPlumeTask):
    """A source in the wind."""

    scenario: ClassVar[str] = "plume-dispersion"


class PlumeMultiSource(AbstractPlumeTask):
    """One to five of them."""

    scenario: ClassVar[str] = "plume-multi-source"


class PlumeTeam(AbstractPlumeTask):
    """One to five of them, for three agents."""

    scenario: ClassVar[str] = "plume-team"


class AbstractPuffTask(AbstractPlumeTask):
    """Where the air is never twice the same."""

    most: Annotated[Real, POSITIVE] = 1.0
    window: Annotated[int, STEPS] = eqx.field(static=True, default=100)

    emissions: ClassVar[Emissions | None] = PUFFS


class PlumePuff(AbstractPuffTask):
    """A source of puffs."""

    locations: Annotated[int, LOCATIONS] = eqx.field(static=True, default=25)

    scenario: ClassVar[str] = "plume-puff"


class PlumeMultiPuff(AbstractPuffTask):
    """One to four of them."""

    scenario: ClassVar[str] = "plume-multi-puff"


class PlumeTeamPuff(AbstractPuffTask):
    """One to four of them, for three agents."""

    scenario: ClassVar[str] = "plume-team-puff"
