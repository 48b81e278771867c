"""QRSim's CatsMouse: three cats encircle a mouse that flees from them.

The mouse flees at 3 m/s along ``sum_i (m - c_i) / |m - c_i|^2``, with its position m and the cats'
positions c_i, all of them estimates. All cats share one reward, from true positions, in the last
step: ``r = -sum_i max(0, |m - c_i| - 4 m)^2``, where 4 m are two collision distances. Source: QRSim
(R. De Nardi, 2013), TaskCatsMouse; its loop over the cats ends after the first one, here all count.
As in QRSim, the episode is lost as soon as one of the four leaves the area or is within 2 m of
another.
"""

from math import inf, pi, sin
from typing import Annotated, ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import POSITIVE
from kittiwake.core.commands import Command, VelocityHeightYaw
from kittiwake.core.kinematics import Start
from kittiwake.geometry.scalar import Integer, Real
from kittiwake.geometry.trigonometry import wrap_angle
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.vehicle import AssembledVehicle
from kittiwake.tasks.action_mapping import ActionMapping
from kittiwake.tasks.library.motion import POSITION_BOUNDS, VELOCITY_BOUNDS, WorldMotion
from kittiwake.tasks.library.other_agents import offsets_to, other_agents, rows
from kittiwake.tasks.library.pelican import (
    EPSILON,
    FACING_NORTH,
    LOST_REWARD,
    pelican_level_velocity_mapping,
    wind_from_any_direction,
    without_noise,
)
from kittiwake.tasks.library.velocities import velocity_action
from kittiwake.tasks.requirements import Requirements
from kittiwake.tasks.starts import TRIES, first_separated, place_starts
from kittiwake.tasks.task import AbstractTask, Agent, Conditions, TaskScene
from kittiwake.world.world import WorldModel

MOUSE = "mouse"
# built-in policy: radius of the ring, prediction time, position gain, and distance from the center
# of the area beyond which it drives the mouse back
RING_M, AHEAD_S, GAIN_PER_S, HOME_M = 9.0, 1.0, 0.9, 40.0
# distance below which a cat avoids others, and the gain of avoidance
APART_M, APART_GAIN_PER_S = 7.0, 0.8


class CatObservation(WorldMotion):
    """Observation of a cat, in world axes.

    Attributes:
        way_to_mouse_world_m: offset from the cat's estimated position to the mouse's.
        mouse_velocity_world_mps: velocity of the mouse over the ground.
        ways_to_cats_world_m: offsets to the other cats, the next one first.
    """

    way_to_mouse_world_m: Annotated[Vec3, POSITION_BOUNDS]
    mouse_velocity_world_mps: Annotated[Vec3, VELOCITY_BOUNDS]
    ways_to_cats_world_m: Annotated[Float[Array, "cats 3"], POSITION_BOUNDS]


