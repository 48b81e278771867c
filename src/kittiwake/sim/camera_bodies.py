"""What cameras of a fleet need: who draws, where all bodies are, and which of them is one's own."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from kittiwake.core.errors import ScenarioError
from kittiwake.core.kinematics import Kinematics
from kittiwake.geometry.scalar import Count
from kittiwake.interfaces.renderer import BODIES, AbstractRenderer, Bodies, Rendering, place
from kittiwake.interfaces.vehicle import Vehicle
from kittiwake.sim.schedule import Clock
from kittiwake.world.surroundings import Surroundings
from kittiwake.world.world import World


def renderer_of(
    rendering: Rendering | None, world: World, vehicles: Mapping[str, Vehicle]
) -> AbstractRenderer | None:
    """Who draws this world; None if no sensor looks at pictures.

    Raises:
        ScenarioError: if one does and nothing to draw with was given.
    """
    looking = [name for name, vehicle in vehicles.items() if _looks(vehicle)]
    if not looking:
        return None
    if rendering is None:
        message = f"{looking[0]} has a camera; give Fleet.of something to draw with as rendering"
        raise ScenarioError(message)
    return rendering(world, vehicles)


def bodies(
    renderer: AbstractRenderer | None, world: World, truths: Sequence[Kinematics], clock: Clock
) -> dict[str, Any]:
    """By the name under which sensors look for it, where everything is; nothing without cameras."""
    if renderer is None:
        return {}
    platforms = [platform.support(clock.time_s) for platform in world.platforms]
    places = [place(deck.center_world_m, deck.q_world_from_deck)[None] for deck in platforms]
    places += [jax.vmap(_place)(truth) for truth in truths]
    return {BODIES: Bodies(renderer, jnp.concatenate(places))}


def numbered(
    renderer: AbstractRenderer | None, world: World, around: Sequence[Surroundings]
) -> list[Surroundings]:
    """Surroundings of all vehicles, with the number of each among the bodies."""
    if renderer is None:
        return list(around)
    sizes = [int(np.size(own.gravity_mps2)) for own in around]
    first = len(world.platforms) + np.cumsum([0, *sizes])
    return [
        jax.vmap(_numbered)(own, jnp.arange(begin, begin + size, dtype=jnp.int32))
        for own, begin, size in zip(around, first.tolist(), sizes, strict=False)
    ]


def _numbered(around: Surroundings, number: Count) -> Surroundings:
    return replace(around, body=number)


def _looks(vehicle: Vehicle) -> bool:
    return any(part.component.sensor.renders for part in vehicle.sensors.values())


def _place(truth: Kinematics) -> Any:
    return place(truth.position_world_m, truth.q_world_from_body)
