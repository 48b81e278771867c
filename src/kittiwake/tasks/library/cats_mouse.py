"""QRSim's CatsMouse: three cats drive a mouse into a corner that they make themselves.

The mouse flees at 3 m/s along ``sum_i (m - c_i) / |m - c_i|^2`` over the cats' places c_i, from its
own m, where all of them believe to be. All cats have one reward, of where they are, in the last
step: ``r = -sum_i max(0, |m - c_i| - 4 m)^2``, where two collision distances are 4 m. Source: QRSim
(R. De Nardi, 2013), TaskCatsMouse; its loop over the cats is left after the first one, here all
count. As there, everything is lost as soon as one of the four leaves the area or is within 2 m of
another.
"""

from collections.abc import Mapping
from math import inf, pi, sin
from typing import Annotated, Any, ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import POSITIVE
from kittiwake.core.commands import VelocityHeightYaw
from kittiwake.core.kinematics import Start
from kittiwake.geometry.scalar import Count, Real
from kittiwake.geometry.trigonometry import wrap_angle
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.vehicle import Vehicle
from kittiwake.tasks.action_mapping import ActionMapping
from kittiwake.tasks.library.motion import FAR, FAST, WorldMotion
from kittiwake.tasks.library.other_agents import mates, rows, ways_to
from kittiwake.tasks.library.pelican import (
    LEAST,
    LOOK,
    LOST,
    level_velocities,
    windy_from_anywhere,
    without_noise,
)
from kittiwake.tasks.library.velocities import asking
from kittiwake.tasks.requirements import Requirements
from kittiwake.tasks.starts import TRIES, first_apart, placed
from kittiwake.tasks.task import AbstractTask, Agent, TaskScene
from kittiwake.world.world import World

MOUSE = "mouse"
# of the baseline: its ring, how far it looks ahead, how fast it makes up for what is missing, and
# how far from the middle of the area it drives the mouse back
RING_M, AHEAD_S, GAIN_PER_S, HOME_M = 9.0, 1.0, 0.9, 40.0
# how near others may come before it gives way, and how fast it does
APART_M, APART_GAIN_PER_S = 7.0, 0.8


class CatObservation(WorldMotion):
    """What a cat knows, in axes of the world.

    Attributes:
        way_to_mouse_world_m: from where the cat believes to be to where the mouse does.
        mouse_velocity_world_mps: over the ground.
        ways_to_cats_world_m: to the other cats, the next one first.
    """

    way_to_mouse_world_m: Annotated[Vec3, FAR]
    mouse_velocity_world_mps: Annotated[Vec3, FAST]
    ways_to_cats_world_m: Annotated[Float[Array, "cats 3"], FAR]