class CatsMouse(AbstractTask[tuple[()]]):
    """Cats that begin ``from_mouse_m`` from the mouse at (0, 0), ``apart_m`` from each other.

    Attributes:
        height_m: height of all four vehicles.
        from_mouse_m: range of the initial distances of the cats from the mouse.
        apart_m: least initial distance between two cats.
        caught_within_m: distance of a cat below which nothing is subtracted.
        mouse_speed_mps: speed of the mouse.
    """

    rate_hz: Annotated[Real, POSITIVE] = 1.0
    height_m: Annotated[Real, POSITIVE] = 10.0
    from_mouse_m: tuple[Annotated[Real, POSITIVE], Annotated[Real, POSITIVE]] = (14.0, 20.0)
    apart_m: Annotated[Real, POSITIVE] = 22.0
    caught_within_m: Annotated[Real, POSITIVE] = 4.0
    mouse_speed_mps: Annotated[Real, POSITIVE] = 3.0

    scenario: ClassVar[str] = "cats-mouse"
    agents: ClassVar[str] = "cat"
    conditions: ClassVar[Conditions] = {
        "noiseless": without_noise("cat", MOUSE),
        "noisy": {},
        "windy": wind_from_any_direction(1.0),
    }
    requirements: ClassVar[Requirements] = Requirements(vehicles=[MOUSE])
    lost_reward: ClassVar[float] = LOST_REWARD
    shared: ClassVar[bool] = True

    @override
    def check(self, world: WorldModel, agents: int, steps: int) -> None:
        del steps
        low, high = world.area.z_m
        if not low < self.height_m < high:
            message = (
                f"height_m: got {self.height_m:g}; must be between {low:g} and {high:g}, the "
                "limits of world.area"
            )
            raise ValueError(message)
        near_m, far_m = self.from_mouse_m
        if near_m > far_m:
            message = f"from_mouse_m: got [{near_m:g}, {far_m:g}]; must be [lowest, highest]"
            raise ValueError(message)
        largest_m = 2.0 * far_m * sin(pi / agents) if agents > 1 else inf
        if self.apart_m > largest_m:
            message = (
                f"apart_m: got {self.apart_m:g}; must be at most {largest_m:.4g} for {agents} cats "
                f"within {far_m:g} m of the mouse"
            )
            raise ValueError(message)

    @override
    def action_mapping(self, vehicle: AssembledVehicle) -> ActionMapping:
        del vehicle
        return pelican_level_velocity_mapping(float(self.height_m))

    @override
    def starts(self, given: Start, world: WorldModel, key: PRNGKeyArray) -> Start:
        del world
        count = len(rows(given.position_world_m))
        draws = jax.random.uniform(key, (TRIES, 2, count), jnp.result_type(float))
        low, high = self.from_mouse_m
        distance, angle = low + (high - low) * draws[:, 0], 2.0 * pi * draws[:, 1]
        level = distance[..., None] * jnp.stack([jnp.cos(angle), jnp.sin(angle)], axis=-1)
        return place_starts(given, first_separated(level, self.apart_m), self.height_m)

    @override
    def others(self, goal: tuple[()], scene: TaskScene) -> dict[str, Command]:
        del goal
        mouse, cats = scene.others[MOUSE].estimate, scene.agents.estimate
        here = rows(mouse.position_world_m)[:2]
        x, y = self._flight_velocity(here, rows(cats.position_world_m)[:, :2])
        return {MOUSE: VelocityHeightYaw(x, y, self.height_m, FACING_NORTH["yaw_rad"])}

    @override
    def observe(self, goal: tuple[()], agent: Agent, scene: TaskScene) -> CatObservation:
        del goal
        own, mouse = agent.estimate, scene.others[MOUSE].estimate
        return CatObservation(
            position_world_m=own.position_world_m,
            velocity_world_mps=own.velocity_world_mps,
            way_to_mouse_world_m=mouse.position_world_m - own.position_world_m,
            mouse_velocity_world_mps=mouse.velocity_world_mps,
            ways_to_cats_world_m=offsets_to(other_agents(scene, agent).estimate, own),
        )

    @override
    def reward(self, goal: tuple[()], agent: Agent, scene: TaskScene) -> Real:
        del goal, agent
        mouse = scene.others[MOUSE].truth.position_world_m

        def squared_error(cat: Agent) -> Real:
            distance = (mouse - cat.truth.position_world_m).norm()
            return jnp.maximum(distance - self.caught_within_m, 0.0) ** 2

        return -jnp.where(scene.last, scene.each(squared_error).sum(), 0.0)

    @override
    def metrics(self, goal: tuple[()], scene: TaskScene) -> dict[str, Real]:
        del goal
        mouse = scene.others[MOUSE].truth.position_world_m
        furthest_m = scene.each(lambda cat: (mouse - cat.truth.position_world_m).norm()).max()
        caught = furthest_m <= self.caught_within_m
        return {"furthest_cat_m": furthest_m, "caught": caught}

    @override
    def expert_action(
        self, goal: tuple[()], agent: Agent, scene: TaskScene
    ) -> Float[Array, " numbers"]:
        # Far from the center of the area one cat is on the outer side and drives the mouse back.
        del goal
        mouse, cats = scene.others[MOUSE].estimate, scene.agents.estimate
        here = rows(mouse.position_world_m)[:2]
        flight = self._flight_velocity(here, rows(cats.position_world_m)[:, :2])
        mouse_mps = 0.5 * (rows(mouse.velocity_world_mps)[:2] + flight)
        center = here + AHEAD_S * mouse_mps
        ahead = rows(cats.position_world_m) + AHEAD_S * rows(cats.velocity_world_mps)
        relative = ahead[:, :2] - center[None]
        place = RING_M * _ring_directions(relative, center)[agent.index]
        velocity = mouse_mps + GAIN_PER_S * (place - relative[agent.index])
        others = jnp.concatenate([ahead[:, :2], (here + AHEAD_S * mouse_mps)[None]])
        velocity = velocity + _avoidance_velocity(others, agent.index)
        return velocity_action(
            pelican_level_velocity_mapping(float(self.height_m)),
            Vec3(velocity[0], velocity[1], 0.0),
        )

    def _flight_velocity(
        self, mouse_world_m: Float[Array, "2"], cats_world_m: Float[Array, "cats 2"]
    ) -> Float[Array, "2"]:
        """Return the velocity of the mouse's flight from the cats."""
        offsets = mouse_world_m[None] - cats_world_m
        push = (offsets / jnp.maximum((offsets**2).sum(axis=1, keepdims=True), EPSILON)).sum(axis=0)
        return push * (self.mouse_speed_mps / jnp.sqrt(jnp.maximum((push**2).sum(), EPSILON**2)))


def _avoidance_velocity(
    positions_m: Float[Array, "vehicles 2"], index: Integer
) -> Float[Array, "2"]:
    """Return a velocity distance from all others that will be nearer than ``APART_M``."""
    offsets = positions_m[index][None] - positions_m
    distance = jnp.sqrt(jnp.maximum((offsets**2).sum(axis=1, keepdims=True), EPSILON))
    shortfall = jnp.maximum(APART_M - distance, 0.0)
    return (APART_GAIN_PER_S * shortfall / distance * offsets).sum(axis=0)


def _ring_directions(
    cats: Float[Array, "cats 2"], center_m: Float[Array, "2"]
) -> Float[Array, "cats 2"]:
    """Return evenly spaced directions from the center, in the order of the cats around it."""
    angles = jnp.arctan2(cats[:, 1], cats[:, 0])
    ranks = (angles[:, None] > angles[None]).sum(axis=1)
    even = 2.0 * pi * ranks.astype(angles.dtype) / len(cats)
    turned = jnp.arctan2(jnp.sin(angles - even).sum(), jnp.cos(angles - even).sum())
    outwards = wrap_angle(len(cats) * (jnp.arctan2(center_m[1], center_m[0]) - turned)) / len(cats)
    far = jnp.hypot(center_m[0], center_m[1]) > HOME_M
    own = turned + even + jnp.where(far, outwards, 0.0)
    return jnp.stack([jnp.cos(own), jnp.sin(own)], axis=1)
