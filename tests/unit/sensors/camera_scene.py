"""Drawn world for tests of cameras, without a fleet."""

import dataclasses

import jax.numpy as jnp
import pytest
from tests.unit.sensors.range_scene import around, plain_world

from kittiwake.core.errors import MissingExtraError
from kittiwake.core.kinematics import Start
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.renderer import BODIES, Bodies, pose_row
from kittiwake.rendering.camera_renderer import mujoco_renderer


def skip_without_graphics():
    """Skips a module where nothing can be drawn."""
    try:
        _drawn((), (), 0.0)
    except MissingExtraError as error:
        pytest.skip(str(error), allow_module_level=True)


def drawn(start=None, obstacles=(), platforms=(), ground_z_m=0.0, partner=None):
    """What a vehicle that is not drawn itself can see."""
    inputs = around(obstacles, start or Start(), ground_z_m)
    decks = [platform.deck_state(0.0) for platform in platforms]
    places = [pose_row(deck.center_world_m, deck.q_world_from_deck) for deck in decks]
    bodies = Bodies(
        _drawn(tuple(obstacles), tuple(platforms), ground_z_m),
        jnp.stack(places) if places else jnp.zeros((0, 7)),
    )
    deck = None
    if partner is not None:
        surface_id = jnp.asarray(decks[partner].surface_id + partner, jnp.int32)
        deck = dataclasses.replace(decks[partner], surface_id=surface_id)
    felt = dataclasses.replace(inputs.surroundings, body=-1, partner=deck, decks=tuple(decks))
    return dataclasses.replace(inputs, surroundings=felt, processes={BODIES: bodies})


_known = []


def _drawn(obstacles, platforms, ground_z_m):
    """One renderer for each world."""
    wanted = (obstacles, platforms, ground_z_m)
    for given, renderer in _known:
        if given == wanted:
            return renderer
    world = dataclasses.replace(
        plain_world(), obstacles=obstacles, platforms=platforms, ground_z_m=ground_z_m
    )
    _known.append((wanted, mujoco_renderer(world, {})))
    return _known[-1][1]


def looking_down(height_m, x=0.0, y=0.0, **angles):
    """A start above a place."""
    return Start(Vec3(x, y, height_m), **angles)