class CatsMouse(AbstractTask):
    """Cats begin ``from_mouse_m`` from the mouse's start at (0, 0), ``apart_m`` from each other."""

    rate_hz: Annotated[Real, POSITIVE] = 1.0
    height_m: Annotated[Real, POSITIVE] = 10.0
    from_mouse_m: tuple[Annotated[Real, POSITIVE], Annotated[Real, POSITIVE]] = (14.0, 20.0)
    apart_m: Annotated[Real, POSITIVE] = 22.0
    caught_within_m: Annotated[Real, POSITIVE] = 4.0
    mouse_speed_mps: Annotated[Real, POSITIVE] = 3.0

    scenario: ClassVar[str] = "cats-mouse"
    agents: ClassVar[str] = "cat"
    conditions: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "noiseless": without_noise("cat", MOUSE),
        "noisy": {},
        "windy": windy_from_anywhere(1.0),
    }
    requirements: ClassVar[Requirements] = Requirements(vehicles=[MOUSE])
    lost_reward: ClassVar[float] = LOST
    shared: ClassVar[bool] = True

    @override
    def check(self, world: World, agents: int, steps: int) -> None:
        del steps
        low, high = world.area.z_m
        if not low < self.height_m < high:
            message = (
                f"height_m: {self.height_m:g} is not allowed; write a number between {low:g} and "
                f"{high:g}, the limits of world.area"
            )
            raise ValueError(message)
        near_m, far_m = self.from_mouse_m
        if near_m > far_m:
            message = f"from_mouse_m: [{near_m:g}, {far_m:g}] is not allowed; write the least first"
            raise ValueError(message)
        apart_m = 2.0 * far_m * sin(pi / agents) if agents > 1 else inf
        if self.apart_m > apart_m:
            message = (
                f"apart_m: {self.apart_m:g} is not allowed; {agents} cats within {far_m:g} m of "
                f"the mouse are at most {apart_m:.4g} m apart from each other"
            )
            raise ValueError(message)

    @override
    def action_mapping(self, vehicle: Vehicle) -> ActionMapping:
        del vehicle
        return level_velocities(float(self.height_m))

    @override
    def starts(self, given: Start, world: World, key: PRNGKeyArray) -> Start:
        del world
        count = len(rows(given.position_world_m))
        draws = jax.random.uniform(key, (TRIES, 2, count), jnp.result_type(float))
        low, high = self.from_mouse_m
        away, angle = low + (high - low) * draws[:, 0], 2.0 * pi * draws[:, 1]
        level = away[..., None] * jnp.stack([jnp.cos(angle), jnp.sin(angle)], axis=-1)
        return placed(given, first_apart(level, self.apart_m), self.height_m)

    @override
    def others(self, goal: Any, scene: TaskScene) -> dict[str, Any]:
        del goal
        mouse, cats = scene.others[MOUSE].estimate, scene.agents.estimate
        here = rows(mouse.position_world_m)[:2]
        x, y = self._flight(here, rows(cats.position_world_m)[:, :2])
        return {MOUSE: VelocityHeightYaw(x, y, self.height_m, LOOK["yaw_rad"])}

    @override
    def observe(self, goal: Any, agent: Agent, scene: TaskScene) -> CatObservation:
        del goal
        own, mouse = agent.estimate, scene.others[MOUSE].estimate
        return CatObservation(
            position_world_m=own.position_world_m,
            velocity_world_mps=own.velocity_world_mps,
            way_to_mouse_world_m=mouse.position_world_m - own.position_world_m,
            mouse_velocity_world_mps=mouse.velocity_world_mps,
            ways_to_cats_world_m=ways_to(mates(scene, agent).estimate, own),
        )

    @override
    def reward(self, goal: Any, agent: Agent, scene: TaskScene) -> Real:
        del goal, agent
        mouse = scene.others[MOUSE].truth.position_world_m

        def missed(cat: Agent) -> Real:
            away = (mouse - cat.truth.position_world_m).norm()
            return jnp.maximum(away - self.caught_within_m, 0.0) ** 2

        return -jnp.where(scene.last, scene.each(missed).sum(), 0.0)

    @override
    def figures(self, goal: Any, scene: TaskScene) -> dict[str, Real]:
        del goal
        mouse = scene.others[MOUSE].truth.position_world_m
        furthest_m = scene.each(lambda cat: (mouse - cat.truth.position_world_m).norm()).max()
        caught = furthest_m <= self.caught_within_m
        return {"furthest_cat_m": furthest_m, "caught": caught}

    @override
    def baseline(self, goal: Any, agent: Agent, scene: TaskScene) -> Float[Array, " numbers"]:
        # Far out one of them is on the outer side of the mouse, which drives it back.
        del goal
        mouse, cats = scene.others[MOUSE].estimate, scene.agents.estimate
        here = rows(mouse.position_world_m)[:2]
        fleeing = self._flight(here, rows(cats.position_world_m)[:, :2])
        going = 0.5 * (rows(mouse.velocity_world_mps)[:2] + fleeing)
        center = here + AHEAD_S * going
        ahead = rows(cats.position_world_m) + AHEAD_S * rows(cats.velocity_world_mps)
        there = ahead[:, :2] - center[None]
        place = RING_M * _on_ring(there, center)[agent.number]
        asked = going + GAIN_PER_S * (place - there[agent.number])
        others = jnp.concatenate([ahead[:, :2], (here + AHEAD_S * going)[None]])
        asked = asked + _keeping_apart(others, agent.number)
        return asking(level_velocities(float(self.height_m)), Vec3(asked[0], asked[1], 0.0))

    def _flight(
        self, mouse_world_m: Float[Array, "2"], cats_world_m: Float[Array, "cats 2"]
    ) -> Float[Array, "2"]:
        """The velocity with which the mouse flees from cats."""
        ways = mouse_world_m[None] - cats_world_m
        push = (ways / jnp.maximum((ways**2).sum(axis=1, keepdims=True), LEAST)).sum(axis=0)
        return push * (self.mouse_speed_mps / jnp.sqrt(jnp.maximum((push**2).sum(), LEAST**2)))


def _keeping_apart(places_m: Float[Array, "vehicles 2"], number: Count) -> Float[Array, "2"]:
    """A velocity away from all others that will be nearer than ``APART_M``."""
    ways = places_m[number][None] - places_m
    away = jnp.sqrt(jnp.maximum((ways**2).sum(axis=1, keepdims=True), LEAST))
    short = jnp.maximum(APART_M - away, 0.0)
    return (APART_GAIN_PER_S * short / away * ways).sum(axis=0)


def _on_ring(cats: Float[Array, "cats 2"], center_m: Float[Array, "2"]) -> Float[Array, "cats 2"]:
    """Where each goes on a circle of radius 1, so that they keep their order about its center."""
    angles = jnp.arctan2(cats[:, 1], cats[:, 0])
    ranks = (angles[:, None] > angles[None]).sum(axis=1)
    even = 2.0 * pi * ranks.astype(angles.dtype) / len(cats)
    turned = jnp.arctan2(jnp.sin(angles - even).sum(), jnp.cos(angles - even).sum())
    outwards = wrap_angle(len(cats) * (jnp.arctan2(center_m[1], center_m[0]) - turned)) / len(cats)
    far = jnp.hypot(center_m[0], center_m[1]) > HOME_M
    own = turned + even + jnp.where(far, outwards, 0.0)
    return jnp.stack([jnp.cos(own), jnp.sin(own)], axis=1)
