"""Inputs of simulated cameras: the renderer and the poses of all bodies."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from kittiwake.core.component import Scheduled
from kittiwake.core.copies import distinct
from kittiwake.core.errors import ScenarioError
from kittiwake.core.kinematics import Kinematics
from kittiwake.geometry.scalar import Integer
from kittiwake.interfaces.instrument import Instrument
from kittiwake.interfaces.renderer import BODIES, AbstractRenderer, Bodies, Rendering, pose_row
from kittiwake.interfaces.vehicle import AssembledVehicle
from kittiwake.sim.schedule import Clock
from kittiwake.world.surroundings import Surroundings
from kittiwake.world.world import WorldModel


def build_renderer(
    rendering: Rendering | None, world: WorldModel, vehicles: Mapping[str, AssembledVehicle]
) -> AbstractRenderer | None:
    """Return the renderer of the world; None if no sensor requires images.

    Raises:
        ScenarioError: if a sensor requires images and ``rendering`` is None.
    """
    sensors = [vehicle.sensors for vehicle in vehicles.values()]
    users = {key for key, own in distinct(sensors).items() if _uses_images(own)}
    if not users:
        return None
    if rendering is None:
        user = next(name for name, own in zip(vehicles, sensors, strict=True) if id(own) in users)
        message = f"{user} has a camera; pass build_fleet a renderer factory as rendering"
        raise ScenarioError(message)
    return rendering(world, vehicles)


def bodies(
    renderer: AbstractRenderer | None, world: WorldModel, truths: Sequence[Kinematics], clock: Clock
) -> dict[str, Bodies]:
    """Return renderer and poses under the key ``BODIES``; an empty dict without cameras."""
    if renderer is None:
        return {}
    platforms = [platform.deck_state(clock.time_s) for platform in world.platforms]
    poses = [pose_row(deck.center_world_m, deck.q_world_from_deck)[None] for deck in platforms]
    poses += [jax.vmap(_pose)(truth) for truth in truths]
    return {BODIES: Bodies(renderer, jnp.concatenate(poses))}


def with_body_index(
    renderer: AbstractRenderer | None, world: WorldModel, around: Sequence[Surroundings]
) -> list[Surroundings]:
    """Return the surroundings of all vehicles, each with the index of its own body."""
    if renderer is None:
        return list(around)
    sizes = [int(np.size(own.gravity_mps2)) for own in around]
    first = len(world.platforms) + np.cumsum([0, *sizes])
    return [
        jax.vmap(_with_index)(own, jnp.arange(begin, begin + size, dtype=jnp.int32))
        for own, begin, size in zip(around, first.tolist(), sizes, strict=False)
    ]


def _with_index(around: Surroundings, index: Integer) -> Surroundings:
    return replace(around, body=index)


def _uses_images(sensors: Mapping[str, Scheduled[Instrument]]) -> bool:
    return any(part.component.sensor.renders for part in sensors.values())


def _pose(truth: Kinematics) -> Float[Array, "7"]:
    return pose_row(truth.position_world_m, truth.q_world_from_body)
